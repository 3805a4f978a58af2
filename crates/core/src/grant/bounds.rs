//! Which arguments a granted function may be called with.

use super::is_dots;
use crate::Json;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// What is asked of one part of the arguments: `amount = "<= 100"`, `repo = "me/*"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Bound {
    /// A number no larger (`<=`) or smaller (`<`) than this. Kept as text, because that compares exactly.
    Most {
        /// The number.
        limit: String,
        /// Whether the number itself is out.
        strict: bool,
    },
    /// A number no smaller (`>=`) or larger (`>`) than this.
    Least {
        /// The number.
        limit: String,
        /// Whether the number itself is out.
        strict: bool,
    },
    /// A text, number or boolean that reads like this, where `*` stands for any run of characters but `/`, and `**` for
    /// any at all. A text with a `.` or `..` between slashes leads elsewhere, and is like nothing but itself.
    Like(String),
}

/// Bounds by the dotted path of what they bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bounds(BTreeMap<String, Vec<Bound>>);

/// Which bound a call did not keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` has to be {bound}")]
pub struct BoundError {
    /// The part of the arguments.
    pub path: String,
    /// What was asked of it.
    pub bound: Bound,
}

impl Bounds {
    /// Bounds from pairs of a path and a bound.
    pub fn new(all: impl IntoIterator<Item = (String, Bound)>) -> Self {
        let mut bounds = Bounds::default();
        all.into_iter().for_each(|(path, bound)| bounds.0.entry(path).or_default().push(bound));
        bounds.0.values_mut().for_each(tidy);
        bounds
    }

    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whatever both ask.
    pub fn and(&self, other: &Bounds) -> Bounds {
        let mut both = self.clone();
        for (path, bounds) in &other.0 {
            let own = both.0.entry(path.clone()).or_default();
            own.extend(bounds.iter().cloned());
            tidy(own);
        }
        both
    }

    /// Whether arguments keep every bound. What is bounded has to be there.
    pub fn check(&self, args: &Value) -> Result<(), BoundError> {
        match self.judged(args).find(|(_, _, kept)| *kept != Kept::Yes) {
            Some((path, bound, _)) => Err(BoundError { path: path.to_owned(), bound: bound.clone() }),
            None => Ok(()),
        }
    }

    /// Whether arguments might keep every bound, as far as one can tell from here: a tool may take `"5"` for 5, or have a
    /// value of its own for what is left out.
    pub(crate) fn could_hold(&self, args: &Value) -> bool {
        self.judged(args).all(|(_, _, kept)| kept != Kept::No)
    }

    fn judged<'a>(&'a self, args: &'a Value) -> impl Iterator<Item = (&'a str, &'a Bound, Kept)> {
        self.0.iter().flat_map(move |(path, bounds)| {
            let part = path.split('.').try_fold(args, |value, key| match value {
                Value::Array(items) => items.get(key.parse::<usize>().ok()?),
                value => value.get(key),
            });
            bounds.iter().map(move |bound| (path.as_str(), bound, part.map_or(Kept::Unknown, |part| bound.judge(part))))
        })
    }
}

/// Whether a bound is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
    /// What it bounds is not there, or of another type than the bound is about.
    Unknown,
}

impl From<bool> for Kept {
    fn from(kept: bool) -> Kept {
        if kept { Kept::Yes } else { Kept::No }
    }
}

/// Sorts bounds of one part, and leaves out those that others imply.
fn tidy(bounds: &mut Vec<Bound>) {
    bounds.sort();
    bounds.dedup();
    let all = std::mem::take(bounds);
    let implied = |i: usize, bound: &Bound| {
        // Of two that say the same, the first stays.
        all.iter().enumerate().any(|(j, other)| i != j && other.implies(bound) && (j < i || !bound.implies(other)))
    };
    *bounds = all.iter().enumerate().filter(|(i, bound)| !implied(*i, bound)).map(|(_, bound)| bound.clone()).collect();
}

