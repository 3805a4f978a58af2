//! Texts of an operator with places for secrets: `Bearer ${env:TOKEN}`.

use isolith_core::{SecretName, SecretSource, Template, TemplateError};
use zeroize::Zeroizing;

/// A text with places for secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Plain(String),
    Secret(SecretName),
}

/// The secrets that the texts of one namespace take, by names that are made for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) known: Vec<(SecretName, SecretSource)>,
}

impl Sources {
    fn name_of(&mut self, source: SecretSource) -> Result<SecretName, String> {
        if let Some((name, _)) = self.known.iter().find(|(_, known)| *known == source) {
            return Ok(name.clone());
        }
        let wish = match &source {
            SecretSource::Env(name) => name.clone(),
            SecretSource::Store(name) => name.to_string(),
            SecretSource::File(path) => path.rsplit('/').next().unwrap_or_default().to_owned(),
            SecretSource::Command(_) => "command".to_owned(),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
        let wish: String = wish.chars().take(100).map(plain).collect();
        let is_taken = |name: &str| self.known.iter().any(|(known, _)| known.as_str() == name);
        let numbered = (2..).map(|number| format!("{wish}-{number}"));
        let name = std::iter::once(wish.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default();
        let name = SecretName::new(&name)?;
        self.known.push((name.clone(), source));
        Ok(name)
    }
}

impl Text {
    /// Reads a text. Anything but `${env:…}`, `${file:…}`, `${command:…}` and `${secret:…}` stands for itself.
    pub(crate) fn read(text: &str, sources: &mut Sources) -> Result<Text, String> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let end = closing(after).ok_or("there is a `${` without its `}`")?;
            let inner = &after[..end];
            let source = match inner.split_once(':') {
                Some(("secret", name)) => SecretSource::Store(SecretName::new(name)?),
                _ => SecretSource::try_from(inner.to_owned()).map_err(
                    |_| "write `${env:NAME}`, `${file:PATH}`, `${command:…}` or `${secret:NAME}` where a secret goes",
                )?,
            };
            if !before.is_empty() {
                parts.push(Part::Plain(before.to_owned()));
            }
            parts.push(Part::Secret(sources.name_of(source)?));
            rest = &after[end + 1..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Plain(rest.to_owned()));
        }
        Ok(Text { parts })
    }

    /// The text itself, when there is no place for a secret in it.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// The secrets it takes.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretName> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(name) => Some(name),
            Part::Plain(_) => None,
        })
    }

    /// The whole text, given what each secret is.
    pub(crate) fn fill<'a>(&self, secret: impl Fn(&SecretName) -> Option<&'a str>) -> Option<Zeroizing<String>> {
        let mut out = Zeroizing::new(String::new());
        for part in &self.parts {
            match part {
                Part::Plain(text) => out.push_str(text),
                Part::Secret(name) => out.push_str(secret(name)?),
            }
        }
        Some(out)
    }

    /// The same as the gate's own templates have it.
    pub(crate) fn template(&self) -> Result<Template, TemplateError> {
        let shown = self.parts.iter().map(|part| match part {
            Part::Plain(text) => text.clone(),
            Part::Secret(name) => format!("${{{name}}}"),
        });
        Template::new(&shown.collect::<String>())
    }
}

/// Where the brace closes that was opened before this text. A command may have braces of its own.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_their_places() {
        let mut sources = Sources::default();
        let text = "Bearer ${env:A}-${secret:B} ${command:awk '{print}' f}${env:A}";
        let text = Text::read(text, &mut sources).unwrap();
        let known: Vec<String> = sources.known.iter().map(|(name, source)| format!("{name}={source}")).collect();
        assert_eq!(known, ["A=env:A", "B=store:B", "command=command:awk '{print}' f"]);
        let filled = text.fill(|name| Some(if name.as_str() == "A" { "x" } else { "y" })).unwrap();
        assert_eq!(*filled, "Bearer x-y yx");
        assert_eq!(text.template().unwrap().to_string(), "Bearer ${A}-${B} ${command}${A}");
        assert_eq!(text.plain(), None);
        assert_eq!(Text::read("$5 {a}", &mut sources).unwrap().plain(), Some("$5 {a}"));
        assert_eq!(Text::read("", &mut sources).unwrap().plain(), Some(""));
        for (bad, said) in
            [("${", "without"), ("${A}", "write"), ("${vault:a}", "write"), ("${secret:a b}", "cannot name")]
        {
            let error = Text::read(bad, &mut sources).unwrap_err();
            assert!(error.contains(said), "{bad}: {error}");
        }
        let two = ["${file:/a/key}", "${file:/b/key}"].map(|text| Text::read(text, &mut sources).unwrap());
        assert_eq!(two.map(|text| text.template().unwrap().to_string()), ["${key}", "${key-2}"]);
    }
}
