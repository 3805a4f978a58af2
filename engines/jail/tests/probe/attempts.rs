//! What is tried. Each attempt says whether it reached something.
//!
//! The same is tried without a jail, maybe by root, so nothing here may change anything: calls that would are made with arguments that
//! make no sense. One that is refused says so before it looks at them; any other answer means that it was reached.

use std::ffi::{c_long, c_void};
use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::ptr::null_mut;
use std::time::Duration;

/// What the host has that could be reached.
#[derive(serde::Deserialize)]
pub(crate) struct Host {
    /// A file that anybody may read.
    file: String,
    /// A folder that anybody may write to.
    folder: String,
    /// A TCP port on which somebody listens.
    port: u16,
    /// A socket on which somebody listens.
    socket: String,
    /// A process of the host.
    pid: i32,
}

fn call(number: c_long, arguments: [usize; 5]) -> c_long {
    let [a, b, c, d, e] = arguments;
    // SAFETY: a call that is refused touches nothing, and those that are not get memory of ours or none.
    unsafe { libc::syscall(number, a, b, c, d, e) }
}

fn reaches(number: c_long, arguments: [usize; 5]) -> bool {
    call(number, arguments) >= 0
}

/// Whether a call got further than to be told no.
fn is_answered(number: c_long, arguments: [usize; 5]) -> bool {
    call(number, arguments) >= 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EPERM)
}

/// No such flags, no such process.
const SENSELESS: usize = 0x7fff_fff1;

pub(crate) fn all(host: &Host) -> Vec<(&'static str, bool)> {
    [
        files(host),
        sockets(host),
        processes(host),
        environment(),
        mounts(),
        descriptors(),
        privileges(),
        kernel(),
        memory(),
    ]
    .concat()
}

/// Memory that counts as none, and the two things that an engine with a compiler needs and no other may have.
fn memory() -> Vec<(&'static str, bool)> {
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    vec![
        ("memory: shared", map(libc::MAP_SHARED | libc::MAP_ANONYMOUS).is_some()),
        ("memory: that grows by itself", map(private | libc::MAP_GROWSDOWN).is_some()),
        ("memory: make it code", protect(map(private), libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)),
        ("memory: write to it no more", protect(map(private), libc::PROT_READ)),
    ]
}

/// A page of its own.
fn map(flags: i32) -> Option<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a mapping at a place of the system's choice, which nobody else uses.
    let page = unsafe { libc::mmap(null_mut(), 4096, access, flags, -1, 0) };
    (page != libc::MAP_FAILED).then_some(page as usize)
}

fn protect(page: Option<usize>, access: i32) -> bool {
    page.is_some_and(|page| reaches(libc::SYS_mprotect, [page, 4096, access as usize, 0, 0]))
}

fn files(host: &Host) -> Vec<(&'static str, bool)> {
    let new = format!("{}/probe-{}", host.folder, std::process::id());
    vec![
        ("file: read", fs::read(&host.file).is_ok()),
        ("file: the list of users", fs::read("/etc/passwd").is_ok()),
        ("file: look at", fs::metadata(&host.file).is_ok()),
        ("file: write", fs::write(&new, "x").is_ok()),
        (
            "file: make in the root",
            fs::create_dir("/").is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists),
        ),
        ("file: list the root", fs::read_dir("/").is_ok_and(|mut entries| entries.next().is_some())),
        ("file: up from the root", fs::read_dir("/../..").is_ok_and(|mut entries| entries.next().is_some())),
        ("file: a device", fs::File::open("/dev/zero").is_ok()),
        ("file: own executable", fs::read("/proc/self/exe").is_ok()),
        ("file: own memory map", fs::read("/proc/self/maps").is_ok()),
        ("file: the kernel's settings", fs::read("/proc/sys/kernel/hostname").is_ok()),
        ("file: one without a name", reaches(libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0, 0, 0, 0])),
    ]
}

