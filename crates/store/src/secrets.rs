//! Secrets, each encrypted for itself.

mod key;
mod seal;

use crate::StoreError;
use crate::database::{self, now};
use crate::migrations::SECRETS;
use isolith_core::{CallerId, SecretName, SecretStore, Timestamp};
use key::Key;
pub use key::KeySource;
pub(crate) use key::random;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use seal::Sealed;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// The most a secret may hold.
const VALUE_BYTES_MAX: usize = 64 << 10;
/// What is sealed to know the key again.
const PROOF: &[u8] = b"isolith: this is the key";
/// No secret has this name: they have no spaces.
const PROOF_NAME: &str = "the proof";

/// Encrypted secrets in one SQLite file. Its key is read when it is first needed, and made when a first secret is set.
pub struct Secrets {
    path: PathBuf,
    source: KeySource,
    owner: Option<CallerId>,
    db: Mutex<Connection>,
}

/// What can be told about a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretEntry {
    /// Its name.
    pub name: SecretName,
    /// When it was first set.
    pub created: Timestamp,
    /// When it was last set.
    pub changed: Timestamp,
}

impl Secrets {
    pub(crate) fn open(path: &Path, source: KeySource, owner: Option<CallerId>) -> Result<Secrets, StoreError> {
        let db = database::open(path, &SECRETS)?;
        // What was removed is overwritten, encrypted as it was.
        db.pragma_update(None, "secure_delete", true).map_err(|error| StoreError::of(path, error))?;
        Ok(Secrets { path: path.to_owned(), source, owner, db: Mutex::new(db) })
    }

    /// Keeps a secret, in place of an earlier one of that name.
    pub fn set(&self, name: &SecretName, value: &str) -> Result<(), StoreError> {
        if value.is_empty() || value.len() > VALUE_BYTES_MAX {
            let most = VALUE_BYTES_MAX >> 10;
            return Err(StoreError::Invalid(format!("a secret has 1 byte to {most} KiB, not {} bytes", value.len())));
        }
        let key = self.source.read_or_make()?;
        let sealed = seal::seal(&key, &self.bound(name.as_str()), value.as_bytes())?;
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |error| StoreError::of(&self.path, error);
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
        // THREAT[T-SECRET-015]: with a wrong key the old secrets would become unreadable one by one. It is known before.
        self.prove(&change, &key)?;
        let sql = "INSERT INTO secrets (name, nonce, sealed, created_us, changed_us) VALUES (?1, ?2, ?3, ?4, ?4)
            ON CONFLICT (name) DO UPDATE SET nonce = excluded.nonce, sealed = excluded.sealed, changed_us = excluded.changed_us";
        let at = now().as_micros().cast_signed();
        change.execute(sql, (name.as_str(), sealed.nonce, sealed.bytes, at)).map_err(of)?;
        change.commit().map_err(of)
    }

    /// Removes a secret and says whether there was one.
    pub fn remove(&self, name: &SecretName) -> Result<bool, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = db.execute("DELETE FROM secrets WHERE name = ?1", [name.as_str()]);
        gone.map(|gone| gone > 0).map_err(|error| StoreError::of(&self.path, error))
    }

    /// The names there are, with their dates. No key is needed for this.
    pub fn names(&self) -> Result<Vec<SecretEntry>, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let mut statement = db.prepare_cached("SELECT name, created_us, changed_us FROM secrets ORDER BY name")?;
            let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, i64, i64)>>>()
        };
        let moment = |micros: i64| Timestamp::from_micros(micros.max(0).cast_unsigned());
        let rows = read().map_err(|error| StoreError::of(&self.path, error))?;
        let entry = |(name, created, changed): (String, i64, i64)| {
            Some(SecretEntry { name: SecretName::new(&name).ok()?, created: moment(created), changed: moment(changed) })
        };
        Ok(rows.into_iter().filter_map(entry).collect())
    }

    /// The value of a secret, or nothing when there is none of that name.
    pub fn value(&self, name: &SecretName) -> Result<Option<Zeroizing<String>>, StoreError> {
        let found = {
            let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
            find(&db, "SELECT nonce, sealed FROM secrets WHERE name = ?1", [name.as_str()])
        };
        let Some(sealed) = found.map_err(|error| StoreError::of(&self.path, error))? else { return Ok(None) };
        let key = self.source.read()?.ok_or_else(|| StoreError::Key(self.source.missing()))?;
        let bytes = seal::open(&key, &self.bound(name.as_str()), &sealed).ok_or_else(|| self.wrong_key())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| self.wrong_key())?;
        Ok(Some(Zeroizing::new(text.to_owned())))
    }

    fn prove(&self, db: &Connection, key: &Key) -> Result<(), StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        match find(db, "SELECT nonce, sealed FROM proof", []).map_err(of)? {
            Some(proof) => match seal::open(key, &self.bound(PROOF_NAME), &proof) {
                Some(text) if *text == PROOF => Ok(()),
                _ => Err(self.wrong_key()),
            },
            None => {
                // Without its key the first secret is no secret but lost.
                self.source.settle()?;
                let proof = seal::seal(key, &self.bound(PROOF_NAME), PROOF)?;
                let sql = "INSERT INTO proof (id, nonce, sealed) VALUES (1, ?1, ?2)";
                db.execute(sql, (proof.nonce, proof.bytes)).map(|_| ()).map_err(of)
            }
        }
    }

    // THREAT[T-SECRET-018]: all callers' secrets are sealed with one key. A caller's are sealed with its name besides, so that none is
    // of use in the file of another.
    fn bound(&self, name: &str) -> String {
        self.owner.as_ref().map_or_else(|| name.to_owned(), |owner| format!("{owner}\0{name}"))
    }

    fn wrong_key(&self) -> StoreError {
        StoreError::WrongKey { path: self.path.clone(), key: self.source.to_string() }
    }
}

fn find(db: &Connection, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<Option<Sealed>> {
    let sealed = |row: &rusqlite::Row<'_>| Ok(Sealed { nonce: row.get(0)?, bytes: row.get(1)? });
    db.prepare_cached(sql)?.query_row(values, sealed).optional()
}

impl SecretStore for Secrets {
    fn get(&self, name: &SecretName) -> Result<Option<String>, String> {
        let value = self.value(name).map_err(|error| error.to_string())?;
        Ok(value.map(|mut value| std::mem::take(&mut *value)))
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("path", &self.path).finish_non_exhaustive()
    }
}
