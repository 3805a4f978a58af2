//! A folder to run in, with a data folder that nobody else uses.

use super::network::{MAP_VARIABLE, Network};
use super::{Folder, Ran, command, folder, ran};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Place {
    pub work: Folder,
    pub data: Folder,
    environment: Vec<(String, String)>,
}

pub fn place() -> Place {
    Place { work: folder(), data: folder(), environment: Vec::new() }
}

impl Place {
    /// With a variable in the environment.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Place {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// With this instead of the network.
    pub fn on(self, network: Network) -> Place {
        let map = network.write(&self.data).display().to_string();
        self.with(MAP_VARIABLE, map)
    }

    pub fn write(&self, name: &str, text: &str) {
        if let Some(folder) = Path::new(name).parent() {
            std::fs::create_dir_all(self.work.path().join(folder)).unwrap();
        }
        self.work.write(name, text);
    }

    pub fn data_path(&self) -> PathBuf {
        self.data.path().join("isolith")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        command.current_dir(self.work.path()).env("ISOLITH_DATA", self.data_path());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn isolith(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    /// With this on stdin.
    pub fn isolith_fed(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ran(child.wait_with_output().unwrap())
    }

    /// Runs a program under flags, and gives its outcome.
    #[track_caller]
    pub fn outcome(&self, program: &str, flags: &[&str]) -> Outcome {
        self.write("program.ts", program);
        self.outcome_of("program.ts", flags)
    }

    /// The same for a file that is there.
    #[track_caller]
    pub fn outcome_of(&self, file: &str, flags: &[&str]) -> Outcome {
        let ran = self.isolith(&[&["run", file, "--json"], flags].concat());
        Outcome::of(ran)
    }

    /// What the audit says, oldest first.
    #[track_caller]
    pub fn audit(&self, flags: &[&str]) -> Vec<Value> {
        let ran = self.isolith(&[&["audit", "--json"], flags].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// How a run ended, with what the process said around it.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub json: Value,
    pub stderr: String,
}

impl Outcome {
    #[track_caller]
    pub fn of(ran: Ran) -> Outcome {
        let json = serde_json::from_str(&ran.stdout);
        let json = json.unwrap_or_else(|_| panic!("exit {}: {}{}", ran.code, ran.stdout, ran.stderr));
        Outcome { code: ran.code, json, stderr: ran.stderr }
    }

    /// The value of a run that returned one.
    #[track_caller]
    pub fn value(&self) -> &Value {
        assert_eq!((self.code, &self.json["status"]), (0, &Value::from("ok")), "{:#}\n{}", self.json, self.stderr);
        &self.json["value"]
    }

    pub fn run(&self) -> &str {
        self.json["run"].as_str().unwrap_or_default()
    }

    pub fn message(&self) -> &str {
        self.json["error"]["message"].as_str().unwrap_or_default()
    }

    pub fn hint(&self) -> &str {
        self.json["error"]["hint"].as_str().unwrap_or_default()
    }

    /// Grants with counts, from `exercised` or `denied`, in the order of their text.
    pub fn counts(&self, list: &str) -> Vec<(String, u64)> {
        let rows = self.json[list].as_array().cloned().unwrap_or_default();
        let one = |row: &Value| (row["grant"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap());
        let mut counts: Vec<(String, u64)> = rows.iter().map(one).collect();
        counts.sort();
        counts
    }
}
