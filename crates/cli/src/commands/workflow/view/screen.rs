//! The terminal, taken and given back.

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal as _, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the terminal is ours. It is one for the whole process, and a panic on any thread gives it back.
/// It is changed, and frames are written, under the lock of stderr: no frame comes after the terminal was given back.
static OURS: AtomicBool = AtomicBool::new(false);

/// Takes the terminal: keys come one by one, and what is drawn leaves the lines above alone.
pub(super) fn take() -> io::Result<()> {
    if !io::stderr().is_terminal() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "stderr is no terminal"));
    }
    if OURS.swap(true, Ordering::SeqCst) {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another view has the terminal"));
    }
    give_back_on_panic();
    let taken = enable_raw_mode().and_then(|()| execute!(io::stderr(), EnterAlternateScreen, Hide));
    taken.inspect_err(|_| give_back())
}

/// Gives the terminal back, once.
pub(super) fn give_back() {
    let mut stderr = io::stderr().lock();
    if OURS.swap(false, Ordering::SeqCst) {
        // There is nobody to tell if this fails: it is the way to tell.
        let _ = execute!(stderr, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

pub(super) fn is_ours() -> bool {
    OURS.load(Ordering::SeqCst)
}

/// Waits until a key may be there, at most for a time. An error when the terminal went away.
///
/// crossterm could wait too, but once the terminal is gone it reads nothing from it for ever, and never returns.
pub(super) fn wait(at_most: Duration) -> io::Result<()> {
    let stderr = io::stderr();
    let mut watched = [PollFd::new(&stderr, PollFlags::IN)];
    let limit = Timespec { tv_sec: 0, tv_nsec: at_most.subsec_nanos().into() };
    let woken = match poll(&mut watched, Some(&limit)) {
        Ok(_) => watched[0].revents(),
        // A signal, perhaps of a new size.
        Err(rustix::io::Errno::INTR) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if woken.contains(PollFlags::HUP) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    if woken.intersects(PollFlags::ERR | PollFlags::NVAL) {
        // Terminals that cannot be waited for are looked at from time to time.
        std::thread::sleep(at_most);
    }
    Ok(())
}

fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
    });
}

/// Collects a frame and writes it at once: stderr has no buffer of its own, and half a frame flickers.
#[derive(Default)]
pub(super) struct Screen(Vec<u8>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        let frame = std::mem::take(&mut self.0);
        if is_ours() && stderr.write_all(&frame).is_err() {
            // No error: ratatui would print one when it is dropped, to where nothing can be printed, and panic.
            give_back();
        }
        Ok(())
    }
}
