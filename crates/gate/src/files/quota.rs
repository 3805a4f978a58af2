//! What a run has written, by grant.

use isolith_core::{FilesError, FilesGrant, FilesReason};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// By grant, how many bytes were written.
#[derive(Default)]
pub(super) struct Written {
    bytes: Mutex<HashMap<String, u64>>,
}

impl Written {
    // THREAT[T-FILES-005]: taken before anything is written, so that calls at the same time cannot all find room.
    pub(super) fn charge<'a>(&'a self, grant: &FilesGrant, bytes: u64) -> Result<Charge<'a>, FilesError> {
        let key = grant.to_string();
        let mut written = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let used = written.entry(key.clone()).or_default();
        let allowed = grant.quota_bytes;
        match used.checked_add(bytes).filter(|after| *after <= allowed) {
            Some(after) => *used = after,
            None => return Err(FilesReason::Written { used: *used, wanted: bytes, allowed }.into()),
        }
        Ok(Charge { written: self, key, bytes })
    }
}

/// Bytes that count as written, unless they turn out not to have been.
pub(super) struct Charge<'a> {
    written: &'a Written,
    key: String,
    bytes: u64,
}

impl Charge<'_> {
    pub(super) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        let mut written = self.written.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = written.get_mut(&self.key) {
            *used = used.saturating_sub(self.bytes);
        }
    }
}

/// What one operation writes in all, which it says before it does.
pub(super) struct Spending<'a> {
    written: &'a Written,
    grant: &'a FilesGrant,
    charge: RefCell<Option<Charge<'a>>>,
}

impl<'a> Spending<'a> {
    pub(super) fn new(written: &'a Written, grant: &'a FilesGrant) -> Spending<'a> {
        Spending { written, grant, charge: RefCell::new(None) }
    }

    /// Takes the place of what was said before: an operation that is begun again is one operation.
    pub(super) fn spend(&self, bytes: u64) -> Result<(), FilesError> {
        let mut charge = self.charge.borrow_mut();
        *charge = None;
        *charge = Some(self.written.charge(self.grant, bytes)?);
        Ok(())
    }

    pub(super) fn keep(self) {
        if let Some(charge) = self.charge.into_inner() {
            charge.keep();
        }
    }
}
