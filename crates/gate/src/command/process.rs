//! One process of the host, with all it starts: fed, read, bounded, and ended together.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

const PIECE_BYTES: usize = 16 << 10;

/// What is to be run, and within which bounds.
pub(crate) struct Job<'a> {
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// Where; without this, where we are.
    pub(crate) cwd: Option<&'a Path>,
    /// All of its environment; without this, ours.
    pub(crate) environment: Option<Vec<(OsString, OsString)>>,
    /// For its stdin.
    pub(crate) input: Vec<u8>,
    /// The most it may print to stdout.
    pub(crate) stdout_bytes_max: usize,
    /// How much of the end of its stderr is kept.
    pub(crate) stderr_bytes_max: usize,
    /// How long it may take.
    pub(crate) limit: Duration,
}

/// A process that ended by itself.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    // It can be a secret.
    pub(crate) stdout: Zeroizing<Vec<u8>>,
    pub(crate) stderr_tail: Vec<u8>,
}

/// Why there is no end to speak of.
#[derive(Debug)]
pub(crate) enum Failed {
    Start(io::Error),
    Io(io::Error),
    TimedOut,
    TooLarge,
}

/// A line for the shell, as an argv.
pub(crate) fn shell(line: &str) -> Vec<String> {
    vec!["sh".into(), "-c".into(), line.into()]
}

impl Job<'_> {
    /// Runs it. Whatever way this future goes, by an end, an error or being dropped, the whole process group is gone after it.
    pub(crate) async fn run(self) -> Result<Ended, Failed> {
        let limit = self.limit;
        // The group is inside the future, so that running out of time ends it like everything else.
        tokio::time::timeout(limit, self.drive()).await.unwrap_or(Err(Failed::TimedOut))
    }

    async fn drive(self) -> Result<Ended, Failed> {
        let mut group = self.start().map_err(Failed::Start)?;
        let stdin = group.child.stdin.take();
        let stdout = group.child.stdout.take();
        let stderr = group.child.stderr.take();
        let input = self.input;
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A program may end or close its stdin without having read all of it: that is its own affair.
                let _ = stdin.write_all(&input).await;
            }
            Ok(())
        };
        let end = async {
            let status = group.child.wait().await.map_err(Failed::Io)?;
            // What it left running would hold its stdout open, and has nobody left to work for.
            group.kill();
            Ok(status)
        };
        // THREAT[T-TOOL-003]: all at once. Writing first and reading then would wait for each other when both are large.
        let ((), stdout, stderr_tail, status) = tokio::try_join!(
            feed,
            read_all(stdout, self.stdout_bytes_max),
            read_tail(stderr, self.stderr_bytes_max),
            end
        )?;
        Ok(Ended { status, stdout, stderr_tail })
    }

    fn start(&self) -> io::Result<Group> {
        let (program, arguments) = self.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).process_group(0).kill_on_drop(true);
        command.stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stderr(if self.stderr_bytes_max == 0 { Stdio::null() } else { Stdio::piped() });
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        let child = command.spawn()?;
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Group { leader, child })
    }
}

/// A process and those it started, which end with it.
struct Group {
    leader: Option<Pid>,
    child: Child,
}

impl Group {
    // THREAT[T-TOOL-002]: ending only the process we started would leave its children running, outside of any limit. The
    // number of a group stays taken as long as anyone is in it; when nobody is, it is not given out again for as long
    // as it takes to get here from `wait`, since numbers go round by the thousands first.
    fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Before the child goes: until then its number is certainly its own.
        self.kill();
    }
}

async fn read_all(stream: Option<impl AsyncRead + Unpin>, most: usize) -> Result<Zeroizing<Vec<u8>>, Failed> {
    // A secret should leave no copies behind in memory that was given back, so a small buffer does not grow.
    let mut all = Zeroizing::new(Vec::with_capacity(most.saturating_add(1).min(128 << 10)));
    if let Some(stream) = stream {
        stream.take(most as u64 + 1).read_to_end(&mut all).await.map_err(Failed::Io)?;
    }
    if all.len() > most { Err(Failed::TooLarge) } else { Ok(all) }
}

async fn read_tail(stream: Option<impl AsyncRead + Unpin>, most: usize) -> Result<Vec<u8>, Failed> {
    let mut tail = Vec::new();
    let Some(mut stream) = stream else { return Ok(tail) };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = stream.read(&mut piece).await.map_err(Failed::Io)?;
        if read == 0 {
            return Ok(tail);
        }
        tail.extend_from_slice(&piece[..read]);
        tail.drain(..tail.len().saturating_sub(most));
    }
}
