use super::execute::Ran;
use super::front_matter::{Flag, FrontMatter, Negative, Phase};
use isolith_core::{End, ErrorKind, Failure};

/// What a test prints when it is done, and how what it prints begins when it failed.
const COMPLETE: &str = "Test262:AsyncTestComplete";
const FAILURE: &str = "Test262:AsyncTestFailure:";
/// Reasons are for lists.
const REASON_CHARS_MAX: usize = 300;

/// What came of a test in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What it says of itself is true.
    Passed,
    /// It is not, because of this.
    Failed(String),
}

/// Holds what a test did against what it says it does.
pub(crate) fn judge(matter: &FrontMatter, ran: &Ran) -> Verdict {
    let problem = match &matter.negative {
        Some(negative) => must_fail(negative, &ran.end),
        None if matter.is(Flag::Async) => must_complete(ran),
        None => must_end(&ran.end),
    };
    problem.map_or(Verdict::Passed, |reason| Verdict::Failed(reason.chars().take(REASON_CHARS_MAX).collect()))
}

fn must_end(end: &End) -> Option<String> {
    match end {
        End::Value(_) => None,
        End::Failed(failure) => Some(show(failure)),
    }
}

fn must_fail(negative: &Negative, end: &End) -> Option<String> {
    let Negative { phase, error } = negative;
    let expected = format!("expected {error} at {phase}");
    let failure = match end {
        End::Value(_) => return Some(format!("{expected}, but nothing failed")),
        End::Failed(failure) => failure,
    };
    let in_phase = match phase {
        Phase::Parse => failure.kind == ErrorKind::Syntax,
        // Imports are looked up as soon as a module is parsed, and linked when it starts.
        Phase::Resolution => matches!(failure.kind, ErrorKind::Syntax | ErrorKind::Thrown),
        Phase::Runtime => matches!(failure.kind, ErrorKind::Thrown | ErrorKind::StackOverflow),
    };
    (!in_phase || failure.name != *error).then(|| format!("{expected}, but: {}", show(failure)))
}

fn must_complete(ran: &Ran) -> Option<String> {
    if let Some(failure) = ran.printed.iter().find_map(|line| line.strip_prefix(FAILURE)) {
        return Some(failure.to_owned());
    }
    let times = ran.printed.iter().filter(|line| *line == COMPLETE).count();
    match (&ran.end, times) {
        // A module that is done may go on waiting for what never comes.
        (End::Failed(failure), 1) if failure.kind == ErrorKind::Stalled => None,
        (End::Failed(failure), _) => Some(show(failure)),
        (End::Value(_), 1) => None,
        (End::Value(_), 0) => Some("it never called $DONE".into()),
        (End::Value(_), _) => Some(format!("it called $DONE {times} times")),
    }
}

fn show(failure: &Failure) -> String {
    let text = match failure.kind {
        ErrorKind::Thrown | ErrorKind::StackOverflow => format!("{}: {}", failure.name, failure.message),
        ErrorKind::Syntax => format!("{} before it ran: {}", failure.name, failure.message),
        _ => failure.message.clone(),
    };
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(kind: ErrorKind, name: &str) -> End {
        End::Failed(Failure::of(kind, name, "m"))
    }

    fn verdict(negative: Option<(Phase, &str)>, flags: &[Flag], end: End, printed: &[&str]) -> Option<String> {
        let negative = negative.map(|(phase, error)| Negative { phase, error: error.into() });
        let matter = FrontMatter { flags: flags.to_vec(), negative, ..FrontMatter::default() };
        let printed = printed.iter().map(|line| (*line).to_owned()).collect();
        match judge(&matter, &Ran { end, printed }) {
            Verdict::Passed => None,
            Verdict::Failed(reason) => Some(reason),
        }
    }

    #[test]
    fn tests_are_judged_by_what_they_say() {
        use ErrorKind::{CpuLimit, Stalled, Syntax, Thrown};
        let done = End::Value(None);
        let wait = &[Flag::Async][..];
        let parse = Some((Phase::Parse, "SyntaxError"));
        let run = Some((Phase::Runtime, "TypeError"));
        let rows = [
            (verdict(None, &[], done.clone(), &[]), None),
            (verdict(None, &[], failed(Thrown, "TypeError"), &[]), Some("TypeError: m")),
            (verdict(None, &[], failed(Syntax, "SyntaxError"), &[]), Some("SyntaxError before it ran: m")),
            (verdict(None, &[], failed(CpuLimit, "CpuLimit"), &[]), Some("m")),
            (verdict(parse, &[], failed(Syntax, "SyntaxError"), &[]), None),
            (
                verdict(parse, &[], failed(Thrown, "SyntaxError"), &[]),
                Some("expected SyntaxError at parse, but: SyntaxError: m"),
            ),
            (verdict(parse, &[], done.clone(), &[]), Some("expected SyntaxError at parse, but nothing failed")),
            (verdict(run, &[], failed(Thrown, "TypeError"), &[]), None),
            (
                verdict(run, &[], failed(Thrown, "RangeError"), &[]),
                Some("expected TypeError at run time, but: RangeError: m"),
            ),
            (
                verdict(run, &[], failed(Syntax, "TypeError"), &[]),
                Some("expected TypeError at run time, but: TypeError before it ran: m"),
            ),
            (verdict(Some((Phase::Resolution, "SyntaxError")), &[], failed(Thrown, "SyntaxError"), &[]), None),
            (verdict(None, wait, done.clone(), &["x", COMPLETE]), None),
            (verdict(None, wait, failed(Stalled, "Stalled"), &[COMPLETE]), None),
            (verdict(None, wait, done.clone(), &[]), Some("it never called $DONE")),
            (verdict(None, wait, done.clone(), &[COMPLETE, COMPLETE]), Some("it called $DONE 2 times")),
            (verdict(None, wait, done, &["Test262:AsyncTestFailure:E: x", COMPLETE]), Some("E: x")),
            (verdict(None, wait, failed(Thrown, "TypeError"), &[COMPLETE]), Some("TypeError: m")),
        ];
        for (found, expected) in rows {
            assert_eq!(found.as_deref(), expected);
        }
    }
}
