//! System calls that the standard library has no form for: everything that is `unsafe` in this crate.

#![allow(unsafe_code, reason = "this is the leaf in which it is kept")]

use std::ffi::{CStr, c_int, c_long};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Descriptors that come with one message.
const FDS_MAX: usize = 4;
/// Bytes for their header, on every architecture.
const CONTROL_BYTES: usize = 128;

fn check(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A pair of connected sockets that keep messages apart.
pub(crate) fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut pair = [0; 2];
    // SAFETY: there is room for two descriptors, which nobody else owns.
    unsafe {
        check(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()).into())?;
        Ok((OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])))
    }
}

/// Sends one message with descriptors.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[RawFd]) -> io::Result<()> {
    let slice = [IoSlice::new(bytes)];
    let mut control = [0u64; CONTROL_BYTES / 8];
    // SAFETY: the header points to memory that lives until the call returns, and the control message is written within its room.
    unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = slice.as_ptr().cast_mut().cast();
        message.msg_iovlen = 1;
        if !fds.is_empty() {
            let len = size_of::<RawFd>() * fds.len().min(FDS_MAX);
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(len as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(len as u32) as _;
            libc::CMSG_DATA(header).copy_from_nonoverlapping(fds.as_ptr().cast(), len);
        }
        check(libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) as c_long)?;
    }
    Ok(())
}

/// Receives one message with its descriptors; no bytes mean that the other side is gone.
pub(crate) fn receive(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut slice = [IoSliceMut::new(room)];
    let mut control = [0u64; CONTROL_BYTES / 8];
    // SAFETY: as above; descriptors that came are nobody else's.
    unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = slice.as_mut_ptr().cast();
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        let len = loop {
            match check(libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) as c_long) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => break other?,
            }
        };
        let mut fds = Vec::new();
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                for at in 0..bytes / size_of::<RawFd>() {
                    let fd = libc::CMSG_DATA(header).cast::<RawFd>().add(at).read_unaligned();
                    fds.push(OwnedFd::from_raw_fd(fd));
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        Ok((len as usize, fds))
    }
}

/// Which process one is after a fork.
pub(crate) enum Forked {
    /// The copy.
    Child,
    /// The original, with a name for the copy that no other process can take over.
    Parent(OwnedFd),
}

/// Makes a copy of this process with only this thread in it, in namespaces of its own as the flags say.
pub(crate) fn fork(namespaces: c_int) -> io::Result<Forked> {
    let mut pidfd: RawFd = -1;
    // SAFETY: the zygote calls this on the one thread that does anything; its other thread is parked and holds no lock, so the copy
    // finds none that nobody gives back. Without a stack of its own the copy goes on with its copy of this one.
    unsafe {
        let flags = libc::CLONE_PIDFD | namespaces | libc::SIGCHLD;
        match check(libc::syscall(libc::SYS_clone, flags as c_long, 0, &raw mut pidfd, 0, 0))? {
            0 => Ok(Forked::Child),
            _ => Ok(Forked::Parent(OwnedFd::from_raw_fd(pidfd))),
        }
    }
}

/// The number of the process behind a descriptor, as this process sees it.
pub(crate) fn pid_of(pidfd: BorrowedFd<'_>) -> Option<i32> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok().filter(|pid| *pid > 0)
}

/// Ends a process for certain. One that has ended already is none.
pub(crate) fn kill(pidfd: BorrowedFd<'_>) {
    // SAFETY: the call takes a descriptor and no memory.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), libc::SIGKILL, 0, 0) };
}

/// What a process has computed, all threads together.
pub(crate) fn cpu_time(pid: i32) -> Option<Duration> {
    // The clock of a process by its number: see clock_getcpuclockid(3).
    let clock = ((!(pid as u32)) << 3 | 2) as c_int;
    // SAFETY: there is room for the time.
    unsafe {
        let mut time: libc::timespec = zeroed();
        check(libc::clock_gettime(clock, &raw mut time).into()).ok()?;
        Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }
}

/// The signal this process gets when the thread that started it ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize)
}

/// No program that is started can have more rights than this one.
pub(crate) fn no_new_privileges() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// No debugger, no core file, no look into `/proc` by others of the same user.
pub(crate) fn not_dumpable() -> io::Result<()> {
    prctl(libc::PR_SET_DUMPABLE, 0)
}

