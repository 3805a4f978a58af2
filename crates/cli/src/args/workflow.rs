use super::GrantOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum Workflow {
    /// Run a workflow: a file, or the name of one that is saved
    Run(Box<RunWorkflow>),
    /// List the runs of workflows, the newest first [alias: ls]
    #[command(alias = "ls")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a run: where it stands, what it was told, what it waits for
    Show(OneFlow),
    /// Print what happens in a run, until it ends
    Watch(OneFlow),
    /// Go on with a run that was interrupted, paused, or waits
    Resume(ResumeWorkflow),
    /// Stop a run; its script may clean up
    Stop(OneFlow),
    /// Let a run call no further agent until it is resumed
    Pause(OneFlow),
    /// Begin a run anew from before its last failure; what it was told until then is not done again
    Retry(ResumeWorkflow),
    /// Send a signal that `waitFor` hears
    Signal {
        #[command(flatten)]
        flow: OneFlow,
        /// The name of the signal
        #[arg(value_name = "NAME")]
        name: String,
        /// What it carries, as JSON
        #[arg(value_name = "JSON", default_value = "null")]
        value: String,
    },
    /// Answer a question
    Answer {
        #[command(flatten)]
        flow: OneFlow,
        /// The key of the question, as `show` lists it
        #[arg(value_name = "KEY")]
        key: String,
        /// The answer: JSON, or else text
        #[arg(value_name = "ANSWER")]
        value: String,
    },
    /// Begin a new run from any point of a recorded one
    Fork {
        #[command(flatten)]
        resume: ResumeWorkflow,
        /// How many of the answers on record the new run keeps, as `show` counts them
        #[arg(long, value_name = "STEP")]
        at: usize,
    },
    /// Keep a workflow by its name, for `run` and for other workflows
    Save {
        /// The file
        file: PathBuf,
        /// Another name than its own
        #[arg(long)]
        name: Option<String>,
    },
    /// Read a workflow without running it: what it says of itself, calls and needs
    Check {
        /// The file, or the name of one that is saved
        file: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Hold a changed workflow against recorded runs: do they ask for the same, told the same?
    ReplayCheck {
        /// The file
        file: PathBuf,
        /// Runs; all of that workflow's name if none is given
        runs: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the journal of a run as JSON lines
    Export {
        #[command(flatten)]
        flow: OneFlow,
        /// `answers` for people, `journal` to be imported again, `lines` for other implementations
        #[arg(long, value_name = "FORM", default_value = "answers", value_parser = ["answers", "journal", "lines"])]
        form: String,
    },
    /// Bring in a journal that `export --form journal` printed
    Import {
        /// The file
        file: PathBuf,
    },
    /// Print the declarations of what workflows can use, for editors
    Types,
}

#[derive(Args)]
pub(crate) struct OneFlow {
    /// The run: its name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct RunWorkflow {
    /// The file, or the name of a workflow that is saved
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What the script sees as `args`, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Answers to its questions by their keys, as JSON or in a file: `{"color": "red"}` or `@answers.json`
    #[arg(long, value_name = "JSON")]
    pub(crate) answers: Option<String>,
    /// How many output tokens it may spend
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// How many agents it may call
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) max_agents: Option<u32>,
    /// How many agents work at one time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) concurrency: Option<u32>,
    /// A journal of another implementation, whose answers hold for the same calls
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Where its files go, besides what it prints; otherwise where its `output` says
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Run it in the background, and print the name of the run
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) attended: Attended,
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
}

#[derive(Args)]
pub(crate) struct ResumeWorkflow {
    /// The run: its name, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) attended: Attended,
    #[command(flatten)]
    pub(crate) grants: GrantOptions,
}

#[derive(Args, Clone)]
pub(crate) struct Attended {
    /// Agree to what the workflow is and may do, without being asked
    #[arg(long)]
    pub(crate) yes: bool,
    /// Answers are made up, and no agent is asked
    #[arg(long)]
    pub(crate) mock: bool,
    /// Who the agents are: a TOML file with `[agents.NAME]`
    #[arg(long, value_name = "FILE")]
    pub(crate) agents: Option<PathBuf>,
    /// Print what happens as JSON lines, and the result as the last
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the result only
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print what happens as lines, also at a terminal
    #[arg(long)]
    pub(crate) plain: bool,
    /// When it only waits, for a moment or for someone, leave it on disk and exit with 75; `resume` goes on with it
    #[arg(long)]
    pub(crate) suspend: bool,
    /// Someone agreed to exactly this
    #[arg(long, hide = true)]
    pub(crate) agreed: Option<String>,
    /// Nobody is here: questions wait for `isolith workflow answer`
    #[arg(long, hide = true)]
    pub(crate) headless: Option<String>,
}
