use crate::expected::{Expected, Mistake};
use crate::header::{Header, HeaderError};
use isolith_core::{InvalidName, Timestamp};
use isolith_runner::{Language, Plan, Time};

const HEADER: &str = "//! ";
const EXPECTATION: &str = "//> ";

/// One program of the conformance suite, and the outcome it must have. `conformance/README.md` describes the format.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Area and name, such as `values/nan-becomes-null`.
    pub name: String,
    /// The name of the file, as errors show it.
    pub file: String,
    /// What it is written in: TypeScript where the file says so, otherwise to be found out.
    pub language: Language,
    /// The program: the whole file, its header and expectations made empty, so that lines keep their numbers.
    pub source: String,
    /// What it is given.
    pub header: Header,
    /// What it must do.
    pub expected: Expected,
}

/// A file that is not a case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Neither JavaScript nor TypeScript by its name.
    #[error("`{0}` ends neither in `.js` nor in `.ts`")]
    Kind(String),
    /// The header.
    #[error("header: {0}")]
    Header(#[from] HeaderError),
    /// An expectation.
    #[error("line {line}: {mistake}")]
    Expectation {
        /// Where.
        line: usize,
        /// What is wrong with it.
        mistake: Mistake,
    },
    /// The expectations are not the end of the file.
    #[error("line {line}: code after the expectations")]
    CodeAfter {
        /// Where.
        line: usize,
    },
    /// Nothing to check.
    #[error("the file expects no outcome")]
    NoOutcome,
}

impl Case {
    /// Reads a file; `path` is that below the suite's folder, such as `values/nan-becomes-null.js`.
    pub fn parse(path: &str, text: &str) -> Result<Case, CaseError> {
        let (name, language) = match path.rsplit_once('.') {
            Some((name, "js")) => (name, Language::Auto),
            Some((name, "ts")) => (name, Language::TypeScript),
            _ => return Err(CaseError::Kind(path.into())),
        };
        let mut header = String::new();
        let mut expected = Expected::default();
        let mut ended = false;
        let mut source = String::with_capacity(text.len());
        for (index, line) in text.split('\n').enumerate() {
            let number = index + 1;
            if index > 0 {
                source.push('\n');
            }
            if let Some(line) = line.strip_prefix(HEADER) {
                header.push_str(line);
                header.push('\n');
            } else if let Some(line) = line.strip_prefix(EXPECTATION) {
                ended = true;
                expected.add(line).map_err(|mistake| CaseError::Expectation { line: number, mistake })?;
            } else if ended && !line.is_empty() {
                return Err(CaseError::CodeAfter { line: number });
            } else {
                source.push_str(line);
            }
        }
        if expected.endings().is_empty() {
            return Err(CaseError::NoOutcome);
        }
        Ok(Case {
            name: name.into(),
            file: path.rsplit('/').next().unwrap_or(path).into(),
            language,
            source,
            header: Header::parse(&header)?,
            expected,
        })
    }

    /// What a runner needs to run it.
    pub fn plan(&self) -> Result<Plan, InvalidName> {
        let header = &self.header;
        let time =
            header.time_ms.map_or(Time::Live, |ms| Time::Virtual(Timestamp::from_micros(ms.saturating_mul(1_000))));
        Ok(Plan {
            language: self.language,
            limits: header.limits,
            grants: header.grants()?,
            input: header.input.clone(),
            args: header.args.clone(),
            time,
            seed: header.seed,
            ..Plan::new(self.source.clone(), self.file.clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tool;

    #[test]
    fn header_and_expectations_become_empty_lines() -> Result<(), CaseError> {
        let case = Case::parse("area/some-name.js", "//! tools = [\"echo\"]\n\nreturn 1; // x\n//> value: 1\n")?;
        assert_eq!(case.source, "\n\nreturn 1; // x\n\n");
        assert_eq!((case.name.as_str(), case.file.as_str()), ("area/some-name", "some-name.js"));
        assert_eq!((case.language, case.header.tools), (Language::Auto, vec![Tool::Echo]));
        assert_eq!(Case::parse("a/b.ts", "//> value: 1")?.language, Language::TypeScript);
        Ok(())
    }

    #[test]
    fn what_is_no_case_is_refused_with_its_reason() {
        let rows = [
            ("a/b.py", "//> value: 1", "`a/b.py` ends neither in `.js` nor in `.ts`"),
            ("a/b.js", "return 1", "the file expects no outcome"),
            ("a/b.js", "//> line: 3", "the file expects no outcome"),
            ("a/b.js", "//> value: 1\nx", "line 2: code after the expectations"),
            ("a/b.js", "x\n//> color: 1", "line 2: `color: 1` is no expectation"),
            ("a/b.js", "//! seed = \"x\"\n//> value: 1", "header: invalid type: string \"x\", expected u64"),
        ];
        for (path, text, reason) in rows {
            assert_eq!(Case::parse(path, text).map_err(|e| e.to_string()).err().as_deref(), Some(reason), "{text}");
        }
    }
}
