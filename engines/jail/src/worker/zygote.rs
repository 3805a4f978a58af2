use super::control::{ASK_FOR_COPY, FAILED, MESSAGE_BYTES_MAX};
use super::line::Line;
use super::settings::Settings;
use crate::options::JailMode;
use crate::os::{self, Forked};
use crate::walls::{self, Call, Filter, Jail, Shut, Wall};
use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Numbers of the descriptors that a worker has.
const LINE_FD: RawFd = 0;
const STOP_FD: RawFd = 1;
const WATCHER_STACK_BYTES: usize = 64 << 10;

/// Takes the engine's settings, `alone` and `boot`; see [`Inside::set_up`].
pub type SetUp = fn(&serde_json::Value, fn(), fn()) -> Result<Infallible, String>;

/// What lives inside a worker. An engine brings one; so does a test that looks at the jail.
#[derive(Clone, Copy)]
pub struct Inside {
    /// In the zygote: sets up what all copies share, calls `alone` once when every file has been read and before there is a second thread,
    /// then calls `boot` on the thread that is to be copied. Comes back only with a reason why it could not.
    pub set_up: SetUp,
    /// In a copy, before it is shut in: starts the threads that it needs, and waits until each has begun.
    pub start_threads: fn(),
    /// In a copy, on a thread of its own: the supervisor wants the program stopped.
    pub stop: fn(),
    /// In a copy, when it is shut in: says that it is ready, takes one program over the line and runs it to its end.
    pub run: fn(Line),
    /// The system calls that it needs when it is shut in. Every other is refused.
    pub calls: &'static [Call],
}

struct Zygote {
    control: OwnedFd,
    settings: Settings,
    inside: Inside,
    filter: Filter,
    jail: Mutex<Jail>,
}

static ZYGOTE: OnceLock<Zygote> = OnceLock::new();
static MEMORY_TABLE: OnceLock<Option<std::fs::File>> = OnceLock::new();
static MAP: OnceLock<Option<std::fs::File>> = OnceLock::new();
/// What the zygote has when it is set up: each copy begins with it.
static DATA_BYTES: OnceLock<u64> = OnceLock::new();

/// In a copy: the most memory that it may have besides what it began with, by the kernel's own count.
///
/// A process that cannot be limited ends here. The kernel counts what is private and can be written to; of the rest a filter takes
/// away what it can, and the supervisor looks now and then.
pub fn limit_data(bytes: u64) {
    let limited = DATA_BYTES.get().map(|base| os::limit(libc::RLIMIT_DATA, base.saturating_add(bytes)));
    if !matches!(limited, Some(Ok(()))) {
        os::exit_now(1);
    }
}

/// In a copy: how long it may compute, by the kernel's own clock; as above. The supervisor measures that as well, and is to be first.
pub fn limit_cpu(seconds: u64) {
    if os::limit(libc::RLIMIT_CPU, seconds).is_err() {
        os::exit_now(1);
    }
}

/// Ends this process without any clean-up: memory is a copy of the zygote's, and what it would flush is not ours.
pub fn leave(code: i32) -> ! {
    os::exit_now(code)
}

/// In the zygote, when it is set up: has the kernel keep what it has in few large pages. For what holds large tables that copies only
/// read; who writes to them takes a large page apart again.
pub fn gather() {
    if let Some(map) = MAP.get().and_then(Option::as_ref) {
        os::gather(map);
    }
}

/// Serves the supervisor behind standard input until it is gone.
///
/// To be called first thing in `main` of an executable that a [`Launch`](crate::Launch) names, while there is one thread.
pub fn main(inside: Inside) -> ExitCode {
    match serve(inside) {
        Ok(never) => match never {},
        Err(why) => {
            if let Some(zygote) = ZYGOTE.get() {
                let _ = os::send(zygote.control.as_fd(), format!("{FAILED}{why}").as_bytes(), &[]);
            }
            ExitCode::FAILURE
        }
    }
}

fn serve(inside: Inside) -> Result<Infallible, String> {
    let told = |error: io::Error| error.to_string();
    let _ = os::die_with_parent();
    os::die_of_faults();
    let control = os::take_stdin();
    let mut room = vec![0; MESSAGE_BYTES_MAX];
    let (len, _) = os::receive(control.as_fd(), &mut room).map_err(told)?;
    let settings: Settings = serde_json::from_slice(&room[..len]).map_err(|error| error.to_string())?;
    // The control socket moves away from the numbers that copies use.
    let control = control.as_fd().try_clone_to_owned().map_err(told)?;
    let filter = Filter::new(inside.calls);
    let zygote = Zygote { control, settings, inside, filter, jail: Mutex::default() };
    let zygote = ZYGOTE.get_or_init(|| zygote);
    (inside.set_up)(&zygote.settings.inside, alone, boot)
}

