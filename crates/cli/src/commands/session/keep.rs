//! A session as a whole: shown, kept as it is, forked, removed.

use super::{date, failed, session_json, tell, wake};
use crate::args::OneSession;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::{Done, job, show};
use isolith_core::{CallerId, RunId, RunRecord, RunStore as _, SessionName, SessionStore as _};
use isolith_store::Sessions;
use serde_json::{Value, json};

/// How many runs are listed.
const RUNS_MAX: u32 = 200;
/// How many are shown with a session.
const RUNS_SHOWN: u32 = 5;

pub(super) fn show(store: &Sessions, one: &OneSession) -> Done {
    let woken = wake(store, &one.session)?;
    let record = store.get(&one.session).map_err(|error| failed(&error))?;
    let (used, room) = woken.open.files.used().map_err(|error| failed(&error.into()))?;
    let snapshots = store.snapshots(&one.session).map_err(|error| failed(&error))?;
    let runs = kept(&one.session, RUNS_SHOWN)?;
    let mut value = record.as_ref().map_or(Value::Null, session_json);
    value["used_bytes"] = used.bytes.into();
    value["used_files"] = used.files.into();
    value["room"] = json!(room);
    value["snapshots"] = snapshots.iter().map(|snapshot| json!(snapshot.snapshot)).collect();
    value["runs"] = runs.iter().map(brief).collect();
    tell(one, &value, || {
        show::line(&format!("session   {}", one.session));
        if let Some(origin) = record.as_ref().and_then(|record| record.origin.as_ref()) {
            show::line(&format!("from      {origin}"));
        }
        if let Some(agent) = &woken.settings.agent {
            show::line(&format!("agent     {agent}"));
        }
        show::line(&format!("files     {} of {}", used.files, room.files));
        show::line(&format!("bytes     {} of {}", used.bytes, room.bytes));
        for snapshot in &snapshots {
            show::line(&format!("snapshot  {}  {}", snapshot.snapshot, date(snapshot.created)));
        }
        for run in &runs {
            let row = brief(run);
            show::line(&format!("run       {}  {}", run.run, row["status"].as_str().unwrap_or("?")));
        }
    });
    Ok(Exit::Ok)
}

pub(super) fn runs(store: &Sessions, one: &OneSession, run: Option<&str>) -> Done {
    wake(store, &one.session)?;
    let Some(run) = run else {
        for record in kept(&one.session, RUNS_MAX)? {
            let row = brief(&record);
            tell(one, &row, || {
                let status = row["status"].as_str().unwrap_or("?");
                show::line(&format!("{}  {status}  {}", record.run, date(record.created)));
            });
        }
        return Ok(Exit::Ok);
    };
    let runs = job::data_folder()?.runs().map_err(job::store)?;
    let id = RunId(run.to_owned());
    let mut found = None;
    for caller in OWN {
        found = found.or(block_on(runs.get(&caller(), &id))?);
    }
    match found.filter(|record| record.session.as_ref() == Some(&one.session)) {
        Some(record) => {
            show::line(record.outcome.text());
            Ok(Exit::Ok)
        }
        None => Err(Failure::usage(
            format!("the session `{}` has no run `{run}`", one.session),
            "`isolith session runs NAME` lists them",
        )),
    }
}

fn kept(session: &SessionName, most: u32) -> Result<Vec<RunRecord>, Failure> {
    let runs = job::data_folder()?.runs().map_err(job::store)?;
    let mut all = Vec::new();
    for caller in OWN {
        all.extend(block_on(runs.list(&caller(), Some(session), None, most))?);
    }
    all.sort_by_key(|record| std::cmp::Reverse(record.created));
    all.truncate(most as usize);
    Ok(all)
}

/// Whoever has these sessions: at a terminal, and without a key at a server.
const OWN: [fn() -> CallerId; 2] = [CallerId::terminal, CallerId::local];

fn block_on<T>(work: impl Future<Output = Result<T, isolith_core::StoreProblem>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| Failure::internal("starting the runtime", &error))?;
    runtime.block_on(work).map_err(|error| Failure::usage(error, "ISOLITH_DATA names another folder"))
}

fn brief(record: &RunRecord) -> Value {
    let outcome: Value = record.outcome.parse().unwrap_or_default();
    let created = record.created.as_micros() / 1_000;
    json!({ "run": record.run, "status": outcome["status"], "error": outcome["error"]["message"], "created_ms": created })
}

pub(super) fn snapshot(store: &Sessions, one: &OneSession, name: Option<SessionName>) -> Done {
    let kept = wake(store, &one.session)?.settings.snapshots();
    let made = store.snapshot(&one.session, name, kept).map_err(|error| failed(&error))?;
    let value =
        json!({ "session": made.session, "snapshot": made.snapshot, "created_ms": made.created.as_micros() / 1_000 });
    tell(one, &value, || show::line(made.snapshot.as_str()));
    Ok(Exit::Ok)
}

pub(super) fn fork(
    store: &Sessions,
    one: &OneSession,
    snapshot: Option<&SessionName>,
    name: Option<SessionName>,
) -> Done {
    let made = store.fork(&one.session, snapshot, name).map_err(|error| failed(&error))?;
    tell(one, &session_json(&made), || show::line(made.session.as_str()));
    Ok(Exit::Ok)
}

pub(super) fn forget(store: &Sessions, one: &OneSession, snapshot: &SessionName) -> Done {
    match store.remove_snapshot(&one.session, snapshot).map_err(|error| failed(&error))? {
        true => Ok(Exit::Ok),
        false => {
            let message = format!("`{}` has no snapshot `{snapshot}` [session.not_found]", one.session);
            Err(Failure::usage(message, "`isolith session show NAME` says what there is"))
        }
    }
}

pub(super) fn remove(store: &Sessions, one: &OneSession) -> Done {
    match store.remove(&one.session).map_err(|error| failed(&error))? {
        true => Ok(Exit::Ok),
        false => Err(failed(&isolith_core::SessionError::NotFound { what: "session", name: one.session.to_string() })),
    }
}

pub(super) fn sweep(store: &Sessions, json: bool) -> Done {
    let spinner = if json { Spinner::none() } else { Spinner::new("sweeping") };
    let freed = store.sweep();
    spinner.done();
    let freed = freed.map_err(|error| failed(&error))?;
    match json {
        true => show::line(&json!({ "bytes": freed }).to_string()),
        false => show::line(&format!("{freed} bytes freed")),
    }
    Ok(Exit::Ok)
}
