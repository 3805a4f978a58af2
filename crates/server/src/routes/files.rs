//! The files of a session: any operation as data, and bytes as they are.

use super::query::Query;
use super::runs::json;
use super::sessions::named;
use crate::app::{App, Authed};
use crate::asked::Table;
use crate::body::{Fields, whole};
use crate::caller::Caller;
use crate::error::Refusal;
use crate::sessions::files_refusal;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use isolith_core::{FileTree, FilesError, FilesOp, GuestPath, nearest};
use isolith_workspace::archive::{self, Format};
use isolith_workspace::{Answer, Scope};
use std::sync::Arc;

/// The fields of each operation, besides `op` and `path`.
const OPERATIONS: [(&str, &[&str]); 18] = [
    ("read", &["offset", "length", "version"]),
    ("read_lines", &["from", "lines"]),
    ("write", &["append", "text", "base64"]),
    ("edit", &["edits"]),
    ("list", &["cursor", "limit"]),
    ("stat", &[]),
    ("remove", &["recursive"]),
    ("make_folder", &[]),
    ("rename", &["to"]),
    ("copy", &["to"]),
    ("link", &["target"]),
    ("set", &["mode", "modified"]),
    ("glob", &["pattern", "ignore", "limit"]),
    ("grep", &["pattern", "literal", "ignore_case", "include", "ignore", "context", "limit"]),
    ("find", &["name", "kind", "at_least", "since", "limit"]),
    ("tree", &["depth"]),
    ("diff", &["to", "version"]),
    ("history", &["limit"]),
];

/// `POST /v1/sessions/{session}/files`
pub(crate) async fn perform(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(session): Path<String>,
    Fields(table): Fields,
) -> Result<Response, Refusal> {
    let (op, bytes) = read_op(table)?;
    let answer = done(&app, &caller, session, op, bytes).await?;
    Ok(json(StatusCode::OK, shown(answer)))
}

/// `GET /v1/sessions/{session}/files/{path}`
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path((session, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let mut query = Query::read(query.as_deref(), &["offset", "length", "version"])?;
    let (offset, length) = (query.long("offset")?.unwrap_or(0), query.long("length")?);
    let version = query.long("version")?;
    let op = FilesOp::Read { path, offset, length, version };
    let bytes = match done(&app, &caller, session, op, Vec::new()).await? {
        Answer::Bytes(bytes) => bytes,
        Answer::Value(_) => Vec::new(),
    };
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// `PUT /v1/sessions/{session}/files/{path}`
pub(crate) async fn write(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path((session, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Refusal> {
    let append = Query::read(query.as_deref(), &["append"])?.flag("append")?;
    let bytes = whole(request, &app).await?;
    let answer = done(&app, &caller, session, FilesOp::Write { path, append }, bytes.into()).await?;
    Ok(json(StatusCode::OK, shown(answer)))
}

/// `DELETE /v1/sessions/{session}/files/{path}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path((session, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let recursive = Query::read(query.as_deref(), &["recursive"])?.flag("recursive")?;
    let answer = done(&app, &caller, session, FilesOp::Remove { path, recursive }, Vec::new()).await?;
    Ok(json(StatusCode::OK, shown(answer)))
}

/// `GET /v1/sessions/{session}/archive`
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(session): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let mut query = Query::read(query.as_deref(), &["format", "path"])?;
    let format = format(query.take("format"))?;
    let path = query.take("path").unwrap_or_else(|| ".".into());
    let most = app.runs.settings.body_bytes;
    let bytes = with_files(&app, &caller, session, path.clone(), move |tree| {
        let mut out = Bounded { bytes: Vec::new(), most };
        let from = GuestPath::new(&path)?;
        archive::export(tree, &Scope::whole(), &from, format, &mut out, &mut |_| {}).map(|_| out.bytes)
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, format.media_type())], bytes).into_response())
}

/// `PUT /v1/sessions/{session}/archive`
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    Authed(caller): Authed,
    Path(session): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Refusal> {
    let mut query = Query::read(query.as_deref(), &["format", "path"])?;
    let format = format(query.take("format"))?;
    let path = query.take("path").unwrap_or_else(|| ".".into());
    let bytes = whole(request, &app).await?;
    let told = path.clone();
    let counts = with_files(&app, &caller, session, told, move |tree| {
        let (into, mut source) = (GuestPath::new(&path)?, std::io::Cursor::new(bytes));
        archive::import(tree, &Scope::whole(), &into, format, &mut source, &mut |_| {})
    })
    .await?;
    Ok(json(StatusCode::OK, serde_json::json!({ "entries": counts.entries, "bytes": counts.bytes }).to_string()))
}

/// An archive in memory, as large as a body may be.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(std::io::Error::new(
                std::io::ErrorKind::FileTooLarge,
                "the archive is larger than a body may be",
            ));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn format(name: Option<String>) -> Result<Format, Refusal> {
    let name = name.unwrap_or_else(|| "tar".into());
    Format::named(&name).ok_or_else(|| Refusal::invalid("`format` is `tar`, `tar.gz` or `zip`").at("format"))
}

