//! An outcome, for a person or for a program.

use crate::args::Show;
use crate::paint::{self, ERROR, HINT, QUIET};
use crate::terminal::inert;
use isolith_core::{ErrorKind, Json, Outcome, RunError, Status};
use std::io::{IsTerminal, Write};

/// Up to this width a value stays on one line.
const ONE_LINE_CHARS: usize = 80;

pub(crate) fn outcome(outcome: &Outcome, show: Show, name: &str, source: &str) {
    if show.json {
        return line(&to_json(outcome));
    }
    match outcome.status {
        Status::Ok => {
            if let Some(value) = &outcome.value {
                line(&inert(&value_text(value), std::io::stdout().is_terminal()));
            }
        }
        Status::Error => {
            if let Some(error) = &outcome.error {
                failure(error, name, source);
            }
        }
        Status::Suspended => {}
    }
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> String {
    // Plain data of ours always has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

/// Data goes to stdout; a reader that went away is not our problem.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A string as it is, anything else as JSON, over several lines when it is long.
fn value_text(value: &Json) -> String {
    if let Ok(text) = value.parse::<String>() {
        return text;
    }
    if value.text().chars().count() <= ONE_LINE_CHARS { value.text().to_owned() } else { indent(value.text()) }
}

/// Lays JSON text out over lines. Works on the text, so numbers and escapes stay as they came.
fn indent(json: &str) -> String {
    let (mut out, mut depth, mut in_string, mut escaped) =
        (String::with_capacity(json.len() * 2), 0usize, false, false);
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                if let Some(close @ ('}' | ']')) = chars.peek().copied() {
                    out.push(close);
                    chars.next();
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn failure(error: &RunError, name: &str, source: &str) {
    let on_terminal = std::io::stderr().is_terminal();
    let what = match error.kind {
        ErrorKind::Thrown | ErrorKind::Syntax => format!("{}: {}", error.name, error.message),
        _ => error.message.clone(),
    };
    paint::complain(ERROR, "error", &inert(&what, on_terminal));
    if let (Some(line), Some(column)) = (error.line, error.column) {
        paint::note(QUIET, &inert(&isolith_program::excerpt(source, name, line, column), on_terminal));
    }
    // The place is shown already; more frames say how the program got there.
    let frames = error.stack.as_deref().unwrap_or_default();
    if frames.lines().count() > 1 {
        paint::note(QUIET, &inert(frames, on_terminal));
    }
    if let Some(hint) = &error.hint {
        paint::complain(HINT, "hint", &inert(hint, on_terminal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_for_reading() {
        let long = format!(r#"{{"a":[1,{{}},[]],"b":"x:\"{{,}}\"","c":"{}"}}"#, "y".repeat(80));
        let laid_out = format!(
            "{{\n  \"a\": [\n    1,\n    {{}},\n    []\n  ],\n  \"b\": \"x:\\\"{{,}}\\\"\",\n  \"c\": \"{}\"\n}}",
            "y".repeat(80)
        );
        for (json, text) in
            [("\"a\\nb\"", "a\nb"), ("{\"a\":1}", "{\"a\":1}"), ("\"\\ud800\"", "\"\\ud800\""), (&*long, &*laid_out)]
        {
            let shown = Json::from_text(json.into()).map(|json| value_text(&json)).unwrap_or_default();
            assert_eq!(shown, text);
        }
    }
}
