//! The body of a request.

use super::OpenApiError;
use super::document::{Broken, Document, SHOWN_CHARS_MAX, cut, flag, text};
use super::parameter::is_token;
use super::percent;
use super::schema::Root;
use super::style::{Manner, Style, scalar};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The argument that is the body.
pub(super) const ARGUMENT: &str = "body";
/// How many kinds of content are looked at.
const MEDIA_MAX: usize = 64;
/// How many fields of a form may be described further.
const FIELDS_MAX: usize = 256;

/// How a body is sent.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Its `content-type`.
    pub(super) media_type: String,
    pub(super) required: bool,
    format: Format,
}

#[derive(Clone, Debug)]
enum Format {
    Json,
    /// With the fields that are not written as usual.
    Form(BTreeMap<String, Manner>),
    Text,
}

/// The kinds of content that can be sent, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Json,
    LikeJson,
    Anything,
    Form,
    Text,
}

impl Body {
    pub(super) fn read<'a>(document: Document<'a>, value: &'a Value) -> Result<(Body, Root<'a>), Broken> {
        let table = document.table(value)?;
        let content = table.get("content").and_then(Value::as_object).filter(|content| !content.is_empty());
        let content = content.ok_or_else(|| Broken::new("it has no `content`"))?;
        let known = content.iter().take(MEDIA_MAX).filter_map(|(media, value)| Some((kind(media)?, media, value)));
        let Some((kind, media, value)) = known.min_by_key(|(kind, media, _)| (*kind, *media)) else {
            let media = content.keys().next().map(String::as_str).unwrap_or_default();
            let media = cut(media, SHOWN_CHARS_MAX);
            return Err(Broken::new(format!("`{media}` cannot be sent: JSON, forms and plain text can")));
        };
        let details = document.table(value).map_err(|broken| broken.under("content"))?;
        let (format, media_type) = match kind {
            Kind::Json | Kind::LikeJson => (Format::Json, essence(media)),
            Kind::Anything => (Format::Json, "application/json".to_owned()),
            Kind::Form => (Format::Form(fields(details).map_err(|broken| broken.under("encoding"))?), essence(media)),
            Kind::Text => (Format::Text, "text/plain; charset=utf-8".to_owned()),
        };
        let root = Root {
            at: format!("requestBody.content.{media}.schema"),
            schema: details.get("schema"),
            description: text(table, "description"),
        };
        Ok((Body { media_type, required: flag(table, "required"), format }, root))
    }

    /// The bytes of a value.
    pub(super) fn bytes(&self, value: &Value) -> Result<Vec<u8>, OpenApiError> {
        match &self.format {
            Format::Json => serde_json::to_vec(value)
                .map_err(|error| OpenApiError::refused(ARGUMENT, format!("is not JSON: {error}"))),
            Format::Text => Ok(scalar(value, ARGUMENT)?.into_bytes()),
            Format::Form(fields) => {
                let table = value
                    .as_object()
                    .ok_or_else(|| OpenApiError::refused(ARGUMENT, "is sent as a form, and has to be an object"))?;
                let mut pairs = Vec::new();
                for (name, value) in table.iter().filter(|(_, value)| !value.is_null()) {
                    let usual = Manner { style: Style::Field, explode: true, allow_reserved: false };
                    let manner = fields.get(name).copied().unwrap_or(usual);
                    let at = format!("{ARGUMENT}.{name}");
                    let written = manner.pairs(name, value, &at)?;
                    // An object that is written without its name must not write another field.
                    let other = |key: &String| key != name && (table.contains_key(key) || fields.contains_key(key));
                    if let Some((key, _)) = written.iter().find(|(key, _)| other(key)) {
                        return Err(OpenApiError::refused(&format!("{at}.{key}"), "would be taken for another field"));
                    }
                    pairs.extend(
                        written.into_iter().map(|(key, value)| format!("{}={value}", percent::encoded(&key, b""))),
                    );
                }
                Ok(pairs.join("&").into_bytes())
            }
        }
    }
}

/// The fields of a form that say how they are written.
fn fields(details: &Map<String, Value>) -> Result<BTreeMap<String, Manner>, Broken> {
    let Some(encoding) = details.get("encoding").and_then(Value::as_object) else { return Ok(BTreeMap::new()) };
    if encoding.len() > FIELDS_MAX {
        return Err(Broken::new(format!("there are more than {FIELDS_MAX} fields")));
    }
    let mut fields = BTreeMap::new();
    for (name, value) in encoding {
        let Some(table) = value.as_object() else { continue };
        let says = ["style", "explode", "allowReserved"].iter().any(|key| table.contains_key(*key));
        if says {
            let styles = [Style::Form, Style::Space, Style::Pipe, Style::Deep];
            let manner = Manner::read(table, Style::Form, &styles).map_err(|broken| broken.under(name))?;
            fields.insert(name.clone(), manner);
        }
    }
    Ok(fields)
}

fn kind(media: &str) -> Option<Kind> {
    let essence = essence(media);
    match essence.as_str() {
        "application/json" => Some(Kind::Json),
        "*/*" | "application/*" => Some(Kind::Anything),
        "application/x-www-form-urlencoded" => Some(Kind::Form),
        "text/plain" => Some(Kind::Text),
        _ => is_json(media).then_some(Kind::LikeJson),
    }
}

/// Whether content of this kind is JSON, and its name can stand in a header.
pub(super) fn is_json(media: &str) -> bool {
    let essence = essence(media);
    let Some((kind, format)) = essence.split_once('/') else { return false };
    let sound = !kind.is_empty() && kind.bytes().chain(format.bytes()).all(is_token);
    sound && (format == "json" || format.ends_with("+json")) && media.len() <= SHOWN_CHARS_MAX
}

/// A media type without its parameters.
pub(super) fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
