//! What the server's callers have, from the data folder: each of them a folder of its own.

use isolith_core::{AuditRow, BoxFuture, CallerId, JournalStore, RunId, SecretName, SessionStore, StoreProblem};
use isolith_gate::Means;
use isolith_gate::egress::Net;
use isolith_server::{Household, Wanted};
use isolith_store::{Audit, AuditQuery, DataFolder, Kv, Secrets, Sessions, StoreError};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Callers whose stores are open at one time. Those of others are opened again when they come back.
const OPEN_MAX: usize = 256;

pub(crate) struct Callers {
    data: DataFolder,
    net: Arc<Net>,
    folder: PathBuf,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: BTreeMap<CallerId, Arc<Stores>>,
    order: VecDeque<CallerId>,
}

/// One caller's.
struct Stores {
    kv: Arc<Kv>,
    secrets: Arc<Secrets>,
    audit: Arc<Audit>,
    sessions: Arc<Sessions>,
}

impl Callers {
    pub(crate) fn new(data: DataFolder, net: Arc<Net>, folder: PathBuf) -> Callers {
        Callers { data, net, folder, open: Mutex::default() }
    }

    fn stores(&self, caller: &CallerId) -> Result<Arc<Stores>, StoreProblem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stores) = open.all.get(caller) {
            return Ok(Arc::clone(stores));
        }
        let own = self.data.caller(caller).map_err(problem)?;
        let stores = Arc::new(Stores {
            kv: Arc::new(own.kv().map_err(problem)?),
            secrets: Arc::new(own.secrets().map_err(problem)?),
            audit: Arc::new(own.audit().map_err(problem)?),
            sessions: Arc::new(own.sessions().map_err(problem)?),
        });
        open.all.insert(caller.clone(), Arc::clone(&stores));
        open.order.push_back(caller.clone());
        if open.order.len() > OPEN_MAX
            && let Some(oldest) = open.order.pop_front()
        {
            open.all.remove(&oldest);
        }
        Ok(stores)
    }

    /// Does something that may wait for the disk where that holds nobody up.
    fn aside<T: Send + 'static>(
        &self,
        caller: &CallerId,
        work: impl FnOnce(&Stores) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreProblem>> {
        let stores = self.stores(caller);
        Box::pin(async move {
            let stores = stores?;
            let done = tokio::task::spawn_blocking(move || work(&stores)).await;
            done.map_err(|error| StoreProblem(error.to_string()))?.map_err(problem)
        })
    }
}

impl Household for Callers {
    fn means(&self, caller: &CallerId) -> Result<Means, StoreProblem> {
        let stores = self.stores(caller)?;
        let mut means = Means::new(Arc::clone(&self.net), self.folder.clone());
        means.kv = Some(Arc::clone(&stores.kv) as _);
        means.secrets = Some(Arc::clone(&stores.secrets) as _);
        means.audit = Some(Arc::clone(&stores.audit) as _);
        Ok(means)
    }

    fn sessions(&self, caller: &CallerId) -> Result<Arc<dyn SessionStore>, StoreProblem> {
        Ok(Arc::clone(&self.stores(caller)?.sessions) as _)
    }

    fn journals(&self, caller: &CallerId) -> Result<Arc<dyn JournalStore>, StoreProblem> {
        let journals = self.data.caller(caller).and_then(|own| own.journals());
        journals.map(|journals| Arc::new(journals) as _).map_err(problem)
    }

    fn consented(&self, caller: &CallerId, program: &str, grant: &str) -> bool {
        let consent = self.data.caller(caller).and_then(|own| own.consent());
        consent.is_ok_and(|consent| consent.allowed(program, grant) == Some(true))
    }

    fn consent(&self, caller: &CallerId, program: &str, grant: &str) -> Result<(), StoreProblem> {
        let consent = self.data.caller(caller).and_then(|own| own.consent()).map_err(problem)?;
        consent.remember(program, grant, true).map_err(problem)
    }

    fn secrets(&self, caller: &CallerId) -> BoxFuture<'_, Result<Vec<String>, StoreProblem>> {
        self.aside(caller, |stores| {
            Ok(stores.secrets.names()?.into_iter().map(|entry| entry.name.to_string()).collect())
        })
    }

    fn set_secret(&self, caller: &CallerId, name: String, value: String) -> BoxFuture<'_, Result<(), StoreProblem>> {
        self.aside(caller, move |stores| stores.secrets.set(&secret(&name)?, &value))
    }

    fn remove_secret(&self, caller: &CallerId, name: String) -> BoxFuture<'_, Result<bool, StoreProblem>> {
        self.aside(caller, move |stores| stores.secrets.remove(&secret(&name)?))
    }

    fn audit(&self, caller: &CallerId, wanted: Wanted) -> BoxFuture<'_, Result<Vec<AuditRow>, StoreProblem>> {
        let Wanted { run, host, denied, limit } = wanted;
        let query = AuditQuery { run: run.map(RunId), host, denied, limit, ..AuditQuery::default() };
        self.aside(caller, move |stores| {
            let _ = stores.audit.flush_blocking();
            stores.audit.query(&query)
        })
    }
}

fn secret(name: &str) -> Result<SecretName, StoreError> {
    SecretName::new(name).map_err(StoreError::Invalid)
}

fn problem(error: StoreError) -> StoreProblem {
    StoreProblem(error.to_string())
}
