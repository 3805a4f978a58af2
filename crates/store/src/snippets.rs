//! Programs that are kept by name, in versions, each with what it may do.

use crate::StoreError;
use crate::database::{self, corrupt, now};
use crate::migrations::SNIPPETS;
use isolith_core::{BindingName, Change, Digest, Json, Manifest, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The most names there can be.
const SNIPPETS_MAX: u32 = 1_000;
/// The versions of a name that are kept, besides the last that someone agreed to.
const VERSIONS_MAX: u32 = 50;
/// The largest program.
const SOURCE_BYTES_MAX: usize = 1 << 20;
/// The largest manifest.
const MANIFEST_BYTES_MAX: usize = 1 << 20;
/// The largest schema. Those of all names are read together.
const SCHEMA_BYTES_MAX: usize = 64 << 10;
/// The longest description.
const DESCRIPTION_BYTES_MAX: usize = 4 << 10;

const ENTRY: &str = "name, version, description, input, output, agreed, created_us";

/// What can be told about a version without its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetEntry {
    /// What it is called by.
    pub name: BindingName,
    /// From 1; each that is saved has the next.
    pub version: u32,
    /// What it is for; may be empty.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Option<Json>,
    /// The JSON Schema of its value.
    pub output: Option<Json>,
    /// Whether someone agreed to what it may do.
    pub agreed: bool,
    /// When it was saved.
    pub created: Timestamp,
}

/// One version of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// What can be told about it.
    pub entry: SnippetEntry,
    /// The program as it was written.
    pub source: String,
    /// What its source hashes to.
    pub digest: String,
    /// What it may do, as far as its caller may.
    pub manifest: Manifest,
}

/// What is to be saved.
#[derive(Clone, Debug)]
pub struct NewSnippet {
    /// What it is called by.
    pub name: BindingName,
    /// What it is for.
    pub description: String,
    /// The program.
    pub source: String,
    /// What it may do.
    pub manifest: Manifest,
    /// The JSON Schema of its input.
    pub input: Option<Json>,
    /// The JSON Schema of its value.
    pub output: Option<Json>,
}

/// What became of saving one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSnippet {
    /// The version that counts from now on.
    pub snippet: Snippet,
    /// Whether it is a new one: the same again is none.
    pub new: bool,
    /// By what it may do more than the last version that someone agreed to.
    pub grown: Vec<Change>,
}

/// Programs by name, in one SQLite file. The last version of a name is the one that counts.
pub struct Snippets {
    path: PathBuf,
    db: Mutex<Connection>,
}

impl Snippets {
    pub(crate) fn open(path: &Path) -> Result<Snippets, StoreError> {
        Ok(Snippets { path: path.to_owned(), db: Mutex::new(database::open(path, &SNIPPETS)?) })
    }

    /// Saves a version. Whoever saves the first agrees to it; a later one is agreed to when it may do no more than the last that was,
    /// or when whoever saves it says so.
    pub fn save(&self, new: &NewSnippet, agree: bool) -> Result<SavedSnippet, StoreError> {
        check(new)?;
        self.change(|db| {
            let versions = Versions::of(db, &new.name)?;
            // THREAT[T-SNIPPET-001]: a program that grows in steps, each the same as the one before it, would be agreed to in the end.
            // Each is held against the last that someone agreed to.
            let grown = match (&versions.agreed, &versions.last) {
                (Some(agreed), _) => escalations(&agreed.manifest, &new.manifest),
                (None, Some(_)) => escalations(&Manifest::default(), &new.manifest),
                (None, None) => Vec::new(),
            };
            let agreed = agree || versions.last.is_none() || (versions.agreed.is_some() && grown.is_empty());
            if let Some(mut same) = versions.last.clone().filter(|last| is_same(last, new)) {
                if agreed && !same.entry.agreed {
                    agree_to(db, &new.name, same.entry.version)?;
                    same.entry.agreed = true;
                }
                return Ok(Ok(SavedSnippet { snippet: same, new: false, grown }));
            }
            if versions.last.is_none() && count(db)? >= SNIPPETS_MAX {
                return Ok(Err(format!(
                    "there are {SNIPPETS_MAX} snippets already: `isolith snippet rm NAME` makes room"
                )));
            }
            let entry = SnippetEntry {
                name: new.name.clone(),
                version: versions.last.map_or(0, |last| last.entry.version).saturating_add(1),
                description: new.description.clone(),
                input: new.input.clone(),
                output: new.output.clone(),
                agreed,
                created: now(),
            };
            let (source, digest) = (new.source.clone(), Digest::of(&new.source).to_string());
            let snippet = Snippet { entry, source, digest, manifest: new.manifest.clone() };
            insert(db, &snippet)?;
            forget_old(db, &new.name)?;
            Ok(Ok(SavedSnippet { snippet, new: true, grown }))
        })?
        .map_err(StoreError::Invalid)
    }

