use crate::Case;
use isolith_core::{ErrorKind, Outcome, Status, Stream};
use std::fmt;

/// What a program must do: the `//> ` lines of its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    endings: Vec<Ending>,
    line: Option<u32>,
    message: Option<String>,
    stdout: Option<Vec<String>>,
    stderr: Option<Vec<String>>,
}

/// One way in which a run may end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ending {
    /// The value as JSON, exactly as `JSON.stringify` writes it; nothing for `undefined`.
    Value(Option<String>),
    /// One of these kinds and, if given, this name.
    Error { kinds: Vec<ErrorKind>, name: Option<String> },
}

/// An expectation that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// No key, or none that is known.
    #[error("`{0}` is no expectation")]
    Unknown(String),
    /// The same key again.
    #[error("`{0}` is expected twice")]
    Twice(&'static str),
    /// Not JSON.
    #[error("`{0}` is not JSON")]
    NotJson(String),
    /// Not a string.
    #[error("`{0}` is not a JSON string")]
    NotText(String),
    /// Not a number of a line.
    #[error("`{0}` is not a line")]
    NotLine(String),
    /// Not one of the closed set.
    #[error("`{0}` is no kind of error")]
    NotKind(String),
    /// Neither a value nor an error.
    #[error("`{0}` is no choice")]
    NotChoice(String),
}

/// What differs between an outcome and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Mismatch(Vec<String>);

/// Compares how a run ended with what its case expects.
pub fn check(case: &Case, outcome: &Outcome) -> Result<(), Mismatch> {
    let problems = case.expected.problems(outcome);
    if problems.is_empty() {
        return Ok(());
    }
    let mut lines = problems;
    lines.push("the run gave:".into());
    lines.extend(describe(outcome).into_iter().map(|line| format!("    {line}")));
    Err(Mismatch(lines))
}

impl Expected {
    pub(crate) fn endings(&self) -> &[Ending] {
        &self.endings
    }

    /// Takes one line, without its `//> `.
    pub(crate) fn add(&mut self, line: &str) -> Result<(), Mistake> {
        let (key, rest) = line.split_once(": ").ok_or_else(|| Mistake::Unknown(line.into()))?;
        match key {
            "value" => self.end("value", vec![Ending::value(rest)?]),
            "error" => self.end("error", vec![Ending::error(rest)?]),
            "any" => self.end("any", rest.split(" | ").map(Ending::choice).collect::<Result<_, _>>()?),
            "line" => once(&mut self.line, "line", rest.parse().map_err(|_| Mistake::NotLine(rest.into()))?),
            "message" => once(&mut self.message, "message", text(rest)?),
            "stdout" => {
                self.stdout.get_or_insert_default().push(text(rest)?);
                Ok(())
            }
            "stderr" => {
                self.stderr.get_or_insert_default().push(text(rest)?);
                Ok(())
            }
            _ => Err(Mistake::Unknown(line.into())),
        }
    }

    fn end(&mut self, key: &'static str, endings: Vec<Ending>) -> Result<(), Mistake> {
        if !self.endings.is_empty() {
            return Err(Mistake::Twice(key));
        }
        self.endings = endings;
        Ok(())
    }

    fn problems(&self, outcome: &Outcome) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.endings.iter().any(|ending| ending.met_by(outcome)) {
            let choices: Vec<String> = self.endings.iter().map(Ending::to_string).collect();
            problems.push(format!("expected {}", choices.join(", or ")));
        }
        let error = outcome.error.as_ref();
        if self.line.is_some() && self.line != error.and_then(|e| e.line) {
            problems.push(format!("expected the error at line {}", self.line.unwrap_or_default()));
        }
        if self.message.is_some() && self.message.as_deref() != error.map(|e| e.message.as_str()) {
            problems.push(format!("expected the message {}", quote(self.message.as_deref().unwrap_or_default())));
        }
        for (stream, name, expected) in
            [(Stream::Stdout, "stdout", &self.stdout), (Stream::Stderr, "stderr", &self.stderr)]
        {
            let pieces = outcome.outputs.iter().filter(|o| o.stream == stream).map(|o| o.text.as_str());
            if let Some(expected) = expected.as_ref().filter(|expected| !pieces.eq(expected.iter())) {
                let expected: Vec<String> = expected.iter().map(|text| quote(text)).collect();
                problems.push(format!("expected {name} to be {}", expected.join(", ")));
            }
        }
        problems
    }
}

