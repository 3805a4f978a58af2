//! What the tests of agents share.
#![allow(dead_code, unreachable_pub, reason = "a module that each test file uses some of")]

pub mod origin;

use isolith_agents::{Agent as _, AgentError, Agents, AgentsConfig, Progress, Reply, Request, Setting, Step};
use isolith_core::Json;
use isolith_gate::egress::{Net, NetOptions};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Remembers what was reported.
#[derive(Default)]
pub struct Heard(Mutex<Vec<Step>>);

impl Progress for Heard {
    fn report(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

impl Heard {
    pub fn steps(&self) -> Vec<Step> {
        self.0.lock().unwrap().clone()
    }
}

/// An agent in a folder of its own.
pub struct Desk {
    pub folder: TempDir,
    pub heard: Arc<Heard>,
    pub agents: Agents,
}

impl Desk {
    /// `config` is what is written under `[agents]`; `scripts` are put into the folder first.
    pub fn new(config: &str, scripts: &[(&str, &str)]) -> Desk {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in scripts {
            write_script(&folder.path().join(name), text);
        }
        let config: AgentsConfig = toml::from_str(config).unwrap();
        let net = Arc::new(Net::new(NetOptions::default()).unwrap());
        let setting = Setting { net, secrets: None, folder: folder.path().to_owned(), workshop: None };
        let agents = Agents::of(config, &setting).unwrap();
        Desk { folder, heard: Arc::default(), agents }
    }

    pub async fn run(&self, request: Request) -> Result<Reply, AgentError> {
        self.agents.run(request, Arc::clone(&self.heard) as Arc<dyn Progress>).await
    }

    pub async fn ask(&self, prompt: &str) -> Result<Reply, AgentError> {
        self.run(request(prompt)).await
    }

    pub async fn ask_for(&self, prompt: &str, schema: Value) -> Result<Reply, AgentError> {
        self.run(Request { schema: Some(Json::of(&schema).unwrap()), ..request(prompt) }).await
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// By another process: one of ours that is being started elsewhere would still have the file open for writing, and then
/// nobody can run it.
fn write_script(path: &Path, text: &str) {
    let mut writer = Command::new("sh");
    writer.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

pub fn request(prompt: &str) -> Request {
    Request {
        key: "0:default:a".into(),
        label: "a".into(),
        phase: "default".into(),
        prompt: prompt.into(),
        ..Request::default()
    }
}

/// Why an agent failed.
pub fn cause(result: Result<Reply, AgentError>) -> String {
    match result.unwrap_err() {
        AgentError::AdapterSpawn { cause, .. } => cause,
        other => panic!("{other:?}"),
    }
}
