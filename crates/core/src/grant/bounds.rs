//! Which arguments a granted function may be called with.

use serde::{Deserialize, Serialize};
use serde_json::Value;
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
    /// any at all.
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
            own.sort();
            own.dedup();
        }
        both
    }

    /// Whether arguments keep every bound. What is bounded has to be there.
    pub fn check(&self, args: &Value) -> Result<(), BoundError> {
        for (path, bounds) in &self.0 {
            let part = path.split('.').try_fold(args, |value, key| match value {
                Value::Array(items) => items.get(key.parse::<usize>().ok()?),
                value => value.get(key),
            });
            for bound in bounds {
                if !part.is_some_and(|part| bound.holds(part)) {
                    return Err(BoundError { path: path.clone(), bound: bound.clone() });
                }
            }
        }
        Ok(())
    }
}

impl Bound {
    fn holds(&self, value: &Value) -> bool {
        let compare = |limit: &str| Some(value.as_f64()?.total_cmp(&limit.parse::<f64>().ok()?));
        match self {
            Bound::Most { limit, strict } => compare(limit).is_some_and(|o| o.is_lt() || (o.is_eq() && !strict)),
            Bound::Least { limit, strict } => compare(limit).is_some_and(|o| o.is_gt() || (o.is_eq() && !strict)),
            Bound::Like(pattern) => match value {
                Value::String(text) => is_like(pattern, text),
                Value::Number(_) | Value::Bool(_) => is_like(pattern, &value.to_string()),
                _ => false,
            },
        }
    }
}

/// Whether `text` reads like `pattern`. Goes back to the last star only, so it takes no more than length times length.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last `*` that stops at `/`, and after the last `**`.
    let (mut star, mut stars): (Option<(usize, usize)>, Option<(usize, usize)>) = (None, None);
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
        ];
        for (path, bound, args, expected) in rows {
            assert_eq!(holds(path, bound, args.clone()), expected, "{path} {bound} {args}");
        }
        assert!(Bound::try_from("<= ten".to_owned()).is_err());
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!is_like(&pattern, &"a".repeat(5_000)));
    }
}