    /// Agrees to what a version may do. Nothing happens, and the answer is no, when it is not the last one of its name: who agrees
    /// has seen what they agree to.
    pub fn agree(&self, name: &BindingName, version: u32) -> Result<bool, StoreError> {
        self.change(|db| agree_to(db, name, version))
    }

    /// By what the last version of a name may do more than the last that someone agreed to.
    pub fn grown(&self, name: &BindingName) -> Result<Vec<Change>, StoreError> {
        self.with(|db| {
            let Versions { last, agreed } = Versions::of(db, name)?;
            let Some(last) = last else { return Ok(Vec::new()) };
            let before = agreed.map(|agreed| agreed.manifest).unwrap_or_default();
            Ok(escalations(&before, &last.manifest))
        })
    }

    /// The last version of every name, in the order of their names.
    pub fn list(&self) -> Result<Vec<SnippetEntry>, StoreError> {
        let sql = format!(
            "SELECT {ENTRY} FROM snippets AS one WHERE version = (SELECT max(version) FROM snippets WHERE name = one.name) ORDER BY name"
        );
        self.with(|db| db.prepare_cached(&sql)?.query_map([], entry)?.collect())
    }

    /// What can be told about every version of a name that is kept, the last at the end.
    pub fn versions(&self, name: &BindingName) -> Result<Vec<SnippetEntry>, StoreError> {
        let sql = format!("SELECT {ENTRY} FROM snippets WHERE name = ?1 ORDER BY version");
        self.with(|db| db.prepare_cached(&sql)?.query_map([name.as_str()], entry)?.collect())
    }

    /// A version of a name, or its last.
    pub fn find(&self, name: &BindingName, version: Option<u32>) -> Result<Option<Snippet>, StoreError> {
        self.with(|db| match version {
            Some(version) => one(db, name, "AND version = ?2", Some(version)),
            None => last(db, name),
        })
    }

    /// Forgets all versions of a name, and says how many there were.
    pub fn remove(&self, name: &BindingName) -> Result<usize, StoreError> {
        self.change(|db| db.execute("DELETE FROM snippets WHERE name = ?1", [name.as_str()]))
    }

    fn change<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |error| StoreError::of(&self.path, error);
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
        let done = change(&transaction).map_err(of)?;
        transaction.commit().map_err(of)?;
        Ok(done)
    }

    fn with<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        act(&db).map_err(|error| StoreError::of(&self.path, error))
    }
}

/// The versions of a name that decide about the next.
struct Versions {
    last: Option<Snippet>,
    agreed: Option<Snippet>,
}

impl Versions {
    fn of(db: &Connection, name: &BindingName) -> rusqlite::Result<Versions> {
        Ok(Versions { last: last(db, name)?, agreed: one(db, name, "AND agreed ORDER BY version DESC LIMIT 1", None)? })
    }
}

fn escalations(before: &Manifest, after: &Manifest) -> Vec<Change> {
    after.diff(before).into_iter().filter(|change| change.escalates).collect()
}

fn is_same(last: &Snippet, new: &NewSnippet) -> bool {
    let Snippet { entry, source, manifest, .. } = last;
    let told = (&entry.description, &entry.input, &entry.output) == (&new.description, &new.input, &new.output);
    told && *source == new.source && manifest.digest() == new.manifest.digest()
}

