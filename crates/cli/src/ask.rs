//! Asking the person at the terminal. Without a terminal nothing is asked, and nothing assumed.

use crate::args::GrantOptions;
use crate::failure::Failure;
use crate::job;
use crate::paint::{self, GOOD, HINT, QUIET};
use crate::terminal::inert;
use isolith_core::{BoxFuture, Consent, Grant, Power, Verdict};
use isolith_gate::{Approver, Question};
use isolith_program::{Language, Need};
use isolith_runner::{Plan, Runner};
use std::io::{BufRead, IsTerminal};

/// Asks once about each thing that a program seems to need and is not granted.
///
/// Answers that are to hold are kept for this user, by the digest of the program and the grant: another program, or this
/// one after a change, is asked about again.
pub(crate) fn about_needs(
    plan: &Plan,
    grants: &mut Vec<Grant>,
    options: &GrantOptions,
    runner: &Runner,
) -> Result<(), Failure> {
    // THREAT[T-CONSENT-001]: a consent must come from a person, so both ends of the question are a terminal.
    if options.no_prompt || options.allow_all || !at_terminal() {
        return Ok(());
    }
    let Ok(needs) = isolith_program::needs(&plan.source, &plan.name, Language::Auto) else { return Ok(()) };
    // Needs that one grant answers are one question.
    let wanted: Vec<Grant> =
        needs.manifest().into_iter().filter(|grant| grantable(&grant.power) && has(runner, &grant.power)).collect();
    if needs.lacking(grants).is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let consent = job::data_folder()?.consent().map_err(job::store)?;
    let program = plan.digest().to_string();
    for wanted in wanted {
        let lacking = needs.lacking(grants);
        let with: Vec<Grant> = grants.iter().chain([&wanted]).cloned().collect();
        let still = needs.lacking(&with);
        let Some(need) = lacking.into_iter().find(|need| !still.contains(need)) else { continue };
        let grant = wanted.to_string();
        let known = consent.allowed(&program, &grant);
        let answer = match known {
            Some(true) => Answer::Once,
            Some(false) => Answer::Deny,
            None => ask_about(plan, need, &grant),
        };
        if answer == Answer::Always {
            consent.remember(&program, &grant, true).map_err(job::store)?;
        }
        if answer != Answer::Deny {
            grants.push(wanted);
        }
    }
    Ok(())
}

/// A tool or another program takes more than a yes: someone has to say what it is.
fn grantable(power: &Power) -> bool {
    matches!(power, Power::Egress(_) | Power::Kv(_) | Power::Files(_) | Power::Builtin(_))
}

/// Whether what a program runs on could give it this. A program that mentions what is not there may do without; granted, it would not
/// be begun.
pub(crate) fn has(runner: &Runner, power: &Power) -> bool {
    !matches!(power, Power::Builtin(builtin) if !runner.engine().builtins().contains(builtin))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Once,
    Always,
    Deny,
}

fn ask_about(plan: &Plan, need: &Need, grant: &str) -> Answer {
    let line = need.places.first().map_or(1, |place| place.line);
    paint::complain(HINT, "asks", &inert(&format!("{} wants `{grant}` (line {line})", plan.name), true));
    loop {
        let typed = prompt("allow? [o]nce, [a]lways for exactly this program, [d]eny, [s]how the code: ");
        match typed.as_deref() {
            Some("o" | "once" | "y" | "yes") => return Answer::Once,
            Some("a" | "always") => return Answer::Always,
            Some("s" | "show") => paint::note(QUIET, &inert(&plan.source, true)),
            Some("d" | "deny" | "n" | "no" | "") | None => return Answer::Deny,
            Some(_) => {}
        }
    }
}

/// One line from the person, in small letters; nothing at the end of input.
fn prompt(text: &str) -> Option<String> {
    typed(text).map(|line| line.to_ascii_lowercase())
}

/// One line from the person; nothing at the end of input.
pub(crate) fn typed(text: &str) -> Option<String> {
    anstream::eprint!("{text}");
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(read) if read > 0 => Some(line.trim().to_owned()),
        _ => None,
    }
}

/// Whether there is a person to ask.
pub(crate) fn at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whom a grant with `ask` asks where there is someone: the person at the terminal.
pub(crate) struct Terminal;

impl Approver for Terminal {
    fn ask(&self, question: Question) -> BoxFuture<'_, Verdict> {
        Box::pin(async move {
            let consent = job::data_folder().ok().and_then(|data| data.consent().ok());
            let (program, grant) = (question.program.clone(), question.grant.clone());
            if consent.as_ref().is_some_and(|consent| consent.allowed(&program, &grant) == Some(true)) {
                return Verdict::approve(Consent::Run);
            }
            let typed = tokio::task::spawn_blocking(move || {
                let with = question.args.as_ref().map(|args| format!(" with {}", args.text())).unwrap_or_default();
                let text = format!("{}{with} (`{}`)", question.what, question.grant);
                paint::complain(HINT, "asks", &inert(&text, true));
                prompt("allow? [y]es, for this [r]un, [a]lways for exactly this program, [n]o: ")
            });
            match typed.await.ok().flatten().as_deref() {
                Some("y" | "yes") => Verdict::approve(Consent::Once),
                Some("r" | "run") => {
                    paint::note(GOOD, "allowed for this run");
                    Verdict::approve(Consent::Run)
                }
                Some("a" | "always") => {
                    match consent.map(|consent| consent.remember(&program, &grant, true)) {
                        Some(Ok(())) => paint::note(GOOD, "allowed from now on"),
                        _ => paint::complain(HINT, "note", "it could not be kept, and holds for this run"),
                    }
                    Verdict::approve(Consent::Run)
                }
                _ => Verdict::deny(None),
            }
        })
    }
}
