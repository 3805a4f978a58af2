//! Taking secrets out of what servers say.

use isolith_core::CallError;
use isolith_gate::Redactor;
use isolith_tools::Namespace;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Shorter secrets are not looked for in the bytes of a protocol: `2.0` would be taken out of every message.
const WIRE_SECRET_BYTES_MIN: usize = 8;

/// The secrets that one namespace was given.
#[derive(Clone, Default)]
pub(crate) struct Redaction {
    /// All of them, for texts and values.
    all: Arc<Redactor>,
    /// Those that can be told from the words of a protocol, for bytes on their way in.
    pub(crate) wire: Arc<Redactor>,
}

impl Redaction {
    pub(crate) fn add(&self, name: &str, value: &str) {
        self.all.add(name, value);
        if value.len() >= WIRE_SECRET_BYTES_MIN {
            self.wire.add(name, value);
        }
    }

    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.all.text(text)
    }

    pub(crate) fn error(&self, error: CallError) -> CallError {
        CallError { message: self.all.text(&error.message).into_owned(), ..error }
    }

    /// A value without secrets. Its shape stays what it is.
    pub(crate) fn value(&self, value: Value) -> Value {
        if self.all.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.all.text(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(table) => {
                let clean = |(key, value): (String, Value)| (self.all.text(&key).into_owned(), self.value(value));
                Value::Object(table.into_iter().map(clean).collect::<Map<_, _>>())
            }
            // A number that holds a long secret is one.
            Value::Number(number) => match self.wire.text(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(text) => Value::String(text),
            },
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// What a server says about its tools, without secrets. Names stay: they are how a tool is called.
    pub(crate) fn namespace(&self, mut namespace: Namespace) -> Namespace {
        if self.all.is_empty() {
            return namespace;
        }
        namespace.description = self.text(&namespace.description).into_owned();
        for tool in &mut namespace.tools {
            tool.description = self.text(&tool.description).into_owned();
            tool.input = self.value(std::mem::take(&mut tool.input));
            tool.output = tool.output.take().map(|output| self.value(output));
        }
        namespace
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_keep_their_shape() {
        let redaction = Redaction::default();
        redaction.add("SHORT", "2.0");
        redaction.add("LONG", "1234567890");
        let said = json!({ "v": "2.0", "n": 2.0, "1234567890": [1234567890_u64, null, "a 1234567890 b"] });
        assert_eq!(
            redaction.value(said),
            json!({ "v": "[redacted SHORT]", "n": 2.0, "[redacted LONG]": ["[redacted LONG]", null, "a [redacted LONG] b"] })
        );
        assert_eq!(redaction.wire.text("{\"jsonrpc\":\"2.0\"}"), "{\"jsonrpc\":\"2.0\"}");
    }
}