fn sockets(host: &Host) -> Vec<(&'static str, bool)> {
    let address = ([127, 0, 0, 1], host.port).into();
    let netlink = call(libc::SYS_socket, [libc::AF_NETLINK as usize, libc::SOCK_RAW as usize, 0, 0, 0]);
    vec![
        ("socket: connect", TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()),
        ("socket: listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("socket: datagrams", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("socket: of a path", UnixStream::connect(&host.socket).is_ok()),
        (
            "socket: listen on a path",
            UnixListener::bind(format!("{}/probe-socket-{}", host.folder, std::process::id())).is_ok(),
        ),
        ("socket: pair", UnixStream::pair().is_ok()),
        ("socket: to the kernel", netlink >= 0),
    ]
}

fn processes(host: &Host) -> Vec<(&'static str, bool)> {
    let pid = host.pid as usize;
    let mut word = 0usize;
    let mut limits = [0u64; 2];
    let local = libc::iovec { iov_base: (&raw mut word).cast::<c_void>(), iov_len: 8 };
    let remote = libc::iovec { iov_base: (&raw mut word).cast::<c_void>(), iov_len: 8 };
    let read = [pid, &raw const local as usize, 1, &raw const remote as usize, 1];
    // Reading nothing from an address that is not there is EFAULT: the process was reached.
    let memory = call(libc::SYS_process_vm_readv, read) >= 0
        || std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    // SAFETY: the copy of this process only ends itself.
    let forked = unsafe {
        match libc::fork() {
            0 => libc::_exit(0),
            pid => pid > 0,
        }
    };
    vec![
        ("process: start one", Command::new("/bin/true").spawn().is_ok()),
        ("process: copy oneself", forked),
        ("process: start a thread", std::thread::Builder::new().spawn(|| ()).is_ok()),
        ("process: signal", reaches(libc::SYS_kill, [pid, 0, 0, 0, 0])),
        ("process: signal any", is_answered(libc::SYS_kill, [SENSELESS, 0, 0, 0, 0])),
        ("process: name", reaches(libc::SYS_pidfd_open, [pid, 0, 0, 0, 0])),
        ("process: read its memory", memory),
        ("process: debug", is_answered(libc::SYS_ptrace, [libc::PTRACE_SEIZE as usize, SENSELESS, 0, 0, 0])),
        ("process: see its status", fs::read(format!("/proc/{pid}/status")).is_ok()),
        ("process: its environment", fs::read(format!("/proc/{pid}/environ")).is_ok()),
        (
            "process: its limits",
            reaches(libc::SYS_prlimit64, [pid, libc::RLIMIT_CORE as usize, 0, limits.as_mut_ptr() as usize, 0]),
        ),
        // SAFETY: the call always succeeds.
        ("process: know its parent", unsafe { libc::getppid() } > 0),
    ]
}

fn environment() -> Vec<(&'static str, bool)> {
    vec![
        ("environment: a variable", std::env::vars_os().next().is_some()),
        ("environment: a path", std::env::var_os("PATH").is_some()),
    ]
}

fn mounts() -> Vec<(&'static str, bool)> {
    let nowhere = c"/no/such/place".as_ptr() as usize;
    vec![
        ("mount: something", is_answered(libc::SYS_mount, [nowhere, nowhere, nowhere, 0, 0])),
        ("mount: take away", is_answered(libc::SYS_umount2, [nowhere, SENSELESS, 0, 0, 0])),
        ("mount: see", fs::read("/proc/mounts").is_ok()),
        ("mount: another root", is_answered(libc::SYS_chroot, [nowhere, 0, 0, 0, 0])),
        ("mount: turn the root", is_answered(libc::SYS_pivot_root, [nowhere, nowhere, 0, 0, 0])),
        ("mount: other namespaces", is_answered(libc::SYS_unshare, [1, 0, 0, 0, 0])),
        ("mount: the namespaces of another", is_answered(libc::SYS_setns, [SENSELESS, 0, 0, 0, 0])),
    ]
}

fn descriptors() -> Vec<(&'static str, bool)> {
    // The two that it talks through are its own.
    let open = (2..1024).any(|fd| reaches(libc::SYS_fcntl, [fd, libc::F_GETFD as usize, 0, 0, 0]));
    let read = (2..1024).any(|fd| {
        let mut byte = 0u8;
        reaches(libc::SYS_read, [fd, &raw mut byte as usize, 0, 0, 0])
    });
    vec![
        ("descriptor: one more", open),
        ("descriptor: read one more", read),
        ("descriptor: copy", reaches(libc::SYS_dup, [0, 0, 0, 0, 0])),
    ]
}

fn privileges() -> Vec<(&'static str, bool)> {
    let more = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
    let nofile = libc::RLIMIT_NOFILE as usize;
    vec![
        ("privilege: be somebody else", is_answered(libc::SYS_setresuid, [usize::MAX, usize::MAX, usize::MAX, 0, 0])),
        ("privilege: more files", reaches(libc::SYS_prlimit64, [0, nofile, &raw const more as usize, 0, 0])),
        ("privilege: another priority", is_answered(libc::SYS_setpriority, [SENSELESS, 0, 0, 0, 0])),
        ("privilege: another name of the host", is_answered(libc::SYS_sethostname, [0, usize::MAX, 0, 0, 0])),
        ("privilege: another personality", reaches(libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0])),
    ]
}

fn kernel() -> Vec<(&'static str, bool)> {
    let mut room = [0usize; 64];
    let room = room.as_mut_ptr() as usize;
    vec![
        ("kernel: rings", reaches(libc::SYS_io_uring_setup, [1, room, 0, 0, 0])),
        ("kernel: shared memory", is_answered(libc::SYS_shmget, [SENSELESS, 4096, 0, 0, 0])),
        ("kernel: page faults", reaches(libc::SYS_userfaultfd, [1, 0, 0, 0, 0])),
        ("kernel: its version", reaches(libc::SYS_uname, [room, 0, 0, 0, 0])),
        ("kernel: how the machine is", reaches(libc::SYS_sysinfo, [room, 0, 0, 0, 0])),
        ("kernel: events", reaches(libc::SYS_epoll_create1, [0, 0, 0, 0, 0])),
        ("kernel: a new signal handler", {
            // SAFETY: asking for the one there is changes nothing.
            unsafe { libc::sigaction(libc::SIGUSR1, std::ptr::null(), null_mut()) == 0 }
        }),
    ]
}
