//! One process with all it starts: fed, read line by line, bounded, and ended together.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

/// The most a program may print to stdout.
pub(crate) const STDOUT_BYTES_MAX: usize = 16 << 20;
/// How much of the end of its stderr is kept.
const STDERR_BYTES_MAX: usize = 2 << 10;
const PIECE_BYTES: usize = 16 << 10;

/// What is to be run.
pub(crate) struct Job {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// All of its environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    /// For its stdin; nothing means that there is none.
    pub(crate) input: Vec<u8>,
}

/// A process that ended by itself.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr_tail: Vec<u8>,
}

/// Why there is no end to speak of.
#[derive(Debug)]
pub(crate) enum Failed {
    Start(io::Error),
    Io(io::Error),
    TooLarge,
}

impl Job {
    /// Runs it. Whatever way this future goes, by an end, an error or being dropped, the whole process group is gone after it.
    pub(crate) async fn run(self, heard: impl FnMut(&str) + Send) -> Result<Ended, Failed> {
        let mut group = self.start().map_err(Failed::Start)?;
        let (stdin, stdout, stderr) = (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
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
        let ((), stdout, stderr_tail, status) =
            tokio::try_join!(feed, read_lines(stdout, heard), read_tail(stderr), end)?;
        Ok(Ended { status, stdout, stderr_tail })
    }

    fn start(&self) -> io::Result<Group> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir(&self.cwd).process_group(0).kill_on_drop(true);
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

async fn read_lines(stream: Option<impl AsyncRead + Unpin>, mut heard: impl FnMut(&str)) -> Result<Vec<u8>, Failed> {
    let (mut all, mut told) = (Vec::new(), 0);
    let Some(mut stream) = stream else { return Ok(all) };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = stream.read(&mut piece).await.map_err(Failed::Io)?;
        let looked = all.len();
        all.extend_from_slice(&piece[..read]);
        if all.len() > STDOUT_BYTES_MAX {
            return Err(Failed::TooLarge);
        }
        let mut at = looked;
        while let Some(end) = all[at..].iter().position(|byte| *byte == b'\n').map(|found| at + found) {
            heard(&String::from_utf8_lossy(&all[told..end]));
            (told, at) = (end + 1, end + 1);
        }
        if read == 0 {
            if told < all.len() {
                heard(&String::from_utf8_lossy(&all[told..]));
            }
            return Ok(all);
        }
    }
}

async fn read_tail(stream: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Failed> {
    let mut tail = Vec::new();
    let Some(mut stream) = stream else { return Ok(tail) };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = stream.read(&mut piece).await.map_err(Failed::Io)?;
        if read == 0 {
            return Ok(tail);
        }
        tail.extend_from_slice(&piece[..read]);
        tail.drain(..tail.len().saturating_sub(STDERR_BYTES_MAX));
    }
}
