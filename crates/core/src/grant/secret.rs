use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a secret: what grants, audits and listings show in its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

const NAME_BYTES_MAX: usize = 128;

impl SecretName {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, String> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(plain) {
            return Err(format!("`{name}` cannot name a secret: use up to 128 ASCII letters, digits, `.`, `_` or `-`"));
        }
        Ok(SecretName(name.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SecretName {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        SecretName::new(&name)
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> String {
        name.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A secret that other grants may use, or that the guest itself may read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretGrant {
    /// Its name.
    pub name: SecretName,
    /// Where the value comes from; without this it is the store's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SecretSource>,
    /// The guest may read the value itself. Whatever it does with it then is out of our hands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
}

/// Where a secret's value is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SecretSource {
    /// `env:NAME`: a variable of the host's environment.
    Env(String),
    /// `file:PATH`: a file, without its final newline.
    File(String),
    /// `command:…`: what a command prints, without its final newline.
    Command(String),
    /// `store:NAME`: the encrypted store.
    Store(SecretName),
}

impl TryFrom<String> for SecretSource {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let plain = text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).unwrap_or(&text);
        match plain.split_once(':') {
            Some((_, "")) | None => {
                Err(format!("`{text}` is no source: write `env:NAME`, `file:PATH`, `command:…` or `store:NAME`"))
            }
            Some(("env", name)) => Ok(SecretSource::Env(name.to_owned())),
            Some(("file", path)) => Ok(SecretSource::File(path.to_owned())),
            Some(("command", command)) => Ok(SecretSource::Command(command.to_owned())),
            Some(("store", name)) => Ok(SecretSource::Store(SecretName::new(name)?)),
            Some((other, _)) => {
                Err(format!("`{other}` is no source of secrets: there are `env`, `file`, `command` and `store`"))
            }
        }
    }
}

impl From<SecretSource> for String {
    fn from(source: SecretSource) -> String {
        source.to_string()
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Env(name) => write!(f, "env:{name}"),
            SecretSource::File(path) => write!(f, "file:{path}"),
            SecretSource::Command(command) => write!(f, "command:{command}"),
            SecretSource::Store(name) => write!(f, "store:{name}"),
        }
    }
}
