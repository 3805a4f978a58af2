use crate::exit::Exit;
use crate::paint::{self, ERROR, HINT};
use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand};
use isolith_core::{Scope, SessionName, quantity};
use std::path::PathBuf;
use std::time::Duration;

mod approvals;
mod engine;
mod replay;
mod session;
mod snippet;
mod tools;
mod workflow;

pub(crate) use approvals::{Agree, Approvals};
pub(crate) use engine::{Engine, EngineName, EngineSettings, Installable, IsolationName};
pub(crate) use replay::{Policy, Replay, Why};
pub(crate) use session::{Agent, CreateSession, Grep, OneSession, Session, Settings};
pub(crate) use snippet::{SaveSnippet, Snippet};
pub(crate) use tools::Tools;
pub(crate) use workflow::{Attended, OneFlow, ResumeWorkflow, RunWorkflow, Workflow};

/// Runs code that nobody has read, in a sandbox that starts with no authority at all.
#[derive(Parser)]
#[command(name = "isolith", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a program: JavaScript or TypeScript, a module, a function or just statements
    Run(Run),
    /// Run a program given on the command line
    Eval(Eval),
    /// Go on with a run that was suspended
    Resume(Resume),
    /// Say what a program will reach for, without running it
    Check(Check),
    /// Look at manifests: what they grant, and what changed between two
    #[command(subcommand)]
    Manifest(Manifest),
    /// Show what runs did, and what they were refused
    Audit(Audit),
    /// Do a recorded run once more, without doing anything, and say whether it ends the same; or list the recorded runs
    Replay(Replay),
    /// Explain what was decided about a call of a recorded run
    Why(Why),
    /// Look at what a policy would change
    #[command(subcommand)]
    Policy(Policy),
    /// Keep secrets that grants can use, encrypted
    #[command(subcommand)]
    Secret(Secret),
    /// Keep files and keys that programs work on: make, list, read, write, search, fork
    #[command(subcommand)]
    Session(Session),
    /// Keep what holds for sessions of one kind
    #[command(subcommand)]
    Agent(Agent),
    /// Keep programs by name, for other programs to call as `tools.snippets.<NAME>(input)`
    #[command(subcommand)]
    Snippet(Snippet),
    /// Run workflows: programs that call agents and go on where they stopped, whatever stopped them
    #[command(subcommand)]
    Workflow(Workflow),
    /// Serve runs to clients in other languages: HTTP, events, WebSockets, or stdin and stdout
    Serve(Serve),
    /// Give an MCP client one tool that runs programs, over stdin and stdout
    Mcp(Mcp),
    /// Find the tools that programs can be given, and show them as TypeScript
    #[command(subcommand)]
    Tools(Tools),
    /// Print what a model has to know to write programs here: how, what they may do, and their tools
    Prompt(Prompt),
    /// Make, show and revoke the keys that clients of `isolith serve` need
    #[command(subcommand)]
    Key(Key),
    /// Show what runs ask about before they go on, and answer
    #[command(subcommand)]
    Approvals(Approvals),
    /// Show or forget what was answered to questions about programs
    #[command(subcommand)]
    Consent(Consent),
    /// Measure this build on this machine
    Bench(Bench),
    /// Copy everything that is kept, while it is in use
    Backup(Backup),
    /// Fetch, list and remove the engines that do not come along
    #[command(subcommand)]
    Engine(Engine),
    /// Look at what this machine offers
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
}

#[derive(Args)]
pub(crate) struct Run {
    /// The program; `-` reads it from stdin. Several run side by side, with results as JSON lines
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How many of several files to run at one time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Run again whenever the file changes
    #[arg(long, conflicts_with_all = ["suspend"])]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) suspend: Suspend,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Args)]
pub(crate) struct Eval {
    /// The program
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    #[command(flatten)]
    pub(crate) suspend: Suspend,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Args)]
pub(crate) struct Resume {
    /// What `--suspend FILE` wrote, or the name of a run that waited for an approval
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) suspend: Suspend,
    #[command(flatten)]
    pub(crate) elsewhere: Elsewhere,
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
    #[command(flatten)]
    pub(crate) show: Show,
}

