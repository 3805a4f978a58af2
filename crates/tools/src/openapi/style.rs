//! How a value becomes text: the styles of OpenAPI.

use super::OpenApiError;
use super::document::{Broken, text as text_field};
use super::percent::encoded;
use serde_json::{Map, Value};

/// How deep a value may nest that is written as `filter[a][b]=c`.
const NEST_MAX: usize = 8;
/// What `allowReserved` keeps. Not what ends a query or begins another pair: that would be another request.
const RESERVED: &[u8] = b":/?@!$'()*=,";
/// The same among values that are divided by commas.
const RESERVED_IN_LIST: &[u8] = b":/?@!$'()*=";

/// How a parameter, or a field of a form, is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) style: Style,
    /// Whether each of several values has a name of its own.
    pub(super) explode: bool,
    pub(super) allow_reserved: bool,
}

/// The styles of OpenAPI, without `label` and `matrix`, which hardly anyone uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `a,b`
    Simple,
    /// `name=a,b`
    Form,
    /// `name=a b`
    Space,
    /// `name=a|b`
    Pipe,
    /// `name[key]=a`
    Deep,
    /// As JSON.
    Json,
    /// A form's field that is not described further: as text what can be, the rest as JSON.
    Field,
}

impl Manner {
    /// As a parameter or an encoding says, or else in this style.
    pub(super) fn read(table: &Map<String, Value>, usual: Style, allowed: &[Style]) -> Result<Self, Broken> {
        let style = match text_field(table, "style") {
            None => usual,
            Some(name) => {
                let style = match name {
                    "simple" => Some(Style::Simple),
                    "form" => Some(Style::Form),
                    "spaceDelimited" => Some(Style::Space),
                    "pipeDelimited" => Some(Style::Pipe),
                    "deepObject" => Some(Style::Deep),
                    _ => None,
                };
                let style = style.filter(|style| allowed.contains(style));
                style.ok_or_else(|| Broken::new(format!("its style `{}` is not supported here", shown(name))))?
            }
        };
        let explode = table.get("explode").and_then(Value::as_bool);
        Ok(Manner {
            style,
            explode: explode.unwrap_or(matches!(style, Style::Form | Style::Field)),
            allow_reserved: table.get("allowReserved") == Some(&Value::Bool(true)),
        })
    }

    /// The value as pairs of a name as it is and a value as it is sent.
    pub(super) fn pairs(self, name: &str, value: &Value, at: &str) -> Result<Vec<(String, String)>, OpenApiError> {
        let one = |text: String| Ok(vec![(name.to_owned(), text)]);
        let keep: &[u8] = if self.allow_reserved { RESERVED } else { b"" };
        let send = |value: &Value, at: &str| Ok(encoded(&scalar(value, at)?, keep));
        match (self.style, value) {
            (Style::Json, value) => one(encoded(&value.to_string(), b"")),
            (Style::Field, Value::Object(_)) => one(encoded(&value.to_string(), keep)),
            (Style::Field, Value::Array(items)) if items.iter().any(|item| item.is_array() || item.is_object()) => {
                Ok(items.iter().map(|item| (name.to_owned(), encoded(&item.to_string(), keep))).collect())
            }
            (Style::Deep, value) => {
                let mut pairs = Vec::new();
                deep(name, value, at, NEST_MAX, &mut pairs, &send)?;
                Ok(pairs)
            }
            (_, Value::Array(items)) if self.explode => {
                let items = items.iter().enumerate();
                items.map(|(i, item)| Ok((name.to_owned(), send(item, &format!("{at}[{i}]"))?))).collect()
            }
            (_, Value::Object(table)) if self.explode => {
                table.iter().map(|(key, value)| Ok((key.clone(), send(value, &format!("{at}.{key}"))?))).collect()
            }
            (_, Value::Array(items)) if items.is_empty() => Ok(Vec::new()),
            (_, Value::Object(table)) if table.is_empty() => Ok(Vec::new()),
            (style, Value::Array(_) | Value::Object(_)) => {
                let keep: &[u8] = if self.allow_reserved { RESERVED_IN_LIST } else { b"" };
                let delimiter = match style {
                    Style::Space => "%20",
                    Style::Pipe => "%7C",
                    _ => ",",
                };
                one(listed(value, at, false, &|text| encoded(text, keep))?.join(delimiter))
            }
            (_, value) => one(send(value, at)?),
        }
    }

    /// The value as one text in the style `simple`, or as JSON.
    pub(super) fn simple(
        self,
        value: &Value,
        at: &str,
        write: impl Fn(&str) -> String,
    ) -> Result<String, OpenApiError> {
        match value {
            value if self.style == Style::Json => Ok(write(&value.to_string())),
            Value::Array(_) | Value::Object(_) => Ok(listed(value, at, self.explode, &write)?.join(",")),
            value => Ok(write(&scalar(value, at)?)),
        }
    }
}

/// The parts of a list, or the keys and values of an object.
fn listed(value: &Value, at: &str, explode: bool, write: &dyn Fn(&str) -> String) -> Result<Vec<String>, OpenApiError> {
    let mut parts = Vec::new();
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                parts.push(write(&scalar(item, &format!("{at}[{i}]"))?));
            }
        }
        Value::Object(table) => {
            for (key, value) in table {
                let value = write(&scalar(value, &format!("{at}.{key}"))?);
                if explode {
                    parts.push(format!("{}={value}", write(key)));
                } else {
                    parts.extend([write(key), value]);
                }
            }
        }
        value => parts.push(write(&scalar(value, at)?)),
    }
    Ok(parts)
}

/// `name[key][0]=value`. OpenAPI leaves open what is deeper than one key; this is how most servers read it.
fn deep(
    name: &str,
    value: &Value,
    at: &str,
    depth_left: usize,
    pairs: &mut Vec<(String, String)>,
    send: &dyn Fn(&Value, &str) -> Result<String, OpenApiError>,
) -> Result<(), OpenApiError> {
    let deeper = || depth_left.checked_sub(1).ok_or_else(|| OpenApiError::refused(at, "nests too deep to be sent"));
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                // A bracket in a key would be taken for the end of it.
                if key.contains(['[', ']']) {
                    return Err(OpenApiError::refused(&format!("{at}.{key}"), "has a bracket in its name"));
                }
                deep(&format!("{name}[{key}]"), value, &format!("{at}.{key}"), deeper()?, pairs, send)?;
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                deep(&format!("{name}[{i}]"), item, &format!("{at}[{i}]"), deeper()?, pairs, send)?;
            }
        }
        value => pairs.push((name.to_owned(), send(value, at)?)),
    }
    Ok(())
}

/// A value as plain text.
pub(super) fn scalar(value: &Value, at: &str) -> Result<String, OpenApiError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => Ok(match number.as_f64() {
            // `2.0` is how some write the number 2; a server that wants an integer does not take it.
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
            _ => number.to_string(),
        }),
        Value::Null => Err(OpenApiError::refused(at, "is null, which cannot be sent here")),
        Value::Array(_) | Value::Object(_) => Err(OpenApiError::refused(at, "nests too deep to be sent here")),
    }
}

fn shown(text: &str) -> String {
    super::document::cut(text, super::document::SHOWN_CHARS_MAX)
}
