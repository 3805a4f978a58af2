use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// A JSON document, kept as the text it came as.
///
/// Values cross the boundary as text and most are only passed on, so nothing is parsed twice. The text is known to
/// be one well-formed JSON value. It may hold escapes of lone surrogates (`"\ud800"`), which JavaScript can make and
/// Rust strings cannot hold: [`Json::parse`] refuses those with an error, the text itself keeps them.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

/// Text that is not one JSON value.
#[derive(Debug, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct InvalidJson(#[from] serde_json::Error);

impl InvalidJson {
    /// Where the text stops being JSON: line and column, both from 1, the column in bytes.
    pub fn place(&self) -> (usize, usize) {
        (self.0.line(), self.0.column())
    }
}

impl Json {
    /// Checks that `text` is one JSON value and keeps it.
    pub fn from_text(text: String) -> Result<Self, InvalidJson> {
        Ok(Json(RawValue::from_string(text)?))
    }

    /// The JSON form of a value of ours.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, InvalidJson> {
        Ok(Json(serde_json::value::to_raw_value(value)?))
    }

    /// JSON `null`.
    pub fn null() -> Self {
        Json(RawValue::NULL.to_owned())
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Reads the document into a value of ours.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, InvalidJson> {
        Ok(serde_json::from_str(self.0.get())?)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_as_it_came() {
        for text in ["null", " [1, 2.50] ", r#"{"a":"\ud800"}"#, r#""\u0000""#] {
            assert_eq!(
                Json::from_text(text.into()).map(|j| j.text().trim().to_owned()).ok().as_deref(),
                Some(text.trim())
            );
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "1 2", "NaN", "'a'", "[1,]", "\"\u{1}\"", "undefined"] {
            assert!(Json::from_text(text.into()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_an_error_when_read_as_text() {
        let json = Json::from_text(r#""\ud800""#.into());
        assert!(json.is_ok_and(|j| j.parse::<String>().is_err()));
    }
}
