//! The keys to a server: who has one, and what it is good for.

use crate::StoreError;
use crate::database::{self, Use, now};
use crate::migrations::KEYS;
use crate::secrets::random;
use isolith_core::key::{self, KeySecret};
use isolith_core::{ApiKey, ApiKeys, CallerId, Json, Scope, StoreProblem, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// The most keys there can be, revoked ones included: all of them are held in memory.
const KEYS_MAX: u64 = 10_000;
/// The longest name.
const NAME_BYTES_MAX: usize = 64;
/// The largest policy.
const POLICY_BYTES_MAX: usize = 1 << 20;
/// How long the name of a caller is. No key may be called like one.
const CALLER_CHARS: usize = 32;

const COLUMNS: &str = "caller, name, hash, scopes, policy, rate, created_us, revoked_us";

/// What a new key is to be.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// For people: up to 64 letters, digits, `.`, `_` and `-`. No two keys that are worth something have the same.
    pub name: String,
    /// What its holder may do.
    pub scopes: Vec<Scope>,
    /// The most that its runs may have, as a manifest.
    pub policy: Option<Json>,
    /// How many runs it may start a second.
    pub rate: Option<u32>,
}

/// Keys in one SQLite file.
///
/// They are held in memory. Every question first asks SQLite whether anyone changed the file, which takes about a microsecond, so a
/// key that another process revokes is worth nothing from the next question on.
pub struct Keys {
    path: PathBuf,
    held: Mutex<Held>,
}

/// All keys, as they were when the file was last seen to change.
struct Held {
    db: Connection,
    version: Option<i64>,
    keys: HashMap<CallerId, ApiKey>,
    any: bool,
}

impl Keys {
    pub(crate) fn open(path: &Path) -> Result<Keys, StoreError> {
        database::open(path, &KEYS)?;
        let db = database::connect(path, Use::Reading)?;
        let held = Mutex::new(Held { db, version: None, keys: HashMap::new(), any: false });
        Ok(Keys { path: path.to_owned(), held })
    }

    /// Makes a key. Its text is told here and never again: only a hash of it is kept.
    pub fn create(&self, new: NewKey) -> Result<(ApiKey, Zeroizing<String>), StoreError> {
        check(&new)?;
        let mut caller = [0; 16];
        random(&mut caller)?;
        let mut secret = Zeroizing::new([0; 32]);
        random(&mut *secret)?;
        let secret = KeySecret::new(*secret);
        let NewKey { name, mut scopes, policy, rate } = new;
        scopes.sort();
        scopes.dedup();
        let created = now();
        let key = ApiKey {
            caller: key::caller(caller),
            name,
            hash: secret.hash(),
            scopes,
            policy,
            rate,
            created,
            revoked: None,
        };
        self.change(|db| {
            let taken = "SELECT 1 FROM keys WHERE name = ?1 AND revoked_us IS NULL";
            if db.query_row(taken, [&key.name], |_| Ok(())).optional()?.is_some() {
                let name = &key.name;
                return Ok(Err(format!("there is a key `{name}` already: revoke it, or choose another name")));
            }
            let count: i64 = db.query_row("SELECT count(*) FROM keys", [], |row| row.get(0))?;
            if count.cast_unsigned() >= KEYS_MAX {
                return Ok(Err(format!("there are {KEYS_MAX} keys already, and there can be no more")));
            }
            insert(db, &key)?;
            Ok(Ok(()))
        })?
        .map_err(StoreError::Invalid)?;
        let text = Zeroizing::new(key::text(&key.caller, &secret));
        Ok((key, text))
    }

    /// All keys, revoked ones too, the newest last.
    pub fn list(&self) -> Result<Vec<ApiKey>, StoreError> {
        let mut keys: Vec<ApiKey> = self.ask(|held| held.keys.values().cloned().collect())?;
        keys.sort_by(|a, b| (a.created, &a.caller).cmp(&(b.created, &b.caller)));
        Ok(keys)
    }

