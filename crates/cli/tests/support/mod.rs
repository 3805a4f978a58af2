//! Runs the real binary, in a folder of its own.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

pub mod certificate;
pub mod mcp;
pub mod network;
pub mod origin;
pub mod place;
pub mod process;
pub mod search;
pub mod server;
pub mod terminal;
pub mod wire;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn is(&self, code: i32, stdout: &str, stderr: &str) {
        let expected = Ran { code, stdout: stdout.into(), stderr: stderr.into() };
        assert_eq!(*self, expected, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
    }
}

pub struct Folder(tempfile::TempDir);

pub fn folder() -> Folder {
    Folder(tempfile::tempdir().unwrap())
}

impl Folder {
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    pub fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }
}

pub fn binary() -> PathBuf {
    env!("CARGO_BIN_EXE_isolith").into()
}

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("ISOLITH_POLICY");
    command
}

pub fn isolith(args: &[&str]) -> Ran {
    ran(command(args).output().unwrap())
}

pub fn isolith_in(folder: &Folder, args: &[&str]) -> Ran {
    ran(command(args).current_dir(folder.path()).output().unwrap())
}

pub fn isolith_with_env(args: &[&str], env: &[(&str, &str)]) -> Ran {
    ran(command(args).envs(env.iter().copied()).output().unwrap())
}

pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
