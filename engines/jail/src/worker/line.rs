//! The worker's end of the socket.

use crate::end::EndKind;
use crate::frame::{self, HEADER_BYTES, Said};
use crate::os;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that are gathered before they are sent while the program goes on.
const GATHERED_BYTES: usize = 16 << 10;
/// How old gathered output may become.
const GATHERED_TIME: Duration = Duration::from_millis(2);
/// The most that a supervisor says at once. It is the trusted side; this only keeps a broken stream from looking like a program.
const TOLD_BYTES_MAX: usize = 2 << 30;

/// Held while frames are sent: the last words of one thread must not get into a frame of another.
static SENDING: Mutex<()> = Mutex::new(());

/// The socket of one worker, and what is to be sent over it.
pub struct Line {
    socket: UnixStream,
    /// Which walls stand, until that is said.
    report: Vec<u8>,
    out: Vec<u8>,
    sent: Instant,
}

impl Line {
    pub(crate) fn new(socket: UnixStream, report: Vec<u8>) -> Line {
        Line { socket, report, out: Vec::new(), sent: Instant::now() }
    }

    /// Says that a program can come, and which walls stand.
    pub fn ready(&mut self) -> io::Result<()> {
        let report = std::mem::take(&mut self.report);
        self.say(Said::Ready, |out| out.extend(report));
        self.send()
    }

    /// The line of this worker once more, for last words, on whichever thread: what is sent is sent in whole frames, so there can be one
    /// more.
    pub fn again() -> Line {
        Line::new(os::line_again(), Vec::new())
    }

    /// Says how the run ended, and the memory that it had then.
    pub fn end(&mut self, kind: EndKind, memory_bytes: u64, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.say(Said::Ended, |out| {
            out.push(kind as u8);
            out.extend(memory_bytes.to_le_bytes());
            write(out);
        });
        self.send()
    }

    /// Says that nothing is left to do until the host replies.
    pub fn wait(&mut self, memory_bytes: u64) -> io::Result<()> {
        self.say(Said::Waits, |out| out.extend(memory_bytes.to_le_bytes()));
        self.send()
    }

    /// Puts a frame in line.
    pub fn say(&mut self, said: Said, write: impl FnOnce(&mut Vec<u8>)) {
        let at = frame::open(&mut self.out, said as u8);
        write(&mut self.out);
        frame::close(&mut self.out, at);
    }

    /// Sends what has gathered if that is much, or old.
    pub fn send_some(&mut self) -> io::Result<()> {
        if self.out.len() >= GATHERED_BYTES || self.sent.elapsed() >= GATHERED_TIME { self.send() } else { Ok(()) }
    }

    /// Sends what has gathered.
    pub fn send(&mut self) -> io::Result<()> {
        let sending = SENDING.lock().unwrap_or_else(PoisonError::into_inner);
        self.socket.write_all(&self.out)?;
        drop(sending);
        self.out.clear();
        self.out.shrink_to(GATHERED_BYTES);
        self.sent = Instant::now();
        Ok(())
    }

    /// Waits for what the supervisor says: its kind and content. An error when it is gone.
    pub fn hear(&mut self) -> io::Result<(u8, Vec<u8>)> {
        self.hear_at_most(TOLD_BYTES_MAX)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The same; nothing when it is more than so many bytes, and then there is no going on.
    pub fn hear_at_most(&mut self, most: usize) -> io::Result<Option<(u8, Vec<u8>)>> {
        let mut header = [0; HEADER_BYTES];
        self.socket.read_exact(&mut header)?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        if len > most.min(TOLD_BYTES_MAX) {
            return Ok(None);
        }
        let mut content = vec![0; len];
        self.socket.read_exact(&mut content)?;
        self.sent = Instant::now();
        Ok(Some((header[HEADER_BYTES - 1], content)))
    }
}
