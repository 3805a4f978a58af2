use super::shelf::Bell;
use crate::frame::{HEADER_BYTES, Said};
use crate::os;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

/// Bytes that are read at a time when nothing larger is known to come.
const READ_BYTES: usize = 8 << 10;
/// The most that a report of walls has.
const READY_BYTES_MAX: usize = 16 << 10;

/// Why a worker is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseError {
    #[error("the worker died")]
    Died,
    #[error("the worker said something that makes no sense: {0}")]
    Nonsense(&'static str),
    #[error("the worker said nothing for {0:?}")]
    Silent(Duration),
    #[error("cannot talk to the worker")]
    Talk(#[from] io::Error),
}

/// What a worker said: its kind, and where its content is.
pub(crate) struct Heard {
    pub(crate) said: Said,
    pub(crate) content: Vec<u8>,
}

/// One worker, for one run. It is killed when this is dropped, whatever it does; one that has come to its end by itself in a quiet
/// moment, because there is some work in that.
pub(crate) struct Lease {
    socket: Socket,
    stop: Option<io::PipeWriter>,
    pidfd: Arc<Process>,
    over: bool,
    pid: Option<i32>,
    read: Vec<u8>,
    most: Most,
    bell: Option<Arc<Bell>>,
}

/// The most bytes that a worker may say at once, by what it says.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) output: usize,
    pub(crate) call: usize,
    pub(crate) end: usize,
    pub(crate) state: usize,
}

/// A process that ends when nobody has it any more.
struct Process(OwnedFd);

impl Drop for Process {
    fn drop(&mut self) {
        os::kill(self.0.as_fd());
    }
}

/// What is left of a worker whose run is over: it waits, and ends when this is dropped.
pub(crate) struct Remains {
    _process: Arc<Process>,
    _socket: Socket,
    _stop: Option<io::PipeWriter>,
}

enum Socket {
    /// Nobody has asked for it, and it belongs to no runtime.
    Plain(StdStream),
    Awaited(UnixStream),
    Lost,
}

impl Lease {
    pub(crate) fn new([socket, stop, pidfd]: [OwnedFd; 3]) -> io::Result<Lease> {
        let socket = StdStream::from(socket);
        socket.set_nonblocking(true)?;
        let pid = os::pid_of(pidfd.as_fd());
        let most = Most { output: 0, call: 0, end: 0, state: 0 };
        let stop = Some(io::PipeWriter::from(stop));
        let (pidfd, over) = (Arc::new(Process(pidfd)), false);
        Ok(Lease { socket: Socket::Plain(socket), stop, pidfd, over, pid, read: Vec::new(), most, bell: None })
    }

    /// Has somebody know when it is over.
    pub(crate) fn and_then_ring(mut self, bell: Arc<Bell>) -> Lease {
        self.bell = Some(bell);
        self
    }

    /// Waits until it is shut in; gives its report of which walls stand.
    pub(crate) async fn ready(&mut self) -> Result<Vec<u8>, LeaseError> {
        let heard = self.hear().await?;
        match heard.said {
            // What it said may have waited here for long, and outlived it.
            Said::Ready if os::readable_within(&self.pidfd.0, Duration::ZERO) => Err(LeaseError::Died),
            Said::Ready => Ok(heard.content),
            _ => Err(LeaseError::Nonsense("not that it is ready")),
        }
    }

    /// Says how much it may say at once from here on.
    pub(crate) fn bound(&mut self, most: Most) {
        self.most = most;
    }