impl Bound {
    fn judge(&self, value: &Value) -> Kept {
        let number = || value.as_number().map(Number::to_string);
        match self {
            Bound::Most { limit, strict } => match number().and_then(|number| compare(&number, limit)) {
                Some(order) => (order.is_lt() || (order.is_eq() && !strict)).into(),
                None => Kept::Unknown,
            },
            Bound::Least { limit, strict } => match number().and_then(|number| compare(&number, limit)) {
                Some(order) => (order.is_gt() || (order.is_eq() && !strict)).into(),
                None => Kept::Unknown,
            },
            Bound::Like(pattern) => match value {
                Value::String(text) if pattern != text && text.split(['/', '\\']).any(is_dots) => Kept::Unknown,
                Value::String(text) => is_like(pattern, text).into(),
                Value::Number(number) => {
                    let text = number.to_string();
                    (is_like(pattern, &text) || compare(&text, pattern).is_some_and(Ordering::is_eq)).into()
                }
                Value::Bool(_) => is_like(pattern, &value.to_string()).into(),
                _ => Kept::Unknown,
            },
        }
    }

    /// Whether whatever keeps this keeps the other.
    fn implies(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::Most { limit: a, strict }, Bound::Most { limit: b, strict: other }) => {
                compare(a, b).is_some_and(|order| order.is_lt() || (order.is_eq() && (*strict || !other)))
            }
            (Bound::Least { limit: a, strict }, Bound::Least { limit: b, strict: other }) => {
                compare(a, b).is_some_and(|order| order.is_gt() || (order.is_eq() && (*strict || !other)))
            }
            _ => self == other,
        }
    }
}

/// Compares numbers: whole ones exactly, others as a computer does.
fn compare(a: &str, b: &str) -> Option<Ordering> {
    match (a.parse::<i128>(), b.parse::<i128>()) {
        (Ok(a), Ok(b)) => Some(a.cmp(&b)),
        _ => a.parse::<f64>().ok()?.partial_cmp(&b.parse::<f64>().ok()?),
    }
}

/// Reads arguments that bounds are held against. A key that is there twice is an error: who performs the call might take
/// the other one.
pub(crate) fn unambiguous(args: &Json) -> Option<Value> {
    args.parse::<Unambiguous>().ok().map(|read| read.0)
}

struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnambiguousVisitor).map(Unambiguous)
    }
}

struct UnambiguousVisitor;

impl<'de> Visitor<'de> for UnambiguousVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = Map::new();
        while let Some((key, Unambiguous(value))) = entries.next_entry::<String, _>()? {
            if table.insert(key, value).is_some() {
                return Err(serde::de::Error::custom("a key is there twice"));
            }
        }
        Ok(Value::Object(table))
    }
}