#[derive(Args)]
pub(crate) struct Suspend {
    /// When the program only waits for a timer, write its state to FILE and exit with 75
    #[arg(long, value_name = "FILE")]
    pub(crate) suspend: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct RunOptions {
    /// A global of the program, as JSON; can be given several times
    #[arg(long = "arg", value_name = "NAME=JSON")]
    pub(crate) args: Vec<String>,
    /// A JSON file, which the program sees as `input`; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// How long it may take, waiting included [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,
    /// How long it may compute [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration, allow_hyphen_values = true)]
    pub(crate) cpu: Option<Duration>,
    /// How much memory it may use [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, allow_hyphen_values = true)]
    pub(crate) memory: Option<u64>,
    /// Fixes all randomness
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Change nothing and ask nobody: show what the program would ask about, as far as that can be known
    #[arg(long, conflicts_with_all = ["record", "worker", "remote"])]
    pub(crate) plan: bool,
    /// Check the program's types first, with the TypeScript compiler that is installed here
    #[arg(long)]
    pub(crate) type_check: bool,
    /// Keep a journal of the run, for `isolith replay`
    #[arg(long, conflicts_with = "worker")]
    pub(crate) record: bool,
    /// Starts the clock here and lets waiting take no time: a date such as 2026-01-31T12:00:00Z, or ms since 1970
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    #[command(flatten)]
    pub(crate) elsewhere: Elsewhere,
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
    #[command(flatten)]
    pub(crate) show: Show,
}

/// Where the program computes. What it asks for is decided and done here all the same.
#[derive(Args, Default)]
#[command(next_help_heading = "Where it runs (default: quickjs, here)")]
pub(crate) struct Elsewhere {
    /// On this engine [default: quickjs]
    #[arg(long, value_enum, conflicts_with_all = ["remote", "worker"])]
    pub(crate) engine: Option<EngineName>,
    /// In this [default: none]
    #[arg(long, value_enum, conflicts_with_all = ["remote", "worker"])]
    pub(crate) isolation: Option<IsolationName>,
    #[command(flatten)]
    pub(crate) settings: EngineSettings,
    /// On another isolith, which `isolith serve` runs there
    #[arg(long, value_name = "URL", conflicts_with = "worker")]
    pub(crate) remote: Option<String>,
    /// The variable that has its key, of scope `isolates`
    #[arg(long, value_name = "NAME", requires = "remote")]
    pub(crate) remote_key_env: Option<String>,
    /// On a Cloudflare Worker of TanStack's isolate driver; tools are all that can be granted
    #[arg(long, value_name = "URL", requires = "trust_worker_limits")]
    pub(crate) worker: Option<String>,
    /// The variable that has what the Worker wants as `Authorization`
    #[arg(long, value_name = "NAME", requires = "worker")]
    pub(crate) worker_key_env: Option<String>,
    /// Leave memory, CPU time and stack to the Worker's own limits: they cannot be set from here
    #[arg(long)]
    pub(crate) trust_worker_limits: bool,
}

/// What the program may do. Nothing, unless something here says so.
#[derive(Args, Default)]
#[command(next_help_heading = "Grants (default: none)")]
pub(crate) struct GrantOptions {
    /// Requests: `api.github.com`, `'GET https://api.github.com/repos/*'`, `http://localhost:8080`, `'*.example.com'`
    #[arg(long, value_name = "[METHOD ]TARGET")]
    pub(crate) allow_net: Vec<String>,
    /// A key space, as `kv.<SPACE>`: `cache`, or `'read cache'`
    #[arg(long, value_name = "SPACE")]
    pub(crate) allow_kv: Vec<String>,
    /// A file or folder to read, by `files`
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_read: Vec<String>,
    /// A file or folder to read and write
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<String>,
    /// A function `tools.<NAME>` that is a command: JSON on stdin, JSON on stdout
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) tool: Vec<String>,
    /// Another program, as `invoke("NAME", input)`
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) program: Vec<String>,
    /// A secret that credentials can use: `GITHUB_TOKEN=env:GH_TOKEN`, or `file:`, `command:`, `store:`
    #[arg(long, value_name = "NAME=SOURCE")]
    pub(crate) secret: Vec<String>,
    /// What is added to granted requests: `'api.github.com: Authorization: Bearer ${GITHUB_TOKEN}'`, or after the target
    /// `bearer NAME`, `basic user:${NAME}`, `query key=${NAME}`, `sigv4 REGION/SERVICE ACCESS_KEY SECRET_KEY`
    #[arg(long, value_name = "TARGET: CREDENTIAL")]
    pub(crate) credential: Vec<String>,
    /// Lets the program read a secret itself, by `secrets.get`. Whatever it does with it is out of our hands
    #[arg(long, value_name = "NAME")]
    pub(crate) reveal: Vec<String>,
    /// Any grant as receipts write it, such as `'deny egress:*.internal.example'`, `'ask tool:mail'` or `builtin:WebAssembly`
    #[arg(long, value_name = "GRANT")]
    pub(crate) grant: Vec<String>,
    /// The grants, limits and tools of a manifest, `isolith.toml` or JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// The tools of MCP servers, as `tools.<server>.<function>`: a file like `.mcp.json`, with `mcpServers`
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_servers: Vec<PathBuf>,
    /// Run in a session, which `isolith session create` makes: `files` and `kv.session` are its own
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// The programs kept by `isolith snippet`, as `tools.snippets.<NAME>`; each may do what it was saved with, as far as this one may
    #[arg(long)]
    pub(crate) allow_snippets: bool,
    /// The most that any program may do here, a file like a manifest: everything else is narrowed to it
    #[arg(long, value_name = "FILE", env = "ISOLITH_POLICY")]
    pub(crate) policy: Option<PathBuf>,
    /// The whole public internet, the working folder, and whatever the program seems to need
    #[arg(long)]
    pub(crate) allow_all: bool,
    /// Never ask about what is not granted
    #[arg(long)]
    pub(crate) no_prompt: bool,
    /// How long someone may take to agree where a grant asks; then the answer is no [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) approval_time: Option<Duration>,
    /// Certificates (PEM) to trust besides the platform's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Write the audit to this file too, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_log: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
    /// Check the types of each program first, with the TypeScript compiler that is installed here: mistakes go back to the model
    #[arg(long)]
    pub(crate) type_check: bool,
    /// Keep the journal of every run, for `isolith replay`
    #[arg(long)]
    pub(crate) record: bool,
    #[command(flatten)]
    pub(crate) engines: EngineSettings,
}