/// With one thread, and nothing left to read.
fn alone() {
    let Some(zygote) = ZYGOTE.get() else { return };
    let _ = MEMORY_TABLE.set(os::memory_table().ok());
    let _ = MAP.set(os::map().ok());
    if zygote.settings.jail != JailMode::Off {
        walls::enclose(&mut zygote.jail.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// On the thread that is copied: makes copies for as long as somebody asks.
fn boot() {
    let Some(zygote) = ZYGOTE.get() else { os::exit_now(1) };
    let mut room = [0; 16];
    let jail = zygote.jail.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(table) = MEMORY_TABLE.get().and_then(Option::as_ref).and_then(os::MemoryTable::read) else {
        fail("the kernel does not say how much memory this process has")
    };
    let _ = DATA_BYTES.set(table.data_bytes);
    let ready = os::forget_children().and_then(|()| os::send(zygote.control.as_fd(), b"ready", &[]));
    if ready.is_err() {
        os::exit_now(1);
    }
    loop {
        match os::receive(zygote.control.as_fd(), &mut room) {
            Ok((len, _)) if room.get(..len) == Some(ASK_FOR_COPY) => {}
            _ => os::exit_now(0),
        }
        if let Err(error) = copy(zygote, &jail)
            && os::send(zygote.control.as_fd(), format!("{FAILED}{error}").as_bytes(), &[]).is_err()
        {
            os::exit_now(1);
        }
    }
}

/// Makes one copy, and hands its socket, what stops it and what names it to the supervisor.
fn copy(zygote: &Zygote, jail: &Jail) -> io::Result<()> {
    let (ours, theirs) = UnixStream::pair()?;
    let (stop_theirs, stop_ours) = io::pipe()?;
    let mut jail = jail.clone();
    match fork(zygote.settings.jail, &mut jail)? {
        Forked::Parent(pidfd) => {
            let fds = [ours.as_raw_fd(), stop_ours.as_raw_fd(), pidfd.as_raw_fd()];
            os::send(zygote.control.as_fd(), b"copy", &fds)
        }
        Forked::Child => {
            live(zygote, jail, theirs.into(), stop_theirs.into());
            os::exit_now(0)
        }
    }
}

/// Tries for as many namespaces of its own as the kernel gives.
fn fork(mode: JailMode, jail: &mut Jail) -> io::Result<Forked> {
    if mode == JailMode::Off {
        return os::fork(0);
    }
    let mut refused = None;
    for (flags, walls) in walls::namespaces_of_a_copy() {
        let mut made = jail.clone();
        walls.iter().for_each(|wall| made.note::<io::Error>(*wall, Ok(())));
        // The copy finds the report as it is when it is made.
        let before = std::mem::replace(jail, made);
        match os::fork(flags) {
            Ok(forked) => return Ok(forked),
            Err(error) => {
                *jail = before;
                refused.get_or_insert_with(|| error.to_string());
            }
        }
    }
    let why = refused.unwrap_or_default();
    // The zygote may have a user namespace already, and then so has the copy.
    let missing = [Wall::UserNamespace, Wall::PidNamespace].into_iter().filter(|wall| !jail.stands(*wall));
    missing.collect::<Vec<_>>().into_iter().for_each(|wall| jail.note(wall, Err(&why)));
    os::fork(0)
}

/// A copy: shuts itself in, says so, and runs what it is told.
fn live(zygote: &Zygote, mut jail: Jail, line: OwnedFd, stop: OwnedFd) {
    let Some((line, stop)) = descriptors(line, stop) else { os::exit_now(1) };
    let jailed = zygote.settings.jail != JailMode::Off;
    if jailed {
        jail.note::<io::Error>(Wall::Descriptors, Ok(()));
        walls::shut_in(&mut jail, Shut::Before);
    }
    let tell = zygote.inside.stop;
    let (begun, watching) = std::sync::mpsc::channel();
    let watcher = std::thread::Builder::new().stack_size(WATCHER_STACK_BYTES).spawn(move || {
        let _ = begun.send(());
        watch(stop, tell);
    });
    (zygote.inside.start_threads)();
    // A thread that is only beginning makes calls that it will not be allowed.
    if watcher.is_err() || watching.recv().is_err() {
        os::exit_now(1);
    }
    if jailed {
        walls::shut_in(&mut jail, Shut::Behind(&zygote.filter));
    }
    let report = serde_json::to_vec(&jail).unwrap_or_default();
    (zygote.inside.run)(Line::new(UnixStream::from(line), report));
}

/// Keeps two descriptors, at the two lowest numbers, and no other.
fn descriptors(line: OwnedFd, stop: OwnedFd) -> Option<(OwnedFd, OwnedFd)> {
    // Out of the way of the two numbers first: a copy of a descriptor gets none of the lowest three.
    let high = |fd: OwnedFd| fd.try_clone().ok();
    let (line, stop) = (high(line)?, high(stop)?);
    let (line, stop) = (os::move_to(line, LINE_FD).ok()?, os::move_to(stop, STOP_FD).ok()?);
    os::close_from(STOP_FD + 1).ok()?;
    Some((line, stop))
}

/// Waits for the supervisor to say stop. When it is gone, so is the worker.
fn watch(stop: OwnedFd, tell: fn()) {
    let mut stop = std::fs::File::from(stop);
    let mut byte = [0];
    match io::Read::read(&mut stop, &mut byte) {
        Ok(1) => tell(),
        _ => os::exit_now(0),
    }
}

/// Tells the supervisor why there is no zygote, and ends it.
pub fn fail(why: &str) -> ! {
    if let Some(zygote) = ZYGOTE.get() {
        let _ = os::send(zygote.control.as_fd(), format!("{FAILED}{why}").as_bytes(), &[]);
    }
    os::exit_now(1)
}
