use super::lease::Lease;
use crate::options::Launch;
use crate::os;
use crate::worker::Settings;
use crate::worker::control::{ASK_FOR_COPY, FAILED, MESSAGE_BYTES_MAX};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a zygote may take to load the library and the prelude.
const SETUP_TIME: Duration = Duration::from_secs(30);
/// How long it may take to make a copy of itself.
const COPY_TIME: Duration = Duration::from_secs(10);

/// Why there is no zygote, or no worker.
#[derive(Debug, thiserror::Error)]
pub enum ZygoteError {
    /// Its executable does not start.
    #[error("cannot start `{program}`")]
    Spawn {
        /// The executable.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It cannot be talked to.
    #[error("cannot talk to the zygote")]
    Talk(#[from] io::Error),
    /// It did not answer.
    #[error("the zygote said nothing for {0:?}")]
    Silent(Duration),
    /// It is not there any more.
    #[error("the zygote is gone")]
    Gone,
    /// It says why it could not.
    #[error("the zygote failed: {0}")]
    Failed(String),
    /// It made a worker, whose descriptors did not all arrive: there is no room for more here.
    #[error("there is no room for the descriptors of a worker")]
    Descriptors,
    /// It made a worker, which cannot be had.
    #[error("cannot take a worker over")]
    Worker(#[source] io::Error),
}

impl ZygoteError {
    /// Whether the zygote is there as before and was asked in vain. With a zygote go all runs of its workers, so that one which can
    /// make another worker later must not be given up.
    pub(super) fn leaves_zygote(&self) -> bool {
        match self {
            ZygoteError::Failed(_) | ZygoteError::Descriptors | ZygoteError::Worker(_) => true,
            ZygoteError::Spawn { .. } | ZygoteError::Talk(_) | ZygoteError::Silent(_) | ZygoteError::Gone => false,
        }
    }
}

/// A process that makes workers. It ends when this is dropped.
pub(crate) struct Zygote {
    child: Child,
    control: OwnedFd,
    /// What it has when it is set up. Each copy begins with it.
    data_bytes: u64,
}

impl Zygote {
    /// Starts one and waits until it is ready. It dies with the thread that calls this.
    pub(crate) fn start(launch: &Launch, settings: &Settings) -> Result<Zygote, ZygoteError> {
        let (control, theirs) = os::packet_pair()?;
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).env_clear().current_dir("/").stdin(Stdio::from(theirs));
        command.stdout(Stdio::null()).stderr(if launch.keep_stderr { Stdio::inherit() } else { Stdio::null() });
        let spawned = command.spawn();
        let program = || launch.program.display().to_string();
        let child = spawned.map_err(|source| ZygoteError::Spawn { program: program(), source })?;
        // The command holds the other end: as long as it does, a zygote that dies would not be noticed.
        drop(command);
        let mut zygote = Zygote { child, control, data_bytes: 0 };
        let settings = serde_json::to_vec(settings).map_err(io::Error::from)?;
        os::send(zygote.control.as_fd(), &settings, &[])?;
        zygote.answer(SETUP_TIME)?;
        let table = os::MemoryTable::of(zygote.child.id() as i32);
        let unknown = || io::Error::other("the kernel does not say how much memory it has");
        zygote.data_bytes = table.ok_or_else(unknown)?.data_bytes;
        Ok(zygote)
    }

    /// One more worker.
    pub(crate) fn copy(&self) -> Result<Lease, ZygoteError> {
        os::send(self.control.as_fd(), ASK_FOR_COPY, &[]).map_err(|_| ZygoteError::Gone)?;
        let fds: [OwnedFd; 3] = self.answer(COPY_TIME)?.try_into().map_err(|_| ZygoteError::Descriptors)?;
        Lease::new(fds, self.data_bytes).map_err(ZygoteError::Worker)
    }

    /// Has something to read when the zygote is gone.
    pub(crate) fn control(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    fn answer(&self, time: Duration) -> Result<Vec<OwnedFd>, ZygoteError> {
        if !os::readable_within(&self.control, time) {
            return Err(ZygoteError::Silent(time));
        }
        let mut room = vec![0; MESSAGE_BYTES_MAX];
        let (len, fds) = os::receive(self.control.as_fd(), &mut room).map_err(|_| ZygoteError::Gone)?;
        let text = String::from_utf8_lossy(room.get(..len).unwrap_or_default());
        match text.strip_prefix(FAILED) {
            Some(why) => Err(ZygoteError::Failed(why.to_owned())),
            None if len == 0 => Err(ZygoteError::Gone),
            None => Ok(fds),
        }
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
impl Zygote {
    /// One that says what the other end of this is told to say.
    pub(super) fn forged(control: OwnedFd) -> io::Result<Zygote> {
        Ok(Zygote { child: Command::new("sleep").arg("60").spawn()?, control, data_bytes: 0 })
    }
}
