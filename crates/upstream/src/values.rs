//! What a server is given of the operator's: environment or headers, with secrets read when they are needed.

use crate::redaction::Redaction;
use crate::text::{Sources, Text};
use isolith_core::{CallError, Credential, Grant, Power, SecretGrant, SecretName, SecretSource, SecretStore};
use isolith_gate::{Secret, Vault};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A value that is written out and shorter than this is taken for no secret.
const WRITTEN_SECRET_BYTES_MIN: usize = 8;
/// What names of written-out secrets have in them.
const TELLING: [&str; 9] = ["auth", "cookie", "credential", "key", "pass", "private", "secret", "session", "token"];

/// Variables that tell no secret: where people and programs are. Paths would be full of holes without them.
const HARMLESS: [&str; 9] = ["HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER"];

/// Names with their values, by which a server is set up.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    texts: Vec<(String, Text)>,
    secrets: Vec<Grant>,
}

/// A header's name, what the gate adds there, and the secrets that takes.
pub(crate) type Given<'a> = (&'a str, Credential, &'a [Grant]);

impl Values {
    /// Reads them, or says which one is wrong and why.
    pub(crate) fn read<'a>(written: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Values, String> {
        let (mut sources, mut texts) = (Sources::default(), Vec::new());
        for (name, text) in written {
            let text = Text::read(text, &mut sources).map_err(|why| format!("`{name}`: {why}"))?;
            texts.push((name.to_owned(), text));
        }
        let grant = |(name, from)| Grant::allow(Power::Secret(SecretGrant { name, from: Some(from), reveal: false }));
        Ok(Values { texts, secrets: sources.known.into_iter().map(grant).collect() })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Reads the secrets and fills them in. They are taken out of what is said from then on.
    pub(crate) async fn fill(
        &self,
        store: Option<Arc<dyn SecretStore>>,
        redaction: &Redaction,
    ) -> Result<Vec<(String, Zeroizing<String>)>, CallError> {
        let vault = Vault::new(&self.secrets, store);
        let mut filled = Vec::with_capacity(self.texts.len());
        for (name, text) in &self.texts {
            let mut values: Vec<(String, Secret)> = Vec::new();
            for secret in text.secrets() {
                let value = vault.get(secret).await?;
                if !self.is_harmless(secret) {
                    redaction.add(secret.as_str(), value.expose());
                }
                values.push((secret.to_string(), value));
            }
            if let Some(written) = text.plain().and_then(|text| written_secret(name, text)) {
                redaction.add(name, written);
            }
            let find = |wanted: &SecretName| {
                values.iter().find(|(name, _)| name == wanted.as_str()).map(|(_, value)| value.expose())
            };
            let value = text.fill(find).unwrap_or_default();
            filled.push((name.clone(), value));
        }
        Ok(filled)
    }

    fn is_harmless(&self, secret: &SecretName) -> bool {
        self.secrets.iter().any(|grant| match &grant.power {
            Power::Secret(SecretGrant { name, from: Some(SecretSource::Env(variable)), .. }) => {
                name == secret && HARMLESS.contains(&variable.as_str())
            }
            _ => false,
        })
    }

    /// The first that takes a secret, as what the gate adds to a request after it was admitted; and the grants of secrets.
    ///
    /// A grant adds one thing. The others are [filled](Values::fill) in.
    pub(crate) fn credential(&self) -> Result<Option<Given<'_>>, String> {
        let Some((name, text)) = self.texts.iter().find(|(_, text)| text.plain().is_none()) else { return Ok(None) };
        let value = text.template().map_err(|why| format!("`{name}`: {why}"))?;
        let credential = Credential::Header { name: name.to_ascii_lowercase(), value };
        Ok(Some((name, credential, &self.secrets)))
    }
}

/// The secret in a value that is written out, going by its name. Nobody should write one down, and people do.
fn written_secret<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    let lower = name.to_ascii_lowercase();
    let secret = value.rsplit(' ').next().unwrap_or(value);
    let telling = TELLING.iter().any(|word| lower.contains(word));
    (telling && secret.len() >= WRITTEN_SECRET_BYTES_MIN).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_out_is_known_by_its_name() {
        for (name, value, secret) in [
            ("Authorization", "Bearer abcdefgh", Some("abcdefgh")),
            ("API_KEY", "abcdefgh", Some("abcdefgh")),
            ("X-Api-Key", "short", None),
            ("NODE_ENV", "production", None),
        ] {
            assert_eq!(written_secret(name, value), secret, "{name}");
        }
    }
}
