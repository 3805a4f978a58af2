//! Files below granted paths: of a workspace, or of folders of the host, and nothing else of it.

mod host;
mod list;
mod pieces;
mod place;
mod quota;
mod read;
#[cfg(test)]
mod suite;
mod tree;
mod trouble;
mod write;

use crate::bodies::BodySource;
use crate::means::Means;
use host::Host;
use isolith_core::files::{Changing, FileTree, Looking, Room, Used};
use isolith_core::{Access, CallError, FilesError, FilesGrant, FilesOp, FilesReason, Grant, GuestPath, Power, Rule};
use isolith_workspace::{Scope, Work};
use pieces::TreePieces;
use quota::{Spending, Written};
use serde_json::{Value, json};
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

/// A folder of the host as a tree, for whoever may use all of it. Nothing outside of it is looked at or changed, whatever links there are.
pub struct HostFolder {
    folders: Folders,
    grant: FilesGrant,
}

impl HostFolder {
    /// Everything below `root`.
    pub fn new(root: PathBuf) -> HostFolder {
        let grant = FilesGrant { path: GuestPath::root(), access: Access::Write, quota_bytes: u64::MAX };
        HostFolder { folders: Folders::new(root), grant }
    }

    fn host(&self) -> Host<'_> {
        Host { state: &self.folders.state, grant: &self.grant }
    }
}

impl FileTree for HostFolder {
    fn view(&self, look: &mut Looking<'_>) -> Result<(), FilesError> {
        self.host().view(look)
    }

    fn change(&self, what: &str, change: &mut Changing<'_>) -> Result<(), FilesError> {
        self.host().change(what, change)
    }

    fn used(&self) -> Result<(Used, Room), FilesError> {
        self.host().used()
    }
}

/// The files of one run. Counts what the run writes.
pub struct Folders {
    state: Arc<State>,
}

struct State {
    // What relative paths are relative to, where there is no workspace.
    root: PathBuf,
    // A workspace, in which all of them are.
    tree: Option<Arc<dyn FileTree>>,
    // Places below which another rule holds than around them.
    guarded: Vec<GuestPath>,
    written: Written,
    // Of the host's files, one is changed after the other: appending takes back what it could not finish, and an edit writes
    // what it has read.
    changing: Mutex<()>,
}

impl Folders {
    /// Files below `root`, which is what relative paths are relative to.
    pub fn new(root: PathBuf) -> Self {
        Folders::guarding(root, &[])
    }

    /// As [`Folders::new`], and with these grants no way around those that deny or ask: within a place that holds a denied one,
    /// links are not followed, and no folder around the denied place can be moved or removed.
    pub fn guarding(root: PathBuf, grants: &[Grant]) -> Self {
        Folders::made(root, None, grants)
    }

    /// The files that these means bring.
    pub fn of(means: &Means, grants: &[Grant]) -> Self {
        Folders::made(means.folder.clone(), means.tree.clone(), grants)
    }

    fn made(root: PathBuf, tree: Option<Arc<dyn FileTree>>, grants: &[Grant]) -> Self {
        let guarded = grants.iter().filter(|grant| grant.rule != Rule::Allow).filter_map(|grant| match &grant.power {
            Power::Files(files) => Some(files.path.clone()),
            _ => None,
        });
        let guarded = guarded.collect();
        let state = State { root, tree, guarded, written: Written::default(), changing: Mutex::new(()) };
        Folders { state: Arc::new(state) }
    }

