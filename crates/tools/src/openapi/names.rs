//! Names for a program, made of what a description calls things.

use std::collections::{HashMap, HashSet};

/// The longest name.
const NAME_CHARS_MAX: usize = 64;
/// How much of a text is looked at for a name.
const LOOKED_AT_CHARS_MAX: usize = 512;
/// Properties by which JavaScript takes an object for something else than it is, or calls it unasked.
const TROUBLE: [&str; 14] = [
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "prototype",
    "then",
    "toJSON",
    "toString",
    "valueOf",
];

/// An identifier: what cannot be in one falls out, and the word after it begins in upper case. Empty if nothing is left.
pub(super) fn identifier(text: &str) -> String {
    let (mut name, mut word_begins) = (String::new(), false);
    for c in text.chars().take(LOOKED_AT_CHARS_MAX) {
        if name.len() >= NAME_CHARS_MAX {
            break;
        }
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '$') {
            word_begins = true;
            continue;
        }
        if name.is_empty() {
            if c.is_ascii_digit() {
                name.push('_');
            }
            name.push(c);
        } else {
            name.push(if word_begins { c.to_ascii_uppercase() } else { c });
        }
        word_begins = false;
    }
    if TROUBLE.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// The name of an operation that has none: `getIssuesById`.
pub(super) fn of_path(method: &str, path: &str) -> String {
    let words = path.chars().take(LOOKED_AT_CHARS_MAX).fold(format!("{method} "), |mut words, c| {
        match c {
            '{' => words.push_str(" by "),
            '_' => words.push(' '),
            c => words.push(c),
        }
        words
    });
    identifier(&words)
}

/// Names that are taken.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Takes a name if it is free.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// Takes a name that is free: `issue_2` after `issue`.
    pub(super) fn another(&mut self, name: &str) -> String {
        // Counted on from the last time, or five thousand of one name would take their square of steps.
        let mut number = self.numbers.get(name).copied().unwrap_or(1);
        loop {
            number += 1;
            let end = format!("_{number}");
            let start: String = name.chars().take(NAME_CHARS_MAX - end.len()).collect();
            let numbered = format!("{start}{end}");
            if self.take(&numbered) {
                self.numbers.insert(name.to_owned(), number);
                return numbered;
            }
        }
    }

    /// The name, or one like it.
    pub(super) fn this_or_another(&mut self, name: &str) -> String {
        if self.take(name) { name.to_owned() } else { self.another(name) }
    }
}
