//! The parameters of an operation.

use super::document::{Broken, Document, SHOWN_CHARS_MAX, cut, flag, text};
use super::notes::Notes;
use super::schema::Root;
use super::spot::Spot;
use super::style::{Manner, Style};
use isolith_core::headers;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;

/// The most parameters of an operation.
const PARAMETERS_MAX: usize = 128;
/// The longest name of one.
const NAME_BYTES_MAX: usize = 128;
/// Headers that are said elsewhere, or that are the host's: whoever calls is known by them.
const NOT_PARAMETERS: [&str; 4] = ["accept", "authorization", "content-type", "cookie"];

/// One parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Its name in the request.
    pub(super) name: String,
    /// Its name in the argument.
    pub(super) argument: String,
    pub(super) place: Place,
    pub(super) manner: Manner,
    pub(super) required: bool,
}

/// Where a parameter goes. The first keeps its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
            Place::Cookie => "cookie",
        })
    }
}

/// The parameters of an operation and of its path, each with its schema. The operation's own win.
pub(super) fn read_all<'a>(
    document: Document<'a>,
    spot: &Spot<'a>,
    notes: &mut Notes,
) -> Result<Vec<(Parameter, Root<'a>)>, Broken> {
    let (mut seen, mut read) = (HashSet::new(), Vec::new());
    for table in [spot.operation, spot.item] {
        let Some(list) = table.get("parameters") else { continue };
        let list = list.as_array().ok_or_else(|| Broken::new("not a list").under("parameters"))?;
        for (i, value) in list.iter().enumerate() {
            let at = format!("parameters.{i}");
            if read.len() >= PARAMETERS_MAX || i >= PARAMETERS_MAX {
                return Err(Broken::new(format!("there are more than {PARAMETERS_MAX} parameters")));
            }
            let table = document.table(value).map_err(|broken| broken.under(&at))?;
            let (name, place) = key(table).map_err(|broken| broken.under(&at))?;
            // The names of headers are the same in any case.
            let known_as = if place == Place::Header { name.to_ascii_lowercase() } else { name.to_owned() };
            if !seen.insert((place, known_as)) {
                continue;
            }
            match one(table, name, place, at) {
                Ok(parameter) => read.push(parameter),
                Err(Flaw::Fatal(broken)) => return Err(broken),
                Err(Flaw::LeftOut(why)) => {
                    notes.add(format!(
                        "{spot}: the {place} parameter `{}` is left out: {why}",
                        cut(name, SHOWN_CHARS_MAX)
                    ));
                }
            }
        }
    }
    read.sort_by_key(|(parameter, _)| parameter.place);
    Ok(read)
}

/// Names for the argument: the first of a name has it, the others get their place added.
pub(super) fn name_arguments(parameters: &mut [Parameter], body: Option<&str>) {
    let mut taken: HashSet<String> = body.map(str::to_owned).into_iter().collect();
    let first: Vec<bool> = parameters.iter().map(|parameter| taken.insert(parameter.name.clone())).collect();
    for (parameter, first) in parameters.iter_mut().zip(first) {
        parameter.argument = parameter.name.clone();
        if !first {
            parameter.argument = format!("{}_{}", parameter.name, parameter.place);
            while !taken.insert(parameter.argument.clone()) {
                parameter.argument.push('_');
            }
        }
    }
}

/// What becomes of a parameter that cannot be used.
enum Flaw {
    /// The operation goes without it.
    LeftOut(Broken),
    /// The operation cannot go without it.
    Fatal(Broken),
}

fn key(table: &Map<String, Value>) -> Result<(&str, Place), Broken> {
    let name = table.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Broken::new("it has no `name`"))?;
    if name.len() > NAME_BYTES_MAX {
        return Err(Broken::new("its name is too long"));
    }
    let place = match table.get("in").and_then(Value::as_str) {
        Some("path") => Place::Path,
        Some("query") => Place::Query,
        Some("header") => Place::Header,
        Some("cookie") => Place::Cookie,
        Some(other) => return Err(Broken::new(format!("its `in` is `{}`", cut(other, SHOWN_CHARS_MAX)))),
        None => return Err(Broken::new("it has no `in`")),
    };
    Ok((name, place))
}

fn one<'a>(table: &'a Map<String, Value>, name: &str, place: Place, at: String) -> Result<(Parameter, Root<'a>), Flaw> {
    // A description cannot hand the guest what is the host's to say: the operation goes without, however needed.
    if place == Place::Header {
        let plain = name.to_ascii_lowercase();
        if NOT_PARAMETERS.contains(&plain.replace('_', "-").as_str()) {
            return Err(Flaw::LeftOut(Broken::new("the host sets this header")));
        }
        headers::check(&[(plain, String::new())]).map_err(|why| Flaw::LeftOut(Broken::new(why)))?;
    }
    let required = place == Place::Path || flag(table, "required");
    let flaw = |broken: Broken| if required { Flaw::Fatal(broken.under(&at)) } else { Flaw::LeftOut(broken) };
    if place == Place::Cookie && !name.bytes().all(is_token) {
        return Err(flaw(Broken::new("no cookie can have this name")));
    }
    let (manner, schema) = match table.get("content") {
        Some(content) => {
            let media = content.as_object().and_then(|content| content.iter().next());
            let (media, value) = media.ok_or_else(|| flaw(Broken::new("its `content` is empty")))?;
            if !super::body::is_json(media) {
                return Err(flaw(Broken::new(format!("it is sent as `{}`", cut(media, SHOWN_CHARS_MAX)))));
            }
            (Manner { style: Style::Json, explode: false, allow_reserved: false }, value.get("schema"))
        }
        None => (Manner::read(table, usual(place), allowed(place)).map_err(flaw)?, table.get("schema")),
    };
    let parameter = Parameter { name: name.to_owned(), argument: String::new(), place, manner, required };
    Ok((parameter, Root { at: format!("{at}.schema"), schema, description: text(table, "description") }))
}

fn usual(place: Place) -> Style {
    match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    }
}

fn allowed(place: Place) -> &'static [Style] {
    match place {
        Place::Path | Place::Header => &[Style::Simple],
        Place::Query => &[Style::Form, Style::Space, Style::Pipe, Style::Deep],
        Place::Cookie => &[Style::Form],
    }
}

/// What may be in the name of a header or a cookie.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