/// Whether `text` reads like `pattern`. Goes back to the last star only, so it takes no more than length times length.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last `*` that stops at `/`, and after the last `**`.
    let mut star: Option<(usize, usize)> = None;
    let mut stars: Option<(usize, usize)> = None;
    loop {
        if p == pattern.len() && t == text.len() {
            return true;
        }
        if pattern.get(p) == Some(&'*') {
            if pattern.get(p + 1) == Some(&'*') {
                (stars, star) = (Some((p + 2, t)), None);
                p += 2;
            } else {
                star = Some((p + 1, t));
                p += 1;
            }
            continue;
        }
        if t < text.len() && pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
            continue;
        }
        match (star, stars) {
            (Some((after, from)), _) if from < text.len() && text[from] != '/' => {
                star = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            (_, Some((after, from))) if from < text.len() => {
                (stars, star) = (Some((after, from + 1)), None);
                (p, t) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

impl TryFrom<String> for Bound {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let sign = ["<=", ">=", "<", ">"].into_iter().find_map(|sign| Some((sign, text.strip_prefix(sign)?.trim())));
        let Some((sign, limit)) = sign else { return Ok(Bound::Like(text)) };
        if !limit.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(format!("`{text}` compares with something that is not a number"));
        }
        let (limit, strict) = (limit.to_owned(), sign.len() == 1);
        Ok(if sign.starts_with('<') { Bound::Most { limit, strict } } else { Bound::Least { limit, strict } })
    }
}

impl From<Bound> for String {
    fn from(bound: Bound) -> String {
        bound.to_string()
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Most { limit, strict } => write!(f, "{} {limit}", if *strict { "<" } else { "<=" }),
            Bound::Least { limit, strict } => write!(f, "{} {limit}", if *strict { ">" } else { ">=" }),
            Bound::Like(pattern) => f.write_str(pattern),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bounds_hold_or_name_what_they_wanted() {
        let holds = |path: &str, bound: &str, args: Value| {
            Bounds::new([(path.to_owned(), Bound::try_from(bound.to_owned()).unwrap())]).check(&args).is_ok()
        };
        let rows = [
            ("amount", "<= 100", json!({"amount": 100}), true),
            ("amount", "< 100", json!({"amount": 100}), false),
            ("amount", ">= 1", json!({"amount": 0.5}), false),
            ("amount", "<= 100", json!({"amount": "1"}), false),
            ("amount", "<= 100", json!({}), false),
            ("repo", "me/*", json!({"repo": "me/x"}), true),
            ("repo", "me/*", json!({"repo": "me/x/y"}), false),
            ("repo", "me/**", json!({"repo": "me/x/y"}), true),
            ("repo", "me/*", json!({"repo": "you/x"}), false),
            ("repo", "*/*.md", json!({"repo": "a/b.c.md"}), true),
            ("repo", "**/b*", json!({"repo": "a/b/bc"}), true),
            ("a.1.b", "true", json!({"a": [0, {"b": true}]}), true),
            ("a", "*", json!({"a": ["x"]}), false),
            ("a", "", json!({"a": ""}), true),
            ("repo", "me/*", json!({"repo": "me/.."}), false),
            ("repo", "me/**", json!({"repo": "me/../you"}), false),
            ("repo", "me/**", json!({"repo": "me/%2e%2E/you"}), false),
            ("repo", "me/*", json!({"repo": "me/..\\you"}), false),
            ("repo", "me/..", json!({"repo": "me/.."}), true),
            ("n", "<= 9007199254740992", json!({"n": 9007199254740993_u64}), false),
            ("n", "< 0", json!({"n": -0.0}), false),
            ("n", ">= 0", json!({"n": -0.0}), true),
            ("n", "5", json!({"n": 5.0}), true),
            ("n", "<= 1e3", json!({"n": 1000}), true),
        ];
        for (path, bound, args, expected) in rows {
            assert_eq!(holds(path, bound, args.clone()), expected, "{path} {bound} {args}");
        }
        assert!(Bound::try_from("<= ten".to_owned()).is_err());
    }

    #[test]
    fn only_the_tightest_bounds_are_kept() {
        let bounds =
            |all: &[&str]| Bounds::new(all.iter().map(|b| ("n".to_owned(), Bound::try_from(b.to_string()).unwrap())));
        assert_eq!(bounds(&["<= 100"]).and(&bounds(&["<= 50"])), bounds(&["<= 50"]));
        assert_eq!(bounds(&["<= 100"]).and(&bounds(&["< 100"])), bounds(&["< 100"]));
        assert_eq!(bounds(&["<= 100"]).and(&bounds(&["<= 1e2"])).0["n"].len(), 1);
        assert_eq!(bounds(&["<= 9", ">= 1"]).and(&bounds(&["> 0"])), bounds(&["<= 9", ">= 1"]));
        assert_eq!(bounds(&["a/*"]).and(&bounds(&["*/b"])), bounds(&["a/*", "*/b"]));
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        let read = |text: &str| unambiguous(&Json::from_text(text.into()).unwrap()).map(|value| value.to_string());
        assert_eq!(read(r#"{"a": [1, {"b": null}], "c": "x"}"#).as_deref(), Some(r#"{"a":[1,{"b":null}],"c":"x"}"#));
        for text in [r#"{"a": 1, "a": 2}"#, r#"{"x": [{"a": 1, "\u0061": 2}]}"#, r#"{"a": 1e999}"#, r#""\ud800""#] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!is_like(&pattern, &"a".repeat(5_000)));
    }
}