impl Ending {
    fn value(text: &str) -> Result<Ending, Mistake> {
        if text == "undefined" {
            return Ok(Ending::Value(None));
        }
        // Only its form is checked: lone surrogates, which a value here may hold, cannot be read into a text of ours.
        serde_json::from_str::<&serde_json::value::RawValue>(text).map_err(|_| Mistake::NotJson(text.into()))?;
        Ok(Ending::Value(Some(text.into())))
    }

    fn error(text: &str) -> Result<Ending, Mistake> {
        let (kind, name) = text.split_once(' ').map_or((text, None), |(kind, name)| (kind, Some(name.to_owned())));
        Ok(Ending::Error { kinds: vec![error_kind(kind)?], name })
    }

    fn choice(text: &str) -> Result<Ending, Mistake> {
        match text.split_once(' ') {
            Some(("value", value)) => Ending::value(value),
            Some(("error", kinds)) => {
                Ok(Ending::Error { kinds: kinds.split(',').map(error_kind).collect::<Result<_, _>>()?, name: None })
            }
            _ => Err(Mistake::NotChoice(text.into())),
        }
    }

    fn met_by(&self, outcome: &Outcome) -> bool {
        match (self, outcome.status, &outcome.error) {
            (Ending::Value(value), Status::Ok, None) => {
                value.as_deref() == outcome.value.as_ref().map(|json| json.text())
            }
            (Ending::Error { kinds, name }, Status::Error, Some(error)) => {
                kinds.contains(&error.kind) && name.as_ref().is_none_or(|name| *name == error.name)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Value(value) => write!(f, "value {}", value.as_deref().unwrap_or("undefined")),
            Ending::Error { kinds, name } => {
                let kinds: Vec<String> = kinds.iter().map(|kind| kind_name(*kind)).collect();
                write!(f, "error {}", kinds.join(" or "))?;
                name.as_ref().map_or(Ok(()), |name| write!(f, " {name}"))
            }
        }
    }
}

/// An outcome in the form of expectation lines.
fn describe(outcome: &Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    match (&outcome.error, outcome.status) {
        (Some(error), _) => {
            lines.push(format!("error: {} {}", kind_name(error.kind), error.name));
            lines.extend(error.line.map(|line| format!("line: {line}")));
            lines.push(format!("message: {}", quote(&error.message)));
        }
        (None, Status::Suspended) => lines.push("suspended".into()),
        (None, _) => lines.push(format!("value: {}", outcome.value.as_ref().map_or("undefined", |json| json.text()))),
    }
    lines.extend(outcome.outputs.iter().map(|output| {
        let stream = if output.stream == Stream::Stdout { "stdout" } else { "stderr" };
        format!("{stream}: {}", quote(&output.text))
    }));
    lines
}

fn once<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), Mistake> {
    if slot.is_some() {
        return Err(Mistake::Twice(key));
    }
    *slot = Some(value);
    Ok(())
}

fn text(json: &str) -> Result<String, Mistake> {
    serde_json::from_str(json).map_err(|_| Mistake::NotText(json.into()))
}

fn error_kind(name: &str) -> Result<ErrorKind, Mistake> {
    serde_json::from_value(name.into()).map_err(|_| Mistake::NotKind(name.into()))
}

