//! An OpenAPI description as tools: one function per operation.
//!
//! A tool takes one object. Parameters go by their own names, and the body of the request is `body`, whatever it holds. Of
//! parameters with one name the path's keeps it, then the query's, a header's, a cookie's; the others get their place
//! added: `id_query`. A parameter called `body` gets it too where there is a body.
//!
//! A description is written by strangers. Whatever is in it, reading ends soon and takes bounded memory; an operation that
//! cannot be understood is left out, and [`OpenApi::notes`] says so.

mod argument;
mod body;
mod document;
mod error;
mod names;
mod notes;
mod operation;
mod parameter;
mod path;
mod percent;
mod request;
mod response;
mod schema;
mod server;
mod spot;
mod style;
mod text;

pub use error::OpenApiError;
pub use operation::Operation;
pub use request::Request;
pub use text::description;

use crate::Namespace;
use document::Document;
use isolith_core::{BindingName, nearest};
use notes::Notes;
use schema::Schemas;
use serde_json::Value;

/// How much is said about a whole API.
const ABOUT_CHARS_MAX: usize = 300;

/// The operations of an API.
#[derive(Clone, Debug)]
pub struct OpenApi {
    about: String,
    servers: Vec<String>,
    /// In the order of their names.
    operations: Vec<Operation>,
    notes: Vec<String>,
}

impl OpenApi {
    /// Reads a description of version 3.0 or 3.1.
    ///
    /// Fails when it is none, or far too large. Operations that are broken, or need what is not supported, are left out.
    pub fn read(description: &Value) -> Result<Self, OpenApiError> {
        let document = Document::of(description)?;
        let mut notes = Notes::default();
        let servers = server::urls(document.root(), &mut notes);
        let spots = spot::find(document, &mut notes)?;
        // Names are given before anything is read: whether one operation is broken does not rename another.
        let names = spot::names(&spots, &mut notes);
        let mut schemas = Schemas::of(document, spots.len());
        let mut operations = Vec::with_capacity(spots.len());
        for (spot, name) in spots.iter().zip(names) {
            match operation::read(spot, name, &mut schemas, &mut notes) {
                Ok(operation) => operations.push(operation),
                Err(broken) => notes.add(format!("{spot} is left out: {broken}")),
            }
        }
        operations.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(OpenApi { about: about(description), servers, operations, notes: notes.finish() })
    }

    /// Its operations as tools, in the order of their names.
    ///
    /// What only reads may be called without asking, as far as the method tells. Fails when there is no operation at all.
    pub fn namespace(&self, name: &BindingName) -> Result<Namespace, OpenApiError> {
        if self.operations.is_empty() {
            return Err(OpenApiError::NoOperations);
        }
        let tools = self.operations.iter().map(Operation::tool).collect();
        Ok(Namespace { name: name.clone(), description: self.about.clone(), tools })
    }

    /// The operation with this name in the guest.
    pub fn operation(&self, name: &str) -> Result<&Operation, OpenApiError> {
        match self.operations.binary_search_by(|operation| operation.name().as_str().cmp(name)) {
            Ok(at) => Ok(&self.operations[at]),
            Err(_) => {
                let names = self.operations.iter().map(|operation| operation.name().as_str());
                let near = nearest(name, names).map(str::to_owned);
                Err(OpenApiError::UnknownOperation { name: document::cut(name, document::SHOWN_CHARS_MAX), near })
            }
        }
    }

    /// Every operation, in the order of their names.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Where the API is, the variables at their defaults. May be relative to where the description came from, may be none.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// What was left out, renamed or made less exact, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// The title, and the first line of what is said about it.
fn about(description: &Value) -> String {
    let text = |key: &str| description["info"][key].as_str().map(str::trim).filter(|text| !text.is_empty());
    let more = text("summary").or_else(|| text("description").and_then(|text| text.lines().next()));
    let both = [text("title"), more].into_iter().flatten().map(|text| document::cut(text, ABOUT_CHARS_MAX));
    document::cut(&both.collect::<Vec<_>>().join(": "), ABOUT_CHARS_MAX)
}
