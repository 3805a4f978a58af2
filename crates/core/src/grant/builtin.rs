use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of the language that a program does not have unless it is granted. Not every engine has each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Builtin {
    /// `WebAssembly`: code that is compiled while the program runs.
    WebAssembly,
    /// `SharedArrayBuffer`, and `Atomics` with it.
    SharedArrayBuffer,
}

impl Builtin {
    /// All there are.
    pub const ALL: [Builtin; 2] = [Builtin::WebAssembly, Builtin::SharedArrayBuffer];

    /// The global by which it is granted.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::WebAssembly => "WebAssembly",
            Builtin::SharedArrayBuffer => "SharedArrayBuffer",
        }
    }

    /// The one that is granted by this name.
    pub fn named(name: &str) -> Result<Builtin, String> {
        let all = Builtin::ALL.map(Builtin::name);
        let found = Builtin::ALL.into_iter().find(|builtin| builtin.name() == name);
        found.ok_or_else(|| match crate::fields::nearest(name, all) {
            Some(near) => format!("`{name}` cannot be granted: did you mean `{near}`?"),
            None => format!("`{name}` cannot be granted: there are {}", all.map(|name| format!("`{name}`")).join(", ")),
        })
    }

    /// The one that brings a global of this name.
    pub fn of_global(name: &str) -> Option<Builtin> {
        match name {
            "Atomics" => Some(Builtin::SharedArrayBuffer),
            name => Builtin::ALL.into_iter().find(|builtin| builtin.name() == name),
        }
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
