//! Texts of strangers, made fit to be shown.

use isolith_gate::Redactor;

/// How much of what someone said goes into a message.
const SAID_CHARS_MAX: usize = 2_000;
/// The longest name of a model.
const MODEL_CHARS_MAX: usize = 200;
/// Shorter values of variables are taken for no secret: they would be taken out of everything.
const SECRET_BYTES_MIN: usize = 8;

// THREAT[T-TOOL-004]: what a program or a server says can end up on a terminal.
/// What someone said, bounded and harmless.
pub(crate) fn said(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let text = text.trim();
    let mut short: String = text.chars().take(SAID_CHARS_MAX).filter(|c| *c != '\r').map(shown).collect();
    if text.chars().nth(SAID_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

/// How many tokens a text may have, where nobody counted.
pub(crate) fn estimate(text: &str) -> u64 {
    (text.encode_utf16().count() as u64).div_ceil(4)
}

// THREAT[T-AGENT-001]: a workflow names the model, and that name becomes an argument. One that begins with a dash would be
// an option, and options are the operator's.
/// Checks the name of a model.
pub(crate) fn model(name: &str) -> Result<&str, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@[]".contains(c);
    let fits = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
        && name.len() <= MODEL_CHARS_MAX
        && name.chars().all(plain);
    if fits { Ok(name) } else { Err(format!("`{}` is not the name of a model", said(name))) }
}

/// Learns the value of a variable that a program was given on purpose.
pub(crate) fn learn(redactor: &Redactor, name: &str, value: &str) {
    if value.len() >= SECRET_BYTES_MIN {
        redactor.add(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_no_options() {
        for (name, fits) in [
            ("claude-sonnet-4-6", true),
            ("anthropic/claude:beta@2", true),
            ("@cf/meta/llama", true),
            ("--dangerously-skip-permissions", false),
            ("", false),
            ("a b", false),
            ("a\n", false),
        ] {
            assert_eq!(model(name).is_ok(), fits, "{name:?}");
        }
    }

    #[test]
    fn tokens_are_a_quarter_of_the_letters() {
        assert_eq!(["", "a", "abcd", "abcde"].map(estimate), [0, 1, 1, 2]);
    }
}
