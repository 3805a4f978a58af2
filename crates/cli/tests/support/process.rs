//! One process from start to end: what it wrote, how long it took, how much memory it had.

#![allow(unsafe_code, reason = "only `wait4` tells the memory of a child that is over, and no safe wrapper has it")]

use super::Ran;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How many times longer than stated things may take; for machines that are slow or shared.
pub fn slack() -> f64 {
    let given = std::env::var("ISOLITH_TEST_SLACK").ok().and_then(|text| text.parse::<f64>().ok());
    given.filter(|factor| factor.is_finite() && *factor > 0.0).unwrap_or(1.0)
}

/// A process that is over.
#[derive(Debug)]
pub struct Over {
    pub ran: Ran,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    pub took: Duration,
    pub peak_bytes: u64,
    /// It was still there when patience ran out, and was ended.
    pub hung: bool,
}

/// Runs a command to its end, or to the end of patience.
#[allow(clippy::zombie_processes, reason = "`reap` waits for it")]
pub fn run_within(command: &mut Command, patience: Duration) -> Over {
    let began = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let mut hung = false;
    let (status, peak_bytes) = loop {
        if let Some(over) = reap(&child) {
            break over;
        }
        if !hung && began.elapsed() > patience {
            hung = true;
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(2));
    };
    let took = began.elapsed();
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let ran = Ran { code, stdout: text(stdout.join().unwrap()), stderr: text(stderr.join().unwrap()) };
    Over { ran, signal, took, peak_bytes, hung }
}

fn drain(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        stream.unwrap().read_to_end(&mut all).unwrap();
        all
    })
}

/// The status and the largest resident size of a child that is over.
fn reap(child: &Child) -> Option<(i32, u64)> {
    let mut status = 0;
    // SAFETY: all zeros is a valid `rusage`, which is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals, and the child is ours and not reaped yet: nobody else waits for it.
    let reaped = unsafe { libc::wait4(child.id() as i32, &raw mut status, libc::WNOHANG, &raw mut usage) };
    assert!(reaped >= 0, "the child cannot be waited for: {}", std::io::Error::last_os_error());
    (reaped > 0).then(|| (status, u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10))
}

/// Whether a process has children: the workers of engines, where it has nothing else to start.
pub fn has_workers(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut children = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")));
    children.any(|children| children.is_ok_and(|children| !children.trim().is_empty()))
}
