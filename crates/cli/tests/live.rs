//! What happens while the process runs: output as it is written, and running again when the file changes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use support::{command, folder};

/// How long to wait for a line that must come; only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is ended when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    receive
}

#[test]
fn output_streams_while_the_program_runs() {
    // The second line is only written once the program is told that the first one has arrived: through its clock, by
    // waiting for longer than the test takes to read it.
    let code = "console.log('first'); await new Promise(r => setTimeout(r, 3600000)); console.log('never')";
    let mut child =
        command(&["eval", code, "--timeout", "2h"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = lines_of(child.stdout.take().unwrap());
    let _running = Running(child);
    assert_eq!(lines.recv_timeout(PATIENCE).as_deref(), Ok("first"));
}

#[test]
fn a_watched_program_runs_again_when_it_changes() {
    let work = folder();
    work.write("watched.js", "return 'one'");
    let mut child = command(&["run", "watched.js", "--watch"])
        .current_dir(work.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = lines_of(child.stdout.take().unwrap());
    let notes = lines_of(child.stderr.take().unwrap());
    let _running = Running(child);
    let waits = "waiting for changes; Ctrl-C ends";
    assert_eq!(lines.recv_timeout(PATIENCE).as_deref(), Ok("one"));
    assert_eq!(notes.recv_timeout(PATIENCE).as_deref(), Ok(waits));
    work.write("watched.js", "return (");
    assert!(notes.recv_timeout(PATIENCE).unwrap().starts_with("error: SyntaxError"));
    while notes.recv_timeout(PATIENCE).unwrap() != waits {}
    // Editors replace the file instead of writing to it.
    work.write("new.js", "return 'two'");
    std::fs::rename(work.path().join("new.js"), work.path().join("watched.js")).unwrap();
    assert_eq!(lines.recv_timeout(PATIENCE).as_deref(), Ok("two"));
}
