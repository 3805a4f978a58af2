//! A process at a terminal, with someone who types.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long to wait for what must come; only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which of its streams a process has at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Both,
    /// Nothing can be typed.
    StderrOnly,
    /// Nothing that is asked is seen.
    StdinOnly,
}

/// A process at a terminal; its stdout goes elsewhere.
pub struct Session {
    child: Child,
    keyboard: File,
    pieces: Receiver<Vec<u8>>,
    stdout: Option<JoinHandle<String>>,
    /// What was on the screen so far.
    pub screen: String,
    read: usize,
}

impl Session {
    pub fn start(command: &mut Command, at: At) -> Session {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let shown = |shown: bool| if shown { Stdio::from(terminal()) } else { Stdio::null() };
        command.stdin(shown(at != At::StderrOnly)).stderr(shown(at != At::StdinOnly)).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        // The command keeps its ends open until they are replaced, and then the screen would never end.
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().unwrap();
        let (send, pieces) = channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // A terminal that nobody has open any more gives an error instead of an end.
            while let Ok(read @ 1..) = screen.read(&mut piece) {
                if send.send(piece[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Session { child, keyboard, pieces, stdout: Some(stdout), screen: String::new(), read: 0 }
    }

    /// Waits for a text behind the last one that was waited for.
    #[track_caller]
    pub fn expect(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.screen[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.screen.push_str(&String::from_utf8_lossy(&piece)),
                Err(_) => panic!("`{text}` did not come, but this: {:?}", self.screen),
            }
        }
    }

    pub fn type_line(&mut self, text: &str) {
        self.keyboard.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// The exit code, stdout and the screen, once the process is over. Nothing more is typed.
    #[track_caller]
    pub fn end(mut self) -> (i32, String, String) {
        let until = Instant::now() + PATIENCE;
        let code = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status.code().unwrap_or(-1),
                None if Instant::now() > until => {
                    self.screen
                        .extend(self.pieces.try_iter().map(|piece| String::from_utf8_lossy(&piece).into_owned()));
                    panic!("it does not end: {:?}", self.screen);
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let stdout = self.stdout.take().unwrap().join().unwrap();
        while let Ok(piece) = self.pieces.recv_timeout(PATIENCE) {
            self.screen.push_str(&String::from_utf8_lossy(&piece));
        }
        (code, stdout, std::mem::take(&mut self.screen))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
