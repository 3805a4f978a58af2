use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// JavaScript that an engine can run as it is.
///
/// What an author writes (TypeScript, fences, modules, a lone arrow) is turned into this by `isolith-program`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name shown in stack traces: a file name without its folder, never a path of the host.
    pub name: Arc<str>,
    /// The code.
    pub code: Arc<str>,
    /// How the code is to be evaluated.
    pub form: Form,
    /// What the code may import, by the name it imports it under.
    pub modules: Arc<[Module]>,
}

/// One module that comes along with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The name it is imported by, resolved against the importer: `lib/x.js`.
    pub name: Arc<str>,
    /// Its code, an ECMAScript module.
    pub code: Arc<str>,
}

/// How an engine evaluates a program's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The body of one async function, in sloppy mode: `return` gives the value, `await` is allowed.
    /// Whoever makes a `Program` has checked that the code is a whole function body and nothing more.
    Body,
    /// A classic script in the global scope; its completion value is the value.
    Script,
    /// An ECMAScript module; it has no value.
    Module,
}

impl Program {
    /// A program that imports nothing.
    pub fn new(name: impl Into<Arc<str>>, code: impl Into<Arc<str>>, form: Form) -> Self {
        Program { name: name.into(), code: code.into(), form, modules: Arc::new([]) }
    }

    /// What the code, its form and its modules hash to; the program's own name plays no part.
    pub fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[self.form as u8]);
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(&self.code);
        for module in self.modules.iter() {
            add(&module.name);
            add(&module.code);
        }
        Digest(*hasher.finalize().as_bytes())
    }
}

/// A BLAKE3 hash that names a program or an image by its content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of a text, such as a program's source.
    pub fn of(text: &str) -> Digest {
        Digest(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every run names its program so; two digits at a time through `write!` took longer than the hash itself.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(2 * self.0.len());
        for byte in self.0 {
            text.extend([byte >> 4, byte & 15].map(|half| char::from(DIGITS[usize::from(half)])));
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
