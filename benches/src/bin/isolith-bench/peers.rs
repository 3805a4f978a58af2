use isolith_bench::{HELLO, Job, spawn};
use serde_json::Value;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// One runtime that takes part.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    /// How it was set up, for whoever doubts that it was set up fairly.
    pub(crate) settings: &'static str,
    /// Is asked for the long kernels too: it compiles, and is done within a second or two.
    pub(crate) long: bool,
    /// Takes a job as its last argument.
    command: Vec<OsString>,
    /// Prints a greeting, from a cold start.
    pub(crate) hello: Hello,
}

/// How a cold start is measured.
pub(crate) enum Hello {
    /// As a job.
    Job,
    /// With a command of its own.
    Command(Vec<OsString>),
}

impl Peer {
    pub(crate) fn command(&self, job: &Job) -> Result<Command, serde_json::Error> {
        let mut words = self.command.clone();
        words.push(serde_json::to_string(job)?.into());
        Ok(command(&words))
    }

    pub(crate) fn hello(&self) -> Result<Command, serde_json::Error> {
        match &self.hello {
            Hello::Job => self.command(&Job::Hello { source: format!("return {:?}", HELLO.1) }),
            Hello::Command(words) => Ok(command(words)),
        }
    }
}

fn command(words: &[OsString]) -> Command {
    let mut command = Command::new(words.first().map_or(OsString::new(), Clone::clone));
    command.args(words.iter().skip(1)).stderr(Stdio::inherit());
    command
}

/// Everyone, isolith first: the others are shown as multiples of it.
pub(crate) fn all(node: &Path, folder: &Path, rquickjs: &Path, exe: &Path) -> Result<Vec<Peer>, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let file = std::env::temp_dir().join(format!("isolith-hello-{}.ts", std::process::id()));
    std::fs::write(&file, HELLO.0)?;
    let run = vec![exe.into(), "run".into(), file.into()];
    // Until the binary can run a program, the library's own start stands in, as it does for the peers.
    let works = spawn(command(&run).stderr(Stdio::null())).is_ok_and(|done| done.ok && done.stdout.contains(HELLO.1));
    let node_version = spawn(Command::new(node).arg("--version"))?.stdout.trim().trim_start_matches('v').to_owned();
    let on_node = |name, version: String, settings, flags: &[&str], file: &str| {
        let mut command: Vec<OsString> = vec![node.into(), "--expose-gc".into()];
        command.extend(flags.iter().map(Into::into));
        command.push(folder.join(file).into());
        Peer { name, version, settings, long: false, command, hello: Hello::Job }
    };
    Ok(vec![
        Peer {
            name: "isolith",
            version: env!("CARGO_PKG_VERSION").into(),
            settings: "the engine quickjs with all limits; a pool of 10 isolates, and of 1,000 with a stack each for \
                       memory; tool calls through the whole runner; cold start with `isolith run hello.ts`",
            long: false,
            command: vec![own.into(), "peer".into()],
            hello: if works { Hello::Command(run) } else { Hello::Job },
        },
        Peer {
            name: "rquickjs",
            version: rquickjs_version(),
            settings: "QuickJS-ng built for the machine, without assertions; a runtime and a full context for each run, \
                       with memory, stack and time limits; not a sandbox against faults in QuickJS itself",
            long: false,
            command: vec![rquickjs.into()],
            hello: Hello::Job,
        },
        on_node(
            "quickjs-emscripten",
            npm_version("quickjs-emscripten"),
            "its default release build; one WebAssembly module for the process, a runtime and a context for each run, \
             with memory, stack and time limits",
            &[],
            "quickjs-emscripten.mjs",
        ),
        on_node(
            "node:vm",
            node_version,
            "a context for each run, without a time limit, which would double its time; not a security boundary, as its \
             documentation says",
            &[],
            "node-vm.mjs",
        ),
        on_node(
            "isolated-vm",
            npm_version("isolated-vm"),
            "an isolate and a context for each run, with memory and time limits, evaluated on the calling thread where \
             nothing waits; tools are references to async functions",
            &["--no-node-snapshot"],
            "isolated-vm.mjs",
        ),
    ])
}

/// isolith's engines, the fastest first, and other ways to V8.
pub(crate) fn engines(node: &Path, folder: &Path) -> Result<Vec<Peer>, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let node_version = spawn(Command::new(node).arg("--version"))?.stdout.trim().trim_start_matches('v').to_owned();
    let ours = |name, on: &str, settings| Peer {
        name,
        version: env!("CARGO_PKG_VERSION").into(),
        settings,
        long: matches!(on, "v8" | "auto"),
        command: vec![own.clone().into(), "peer".into(), "--on".into(), on.into()],
        hello: Hello::Job,
    };
    let theirs = |name, version: String, settings, file: &str| Peer {
        name,
        version,
        settings,
        long: true,
        command: vec![node.into(), "--expose-gc".into(), "--no-node-snapshot".into(), folder.join(file).into()],
        hello: Hello::Job,
    };
    Ok(vec![
        ours("isolith v8", "v8", "a jailed process with a fresh isolate for each run, four of them kept ready"),
        ours("isolith auto", "auto", "begins on quickjs, and is tried on v8 after 50 ms of computing"),
        ours("isolith quickjs", "quickjs", "a pool of 10 isolates in this process"),
        ours("isolith process", "process", "quickjs in a jailed process for each run, four of them kept ready"),
        theirs("node", node_version, "`new Function` in Node itself: no wall at all", "plain.mjs"),
        theirs(
            "isolated-vm",
            npm_version("isolated-vm"),
            "an isolate and a context for each run, in this process",
            "isolated-vm.mjs",
        ),
        theirs(
            "TanStack node",
            npm_version("@tanstack/ai-isolate-node"),
            "a context of its driver for Node for each run",
            "tanstack.mjs",
        ),
    ])
}

/// The versions that are pinned, read from where they are pinned.
fn npm_version(package: &str) -> String {
    let pinned: Value = serde_json::from_str(include_str!("../../../peers/node/package.json")).unwrap_or_default();
    pinned["dependencies"][package].as_str().unwrap_or("unknown").to_owned()
}

fn rquickjs_version() -> String {
    let pinned = include_str!("../../../peers/rquickjs/Cargo.toml");
    let version = pinned.lines().find_map(|line| line.strip_prefix("rquickjs = { version = \"=")?.split('"').next());
    version.unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_versions_are_found() {
        for version in [npm_version("isolated-vm"), npm_version("quickjs-emscripten"), rquickjs_version()] {
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{version}");
        }
    }
}