#[derive(Args)]
pub(crate) struct Backup {
    /// A folder that is empty or not there; as ISOLITH_DATA it is the data folder as it was
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Print how much it was as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Prompt {
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
}

#[derive(Args)]
pub(crate) struct Check {
    /// The program; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Manifest {
    /// Say whether a manifest is right, and what it grants
    Check {
        /// `isolith.toml` or JSON
        file: PathBuf,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what changed between two manifests; exits with 1 when the new one allows more
    Diff {
        /// The old one
        old: PathBuf,
        /// The new one
        new: PathBuf,
        /// Print the changes as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of manifests, for editors
    Schema,
}

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Say whether what is written down is whole: the audit and the journals of recorded runs
    Verify {
        /// Only these recorded runs
        #[arg(value_name = "RUN", conflicts_with = "all")]
        runs: Vec<String>,
        /// Do the recorded runs once more, without doing anything, and say which end differently
        #[arg(long)]
        reexecute: bool,
        /// All recorded runs, which is what is meant when none is named
        #[arg(long)]
        all: bool,
        /// Print each finding as a line of JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    /// Only this run
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Only what was refused
    #[arg(long)]
    pub(crate) denied: bool,
    /// Only requests to this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// The last so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,
    /// Print each row as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Secret {
    /// Keep a secret; its value is read from stdin
    Set {
        /// Its name
        name: String,
    },
    /// Show the names of what is kept
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a secret
    Remove {
        /// Its name
        name: String,
    },
}

/// Runs in memory at one time, at most.
pub(crate) const RUNS_MAX: u32 = 10_000;
/// Connections at one time, at most.
pub(crate) const CONNECTIONS_MAX: u32 = 1_000_000;

#[derive(Args)]
pub(crate) struct Serve {
    /// Where to listen [default: 127.0.0.1:4747]
    #[arg(long, value_name = "ADDRESS", env = "ISOLITH_LISTEN", conflicts_with = "stdio")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Serve the process that started this one, on stdin and stdout, one JSON message a line
    #[arg(long)]
    pub(crate) stdio: bool,
    /// A file with these settings (TOML); flags and environment count more
    #[arg(long, value_name = "FILE", env = "ISOLITH_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// The most that any run may do and use, a file like a manifest
    #[arg(long, value_name = "FILE", env = "ISOLITH_POLICY")]
    pub(crate) policy: Option<PathBuf>,
    /// A name by which this server is reached, besides localhost; can be given several times
    #[arg(long, value_name = "NAME", env = "ISOLITH_HOSTS", value_delimiter = ',')]
    pub(crate) host: Vec<String>,
    /// A certificate (PEM), for TLS
    #[arg(long, value_name = "FILE", env = "ISOLITH_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", env = "ISOLITH_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Certificates (PEM) that requests of programs trust besides the platform's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// A folder below which clients may have workspaces of the provider `local-directory`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) workspaces: Option<PathBuf>,
    /// Keep the journal of every run, for `isolith replay`
    #[arg(long)]
    pub(crate) record: bool,
    #[command(flatten)]
    pub(crate) engines: EngineSettings,
    /// How long a run that waits for its client stays in memory [default: 100ms]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) hold: Option<Duration>,
    /// How long suspended runs and outcomes are kept [default: 24h]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) keep: Option<Duration>,
    /// How long someone may take to agree where a grant asks; then the answer is no [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) approval_time: Option<Duration>,
    /// How long runs may take to end or be suspended when the server stops [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) drain: Option<Duration>,
    /// How long a connection may be quiet [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) idle: Option<Duration>,
    /// Runs in memory at one time [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNS_MAX)))]
    pub(crate) live_runs: Option<u32>,
    /// Runs of one caller in memory at one time [default: 48]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNS_MAX)))]
    pub(crate) live_runs_per_caller: Option<u32>,
    /// Connections at one time [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub(crate) connections: Option<u32>,
}

#[derive(Subcommand)]
pub(crate) enum Key {
    /// Make a key and print it, this once
    Create {
        /// What to call it: up to 64 letters, digits, `.`, `_` and `-`
        name: String,
        /// What its holder may do, separated by commas
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "runs")]
        #[arg(value_parser = PossibleValuesParser::new(Scope::ALL.map(Scope::name)))]
        scope: Vec<String>,
        /// The most that its runs may do and use, a file like a manifest
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
        /// How many runs it may start a second
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        rate: Option<u32>,
        /// Print it as JSON, with what it is good for
        #[arg(long)]
        json: bool,
    },
    /// Show the keys there are and were, but not their text
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a key worth nothing, at once and for good
    Revoke {
        /// Its name or id, as `isolith key list` shows them
        #[arg(value_name = "NAME|ID")]
        key: String,
        /// Print what was revoked as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum Consent {
    /// Show what was answered
    List {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget what was answered about a program
    Forget {
        /// Its digest, as `isolith consent list` shows it
        program: String,
    },
}

#[derive(Args, Clone, Copy)]
pub(crate) struct Show {
    /// Print the whole outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the value only, not what the program writes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct Bench {
    /// Take a few seconds instead of a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure only the groups whose name starts with this: `start`, `call`, …
    #[arg(long, value_name = "GROUP")]
    pub(crate) only: Option<String>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// One measurement that wants a process of its own
    #[arg(long, hide = true)]
    pub(crate) child: Option<String>,
}

#[derive(Args)]
pub(crate) struct Doctor {
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Shows what is wrong with the arguments in one line, and what to do in another; or the help that was asked for.
pub(crate) fn complain(error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return if error.print().is_ok() { Exit::Ok } else { Exit::Internal };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Exit::Usage;
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let rest = text.lines().skip(1).take_while(|l| !l.trim().is_empty()).map(str::trim);
    let message = std::iter::once(line.trim_start_matches("error: ")).chain(rest).collect::<Vec<_>>().join(" ");
    paint::complain(ERROR, "error", &message);
    let suggestion = match error.get(ContextKind::SuggestedArg).or_else(|| error.get(ContextKind::SuggestedSubcommand))
    {
        Some(ContextValue::String(s)) => Some(s.clone()),
        Some(ContextValue::Strings(all)) => all.first().cloned(),
        _ => None,
    };
    let hint = match suggestion {
        Some(suggestion) => format!("did you mean `{suggestion}`? `isolith help` shows what there is"),
        None => "`isolith help` shows what there is".to_owned(),
    };
    paint::complain(HINT, "hint", &hint);
    Exit::Usage
}