    /// What the worker has computed so far.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.pid.and_then(os::cpu_time)
    }

    /// Asks it to stop.
    pub(crate) fn stop(&mut self) {
        // A pipe takes one byte without waiting.
        if let Some(mut stop) = self.stop.take() {
            let _ = stop.write_all(&[1]);
            self.stop = Some(stop);
        }
    }

    /// Ends it for certain.
    pub(crate) fn kill(&self) {
        os::kill(self.pidfd.0.as_fd());
    }

    /// Its run is over, by its own word: there is no hurry to end it.
    pub(crate) fn over(&mut self) {
        self.over = true;
    }

    /// Hands the socket to the runtime, from where on it can be waited for.
    fn awaited(&mut self) -> Result<&mut UnixStream, LeaseError> {
        if let Socket::Plain(_) = self.socket
            && let Socket::Plain(plain) = std::mem::replace(&mut self.socket, Socket::Lost)
        {
            self.socket = Socket::Awaited(UnixStream::from_std(plain)?);
        }
        match &mut self.socket {
            Socket::Awaited(socket) => Ok(socket),
            Socket::Plain(_) | Socket::Lost => Err(LeaseError::Died),
        }
    }

    /// Takes the socket back from the runtime.
    fn plain(&mut self) -> Result<&mut StdStream, LeaseError> {
        if let Socket::Awaited(_) = self.socket
            && let Socket::Awaited(socket) = std::mem::replace(&mut self.socket, Socket::Lost)
        {
            self.socket = Socket::Plain(socket.into_std()?);
        }
        match &mut self.socket {
            Socket::Plain(plain) => Ok(plain),
            Socket::Awaited(_) | Socket::Lost => Err(LeaseError::Died),
        }
    }

    /// Tells it something: whole frames.
    pub(crate) async fn tell(&mut self, frames: &[u8]) -> Result<(), LeaseError> {
        let mut rest = frames;
        // What the kernel takes at once needs nobody to wait for it.
        if let Socket::Plain(plain) = &mut self.socket
            && let Ok(written) = plain.write(rest)
        {
            rest = &rest[written..];
        }
        if rest.is_empty() {
            return Ok(());
        }
        self.awaited()?.write_all(rest).await.map_err(|_| LeaseError::Died)
    }

    /// The next thing it says. Nothing is lost when this is dropped half-way.
    pub(crate) async fn hear(&mut self) -> Result<Heard, LeaseError> {
        loop {
            if let Some(heard) = self.whole()? {
                return Ok(heard);
            }
            let wanted = self.wanted()?;
            self.read.reserve(wanted);
            let read = match &mut self.socket {
                // What is there already is read without the runtime: whoever waits for it to notice waits longer than for the worker.
                Socket::Plain(plain) => read_some(plain, &mut self.read, wanted),
                Socket::Awaited(socket) => {
                    socket.readable().await?;
                    socket.try_read_buf(&mut self.read)
                }
                Socket::Lost => return Err(LeaseError::Died),
            };
            match read {
                Ok(0) => return Err(LeaseError::Died),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.awaited()?;
                }
                Err(_) => return Err(LeaseError::Died),
            }
        }
    }

    /// Tells it something and waits on the spot for what it says to that, for at most this long.
    pub(crate) fn ask(&mut self, frames: &[u8], time: Duration) -> Result<Heard, LeaseError> {
        let until = Instant::now() + time;
        let left = || until.saturating_duration_since(Instant::now());
        let mut rest = frames;
        while !rest.is_empty() {
            let plain = self.plain()?;
            match plain.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !os::writable_within(&*plain, left()) {
                        return Err(LeaseError::Silent(time));
                    }
                }
                Err(_) => return Err(LeaseError::Died),
            }
        }
        loop {
            if let Some(heard) = self.whole()? {
                return Ok(heard);
            }
            let wanted = self.wanted()?;
            self.plain()?;
            let Socket::Plain(plain) = &mut self.socket else { return Err(LeaseError::Died) };
            match read_some(plain, &mut self.read, wanted) {
                Ok(0) => return Err(LeaseError::Died),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !os::readable_within(&*plain, left()) {
                        return Err(LeaseError::Silent(time));
                    }
                }
                Err(_) => return Err(LeaseError::Died),
            }
        }
    }

    /// The next frame, if it is there whole.
    fn whole(&mut self) -> Result<Option<Heard>, LeaseError> {
        let Some((said, len)) = self.header()?.filter(|(_, len)| self.read.len() >= HEADER_BYTES + len) else {
            return Ok(None);
        };
        let content = self.read[HEADER_BYTES..HEADER_BYTES + len].to_vec();
        self.read.drain(..HEADER_BYTES + len);
        Ok(Some(Heard { said, content }))
    }

    /// How much to read of what comes next.
    fn wanted(&self) -> Result<usize, LeaseError> {
        let known = self.header()?.map_or(0, |(_, len)| HEADER_BYTES + len - self.read.len());
        Ok(known.max(READ_BYTES))
    }

    /// The kind and the length of what comes next, if both are there and make sense.
    fn header(&self) -> Result<Option<(Said, usize)>, LeaseError> {
        let Some(header) = self.read.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let said = Said::from_number(header[4]).ok_or(LeaseError::Nonsense("a kind that there is not"))?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let most = match said {
            Said::Ready => READY_BYTES_MAX,
            Said::Output => self.most.output,
            Said::Call => self.most.call,
            Said::Waits => 8,
            Said::Ended => self.most.end,
            Said::State => self.most.state,
        };
        if len > most {
            return Err(LeaseError::Nonsense("more than it may say at once"));
        }
        Ok(Some((said, len)))
    }
}

/// Reads what is there, `most` bytes of it.
fn read_some(socket: &mut StdStream, into: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let before = into.len();
    into.resize(before + most, 0);
    let read = socket.read(&mut into[before..]);
    into.truncate(before + read.as_ref().copied().unwrap_or(0));
    read
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.bell.take() {
            Some(bell) if self.over => bell.bury(Remains {
                _process: Arc::clone(&self.pidfd),
                _socket: std::mem::replace(&mut self.socket, Socket::Lost),
                _stop: self.stop.take(),
            }),
            bell => {
                self.kill();
                bell.iter().for_each(|bell| bell.ring());
            }
        }
    }
}
