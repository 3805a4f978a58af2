//! A run of a workflow, watched live on the terminal.
//!
//! A [`Board`] is what is known of the run, a [`Look`] what of it is looked at, and [`draw()`] makes a picture of both. A
//! [`View`] has the terminal meanwhile, and says what its keys wish. [`report()`] is what remains to be read afterwards.

mod agent;
mod board;
mod clean;
mod draw;
mod look;
mod paint;
mod report;
mod screen;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use board::Board;
pub(crate) use draw::draw;
pub(crate) use look::{Look, Paint, Wish};
pub(crate) use report::report;

use crossterm::event::{self, KeyCode, KeyEvent, KeyModifiers};
use isolith_workflow::Event;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use screen::Screen;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// After this long a frame is drawn in any case: its clocks go on.
const TICK: Duration = Duration::from_secs(1);
/// How long the thread that draws may take to end.
const FAREWELL: Duration = Duration::from_secs(1);

/// The live view. Dropped, it gives the terminal back; so does a panic on any thread.
pub(crate) struct View {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    board: Mutex<Board>,
    changed: AtomicBool,
    over: AtomicBool,
}

impl View {
    /// Takes the terminal on stderr and begins to draw. Refused where stderr is no terminal.
    ///
    /// What a person wishes goes to `wishes`. After [`Wish::Leave`] the terminal is free again, and the view only listens.
    pub(crate) fn start(wishes: Sender<Wish>) -> io::Result<View> {
        screen::take()?;
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("view".into()).spawn(move || of_thread.watch(&wishes));
        Ok(View { shared, thread: thread.inspect_err(|_| screen::give_back())? })
    }

    /// Takes in what happened. Returns at once, however slow the terminal is.
    pub(crate) fn hear(&self, event: &Event) {
        self.shared.board().hear(event);
        self.shared.changed.store(true, Ordering::Release);
    }

    /// Gives the terminal back, and returns what is known of the run.
    pub(crate) fn finish(self) -> Board {
        self.close();
        std::mem::take(&mut *self.shared.board())
    }

    fn close(&self) {
        self.shared.over.store(true, Ordering::Release);
        let since = Instant::now();
        // Not joined: every wait has a limit, and this thread waits for a terminal.
        while !self.thread.is_finished() && since.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(5));
        }
        screen::give_back();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.close();
    }
}

/// Why the view is closed.
enum End {
    /// The run is over.
    Over,
    /// A person left it, the terminal went away, or a panic needed it.
    Left,
    Interrupted,
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, wishes: &Sender<Wish>) {
        // A terminal that cannot be drawn on or read from is left like one that a person left.
        let end = self.show(wishes).unwrap_or(End::Left);
        screen::give_back();
        if matches!(end, End::Left | End::Interrupted) {
            let _ = wishes.send(Wish::Leave);
        }
        if matches!(end, End::Interrupted) {
            // While keys come one by one, the terminal does not make a signal of this one.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
        }
    }

    fn show(&self, wishes: &Sender<Wish>) -> io::Result<End> {
        let mut terminal = Terminal::new(CrosstermBackend::new(Screen::default()))?;
        let mut look = Look::new(paint());
        let mut drawn: Option<Instant> = None;
        while !self.over.load(Ordering::Acquire) {
            if !screen::is_ours() {
                return Ok(End::Left);
            }
            let wait = drawn.map_or(Duration::ZERO, |drawn| FRAME.saturating_sub(drawn.elapsed()));
            let idle = drawn.is_some_and(|drawn| drawn.elapsed() < TICK);
            if wait.is_zero() && (self.changed.swap(false, Ordering::AcqRel) || !idle) {
                self.draw(&mut terminal, &look)?;
                drawn = Some(Instant::now());
            }
            if !event::poll(Duration::ZERO)? {
                screen::wait(if wait.is_zero() { FRAME } else { wait })?;
                continue;
            }
            if let event::Event::Key(key) = event::read()? {
                if is_interrupt(key) {
                    return Ok(End::Interrupted);
                }
                match look.key(key, &self.board()) {
                    Some(Wish::Leave) => return Ok(End::Left),
                    // Nobody listens when the run is just ending.
                    Some(wish) => drop(wishes.send(wish)),
                    None => {}
                }
            }
            self.changed.store(true, Ordering::Release);
        }
        Ok(End::Over)
    }

    /// Draws into memory while the board is held, and writes to the terminal after: a slow one must not hold up the run.
    fn draw(&self, terminal: &mut Terminal<CrosstermBackend<Screen>>, look: &Look) -> io::Result<()> {
        terminal.autoresize()?;
        draw(&mut terminal.get_frame(), &self.board(), look, now_ms());
        terminal.apply_buffer().map(drop)
    }
}

fn is_interrupt(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// Colours, unless `NO_COLOR` says otherwise.
fn paint() -> Paint {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) { Paint::Plain } else { Paint::Coloured }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
