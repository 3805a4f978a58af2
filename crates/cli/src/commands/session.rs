//! Sessions: made and listed, and everything that is done with their files.

mod files;
mod keep;
mod transfer;

use crate::args::{CreateSession, OneSession, Session as Args, Settings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{Done, grants, job, show};
use isolith_core::files::Room;
use isolith_core::{Json, Manifest, SessionError, SessionName, SessionSettings, SessionStore as _, Timestamp, Woken};
use isolith_store::Sessions;
use serde_json::{Value, json};

pub(crate) fn session(args: Args) -> Done {
    let store = open()?;
    match args {
        Args::Create(args) => create(&store, args),
        Args::Ls { agent, json } => list(&store, agent.as_ref(), json),
        Args::Show(one) => keep::show(&store, &one),
        Args::Runs { session, run } => keep::runs(&store, &session, run.as_deref()),
        Args::Snapshot { session, snapshot } => keep::snapshot(&store, &session, snapshot),
        Args::Fork { session, name, snapshot } => keep::fork(&store, &session, snapshot.as_ref(), name),
        Args::Rm { session, paths, recursive, snapshot } => match (snapshot, paths.is_empty()) {
            (Some(snapshot), _) => keep::forget(&store, &session, &snapshot),
            (None, true) => keep::remove(&store, &session),
            (None, false) => files::remove(&store, &session, paths, recursive),
        },
        Args::Sweep { json } => keep::sweep(&store, json),
        Args::Import { session, source, to } => transfer::import(&store, &session, &source, &to),
        Args::Export { session, target, path } => transfer::export(&store, &session, &target, &path),
        Args::Run { session, path, options } => run(session, &path, *options),
        other => files::perform(&store, other),
    }
}

/// The sessions of this user.
pub(crate) fn open() -> Result<Sessions, Failure> {
    job::data_folder()?.sessions().map_err(job::store)
}

/// A session, awake.
pub(crate) fn wake(store: &Sessions, name: &SessionName) -> Result<Woken, Failure> {
    store.wake(name).map_err(|error| failed(&error))
}

/// What its programs may do besides using its own files and keys.
pub(crate) fn manifest(woken: &Woken) -> Result<Option<Manifest>, Failure> {
    let Some(json) = &woken.settings.manifest else { return Ok(None) };
    let wrong = |error: &dyn std::fmt::Display| {
        let message = format!("the manifest of the session `{}` cannot be read: {error}", woken.session);
        Failure::usage(message, "give another with `--manifest FILE`")
    };
    let value = json.parse().map_err(|error| wrong(&error))?;
    Manifest::from_value(&value).map(Some).map_err(|error| wrong(&error))
}

/// What went wrong, and what to do.
pub(crate) fn failed(error: &SessionError) -> Failure {
    let hint = match error {
        SessionError::NotFound { what: "session", .. } => {
            "`isolith session ls` lists them, `isolith session create NAME` makes one"
        }
        SessionError::NotFound { what: "agent", .. } => "`isolith agent put NAME` makes one",
        SessionError::NotFound { .. } => "`isolith session show NAME` says what there is",
        SessionError::Damaged(_) => {
            "`isolith doctor` says which files are damaged; `isolith session fork NAME --snapshot SNAPSHOT` begins anew"
        }
        SessionError::Store(_) => "make room, or set ISOLITH_DATA to another folder",
        _ => "`isolith session --help` says what can be done",
    };
    Failure::usage(format!("{error} [{}]", error.code()), hint)
}

fn create(store: &Sessions, args: CreateSession) -> Done {
    let settings = settings(&args.settings)?;
    let made = store.create(args.session, settings).map_err(|error| failed(&error))?;
    match args.json {
        true => show::line(&show::to_json(&session_json(&made))),
        false => show::line(made.session.as_str()),
    }
    Ok(Exit::Ok)
}

/// What the flags say, read and checked.
pub(super) fn settings(args: &Settings) -> Result<SessionSettings, Failure> {
    let manifest = match &args.manifest {
        Some(file) => {
            let manifest = grants::manifest(file)?;
            Some(Json::of(&manifest.to_value()).map_err(|error| Failure::internal("keeping a manifest", &error))?)
        }
        None => None,
    };
    let default = Room::default();
    let room = (args.room.is_some() || args.room_files.is_some()).then(|| Room {
        bytes: args.room.unwrap_or(default.bytes),
        files: args.room_files.unwrap_or(default.files),
        ..default
    });
    Ok(SessionSettings {
        agent: args.agent.clone(),
        tier: None,
        manifest,
        room,
        sleep_after_s: args.sleep_after.map(|time| time.as_secs().max(1)),
        snapshots_kept: args.snapshots_kept,
        snapshots_kept_s: args.snapshots_kept_for.map(|time| time.as_secs().max(1)),
    })
}

fn list(store: &Sessions, agent: Option<&SessionName>, json: bool) -> Done {
    const PAGE: usize = 1_000;
    let mut after: Option<SessionName> = None;
    loop {
        let page = store.list(agent, after.as_ref(), PAGE).map_err(|error| failed(&error))?;
        for record in &page {
            match json {
                true => show::line(&session_json(record).to_string()),
                false => show::line(&format!("{:<32}  used {}", record.session, date(record.used))),
            }
        }
        after = page.last().map(|last| last.session.clone());
        if page.len() < PAGE {
            return Ok(Exit::Ok);
        }
    }
}

/// Runs a program that is a file of the workspace.
fn run(session: SessionName, path: &str, mut options: crate::args::RunOptions) -> Done {
    options.grants.session = Some(session.clone());
    let source = files::program(&wake(&open()?, &session)?, path)?;
    let workbench = super::workbench::Workbench::small(&job::On::of(&options.elsewhere, &options.grants)?)?;
    let job = job::Job::new(source, &options, None, &workbench.runner)?;
    workbench.run(job, options.show, None)
}

pub(super) fn date(moment: Timestamp) -> String {
    let micros = i64::try_from(moment.as_micros()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_microsecond(micros).map_or_else(|_| "?".into(), |moment| format!("{moment:.0}"))
}

pub(super) fn session_json(record: &isolith_core::SessionRecord) -> Value {
    let settings = serde_json::to_string(&record.settings).ok().and_then(|text| serde_json::from_str(&text).ok());
    json!({
        "session": record.session,
        "created_ms": record.created.as_micros() / 1_000,
        "used_ms": record.used.as_micros() / 1_000,
        "origin": record.origin,
        "settings": settings.unwrap_or(Value::Null),
    })
}

/// Prints an answer: as JSON, or in words.
pub(super) fn tell(one: &OneSession, value: &Value, words: impl FnOnce()) {
    match one.json {
        true => show::line(&show::to_json(value)),
        false => words(),
    }
}