fn prctl(option: c_int, value: usize) -> io::Result<()> {
    // SAFETY: these options take one number.
    check(unsafe { libc::prctl(option, value, 0, 0, 0) }.into()).map(|_| ())
}

/// Children that end are forgotten at once.
pub(crate) fn forget_children() -> io::Result<()> {
    // SAFETY: ignoring a signal installs no handler.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A fault ends this process at once. The runtime's own handlers would ask for calls that a worker is not allowed, for ever.
pub(crate) fn die_of_faults() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT] {
        // SAFETY: the default disposition installs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Leaves the namespaces of these flags for new ones.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: the call takes no memory.
    check(unsafe { libc::unshare(flags) }.into()).map(|_| ())
}

/// Becomes the user and group that own nothing; for a process that is root.
pub(crate) fn become_nobody() -> io::Result<()> {
    const NOBODY: u32 = 65_534;
    // SAFETY: the calls take numbers; there is one thread. An empty list has no elements to read.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()).into())?;
        check(libc::setresgid(NOBODY, NOBODY, NOBODY).into())?;
        check(libc::setresuid(NOBODY, NOBODY, NOBODY).into())?;
    }
    Ok(())
}

/// Who this process is, as far as rights go.
pub(crate) fn user() -> u32 {
    // SAFETY: the call always succeeds.
    unsafe { libc::geteuid() }
}

/// Mounts something: `mount(2)`.
pub(crate) fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: libc::c_ulong, data: &CStr) -> io::Result<()> {
    // SAFETY: the texts end in a 0 and live until the call returns.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast()) }.into())
        .map(|_| ())
}

/// Makes the working folder the root, and what was the root goes away.
pub(crate) fn pivot_here() -> io::Result<()> {
    let here = c".";
    // SAFETY: the texts end in a 0 and live until the calls return.
    unsafe {
        check(libc::syscall(libc::SYS_pivot_root, here.as_ptr(), here.as_ptr()))?;
        check(libc::umount2(here.as_ptr(), libc::MNT_DETACH).into())?;
    }
    Ok(())
}

/// Gives up every capability.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    /// `_LINUX_CAPABILITY_VERSION_3`.
    const VERSION: u32 = 0x2008_0522;
    let header = Header { version: VERSION, pid: 0 };
    let none = [0u32; 6];
    // SAFETY: a header of this version is followed by two sets of three numbers.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) }).map(|_| ())
}

/// The most of a resource that this process may have, from now on. Where it may have less already, that stays.
pub(crate) fn limit(resource: u32, most: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit lives until the calls return. Through `prlimit64`, which is the one call that the filter lets through.
    unsafe {
        check(libc::syscall(libc::SYS_prlimit64, 0, resource, std::ptr::null::<libc::rlimit>(), &raw mut limit))?;
        let most = most.min(limit.rlim_max);
        limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        check(libc::syscall(libc::SYS_prlimit64, 0, resource, &raw const limit, std::ptr::null::<libc::rlimit>()))?;
    }
    Ok(())
}

/// Where the kernel tells how much memory this process has. To be opened while there are files.
pub(crate) fn memory_table() -> io::Result<std::fs::File> {
    std::fs::File::open("/proc/self/statm")
}

/// How much memory a process has.
pub(crate) struct MemoryTable {
    /// What is there of it, files and shared memory apart.
    pub(crate) resident_bytes: u64,
    /// What it can write to, shared memory apart: what `RLIMIT_DATA` counts.
    pub(crate) data_bytes: u64,
}

impl MemoryTable {
    pub(crate) fn of(pid: i32) -> Option<MemoryTable> {
        MemoryTable::read(&std::fs::File::open(format!("/proc/{pid}/statm")).ok()?)
    }

    pub(crate) fn read(mut table: &std::fs::File) -> Option<MemoryTable> {
        const PAGE_BYTES: u64 = 4096;
        let mut text = String::new();
        io::Read::read_to_string(&mut table, &mut text).ok()?;
        let pages: Vec<u64> = text.split_whitespace().map_while(|pages| pages.parse().ok()).collect();
        let &[_, resident, shared, _, _, data, ..] = &*pages else { return None };
        Some(MemoryTable {
            resident_bytes: resident.saturating_sub(shared) * PAGE_BYTES,
            data_bytes: data * PAGE_BYTES,
        })
    }
}

