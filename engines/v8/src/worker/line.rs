//! The worker's end of the socket.

use super::told::Program;
use crate::end::EndKind;
use crate::frame::{self, HEADER_BYTES, Said};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes that are gathered before they are sent while the program goes on.
const GATHERED_BYTES: usize = 16 << 10;
/// How old gathered output may become.
const GATHERED_TIME: Duration = Duration::from_millis(2);
/// The most that a supervisor says at once. It is the trusted side; this only keeps a broken stream from looking like a program.
const TOLD_BYTES_MAX: usize = 2 << 30;

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

    /// Waits for a program, and gives its code.
    pub fn program(&mut self) -> io::Result<String> {
        let (_, content) = self.hear()?;
        Program::read(&content).map(|program| program.code).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Says that the run ended with a value.
    pub fn end(&mut self, json: &str) -> io::Result<()> {
        self.say(Said::Ended, |out| {
            out.push(EndKind::Value as u8);
            out.extend(0u64.to_le_bytes());
            out.extend(json.as_bytes());
        });
        self.send()
    }

    /// Puts a frame in line.
    pub(crate) fn say(&mut self, said: Said, write: impl FnOnce(&mut Vec<u8>)) {
        let at = frame::open(&mut self.out, said as u8);
        write(&mut self.out);
        frame::close(&mut self.out, at);
    }

    /// Sends what has gathered if that is much, or old.
    pub(crate) fn send_some(&mut self) -> io::Result<()> {
        if self.out.len() >= GATHERED_BYTES || self.sent.elapsed() >= GATHERED_TIME { self.send() } else { Ok(()) }
    }

    pub(crate) fn send(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.out)?;
        self.out.clear();
        self.out.shrink_to(GATHERED_BYTES);
        self.sent = Instant::now();
        Ok(())
    }

    /// Waits for what the supervisor says: its kind and content. An error when it is gone.
    pub(crate) fn hear(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut header = [0; HEADER_BYTES];
        self.socket.read_exact(&mut header)?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        if len > TOLD_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut content = vec![0; len];
        self.socket.read_exact(&mut content)?;
        self.sent = Instant::now();
        Ok((header[HEADER_BYTES - 1], content))
    }
}