fn kind_name(kind: ErrorKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::{Json, Output, RunError, Usage};

    fn ok(value: Option<&str>) -> Outcome {
        Outcome {
            run: None,
            grants: Vec::new(),
            narrowed: Vec::new(),
            status: Status::Ok,
            value: value.and_then(|text| Json::from_text(text.into()).ok()),
            ran_on: None,
            outputs: vec![
                Output { stream: Stream::Stdout, text: "one".into(), at_ms: 0 },
                Output { stream: Stream::Stderr, text: "two".into(), at_ms: 0 },
            ],
            error: None,
            usage: Usage::default(),
            calls: Vec::new(),
            exercised: Vec::new(),
            denied: Vec::new(),
            waiting_for: Vec::new(),
            approvals: Vec::new(),
        }
    }

    fn failed(kind: ErrorKind, name: &str) -> Outcome {
        let error = RunError {
            kind,
            name: name.into(),
            message: "m".into(),
            code: None,
            stack: None,
            line: Some(3),
            column: None,
            hint: None,
        };
        Outcome { status: Status::Error, error: Some(error), ..ok(None) }
    }

    fn verdict(expectations: &str, outcome: &Outcome) -> Result<Result<(), String>, String> {
        let case = Case::parse("a/b.js", expectations).map_err(|e| e.to_string())?;
        Ok(check(&case, outcome).map_err(|mismatch| mismatch.to_string().lines().next().unwrap_or_default().to_owned()))
    }

    #[test]
    fn outcomes_are_held_against_expectations() {
        use ErrorKind::{CpuLimit, Thrown};
        let one = ok(Some("1"));
        let thrown = failed(Thrown, "TypeError");
        let rows: &[(&str, &Outcome, Result<(), &str>)] = &[
            ("//> value: 1", &one, Ok(())),
            ("//> value: 2", &one, Err("expected value 2")),
            ("//> value: undefined", &one, Err("expected value undefined")),
            ("//> value: undefined", &ok(None), Ok(())),
            ("//> value: null", &ok(None), Err("expected value null")),
            ("//> value: \"\\ud800\"", &ok(Some("\"\\ud800\"")), Ok(())),
            ("//> value: 1", &thrown, Err("expected value 1")),
            ("//> error: thrown", &thrown, Ok(())),
            ("//> error: thrown TypeError", &thrown, Ok(())),
            ("//> error: thrown Error", &thrown, Err("expected error thrown Error")),
            ("//> error: syntax", &thrown, Err("expected error syntax")),
            ("//> error: thrown", &one, Err("expected error thrown")),
            ("//> error: thrown\n//> line: 3", &thrown, Ok(())),
            ("//> error: thrown\n//> line: 4", &thrown, Err("expected the error at line 4")),
            ("//> error: thrown\n//> message: \"m\"", &thrown, Ok(())),
            ("//> error: thrown\n//> message: \"n\"", &thrown, Err("expected the message \"n\"")),
            ("//> value: 1\n//> stdout: \"one\"\n//> stderr: \"two\"", &one, Ok(())),
            ("//> value: 1\n//> stdout: \"one\"\n//> stdout: \"x\"", &one, Err("expected stdout to be \"one\", \"x\"")),
            ("//> value: 1\n//> stderr: \"one\"", &one, Err("expected stderr to be \"one\"")),
            ("//> any: value 2 | value 1", &one, Ok(())),
            ("//> any: value 2 | error cpu_limit,thrown", &thrown, Ok(())),
            ("//> any: value 2 | error cpu_limit,thrown", &failed(CpuLimit, "x"), Ok(())),
            ("//> any: value 2 | error syntax,denied", &thrown, Err("expected value 2, or error syntax or denied")),
        ];
        for (expectations, outcome, expected) in rows {
            let expected = Ok(expected.map_err(str::to_owned));
            assert_eq!(verdict(expectations, outcome), expected, "{expectations}");
        }
    }

    #[test]
    fn a_mismatch_shows_what_to_expect_instead() {
        let case = Case::parse("a/b.js", "//> value: 2").ok();
        let shown = case.and_then(|case| check(&case, &failed(ErrorKind::Thrown, "TypeError")).err());
        let expected = [
            "expected value 2",
            "the run gave:",
            "    error: thrown TypeError",
            "    line: 3",
            "    message: \"m\"",
            "    stdout: \"one\"",
            "    stderr: \"two\"",
        ];
        assert_eq!(shown.map(|mismatch| mismatch.to_string()), Some(expected.join("\n")));
    }

    #[test]
    fn malformed_expectations_are_refused() {
        let rows = [
            ("nonsense", Mistake::Unknown("nonsense".into())),
            ("value: {", Mistake::NotJson("{".into())),
            ("stdout: 1", Mistake::NotText("1".into())),
            ("message: x", Mistake::NotText("x".into())),
            ("line: x", Mistake::NotLine("x".into())),
            ("error: oops", Mistake::NotKind("oops".into())),
            ("any: value 1 | nothing", Mistake::NotChoice("nothing".into())),
        ];
        for (line, mistake) in rows {
            assert_eq!(Expected::default().add(line), Err(mistake), "{line}");
        }
        let mut twice = Expected::default();
        assert_eq!(twice.add("value: 1"), Ok(()));
        assert_eq!(twice.add("error: thrown"), Err(Mistake::Twice("error")));
    }
}
