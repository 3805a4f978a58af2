use super::inbox::{Heard, Inbox};
use super::shelf::Bell;
use crate::frame::Said;
use crate::os;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::task::coop::consume_budget;

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

/// One worker, for one run. It is killed when this is dropped, whatever it does; one that has come to its end by itself in a quiet
/// moment, because there is some work in that.
pub(crate) struct Lease {
    socket: Socket,
    stop: Option<io::PipeWriter>,
    process: Arc<Process>,
    over: bool,
    /// What its zygote had, by the count that bounds it.
    began_with_bytes: u64,
    read: Inbox,
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
pub(super) struct Process {
    pidfd: OwnedFd,
    pid: i32,
    too_large: AtomicBool,
}

impl Process {
    /// Memory that it holds and shares with no file.
    pub(super) fn resident_bytes(&self) -> Option<u64> {
        Some(os::MemoryTable::of(self.pid)?.resident_bytes)
    }

    /// Ends it for certain, and has whoever misses it know why.
    pub(super) fn kill_too_large(&self) {
        self.too_large.store(true, Relaxed);
        os::kill(self.pidfd.as_fd());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        os::kill(self.pidfd.as_fd());
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
    /// One that its zygote has made, which had so much memory itself.
    pub(crate) fn new([socket, stop, pidfd]: [OwnedFd; 3], began_with_bytes: u64) -> io::Result<Lease> {
        let socket = StdStream::from(socket);
        socket.set_nonblocking(true)?;
        // What has no number has no clock, and a limit on computing that nobody measures is none.
        let pid = os::pid_of(pidfd.as_fd()).ok_or_else(|| io::Error::other("the worker has no number here"))?;
        let most = Most { output: 0, call: 0, end: 0, state: 0 };
        let stop = Some(io::PipeWriter::from(stop));
        let process = Arc::new(Process { pidfd, pid, too_large: AtomicBool::new(false) });
        let (socket, read, over) = (Socket::Plain(socket), Inbox::default(), false);
        Ok(Lease { socket, stop, process, over, began_with_bytes, read, most, bell: None })
    }

    pub(super) fn process(&self) -> Weak<Process> {
        Arc::downgrade(&self.process)
    }

    pub(crate) fn began_with_bytes(&self) -> u64 {
        self.began_with_bytes
    }

    /// Whether it was killed for the memory that it held.
    pub(crate) fn was_too_large(&self) -> bool {
        self.process.too_large.load(Relaxed)
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
            Said::Ready if os::readable_within(&self.process.pidfd, Duration::ZERO) => Err(LeaseError::Died),
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
        os::cpu_time(self.process.pid)
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
        os::kill(self.process.pidfd.as_fd());
    }

    /// The same, for one that has not come to its end by itself.
    pub(crate) fn kill_unless_over(&self) {
        if !self.over {
            self.kill();
        }
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

    /// Tells it what is left of some frames; `rest` is then what it has not taken. Nothing is lost when this is dropped half-way.
    pub(crate) async fn tell(&mut self, rest: &mut &[u8]) -> Result<(), LeaseError> {
        while !rest.is_empty() {
            let written = match &mut self.socket {
                // What the kernel takes at once needs nobody to wait for it.
                Socket::Plain(plain) => plain.write(rest),
                Socket::Awaited(socket) => {
                    consume_budget().await;
                    socket.writable().await?;
                    socket.try_write(rest)
                }
                Socket::Lost => return Err(LeaseError::Died),
            };
            match written {
                Ok(written) => *rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.awaited()?;
                }
                Err(_) => return Err(LeaseError::Died),
            }
        }
        Ok(())
    }

    // THREAT[T-LIMIT-003]: a worker that never stops talking keeps whoever listens to it, and nobody looks at its time any more.
    /// The next thing it says. Nothing is lost when this is dropped half-way, and others get their turn however much there is to hear.
    pub(crate) async fn hear(&mut self) -> Result<Heard, LeaseError> {
        loop {
            consume_budget().await;
            if let Some(heard) = self.read.take(&self.most)? {
                return Ok(heard);
            }
            let read = match &mut self.socket {
                // What is there already is read without the runtime: whoever waits for it to notice waits longer than for the worker.
                Socket::Plain(plain) => self.read.read(&self.most, |room| plain.read(room))?,
                Socket::Awaited(socket) => {
                    socket.readable().await?;
                    self.read.read(&self.most, |room| socket.try_read(room))?
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

    /// Tells it something and waits for what it says to that, for at most this long, however much there is to hear.
    pub(crate) async fn ask(&mut self, mut frames: &[u8], time: Duration) -> Result<Heard, LeaseError> {
        let asked = async {
            self.tell(&mut frames).await?;
            self.hear().await
        };
        tokio::time::timeout(time, asked).await.unwrap_or(Err(LeaseError::Silent(time)))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.bell.take() {
            Some(bell) if self.over => bell.bury(Remains {
                _process: Arc::clone(&self.process),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_whose_clock_nobody_can_read_is_none() -> io::Result<()> {
        let (socket, _peer) = StdStream::pair()?;
        let (no_process, stop) = io::pipe()?;
        let error = Lease::new([socket.into(), stop.into(), no_process.into()], 0).map(|_| ());
        assert_eq!(error.map_err(|error| error.to_string()), Err("the worker has no number here".into()));
        Ok(())
    }
}