fn check(new: &NewSnippet) -> Result<(), StoreError> {
    let of = |schema: &Option<Json>| schema.as_ref().map_or(0, |schema| schema.text().len());
    for (what, bytes, most) in [
        ("program", new.source.len(), SOURCE_BYTES_MAX),
        ("manifest", new.manifest.to_value().to_string().len(), MANIFEST_BYTES_MAX),
        ("input schema", of(&new.input), SCHEMA_BYTES_MAX),
        ("output schema", of(&new.output), SCHEMA_BYTES_MAX),
        ("description", new.description.len(), DESCRIPTION_BYTES_MAX),
    ] {
        if bytes > most {
            return Err(StoreError::Invalid(format!("the {what} of a snippet has at most {} KiB", most >> 10)));
        }
    }
    Ok(())
}

fn count(db: &Connection) -> rusqlite::Result<u32> {
    db.query_row("SELECT count(DISTINCT name) FROM snippets", [], |row| row.get(0))
}

fn agree_to(db: &Connection, name: &BindingName, version: u32) -> rusqlite::Result<bool> {
    let sql = "UPDATE snippets SET agreed = 1
        WHERE name = ?1 AND version = ?2 AND version = (SELECT max(version) FROM snippets WHERE name = ?1)";
    Ok(db.execute(sql, (name.as_str(), version))? == 1)
}

fn insert(db: &Connection, snippet: &Snippet) -> rusqlite::Result<()> {
    let Snippet { entry, source, digest, manifest } = snippet;
    let sql = format!(
        "INSERT INTO snippets ({ENTRY}, digest, manifest, source) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    );
    db.execute(
        &sql,
        (
            entry.name.as_str(),
            entry.version,
            &entry.description,
            entry.input.as_ref().map(Json::text),
            entry.output.as_ref().map(Json::text),
            entry.agreed,
            i64::try_from(entry.created.as_micros()).unwrap_or(i64::MAX),
            digest,
            manifest.to_value().to_string(),
            source,
        ),
    )?;
    Ok(())
}

/// What is held against the next version stays, however old it is.
fn forget_old(db: &Connection, name: &BindingName) -> rusqlite::Result<()> {
    let sql = "DELETE FROM snippets WHERE name = ?1
        AND version <= (SELECT max(version) FROM snippets WHERE name = ?1) - ?2
        AND version IS NOT (SELECT max(version) FROM snippets WHERE name = ?1 AND agreed)";
    db.execute(sql, (name.as_str(), VERSIONS_MAX)).map(drop)
}

fn last(db: &Connection, name: &BindingName) -> rusqlite::Result<Option<Snippet>> {
    one(db, name, "ORDER BY version DESC LIMIT 1", None)
}

fn one(db: &Connection, name: &BindingName, which: &str, version: Option<u32>) -> rusqlite::Result<Option<Snippet>> {
    let sql = format!("SELECT {ENTRY}, digest, manifest, source FROM snippets WHERE name = ?1 {which}");
    let mut statement = db.prepare_cached(&sql)?;
    match version {
        Some(version) => statement.query_row((name.as_str(), version), snippet).optional(),
        None => statement.query_row([name.as_str()], snippet).optional(),
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<SnippetEntry> {
    let schema = |text: Option<String>| text.map(Json::from_text).transpose().map_err(|_| corrupt());
    Ok(SnippetEntry {
        name: BindingName::new(row.get::<_, String>(0)?).map_err(|_| corrupt())?,
        version: row.get(1)?,
        description: row.get(2)?,
        input: schema(row.get(3)?)?,
        output: schema(row.get(4)?)?,
        agreed: row.get(5)?,
        created: Timestamp::from_micros(row.get::<_, i64>(6)?.max(0).cast_unsigned()),
    })
}

fn snippet(row: &Row<'_>) -> rusqlite::Result<Snippet> {
    let manifest: Value = serde_json::from_str(&row.get::<_, String>(8)?).map_err(|_| corrupt())?;
    let manifest = Manifest::from_value(&manifest).map_err(|_| corrupt())?;
    let (digest, source): (String, String) = (row.get(7)?, row.get(9)?);
    // Someone agreed to this source and no other.
    if digest != Digest::of(&source).to_string() {
        return Err(corrupt());
    }
    Ok(Snippet { entry: entry(row)?, source, digest, manifest })
}
