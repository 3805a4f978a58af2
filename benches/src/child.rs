use crate::error::Error;
use crate::sources::IDLE;
use crate::{cold, idle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Does the part of a measurement that needs a process of its own, and gives what to print.
///
/// `task` is what [`Options::child`](crate::Options::child) got as its last argument.
pub fn child(task: &str) -> Result<String, Error> {
    let unknown = || Error::Task(task.to_owned());
    let (name, rest) = task.split_once(':').ok_or_else(unknown)?;
    match name {
        "memory" => {
            let count = rest.parse().map_err(|_| unknown())?;
            print(&crate::measure::runtime()?.block_on(idle::memory(count, IDLE))?)
        }
        "cold" => {
            let (times, exe) = rest.split_once(':').ok_or_else(unknown)?;
            print(&cold::start(Path::new(exe), times.parse().map_err(|_| unknown())?)?)
        }
        _ => Err(unknown()),
    }
}

fn print(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|e| Error::System { doing: "write a measurement", source: e.into() })
}

/// Starts a process for `task` and reads what it measured.
pub(crate) fn ask<T: DeserializeOwned>(command: &[OsString], task: &str) -> Result<T, Error> {
    let shown = || {
        let words = command.iter().map(|word| word.to_string_lossy().into_owned());
        words.chain([task.to_owned()]).collect::<Vec<_>>().join(" ")
    };
    let Some((program, args)) = command.split_first() else {
        return Err(Error::Child { command: shown(), found: "no command".into() });
    };
    let output = Command::new(program)
        .args(args)
        .arg(task)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::system("start a process of our own"))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = [output.stdout, output.stderr].concat();
        Error::Child { command: shown(), found: String::from_utf8_lossy(&said).trim().chars().take(300).collect() }
    })
}