    /// Performs an operation that was admitted under `grant`. `to` is the other place that it is about, and was admitted too.
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
        let (state, grant, op, shown) = (self.state.clone(), grant.clone(), op.clone(), path.to_string());
        let work = move || state.perform(&grant, &path, to.as_ref(), &op, &bytes);
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done.map_err(|error| error.to_call_error(&shown)),
            Err(_) => Err(FilesError::from(FilesReason::Io("it was given up".into())).to_call_error(&shown)),
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
    ) -> Result<FilesAnswer, FilesError> {
        if op.access() > grant.access {
            return Err(FilesReason::Denied("the grant is for reading only").into());
        }
        if to.is_some_and(|to| !grant.path.covers(to)) {
            return Err(FilesReason::Denied("it leads out of the granted place").into());
        }
        match &self.tree {
            Some(tree) => {
                // THREAT[T-FILES-012]: a grant of the host's tree opens nothing here, and nothing here stands for it.
                if grant.path.is_absolute() {
                    return Err(FilesReason::Outside { instead: None }.into());
                }
                self.on(&**tree, grant, path, op, bytes).map(|answer| answered(answer, tree))
            }
            None => self.on_host(grant, path, to, op, bytes),
        }
    }

    /// On a tree, whoever keeps it.
    fn on(
        &self,
        tree: &dyn FileTree,
        grant: &FilesGrant,
        path: &GuestPath,
        op: &FilesOp,
        bytes: &[u8],
    ) -> Result<isolith_workspace::FilesAnswer, FilesError> {
        let spending = Spending::new(&self.written, grant);
        let scope = self.scope(grant, path, op);
        let answer = Work { tree, scope: &scope, spend: &|bytes| spending.spend(bytes) }.perform(op, bytes)?;
        spending.keep();
        Ok(answer)
    }

    /// On folders of the host.
    fn on_host(
        &self,
        grant: &FilesGrant,
        path: &GuestPath,
        to: Option<&GuestPath>,
        op: &FilesOp,
        bytes: &[u8],
    ) -> Result<FilesAnswer, FilesError> {
        let host = Host { state: self, grant };
        let place = |path: &GuestPath| host.place(path, op.access());
        let value = match op {
            FilesOp::Read { version: Some(_), .. } | FilesOp::History { .. } | FilesOp::Undo { .. } => {
                return Err(FilesReason::Unsupported("history").into());
            }
            // THREAT[T-FILES-010]: a link on the host is followed by everyone, and not only by guests.
            FilesOp::Link { .. } => return Err(FilesReason::Unsupported("way to make links").into()),
            FilesOp::Read { offset, length, .. } => return read::read(&place(path)?, *offset, *length),
            FilesOp::Write { append, .. } => {
                let place = place(path)?;
                let charge = self.written.charge(grant, bytes.len() as u64)?;
                let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
                let size = if *append { write::append(&place, bytes)? } else { write::replace(&place, bytes)? };
                charge.keep();
                json!(size)
            }
            FilesOp::List { cursor, limit, .. } => list::list(&place(path)?, path, cursor.as_deref(), *limit)?,
            FilesOp::Stat { .. } => match place(path) {
                Ok(place) => read::stat(&place)?,
                Err(error) if error.is_not_found() => Value::Null,
                Err(error) => return Err(error),
            },
            FilesOp::Remove { recursive, .. } => {
                self.stays(path)?;
                match place(path) {
                    Ok(place) => json!(tree::remove(&place, *recursive)?),
                    Err(error) if error.is_not_found() => json!(false),
                    Err(error) => return Err(error),
                }
            }
            FilesOp::MakeFolder { .. } => {
                write::make_folder(&place(path)?)?;
                Value::Null
            }
            FilesOp::Rename { .. } => {
                let to = to.ok_or_else(|| FilesReason::Io("it was not said where to".into()))?;
                self.stays(path)?;
                self.stays(to)?;
                let from = host.place(path, Access::Read)?;
                tree::rename(&from, &place(to).map_err(|error| error.about(to))?, to)?;
                Value::Null
            }
            FilesOp::ReadLines { .. }
            | FilesOp::Edit { .. }
            | FilesOp::Copy { .. }
            | FilesOp::Set { .. }
            | FilesOp::Glob { .. }
            | FilesOp::Grep { .. }
            | FilesOp::Find { .. }
            | FilesOp::Tree { .. }
            | FilesOp::Diff { .. } => match self.on(&host, grant, path, op, bytes)? {
                isolith_workspace::FilesAnswer::Value(value) => value,
                // None of these is answered by bytes.
                _ => return Err(FilesReason::Unsupported("such an answer").into()),
            },
        };
        Ok(FilesAnswer::Value(value))
    }

    /// What is open to an operation: what is granted, without the places that are under another rule.
    ///
    /// The rule that a path itself is under was decided about. What it is about then stays below that rule, so that no link leads
    /// from what was agreed to into what was not.
    fn scope(&self, grant: &FilesGrant, path: &GuestPath, op: &FilesOp) -> Scope {
        let around = self.guarded.iter().filter(|place| grant.path.covers(place) && place.covers(path));
        let innermost = around.max_by_key(|place| place.names().len()).filter(|_| op.to().is_none());
        let root = innermost.unwrap_or(&grant.path).clone();
        let closed = self.guarded.iter().filter(|place| root.covers(place) && !place.covers(path));
        Scope { closed: closed.cloned().collect(), root }
    }

    // THREAT[T-FILES-006]: a link is a second name for a place, under which no rule knows it.
    fn strict(&self, grant: &FilesGrant) -> bool {
        self.guarded.iter().any(|place| grant.path.covers(place))
    }

    // THREAT[T-FILES-007]: moving a folder moves what is denied in it to where it is not, and removing it removes that too.
    fn stays(&self, path: &GuestPath) -> Result<(), FilesError> {
        match self.guarded.iter().any(|place| path.covers(place)) {
            true => Err(FilesReason::Denied("something in it is under another rule").into()),
            false => Ok(()),
        }
    }
}

fn answered(answer: isolith_workspace::FilesAnswer, tree: &Arc<dyn FileTree>) -> FilesAnswer {
    match answer {
        isolith_workspace::FilesAnswer::Value(value) => FilesAnswer::Value(value),
        isolith_workspace::FilesAnswer::Bytes(bytes) => FilesAnswer::Bytes(bytes),
        isolith_workspace::FilesAnswer::Large(pieces) => {
            let length = pieces.left();
            FilesAnswer::Stream(Box::new(TreePieces::new(Arc::clone(tree), pieces)), length)
        }
    }
}
