use serde::Serialize;
use std::fmt;

/// What a test says about itself, between `/*---` and `---*/`.
///
/// The suite writes it in YAML, of which it uses little: keys with a word, a list in brackets, or indented lines below.
/// That little is read here; texts such as `description` are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// Files of the harness that it needs, besides those that every test gets.
    pub includes: Vec<String>,
    /// How it is to be run.
    pub flags: Vec<Flag>,
    /// What of the language it uses.
    pub features: Vec<String>,
    /// How it must fail; without this it must not.
    pub negative: Option<Negative>,
}

/// How a test is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// In strict mode only.
    OnlyStrict,
    /// In sloppy mode only.
    NoStrict,
    /// As a module.
    Module,
    /// As it is: nothing before it, sloppy mode only.
    Raw,
    /// Until it calls `$DONE`.
    Async,
    /// It was made by a program, which makes no difference.
    Generated,
    /// Only where waiting for shared memory fails.
    CanBlockIsFalse,
    /// Only where waiting for shared memory waits.
    CanBlockIsTrue,
    /// Its outcome may differ from run to run.
    NonDeterministic,
    /// Another spelling of the same, as a proposal's tests use it.
    ExplicitNonDeterministic,
}

/// How a test must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negative {
    /// When.
    pub phase: Phase,
    /// With an error of this name.
    pub error: String,
}

/// When a test must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before any of it runs. Older tests say `early`.
    Parse,
    /// When the modules it imports are put together.
    Resolution,
    /// While it runs.
    Runtime,
}

/// Why a test cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// None is there.
    #[error("there is no front matter")]
    Missing,
    /// A flag nobody knows. Running the test without it would prove nothing.
    #[error("flag `{0}` is unknown")]
    UnknownFlag(String),
    /// A phase nobody knows.
    #[error("phase `{0}` is unknown")]
    UnknownPhase(String),
    /// Only half of it.
    #[error("`negative` needs a phase and a type")]
    Negative,
}

impl FrontMatter {
    /// Reads the front matter of a test.
    pub fn parse(source: &str) -> Result<FrontMatter, FrontMatterError> {
        let (_, rest) = source.split_once("/*---").ok_or(FrontMatterError::Missing)?;
        let (text, _) = rest.split_once("---*/").ok_or(FrontMatterError::Missing)?;
        // Tests about line ends have those of other systems here too.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut matter = FrontMatter::default();
        for Entry { key, value, below } in entries(&text) {
            match key {
                "includes" => matter.includes = list(value, &below),
                "features" => matter.features = list(value, &below),
                "flags" => {
                    matter.flags =
                        list(value, &below).iter().map(|flag| Flag::named(flag)).collect::<Result<_, _>>()?;
                }
                "negative" => matter.negative = Some(Negative::read(&below)?),
                _ => {}
            }
        }
        Ok(matter)
    }

    /// Whether it has this flag.
    pub fn is(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }
}

impl Flag {
    const ALL: [(Flag, &'static str); 10] = [
        (Flag::OnlyStrict, "onlyStrict"),
        (Flag::NoStrict, "noStrict"),
        (Flag::Module, "module"),
        (Flag::Raw, "raw"),
        (Flag::Async, "async"),
        (Flag::Generated, "generated"),
        (Flag::CanBlockIsFalse, "CanBlockIsFalse"),
        (Flag::CanBlockIsTrue, "CanBlockIsTrue"),
        (Flag::NonDeterministic, "non-deterministic"),
        (Flag::ExplicitNonDeterministic, "explicit-non-deterministic"),
    ];

    fn named(name: &str) -> Result<Flag, FrontMatterError> {
        let found = Flag::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(flag, _)| flag).ok_or_else(|| FrontMatterError::UnknownFlag(name.into()))
    }
}

impl Negative {
    fn read(lines: &[&str]) -> Result<Negative, FrontMatterError> {
        let (mut phase, mut error) = (None, None);
        for Entry { key, value, .. } in entries(&lines.join("\n")) {
            match key {
                "phase" => phase = Some(Phase::named(value)?),
                "type" => error = Some(value.to_owned()),
                _ => {}
            }
        }
        match (phase, error) {
            (Some(phase), Some(error)) if !error.is_empty() => Ok(Negative { phase, error }),
            _ => Err(FrontMatterError::Negative),
        }
    }
}

