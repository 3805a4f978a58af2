//! A worker that has no engine in it, but tries everything that a program that has broken out of one would try.
//!
//! It is called with the name of an engine, whose system calls it has.

#![allow(unsafe_code, reason = "what is tried has no safe form")]

mod attempts;

use isolith_jail::frame::{self, Said};
use isolith_jail::worker::{Inside, Line};
use isolith_jail::{EndKind, V8_CALLS, WASM_CALLS};
use std::convert::Infallible;
use std::process::ExitCode;

fn main() -> ExitCode {
    let calls = if std::env::args().nth(1).as_deref() == Some("v8") { V8_CALLS } else { WASM_CALLS };
    isolith_jail::worker::main(Inside { set_up, start_threads: || (), stop: || (), run, calls })
}

fn set_up(_: &serde_json::Value, alone: fn(), boot: fn()) -> Result<Infallible, String> {
    alone();
    boot();
    Err("nobody wants a worker".into())
}

/// The program is the name of something that a worker must not do, or JSON: what there is to be reached.
fn run(mut line: Line) {
    let Ok((_, told)) = line.ready().and_then(|()| line.hear()) else { return };
    match &*told {
        b"spin" => loop {
            std::hint::spin_loop();
        },
        b"flood of output" => flood(1),
        b"flood of notes" => flood(2),
        b"drip" => drip(line),
        b"hoard" => {
            let hoarded = hoard();
            // Whoever looks now and then has looked by then.
            std::thread::sleep(std::time::Duration::from_secs(2));
            end(line, &hoarded.to_string());
        }
        b"hoard while it waits" => {
            let waited = line.wait(0).map(|()| hoard()).and_then(|hoarded| line.hear().map(|_| hoarded));
            if let Ok(hoarded) = waited {
                end(line, &hoarded.to_string());
            }
        }
        _ => attempt(line, &told),
    }
}

fn attempt(line: Line, told: &[u8]) {
    let Ok(host) = serde_json::from_slice(told) else { return };
    let found: Vec<String> =
        attempts::all(&host).iter().map(|(name, reached)| format!("\"{name}\":{reached}")).collect();
    end(line, &format!("{{{}}}", found.join(",")));
}

fn end(mut line: Line, json: &str) {
    let _ = line.end(EndKind::Value, 0, |out| out.extend(json.as_bytes()));
}

/// Small pieces on one stream, without end: made once, so that there are always more of them than anybody can read.
fn flood(stream: u8) {
    let mut pieces = Vec::new();
    for _ in 0..8 << 10 {
        let at = frame::open(&mut pieces, Said::Output as u8);
        pieces.extend([stream, b'x', b'x']);
        frame::close(&mut pieces, at);
    }
    while send(&pieces) {}
}

/// Sends all of it, past the line.
fn send(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: a worker has its socket at this number, and what is sent lives until the call returns.
        let sent = unsafe { libc::send(0, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        match usize::try_from(sent) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(_) => return false,
        }
    }
    true
}

/// Fills more memory than there is room for, and gives up the right to write to each piece, so that the kernel does not count it.
fn hoard() -> bool {
    const PIECE_BYTES: usize = 8 << 20;
    (0..64).all(|_| {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: what is filled is a mapping of this size that nobody else uses.
        unsafe {
            let piece = libc::mmap(std::ptr::null_mut(), PIECE_BYTES, access, flags, -1, 0);
            if piece == libc::MAP_FAILED {
                return false;
            }
            piece.cast::<u8>().write_bytes(1, PIECE_BYTES);
            libc::mprotect(piece, PIECE_BYTES, libc::PROT_READ) == 0
        }
    })
}

/// Waits, and says a byte at a time what memory it has.
fn drip(mut line: Line) {
    if line.wait(0).and_then(|()| line.hear()).is_err() {
        return;
    }
    let announced = 32 << 20;
    let header = [&u32::to_le_bytes(announced)[..], &[Said::State as u8]].concat();
    let _ = header.iter().chain(std::iter::repeat(&0)).take_while(|byte| send(&[**byte])).count();
}