/// Performs an operation on the files of a session that is woken for it.
pub(crate) async fn done(
    app: &App,
    caller: &Caller,
    session: String,
    op: FilesOp,
    bytes: Vec<u8>,
) -> Result<Answer, Refusal> {
    let path = op.path().to_owned();
    with_files(app, caller, session, path, move |tree| isolith_workspace::whole(tree, &Scope::whole(), &op, &bytes))
        .await
}

async fn with_files<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    session: String,
    path: String,
    work: impl FnOnce(&dyn FileTree) -> Result<T, FilesError> + Send + 'static,
) -> Result<T, Refusal> {
    let session = app.runs.session(caller, &named(session)?).await?;
    let done = tokio::task::spawn_blocking(move || work(&*session.open.files)).await;
    done.map_err(|error| Refusal::internal("using files", &error))?.map_err(|error| files_refusal(&error, &path))
}

fn shown(answer: Answer) -> String {
    match answer {
        Answer::Value(value) => value.to_string(),
        Answer::Bytes(bytes) => match String::from_utf8(bytes) {
            Ok(text) => serde_json::json!({ "text": text }).to_string(),
            Err(error) => serde_json::json!({ "base64": BASE64_STANDARD.encode(error.as_bytes()) }).to_string(),
        },
    }
}

/// An operation, and what it writes.
pub(crate) fn read_op(mut table: Table) -> Result<(FilesOp, Vec<u8>), Refusal> {
    let Some(name) = table.parse::<String>("op", "the name of an operation")? else {
        return Err(Refusal::invalid("`op` is missing").at("op"));
    };
    let fields = match OPERATIONS.iter().find(|(known, _)| *known == name) {
        Some((_, fields)) => *fields,
        None if name == "undo" => &["version"],
        None => {
            let refusal = Refusal::invalid(format!("there is no operation `{name}`")).at("op");
            let known = OPERATIONS.iter().map(|(known, _)| *known).chain(["undo"]);
            return Err(match nearest(&name, known) {
                Some(near) => refusal.hint(format!("did you mean `{near}`?")),
                None => refusal,
            });
        }
    };
    let text: Option<String> = if name == "write" { table.parse("text", "a text")? } else { None };
    let base64: Option<String> = if name == "write" { table.parse("base64", "bytes in base64")? } else { None };
    let bytes = match (text, base64) {
        (Some(_), Some(_)) => return Err(Refusal::invalid("give `text` or `base64`").at("base64")),
        (Some(text), None) => text.into_bytes(),
        (None, Some(base64)) => {
            BASE64_STANDARD.decode(base64).map_err(|_| Refusal::invalid("this is not base64").at("base64"))?
        }
        (None, None) if name == "write" => return Err(Refusal::invalid("`text` or `base64` is missing").at("text")),
        (None, None) => Vec::new(),
    };
    let mut op = serde_json::Map::new();
    op.insert("op".into(), name.into());
    for field in ["path"].iter().chain(fields) {
        if let Some(json) = table.take(field) {
            let value = json.parse().map_err(|error| Refusal::invalid(error.to_string()).at(*field))?;
            op.insert((*field).into(), value);
        }
    }
    table.finish(&[&["op", "path"], fields].concat())?;
    let op = serde_json::from_value(op.into()).map_err(|error| Refusal::invalid(error.to_string()))?;
    Ok((op, bytes))
}
