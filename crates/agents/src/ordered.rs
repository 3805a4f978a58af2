//! JSON whose tables keep their order, which authors see: a schema's properties, and what is made of them.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::fmt;

/// A value. (serde_json can keep the order too, but only for everyone or no one in a build.)
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ordered {
    /// Null, a boolean, a number or a string.
    Plain(Value),
    List(Vec<Ordered>),
    Table(Vec<(String, Ordered)>),
}

impl Ordered {
    pub(crate) const NULL: Ordered = Ordered::Plain(Value::Null);

    pub(crate) fn text(text: impl Into<String>) -> Ordered {
        Ordered::Plain(Value::String(text.into()))
    }

    /// The entry of a table; the last, where there are several of one name.
    pub(crate) fn get(&self, key: &str) -> Option<&Ordered> {
        self.entries().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn entries(&self) -> &[(String, Ordered)] {
        if let Ordered::Table(entries) = self { entries } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Ordered] {
        if let Ordered::List(items) = self { items } else { &[] }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Ordered::Plain(value) = self { value.as_str() } else { None }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Ordered::Plain(value) = self { value.as_f64() } else { None }
    }

    pub(crate) fn is(&self, flag: bool) -> bool {
        matches!(self, Ordered::Plain(Value::Bool(value)) if *value == flag)
    }

    /// What a JSON pointer leads to.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Ordered> {
        let mut steps = pointer.split('/');
        if steps.next() != Some("") {
            return None;
        }
        steps.try_fold(self, |at, step| match at {
            Ordered::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => at.get(&step.replace("~1", "/").replace("~0", "~")),
        })
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Ordered::Plain(value) => value.serialize(out),
            Ordered::List(items) => out.collect_seq(items),
            Ordered::Table(entries) => out.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Ordered, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Ordered, E> {
        Ok(Ordered::NULL)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Plain(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Ordered, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = from.next_entry()? {
            entries.push(entry);
        }
        Ok(Ordered::Table(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_order() {
        let text = r#"{"z":1,"a":[true,null,-2,1.5,"x"],"m":{"~/":{}}}"#;
        let read: Ordered = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(read.pointer("/a/4").and_then(Ordered::as_str), Some("x"));
        assert_eq!(read.pointer("/m/~0~1"), Some(&Ordered::Table(vec![])));
        assert_eq!((read.pointer(""), read.pointer("x"), read.pointer("/b")), (Some(&read), None, None));
    }
}
