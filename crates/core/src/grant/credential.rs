use super::SecretName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a request to a granted target is given a secret that the guest never sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Credential {
    /// A header of the request; it takes the place of one that the guest set.
    Header {
        /// Its name, in lower case.
        name: String,
        /// Its value, with `${NAME}` where a secret goes.
        value: Template,
    },
    /// `Authorization: Bearer <secret>`.
    Bearer(SecretName),
    /// `Authorization: Basic <user:password>`.
    Basic {
        /// The user; may hold `${NAME}` too.
        user: Template,
        /// The password.
        password: Template,
    },
    /// A parameter of the URL's query; it takes the place of one of that name.
    Query {
        /// Its name.
        name: String,
        /// Its value.
        value: Template,
    },
    /// A signature over the request, as AWS defines it (version 4).
    SigV4(SigV4),
}

/// What a version 4 signature is made with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SigV4 {
    /// The secret that holds the access key's id.
    pub access_key: SecretName,
    /// The secret that holds the key itself.
    pub secret_key: SecretName,
    /// The secret that holds a session token, for temporary keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_token: Option<SecretName>,
    /// `eu-central-1`.
    pub region: String,
    /// `s3`, `execute-api`.
    pub service: String,
}

impl Credential {
    /// The secrets it takes.
    pub fn secrets(&self) -> Vec<&SecretName> {
        match self {
            Credential::Header { value, .. } | Credential::Query { value, .. } => value.secrets().collect(),
            Credential::Bearer(name) => vec![name],
            Credential::Basic { user, password } => user.secrets().chain(password.secrets()).collect(),
            Credential::SigV4(s) => [&s.access_key, &s.secret_key].into_iter().chain(&s.session_token).collect(),
        }
    }
}

/// Text with places for secrets: `Bearer ${GITHUB_TOKEN}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Text(String),
    Secret(SecretName),
}

/// A template that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {why}")]
pub struct TemplateError {
    text: String,
    why: String,
}

impl Template {
    /// Reads one. Anything but a `${NAME}` stands for itself.
    pub fn new(text: &str) -> Result<Self, TemplateError> {
        let wrong = |why: String| TemplateError { text: text.to_owned(), why };
        if text.chars().any(|c| c.is_control() || !c.is_ascii()) {
            return Err(wrong("only printable ASCII can be sent".into()));
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').ok_or_else(|| wrong("`${` without `}`".into()))?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Secret(SecretName::new(name).map_err(wrong)?));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Template { parts })
    }

    /// The secrets it takes, in order.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretName> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(name) => Some(name),
            Part::Text(_) => None,
        })
    }

    /// The whole text, given what each secret is. `None` when one is not there.
    pub fn fill<'a>(&self, mut secret: impl FnMut(&SecretName) -> Option<&'a str>) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Secret(name) => out.push_str(secret(name)?),
            }
        }
        Some(out)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Secret(name) => write!(f, "${{{name}}}"),
        })
    }
}

impl TryFrom<String> for Template {
    type Error = TemplateError;
    fn try_from(text: String) -> Result<Self, TemplateError> {
        Template::new(&text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_and_shown_without_values() {
        let template = Template::new("Bearer ${A}-${B}!").unwrap();
        assert_eq!(template.to_string(), "Bearer ${A}-${B}!");
        assert_eq!(
            template.fill(|name| Some(if name.as_str() == "A" { "x" } else { "y" })).as_deref(),
            Some("Bearer x-y!")
        );
        assert_eq!(template.fill(|_| None), None);
        for bad in ["${", "${}", "${a b}", "a\nb", "ä"] {
            assert!(Template::new(bad).is_err(), "{bad}");
        }
    }
}
