//! Sessions that are awake, of all callers. One that nobody uses for a while sleeps: then it is on disk, and nowhere else.

use crate::caller::Caller;
use crate::error::Refusal;
use crate::runs::{Runs, lock};
use axum::http::StatusCode;
use isolith_core::{
    CallerId, FilesError, FilesOp, FilesReason, GuestPath, Limits, Manifest, Scope, SessionError, SessionName,
    SessionSettings, SessionStore, Tier, Woken,
};
use isolith_workspace::Answer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Those that are awake.
#[derive(Default)]
pub(crate) struct Awake(Mutex<HashMap<(CallerId, SessionName), Kept>>);

struct Kept {
    session: Arc<Woken>,
    used: Instant,
}

fn sleeps_after(session: &Woken) -> Duration {
    Duration::from_secs(session.settings.sleep_after_s.unwrap_or(SessionSettings::SLEEP_AFTER_S))
}

/// What a session's programs may do and use besides its own files and keys.
pub(crate) fn manifest_of(session: &Woken) -> Result<Option<Manifest>, Refusal> {
    session.settings.manifest.as_ref().map(manifest).transpose()
}

fn manifest(json: &isolith_core::Json) -> Result<Manifest, Refusal> {
    let wrong = |message: String| Refusal::invalid(message).at("manifest");
    let value = json.parse().map_err(|error| wrong(error.to_string()))?;
    Manifest::from_value(&value)
        .map_err(|error| wrong(error.to_string()).hint("`isolith manifest schema` prints what can stand there"))
}

/// Refuses settings that cannot be kept to.
pub(crate) fn check(settings: &SessionSettings) -> Result<(), Refusal> {
    if settings.tier == Some(Tier::Box) {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, "session.tier", "there is no box on this machine");
        return Err(refusal.at("tier").hint("`isolate` runs JavaScript and TypeScript"));
    }
    if let Some(json) = &settings.manifest {
        manifest(json)?;
    }
    Ok(())
}

impl Runs {
    /// Does something with a caller's sessions where waiting for the disk holds nobody up.
    pub(crate) async fn with_sessions<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl FnOnce(&dyn SessionStore) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, Refusal> {
        caller.may(Scope::Sessions)?;
        let opened = self.household.sessions(&caller.id);
        let store = opened.map_err(|error| Refusal::internal("opening a caller's sessions", &error))?;
        let done = tokio::task::spawn_blocking(move || work(&*store)).await;
        done.map_err(|error| Refusal::internal("using sessions", &error))?.map_err(|error| refusal(&error))
    }

    /// A session, awake.
    pub(crate) async fn session(&self, caller: &Caller, name: &SessionName) -> Result<Arc<Woken>, Refusal> {
        caller.may(Scope::Sessions)?;
        let key = (caller.id.clone(), name.clone());
        if let Some(kept) = lock(&self.awake.0).get_mut(&key) {
            kept.used = Instant::now();
            return Ok(Arc::clone(&kept.session));
        }
        let wanted = name.clone();
        let woken = self.with_sessions(caller, move |store| store.wake(&wanted)).await?;
        let mut awake = lock(&self.awake.0);
        let kept = awake.entry(key).or_insert(Kept { session: Arc::new(woken), used: Instant::now() });
        Ok(Arc::clone(&kept.session))
    }

    /// Lets a session be woken anew, with what holds for it from now on.
    pub(crate) fn let_sleep(&self, caller: &CallerId, name: &SessionName) {
        lock(&self.awake.0).remove(&(caller.clone(), name.clone()));
    }

    /// Lets all sleep, of an agent that was changed.
    pub(crate) fn let_all_sleep(&self, caller: &CallerId) {
        lock(&self.awake.0).retain(|(owner, _), _| owner != caller);
    }

    /// Lets those sleep that nobody has used for their time. Whoever has one in hand keeps it awake.
    pub(crate) fn doze(&self) {
        let idle =
            |kept: &Kept| Arc::strong_count(&kept.session) == 1 && kept.used.elapsed() >= sleeps_after(&kept.session);
        let asleep: Vec<Kept> = {
            let mut awake = lock(&self.awake.0);
            let keys: Vec<_> = awake.iter().filter(|(_, kept)| idle(kept)).map(|(key, _)| key.clone()).collect();
            keys.iter().filter_map(|key| awake.remove(key)).collect()
        };
        if !asleep.is_empty() {
            // Closing a database writes what is left of its log.
            drop(tokio::task::spawn_blocking(move || drop(asleep)));
        }
    }

    /// How many are awake.
    pub(crate) fn awake(&self) -> usize {
        lock(&self.awake.0).len()
    }
}

/// A path as it is written in one way only.
pub(crate) fn path_of(file: &str) -> Result<String, Refusal> {
    let path = GuestPath::new(file).map_err(|error| files_refusal(&error.into(), file))?;
    Ok(path.to_string())
}

/// A program that is a file of a session.
pub(crate) async fn program(session: &Arc<Woken>, file: &str) -> Result<String, Refusal> {
    let (session, path) = (Arc::clone(session), file.to_owned());
    let read = move || {
        let length = Some(Limits::default().source_bytes + 1);
        let op = FilesOp::Read { path, offset: 0, length, version: None };
        isolith_workspace::whole(&*session.open.files, &isolith_workspace::Scope::whole(), &op, &[])
    };
    let read =
        tokio::task::spawn_blocking(read).await.map_err(|error| Refusal::internal("reading a program", &error))?;
    let not_text = || files_refusal(&FilesReason::NotText.into(), file);
    match read.map_err(|error| files_refusal(&error, file))? {
        Answer::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| not_text()),
        Answer::Value(_) => Err(not_text()),
    }
}

/// What a caller is told.
pub(crate) fn refusal(error: &SessionError) -> Refusal {
    let status = match error {
        SessionError::NotFound { .. } => StatusCode::NOT_FOUND,
        SessionError::Exists { .. } => StatusCode::CONFLICT,
        SessionError::Invalid(_) => StatusCode::BAD_REQUEST,
        SessionError::Files(error) => return files_refusal(error, "it"),
        SessionError::Damaged(_) => {
            tracing::error!(%error, "waking a session");
            StatusCode::INTERNAL_SERVER_ERROR
        }
        error => return Refusal::internal("using sessions", error),
    };
    Refusal::new(status, error.code(), error.to_string())
}

/// What a caller is told who asked for `path`.
pub(crate) fn files_refusal(error: &FilesError, path: &str) -> Refusal {
    let status = match &error.reason {
        FilesReason::NotFound => StatusCode::NOT_FOUND,
        FilesReason::Denied(_) | FilesReason::Outside { .. } => StatusCode::FORBIDDEN,
        FilesReason::Exists
        | FilesReason::NotAFile(_)
        | FilesReason::NotAFolder
        | FilesReason::NotEmpty
        | FilesReason::NoMatch { .. }
        | FilesReason::Ambiguous { .. } => StatusCode::CONFLICT,
        FilesReason::Quota { .. } | FilesReason::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        FilesReason::Damaged => StatusCode::INTERNAL_SERVER_ERROR,
        FilesReason::Io(_) => StatusCode::SERVICE_UNAVAILABLE,
        FilesReason::Unsupported(_) => StatusCode::NOT_IMPLEMENTED,
        _ => StatusCode::BAD_REQUEST,
    };
    Refusal::new(status, error.code(), error.message(path))
}