/// Where the kernel tells what is mapped in this process. To be opened while there are files.
pub(crate) fn map() -> io::Result<std::fs::File> {
    std::fs::File::open("/proc/self/maps")
}

/// Has the kernel keep what is in large regions, such as ICU's ten megabytes of tables, in few large pages: each copy, and the end of
/// each, would walk over thousands of small ones. A kernel that does not do it leaves things as they are.
pub(crate) fn gather(mut map: &std::fs::File) {
    const BYTES_MIN: usize = 2 << 20;
    let mut regions = String::new();
    let _ = io::Read::read_to_string(&mut map, &mut regions);
    for region in regions.lines() {
        let mut fields = region.split_whitespace();
        // Private memory that is no file's.
        let (Some(range), Some("rw-p"), None) = (fields.next(), fields.next(), fields.nth(3)) else { continue };
        let Some((from, to)) = range.split_once('-') else { continue };
        let (Ok(from), Ok(to)) = (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16)) else { continue };
        if to - from >= BYTES_MIN {
            // SAFETY: the region is mapped, and what is in it stays the same.
            unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(from), to - from, libc::MADV_COLLAPSE) };
        }
    }
}

/// Moves a descriptor to a number, whatever had it.
pub(crate) fn move_to(fd: OwnedFd, number: RawFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() == number {
        return Ok(fd);
    }
    // SAFETY: the descriptor is open, and nothing in this process uses the other number any more.
    unsafe {
        check(libc::dup3(fd.as_raw_fd(), number, libc::O_CLOEXEC).into())?;
        Ok(OwnedFd::from_raw_fd(number))
    }
}

/// Closes every descriptor from this number on.
pub(crate) fn close_from(number: RawFd) -> io::Result<()> {
    // SAFETY: the caller has moved away what it still needs; nothing in the worker keeps others.
    check(unsafe { libc::syscall(libc::SYS_close_range, number as u32, u32::MAX, 0) }).map(|_| ())
}

/// Owns standard input, which is where a worker finds its supervisor.
pub(crate) fn take_stdin() -> OwnedFd {
    // SAFETY: the worker reads nothing else from standard input.
    unsafe { OwnedFd::from_raw_fd(0) }
}

/// The socket of a worker once more, for its last words: the process ends before anything is closed twice.
pub(crate) fn line_again() -> std::os::unix::net::UnixStream {
    // SAFETY: a worker has its socket there for as long as it lives.
    unsafe { std::os::unix::net::UnixStream::from_raw_fd(0) }
}

/// Ends this process without any clean-up: memory is a copy of the zygote's, and what it would flush is not ours.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: the call does not return.
    unsafe { libc::_exit(code) }
}

/// Waits until there is something to read, for at most this long.
pub(crate) fn readable_within(fd: impl AsFd, time: Duration) -> bool {
    let mut poll = libc::pollfd { fd: fd.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let until = Instant::now() + time;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        // Rounded up: to look again and again for the last part of a millisecond would not be waiting.
        let ms = c_int::try_from(left.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX);
        // SAFETY: there is one entry.
        match check(unsafe { libc::poll(&raw mut poll, 1, ms) }.into()) {
            Ok(ready) => return ready > 0,
            // A signal to whoever waits says nothing about the other side.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

/// Waits until one of two has something to read; says which.
pub(crate) fn either(first: BorrowedFd<'_>, second: Option<BorrowedFd<'_>>) -> (bool, bool) {
    // A negative number is left out.
    let number = |fd: Option<BorrowedFd<'_>>| fd.map_or(-1, |fd| fd.as_raw_fd());
    let entry = |fd| libc::pollfd { fd: number(fd), events: libc::POLLIN, revents: 0 };
    let mut polls = [entry(Some(first)), entry(second)];
    // SAFETY: there are two entries.
    unsafe { libc::poll(polls.as_mut_ptr(), 2, -1) };
    (polls[0].revents != 0, polls[1].revents != 0)
}
