//! Bodies that the host holds for a run: responses, files. The guest reads them by their ids.

use crate::bodies::BodySource;
use crate::book::Entry;
use crate::ledger::lock;
use isolith_core::{BodyId, HostReply, MAX_READ_BYTES};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A run may hold this many bodies open.
const OPEN_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Bodies {
    all: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u32,
    open: BTreeMap<BodyId, Arc<tokio::sync::Mutex<Open>>>,
}

/// An open body, and the entry in the books that is written when it is over, however it ends.
struct Open {
    source: Box<dyn BodySource>,
    entry: Option<Entry>,
}

impl Bodies {
    pub(crate) fn any(&self) -> bool {
        !lock(&self.all).open.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        lock(&self.all).open.len() >= OPEN_MAX
    }

    pub(crate) fn open(&self, source: Box<dyn BodySource>, entry: Option<Entry>) -> BodyId {
        let mut all = lock(&self.all);
        let id = BodyId(all.next);
        all.next += 1;
        all.open.insert(id, Arc::new(tokio::sync::Mutex::new(Open { source, entry })));
        id
    }

    pub(crate) async fn read(&self, id: BodyId, most: u32) -> HostReply {
        let open = lock(&self.all).open.get(&id).cloned();
        let Some(open) = open else {
            return HostReply::failed_as("body.gone", "TypeError", "this body was read to its end, or given up");
        };
        let mut open = open.lock().await;
        match open.source.read(most.min(MAX_READ_BYTES) as usize).await {
            Ok(bytes) => {
                if let Some(entry) = &mut open.entry {
                    entry.bytes_in += bytes.len() as u64;
                }
                if bytes.is_empty() {
                    self.drop(id);
                }
                HostReply::Bytes { bytes }
            }
            Err(error) => {
                if let Some(entry) = &mut open.entry {
                    entry.failed(&error);
                }
                self.drop(id);
                HostReply::Failed { error }
            }
        }
    }

    pub(crate) fn drop(&self, id: BodyId) {
        lock(&self.all).open.remove(&id);
    }
}