    /// Revokes a key by its name or its caller, from now on and for good. Nothing when there is none that could be.
    pub fn revoke(&self, name_or_caller: &str) -> Result<Option<ApiKey>, StoreError> {
        self.change(|db| {
            let sql = format!(
                "UPDATE keys SET revoked_us = ?2 WHERE (name = ?1 OR caller = ?1) AND revoked_us IS NULL RETURNING {COLUMNS}"
            );
            let mut statement = db.prepare(&sql)?;
            let mut rows = statement.query((name_or_caller, signed(now())))?;
            let revoked = rows.next()?.map(read).transpose()?;
            // No name looks like a caller, so there is one at most.
            while rows.next()?.is_some() {}
            Ok(revoked)
        })
    }

    /// Over a connection of its own: SQLite tells the one that reads about changes by others only.
    fn change<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        let mut db = database::connect(&self.path, Use::Writing)?;
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
        let done = change(&transaction).map_err(of)?;
        transaction.commit().map_err(of)?;
        Ok(done)
    }

    fn ask<T>(&self, question: impl FnOnce(&Held) -> T) -> Result<T, StoreError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.refresh().map_err(|error| StoreError::of(&self.path, error))?;
        Ok(question(&held))
    }
}

impl Held {
    // THREAT[T-KEY-003]: a revoked key that is still held in memory opens the door. The file is asked each time; when that cannot be
    // done there is no answer, and nobody gets in.
    fn refresh(&mut self) -> rusqlite::Result<()> {
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version == Some(version) {
            return Ok(());
        }
        // The version is from before the keys: if they change in between, the next question looks again.
        self.version = None;
        let mut statement = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM keys"))?;
        let keys = statement.query_map([], |row| read(row).map(|key| (key.caller.clone(), key)))?;
        self.keys = keys.collect::<rusqlite::Result<_>>()?;
        self.any = self.keys.values().any(|key| key.revoked.is_none());
        self.version = Some(version);
        Ok(())
    }
}

impl ApiKeys for Keys {
    fn find(&self, caller: &CallerId) -> Result<Option<ApiKey>, StoreProblem> {
        self.ask(|held| held.keys.get(caller).cloned()).map_err(|error| StoreProblem(error.to_string()))
    }

    fn any(&self) -> Result<bool, StoreProblem> {
        self.ask(|held| held.any).map_err(|error| StoreProblem(error.to_string()))
    }
}

fn check(new: &NewKey) -> Result<(), StoreError> {
    let NewKey { name, scopes, policy, .. } = new;
    let invalid = |why: String| Err(StoreError::Invalid(why));
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(fine) {
        return invalid(format!("the name of a key has 1 to {NAME_BYTES_MAX} letters, digits, `.`, `_` and `-`"));
    }
    let like_an_id = name.len() == CALLER_CHARS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if like_an_id || name.starts_with(key::PREFIX) {
        return invalid("a key cannot be called like the id or the text of one".into());
    }
    if scopes.is_empty() {
        return invalid("a key without any scope is good for nothing".into());
    }
    match policy.as_ref().map_or(0, |policy| policy.text().len()) {
        bytes if bytes > POLICY_BYTES_MAX => {
            invalid(format!("the policy of a key has at most {} KiB", POLICY_BYTES_MAX >> 10))
        }
        _ => Ok(()),
    }
}

fn insert(db: &Connection, key: &ApiKey) -> rusqlite::Result<()> {
    let sql = format!("INSERT INTO keys ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.name()).collect();
    db.execute(
        &sql,
        (
            &key.caller.0,
            &key.name,
            key.hash,
            scopes.join(","),
            key.policy.as_ref().map(Json::text),
            key.rate,
            signed(key.created),
            key.revoked.map(signed),
        ),
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let moment = |micros: i64| Timestamp::from_micros(micros.max(0).cast_unsigned());
    let scopes: String = row.get(3)?;
    let policy: Option<String> = row.get(4)?;
    // THREAT[T-KEY-004]: without its policy a key would be good for more. One that cannot be read is an error, never none.
    let policy = policy.map(Json::from_text).transpose().map_err(|_| database::corrupt())?;
    // A scope of a later isolith is none that this one could give.
    let scopes = Scope::ALL.into_iter().filter(|scope| scopes.split(',').any(|name| name == scope.name()));
    Ok(ApiKey {
        caller: CallerId(row.get(0)?),
        name: row.get(1)?,
        hash: row.get(2)?,
        scopes: scopes.collect(),
        policy,
        rate: row.get(5)?,
        created: moment(row.get(6)?),
        revoked: row.get::<_, Option<i64>>(7)?.map(moment),
    })
}

fn signed(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}