impl Phase {
    fn named(name: &str) -> Result<Phase, FrontMatterError> {
        match name {
            "parse" | "early" => Ok(Phase::Parse),
            "resolution" => Ok(Phase::Resolution),
            "runtime" => Ok(Phase::Runtime),
            _ => Err(FrontMatterError::UnknownPhase(name.into())),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Parse => "parse",
            Phase::Resolution => "resolution",
            Phase::Runtime => "run time",
        })
    }
}

/// One key with what stands behind it and the lines below it that are indented further, or are items of its list.
struct Entry<'a> {
    key: &'a str,
    value: &'a str,
    below: Vec<&'a str>,
}

/// The keys at the outermost level, which is that of the first line: some tests indent everything.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let outermost = lines().next().map_or(0, indent);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in lines() {
        let trimmed = without_comment(line.trim());
        let item = trimmed.starts_with("- ");
        match trimmed.split_once(':') {
            Some((key, value)) if indent(line) <= outermost && !item => {
                entries.push(Entry { key: key.trim(), value: value.trim(), below: Vec::new() });
            }
            _ => {
                if let Some(entry) = entries.last_mut() {
                    entry.below.push(line);
                }
            }
        }
    }
    entries
}

fn without_comment(line: &str) -> &str {
    if line.starts_with('#') {
        return "";
    }
    line.split_once(" #").map_or(line, |(before, _)| before.trim_end())
}

/// A list in brackets, on one line or several, or one of `- item` lines.
fn list(value: &str, below: &[&str]) -> Vec<String> {
    let lines = || below.iter().map(|line| without_comment(line.trim()));
    let items: Vec<String> = if value.starts_with('[') {
        let whole: String = std::iter::once(value).chain(lines()).collect::<Vec<_>>().join(" ");
        let inner = whole.trim_start_matches('[').split(']').next().unwrap_or_default().to_owned();
        inner.split(',').map(|item| item.trim().to_owned()).collect()
    } else {
        lines().filter_map(|line| line.strip_prefix("- ")).map(|item| item.trim().to_owned()).collect()
    };
    let unquoted = items.into_iter().map(|item| item.trim_matches(['"', '\'']).to_owned());
    unquoted.filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    #[test]
    fn every_way_of_writing_it_is_read() {
        let flow = "// Copyright
/*---
esid: sec-x
description: >
  flags: [raw] is only text here
info: |
  includes: [no.js]
  - not an item
includes: [a.js, b.js]
flags: [onlyStrict, async]
features: [BigInt,
  Proxy]
---*/
code";
        let block = "/*---
includes:
  - a.js
  - b.js # why
features:
- BigInt
- Proxy
# a comment
flags:
  - onlyStrict
  - async
---*/";
        let indented = "/*---\r\n    includes: [a.js, b.js]\r\n    flags: [ onlyStrict, async ]\r\n    \
                        features: [BigInt, Proxy]\r\n---*/";
        let expected = FrontMatter {
            includes: strings(&["a.js", "b.js"]),
            flags: vec![Flag::OnlyStrict, Flag::Async],
            features: strings(&["BigInt", "Proxy"]),
            negative: None,
        };
        for text in [flow, block, indented] {
            assert_eq!(FrontMatter::parse(text), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn negative_says_when_and_with_what() {
        let parse = |inner: &str| FrontMatter::parse(&format!("/*---\n{inner}\n---*/")).map(|matter| matter.negative);
        let negative = |phase| Ok(Some(Negative { phase, error: "SyntaxError".into() }));
        assert_eq!(parse("negative:\n  phase: parse\n  type: SyntaxError"), negative(Phase::Parse));
        assert_eq!(parse("negative:\n  type: SyntaxError\n  phase: early\nflags: [raw]"), negative(Phase::Parse));
        assert_eq!(parse("negative:\n    phase: resolution\n    type: SyntaxError"), negative(Phase::Resolution));
        assert_eq!(parse("negative:\n  phase: runtime\n  type: SyntaxError"), negative(Phase::Runtime));
        assert_eq!(parse("negative:\n  phase: later\n  type: X"), Err(FrontMatterError::UnknownPhase("later".into())));
        assert_eq!(parse("negative:\n  phase: parse"), Err(FrontMatterError::Negative));
    }

    #[test]
    fn what_is_not_understood_is_not_run() {
        assert_eq!(FrontMatter::parse("1;"), Err(FrontMatterError::Missing));
        assert_eq!(FrontMatter::parse("/*--- flags: [raw]"), Err(FrontMatterError::Missing));
        let unknown = Err(FrontMatterError::UnknownFlag("onlySometimes".into()));
        assert_eq!(FrontMatter::parse("/*---\nflags: [onlySometimes]\n---*/"), unknown);
    }
}
