//! A server that is a process of ours.

use crate::fail;
use crate::redaction::Redaction;
use isolith_core::CallError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use zeroize::Zeroizing;

/// The variables of ours that a server gets.
const VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];
/// How long a server may take to end after its stdin was closed.
const GRACE: Duration = Duration::from_secs(2);
/// How long is waited for the status of a server that has closed its stdout.
const STATUS_PATIENCE: Duration = Duration::from_millis(500);
/// How much of what a server prints to stderr is logged, in all.
const LOGGED_BYTES_MAX: usize = 256 << 10;
/// How much of the end of it is kept.
const TAIL_BYTES_MAX: usize = 2 << 10;
const PIECE_BYTES: usize = 4 << 10;

/// What is to be started.
pub(super) struct Job<'a> {
    pub(super) command: &'a [String],
    pub(super) env: Vec<(String, Zeroizing<String>)>,
    pub(super) folder: &'a Path,
    pub(super) cwd: Option<&'a str>,
    pub(super) redaction: &'a Redaction,
    /// For the log.
    pub(super) namespace: &'a str,
}

/// A server with all it started. When this goes, they go.
pub(super) struct Process {
    /// What it printed to stderr last, without secrets.
    tail: Arc<Mutex<Vec<u8>>>,
    status: tokio::sync::watch::Receiver<Option<ExitStatus>>,
    task: Mutex<Option<JoinHandle<()>>>,
    stop: CancellationToken,
    _stops: DropGuard,
}

impl Job<'_> {
    pub(super) fn start(self) -> Result<(Process, ChildStdout, ChildStdin), CallError> {
        let cannot = |why: String| fail::unavailable(format!("the tool server of `{}` {why}", self.namespace));
        let cwd = self.cwd.map_or_else(|| self.folder.to_owned(), |cwd| self.folder.join(cwd));
        let mut command = match self.command {
            [] => return Err(cannot("has no command".into())),
            [line] if line.contains(char::is_whitespace) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(line);
                command
            }
            [program, arguments @ ..] => {
                let mut command = Command::new(self.program(program));
                command.args(arguments);
                command
            }
        };
        // THREAT[T-TOOL-001]: a server is reached with the guest's arguments. The host's environment is full of credentials
        // that it has no use for.
        let kept = VARIABLES.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
        command.env_clear().envs(kept);
        command.envs(self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir(&cwd).process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| cannot(format!("could not be started: {}", error.kind())))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(cannot("has no pipes".into())) };
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (stop, tail) = (CancellationToken::new(), Arc::new(Mutex::default()));
        let (told, status) = tokio::sync::watch::channel(None);
        let stopped = stop.clone();
        let group = Group { leader, child };
        let task = tokio::spawn(async move {
            let ended = group.end(stopped).await;
            told.send_replace(ended);
        });
        if let Some(stderr) = stderr {
            // It ends with the process, which holds the other end.
            tokio::spawn(listen(stderr, self.namespace.to_owned(), Arc::clone(&tail), self.redaction.clone()));
        }
        let task = Mutex::new(Some(task));
        Ok((Process { tail, status, task, _stops: stop.clone().drop_guard(), stop }, stdout, stdin))
    }

    /// A path is from the folder of whoever wrote it, wherever the server runs.
    fn program(&self, program: &str) -> PathBuf {
        if program.contains('/') { self.folder.join(program) } else { program.into() }
    }
}

impl Process {
    /// How it ended, and what it said then; nothing when it has not.
    pub(super) async fn ended(&self) -> Option<String> {
        let mut status = self.status.clone();
        let ended = tokio::time::timeout(STATUS_PATIENCE, status.wait_for(Option::is_some)).await;
        let status = ended.ok()?.ok().and_then(|status| *status)?;
        let how = match status.code() {
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal".to_owned(),
        };
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let said = fail::said(&String::from_utf8_lossy(&tail));
        Some(if said.is_empty() { how } else { format!("{how}: {said}") })
    }

    /// Ends it and waits until it has.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = tokio::time::timeout(GRACE * 2, task).await;
        }
    }
}

/// A process and those it started, which end with it.
struct Group {
    leader: Option<Pid>,
    child: Child,
}

impl Group {
    /// Waits until it ends, or ends it when that is wished.
    async fn end(mut self, stop: CancellationToken) -> Option<ExitStatus> {
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            () = stop.cancelled() => {
                // Its stdin is closed by who wrote to it: most servers go by that.
                tokio::time::timeout(GRACE, self.child.wait()).await.ok().and_then(Result::ok)
            }
        };
        // THREAT[T-TOOL-002]: what it left running would hold its pipes open, and has nobody left to work for.
        self.kill();
        match status {
            Some(status) => Some(status),
            None => self.child.wait().await.ok(),
        }
    }

    fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Logs what a server prints to stderr, as far as it is worth it, and keeps the end of it.
async fn listen(mut stderr: ChildStderr, namespace: String, tail: Arc<Mutex<Vec<u8>>>, redaction: Redaction) {
    // Line by line would be nicer to read, and let a secret be cut in two.
    let mut redact = redaction.wire.stream();
    let (mut piece, mut logged) = (vec![0; PIECE_BYTES], 0);
    loop {
        let read = stderr.read(&mut piece).await.unwrap_or(0);
        let clean = if read == 0 { redact.finish() } else { redact.push(&piece[..read]) };
        let clean = redaction.text(&String::from_utf8_lossy(&clean)).into_owned();
        if logged < LOGGED_BYTES_MAX && !clean.is_empty() {
            logged += clean.len();
            tracing::debug!(namespace, "{}", fail::said(&clean));
        }
        let mut kept = tail.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(clean.as_bytes());
        let excess = kept.len().saturating_sub(TAIL_BYTES_MAX);
        kept.drain(..excess);
        if read == 0 {
            return;
        }
    }
}
