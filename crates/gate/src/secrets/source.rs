//! Reading one secret where it is kept. Failures say what is wrong with the place, never what was found there.

use super::VALUE_BYTES_MAX;
use crate::command::process::{Failed, Job, shell};
use isolith_core::{SecretSource, SecretStore};
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use zeroize::{Zeroize as _, Zeroizing};

/// How long a command may take to come up with a secret.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

type Value = Zeroizing<String>;

/// The source as messages show it, which the guest sees. A command's line is the operator's business.
pub(super) fn shown(source: &SecretSource) -> String {
    match source {
        SecretSource::Env(_) | SecretSource::File(_) | SecretSource::Store(_) => format!("`{source}` "),
        SecretSource::Command(_) => "its command ".into(),
    }
}

pub(super) async fn read(source: &SecretSource, store: Option<Arc<dyn SecretStore>>) -> Result<Value, String> {
    let value = match source {
        SecretSource::Env(name) => match std::env::var(name) {
            Ok(value) => Zeroizing::new(value),
            Err(std::env::VarError::NotPresent) => return Err("is not set".into()),
            Err(std::env::VarError::NotUnicode(raw)) => {
                raw.into_encoded_bytes().zeroize();
                return Err("is not UTF-8".into());
            }
        },
        SecretSource::File(path) => {
            let path = path.clone();
            text(blocking(move || read_file(&path)).await?)?
        }
        SecretSource::Command(line) => text(run(line).await?)?,
        SecretSource::Store(name) => {
            let name = name.clone();
            let store = store.ok_or("needs a store of secrets, and there is none")?;
            let found = blocking(move || store.get(&name)).await.map_err(|why| format!("cannot be read: {why}"))?;
            Zeroizing::new(found.ok_or("is not in the store: add it with `isolith secret set`")?)
        }
    };
    match value.len() {
        0 => Err("is empty".into()),
        bytes if bytes > VALUE_BYTES_MAX => Err(too_large()),
        _ => Ok(value),
    }
}

async fn blocking<T: Send + 'static>(read: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(read).await.map_err(|_| "could not be read".to_owned())?
}

fn read_file(path: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {}", error.kind());
    // Without waiting: opening a pipe that nobody writes to would never return.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(cannot)?;
    if !file.metadata().map_err(cannot)?.is_file() {
        return Err("is not a regular file".into());
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(VALUE_BYTES_MAX + 3));
    file.take(VALUE_BYTES_MAX as u64 + 3).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}

async fn run(line: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let job = Job {
        argv: shell(line),
        cwd: None,
        // The operator's own command, which often needs the operator's own environment to unlock something.
        environment: None,
        input: Vec::new(),
        stdout_bytes_max: VALUE_BYTES_MAX + 2,
        // THREAT[T-SECRET-013]: what a password manager complains about can hold what it manages.
        stderr_bytes_max: 0,
        limit: COMMAND_LIMIT,
    };
    let ended = job.run().await.map_err(|error| match error {
        Failed::Start(error) | Failed::Io(error) => format!("could not be run: {}", error.kind()),
        Failed::TimedOut => format!("took longer than {} s", COMMAND_LIMIT.as_secs()),
        Failed::TooLarge => too_large(),
    })?;
    if !ended.status.success() {
        return Err(match ended.status.code() {
            Some(code) => format!("failed with exit code {code}"),
            None => "was ended by a signal".into(),
        });
    }
    Ok(ended.stdout)
}

/// The value in what was read: without the newline that editors and `echo` put at the end.
fn text(mut bytes: Zeroizing<Vec<u8>>) -> Result<Value, String> {
    for last in [b'\n', b'\r'] {
        if bytes.last() == Some(&last) {
            bytes.pop();
        } else {
            break;
        }
    }
    match String::from_utf8(std::mem::take(&mut *bytes)) {
        Ok(text) => Ok(Zeroizing::new(text)),
        Err(error) => {
            error.into_bytes().zeroize();
            Err("is not UTF-8".into())
        }
    }
}

fn too_large() -> String {
    format!("has more than {} KiB", VALUE_BYTES_MAX >> 10)
}
