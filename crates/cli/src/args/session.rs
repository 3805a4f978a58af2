use super::RunOptions;
use clap::{Args, Subcommand};
use isolith_core::{SessionName, quantity};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Subcommand)]
pub(crate) enum Session {
    /// Make a session: files and keys that programs find again, by a name
    Create(CreateSession),
    /// List the sessions
    #[command(visible_alias = "list")]
    Ls {
        /// Only those of an agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<SessionName>,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a session: how much it holds, what is set for it, its snapshots and last runs
    Show(OneSession),
    /// List what is in a folder
    Files {
        #[command(flatten)]
        session: OneSession,
        /// Which folder
        #[arg(default_value = ".")]
        path: String,
    },
    /// Print a file
    Read {
        #[command(flatten)]
        session: OneSession,
        /// Which file
        path: String,
        /// Only these lines, such as `10:20`, `10:` or `10`
        #[arg(long, value_name = "FROM:TO", conflicts_with = "version")]
        lines: Option<String>,
        /// As it was after this change
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Write a file
    Write {
        #[command(flatten)]
        session: OneSession,
        /// Which file
        path: String,
        /// What to write: a file of this machine, or `-` for stdin
        #[arg(value_name = "FILE", default_value = "-", conflicts_with = "text")]
        file: PathBuf,
        /// What to write
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// Behind what is there
        #[arg(long)]
        append: bool,
    },
    /// Replace text in a file, which has to be there once
    Edit {
        #[command(flatten)]
        session: OneSession,
        /// Which file
        path: String,
        /// What is there, to the letter; with `--new` it can be given several times
        #[arg(long, value_name = "TEXT", required = true, allow_hyphen_values = true)]
        old: Vec<String>,
        /// What is to be there
        #[arg(long, value_name = "TEXT", required = true, allow_hyphen_values = true)]
        new: Vec<String>,
        /// Wherever it is
        #[arg(long)]
        replace_all: bool,
    },
    /// Make a folder
    Mkdir {
        #[command(flatten)]
        session: OneSession,
        /// Which
        path: String,
    },
    /// Move a file or a folder
    Mv {
        #[command(flatten)]
        session: OneSession,
        /// What
        path: String,
        /// Where to
        to: String,
    },
    /// Copy a file, or a folder with all that is in it
    Cp {
        #[command(flatten)]
        session: OneSession,
        /// What
        path: String,
        /// Where to
        to: String,
    },
    /// Make a link to another place in the workspace
    Ln {
        #[command(flatten)]
        session: OneSession,
        /// Where it leads, from the folder that it is in
        target: String,
        /// Where it is
        path: String,
    },
    /// List the files that fit a pattern, such as `src/**/*.{ts,js}`
    Glob {
        #[command(flatten)]
        session: OneSession,
        /// The pattern
        pattern: String,
        /// Pass over what `.gitignore` and `.ignore` say
        #[arg(long)]
        ignore: bool,
    },
    /// Search in files
    Grep(Grep),
    /// List what has a name, a kind or a size
    Find {
        #[command(flatten)]
        session: OneSession,
        /// Below which folder
        #[arg(default_value = ".")]
        path: String,
        /// A glob for its name
        #[arg(long, value_name = "GLOB")]
        name: Option<String>,
        /// `file`, `folder` or `link`
        #[arg(long, value_parser = ["file", "folder", "link"])]
        kind: Option<String>,
        /// Files at least this large
        #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
        at_least: Option<u64>,
    },
    /// Draw what is below a folder
    Tree {
        #[command(flatten)]
        session: OneSession,
        /// Which folder
        #[arg(default_value = ".")]
        path: String,
        /// How many levels
        #[arg(long, value_name = "N")]
        depth: Option<u32>,
    },
    /// Show what is different between two files, or a file and what it was
    Diff {
        #[command(flatten)]
        session: OneSession,
        /// Which file
        path: String,
        /// The other file
        #[arg(required_unless_present = "version")]
        to: Option<String>,
        /// What it was after this change
        #[arg(long, value_name = "N", conflicts_with = "to")]
        version: Option<u64>,
    },
    /// Show what was changed
    History {
        #[command(flatten)]
        session: OneSession,
        /// Of which file or folder
        #[arg(default_value = ".")]
        path: String,
    },
    /// Take the last change back, or one and all after it
    Undo {
        #[command(flatten)]
        session: OneSession,
        /// The first change to take back
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Bring files in: a folder of this machine, or a .tar, .tar.gz or .zip
    Import {
        #[command(flatten)]
        session: OneSession,
        /// The folder or archive
        source: PathBuf,
        /// The folder to put them in
        #[arg(long, value_name = "PATH", default_value = ".")]
        to: String,
    },
    /// Take files out: to a folder of this machine that is empty or not there, or to a .tar, .tar.gz or .zip
    Export {
        #[command(flatten)]
        session: OneSession,
        /// Where to
        target: PathBuf,
        /// Only what is below this folder
        #[arg(long, value_name = "PATH", default_value = ".")]
        path: String,
    },
    /// Run a program that is a file of the workspace, in its session
    Run {
        /// The session
        #[arg(value_name = "SESSION")]
        session: SessionName,
        /// Which file
        path: String,
        #[command(flatten)]
        options: Box<RunOptions>,
    },
    /// List the runs of a session, or show one
    Runs {
        #[command(flatten)]
        session: OneSession,
        /// Which run
        run: Option<String>,
    },
    /// Keep a session as it is now
    Snapshot {
        #[command(flatten)]
        session: OneSession,
        /// What to call that
        snapshot: Option<SessionName>,
    },
    /// Make a session that begins as another is, or as a snapshot of it was
    Fork {
        #[command(flatten)]
        session: OneSession,
        /// What to call it
        name: Option<SessionName>,
        /// From this snapshot
        #[arg(long, value_name = "SNAPSHOT")]
        snapshot: Option<SessionName>,
    },
    /// Remove files, a snapshot, or a whole session
    Rm {
        #[command(flatten)]
        session: OneSession,
        /// These files; without any, the session
        paths: Vec<String>,
        /// Folders with all that is in them
        #[arg(long, short = 'r', requires = "paths")]
        recursive: bool,
        /// This snapshot
        #[arg(long, value_name = "SNAPSHOT", conflicts_with = "paths")]
        snapshot: Option<SessionName>,
    },
    /// Free the room of content that no session has any more
    Sweep {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct OneSession {
    /// The session
    #[arg(value_name = "SESSION")]
    pub(crate) session: SessionName,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CreateSession {
    /// What to call it
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What holds for every run of a session.
#[derive(Args)]
pub(crate) struct Settings {
    /// The agent whose it is, whose settings hold where nothing is said here
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<SessionName>,
    /// What programs may do besides using its own files and keys: a manifest
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// How many bytes its files may take [default: 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub(crate) room: Option<u64>,
    /// How many files it may have [default: 100000]
    #[arg(long, value_name = "N")]
    pub(crate) room_files: Option<u64>,
    /// After how long without use a server lets it sleep [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) sleep_after: Option<Duration>,
    /// How many snapshots are kept [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snapshots_kept: Option<u32>,
    /// For how long snapshots are kept [default: for good]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub(crate) snapshots_kept_for: Option<Duration>,
}

#[derive(Args)]
pub(crate) struct Grep {
    #[command(flatten)]
    pub(crate) session: OneSession,
    /// A regular expression
    pub(crate) pattern: String,
    /// Below which folder, or in which file
    #[arg(default_value = ".")]
    pub(crate) path: String,
    /// The pattern is text
    #[arg(long, short = 'F')]
    pub(crate) fixed_strings: bool,
    /// Upper and lower case are the same
    #[arg(long, short = 'i')]
    pub(crate) ignore_case: bool,
    /// Only files that fit this glob
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Pass over what `.gitignore` and `.ignore` say
    #[arg(long)]
    pub(crate) ignore: bool,
    /// Lines around each match
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=10))]
    pub(crate) context: u32,
}

#[derive(Subcommand)]
pub(crate) enum Agent {
    /// Make an agent, or change it: what is set here holds for each session that names it
    Put {
        /// Its name
        agent: SessionName,
        /// For people
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        #[command(flatten)]
        settings: Settings,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the agents
    #[command(visible_alias = "list")]
    Ls {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove an agent that has no sessions
    Rm {
        /// Its name
        agent: SessionName,
    },
}
