//! Files of the host below granted paths, and nothing else of it.

mod failure;
mod list;
mod place;
mod read;
mod tree;
mod write;

use crate::bodies::BodySource;
use failure::{Problem, Reason};
use isolith_core::{CallError, FilesGrant, FilesOp, Grant, GuestPath, Power, Rule};
use place::Place;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What was asked for.
pub enum FilesAnswer {
    /// A value.
    Value(Value),
    /// The bytes of a file that are few.
    Bytes(Vec<u8>),
    /// The bytes of a file that are many, and how many.
    Stream(Box<dyn BodySource>, u64),
}

/// The files of one run. Counts what the run writes.
pub struct Folders {
    state: Arc<State>,
}

struct State {
    root: PathBuf,
    // Places below which another rule holds than around them.
    guarded: Vec<GuestPath>,
    // By grant, how many bytes were written.
    written: Mutex<HashMap<String, u64>>,
    // Appending takes back what it could not finish, which two at a time would get wrong.
    appending: Mutex<()>,
}

impl Folders {
    /// Files below `root`, which is what relative paths are relative to.
    pub fn new(root: PathBuf) -> Self {
        Folders::guarding(root, &[])
    }

    /// As [`Folders::new`], and with these grants no way around those that deny or ask: within a place that holds a denied one,
    /// links are not followed, and no folder around the denied place can be moved or removed.
    pub fn guarding(root: PathBuf, grants: &[Grant]) -> Self {
        let guarded = grants.iter().filter(|grant| grant.rule != Rule::Allow).filter_map(|grant| match &grant.power {
            Power::Files(files) => Some(files.path.clone()),
            _ => None,
        });
        let state =
            State { root, guarded: guarded.collect(), written: Mutex::new(HashMap::new()), appending: Mutex::new(()) };
        Folders { state: Arc::new(state) }
    }

    /// Performs an operation that was admitted under `grant`. `to` is where a rename leads, and was admitted too.
    ///
    /// Nothing outside of the grant's path is looked at or changed, whatever links there are and whoever moves them meanwhile.
    /// Messages name the guest's paths and none of the host's. An operation that has begun is finished even if nobody waits for it.
    pub async fn perform(
        &self,
        grant: &FilesGrant,
        path: GuestPath,
        to: Option<GuestPath>,
        op: &FilesOp,
        bytes: Vec<u8>,
    ) -> Result<FilesAnswer, CallError> {
        let (state, grant, op, shown) = (self.state.clone(), grant.clone(), op.clone(), path.clone());
        let work = move || state.perform(&grant, &path, to.as_ref(), &op, &bytes);
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done.map_err(|problem| problem.to_error(&shown)),
            Err(_) => Err(Problem::from(Reason::Io("it was given up".into())).to_error(&shown)),
        }
    }
}

impl State {
    fn perform(
        &self,
        grant: &FilesGrant,
        path: &GuestPath,
        to: Option<&GuestPath>,
        op: &FilesOp,
        bytes: &[u8],
    ) -> Result<FilesAnswer, Problem> {
        if op.access() > grant.access {
            return Err(Reason::Denied("the grant is for reading only").into());
        }
        let place = |path: &GuestPath| Place::open(&self.root, &grant.path, path, op.access(), self.strict(grant));
        let value = match op {
            FilesOp::Read { offset, length, .. } => return read::read(&place(path)?, *offset, *length),
            FilesOp::Write { append, .. } => {
                let place = place(path)?;
                let charge = self.charge(grant, bytes.len() as u64)?;
                let size = if *append {
                    let _one = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
                    write::append(&place, bytes)?
                } else {
                    write::replace(&place, bytes)?
                };
                charge.keep();
                json!(size)
            }
            FilesOp::List { cursor, limit, .. } => list::list(&place(path)?, cursor.as_deref(), *limit)?,
            FilesOp::Stat { .. } => match place(path) {
                Ok(place) => read::stat(&place)?,
                Err(problem) if problem.is_not_found() => Value::Null,
                Err(problem) => return Err(problem),
            },
            FilesOp::Remove { recursive, .. } => {
                self.stays(path)?;
                match place(path) {
                    Ok(place) => json!(tree::remove(&place, *recursive)?),
                    Err(problem) if problem.is_not_found() => json!(false),
                    Err(problem) => return Err(problem),
                }
            }
            FilesOp::MakeFolder { .. } => {
                write::make_folder(&place(path)?)?;
                Value::Null
            }
            FilesOp::Rename { .. } => {
                let to = to.ok_or_else(|| Reason::Io("it was not said where to".into()))?;
                if !grant.path.covers(to) {
                    return Err(Reason::Denied("it leads out of the granted place").into());
                }
                self.stays(path)?;
                self.stays(to)?;
                let from = Place::open(&self.root, &grant.path, path, isolith_core::Access::Read, self.strict(grant))?;
                tree::rename(&from, &place(to).map_err(|problem| problem.about(to))?, to)?;
                Value::Null
            }
        };
        Ok(FilesAnswer::Value(value))
    }

    // THREAT[T-FILES-006]: a link is a second name for a place, under which no rule knows it.
    fn strict(&self, grant: &FilesGrant) -> bool {
        self.guarded.iter().any(|place| grant.path.covers(place))
    }

    // THREAT[T-FILES-007]: moving a folder moves what is denied in it to where it is not, and removing it removes that too.
    fn stays(&self, path: &GuestPath) -> Result<(), Problem> {
        match self.guarded.iter().any(|place| path.covers(place)) {
            true => Err(Reason::Denied("something in it is under another rule").into()),
            false => Ok(()),
        }
    }

    // THREAT[T-FILES-005]: taken before anything is written, so that calls at the same time cannot all find room.
    fn charge<'a>(&'a self, grant: &FilesGrant, bytes: u64) -> Result<Charge<'a>, Problem> {
        let key = grant.to_string();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let used = written.entry(key.clone()).or_default();
        let allowed = grant.quota_bytes;
        match used.checked_add(bytes).filter(|after| *after <= allowed) {
            Some(after) => *used = after,
            None => return Err(Reason::Quota { used: *used, wanted: bytes, allowed }.into()),
        }
        Ok(Charge { state: self, key, bytes })
    }
}

/// Bytes that count as written, unless they turn out not to have been.
struct Charge<'a> {
    state: &'a State,
    key: String,
    bytes: u64,
}

impl Charge<'_> {
    fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        let mut written = self.state.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = written.get_mut(&self.key) {
            *used = used.saturating_sub(self.bytes);
        }
    }
}
