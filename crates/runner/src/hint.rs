//! What to do about a failure, where we can tell.

use isolith_core::{Bindings, Builtin, CallOutcome, CallRecord, ErrorKind, Failure, Grant};
use isolith_program::Prepared;
use std::collections::BTreeSet;

/// Names that programs reach for and that a sandbox does not have, with what to do instead.
const ABSENT: &[(&str, &str)] = &[
    ("require", "there are no modules to require; everything a program can use is a global or a granted tool"),
    ("process", "there is no process; values come in as `input` or as arguments"),
    ("Buffer", "use Uint8Array, TextEncoder and TextDecoder, atob and btoa"),
    ("Deno", "this is not Deno; everything a program can use is a global or a granted tool"),
    ("Bun", "this is not Bun; everything a program can use is a global or a granted tool"),
    ("XMLHttpRequest", "the network needs an egress grant, and then it is `fetch`"),
    ("WebSocket", "there are no sockets in a sandbox"),
    ("Worker", "a program is one thread; use Promise.all for calls that can go side by side"),
    ("window", "there is no browser; use globalThis"),
    ("document", "there is no browser and no document"),
    ("localStorage", "there is no browser storage"),
    ("__dirname", "there are no files unless they are granted"),
];

/// What a hint can be made from.
pub(crate) struct About<'a> {
    pub(crate) program: &'a Prepared,
    pub(crate) line: Option<u32>,
    pub(crate) grants: &'a [Grant],
    pub(crate) calls: &'a [CallRecord],
}

impl About<'_> {
    fn tools(&self) -> Vec<String> {
        Bindings::of(self.grants).tools.iter().map(ToString::to_string).collect()
    }

    fn namespaces(&self) -> Vec<String> {
        Bindings::of(self.grants).namespaces.iter().map(ToString::to_string).collect()
    }

    /// The grants of `kind` that the program needs and has not, as far as its source tells, and those it was refused.
    fn missing(&self, kind: &str) -> Vec<String> {
        let needs = self.program.needs();
        let needed: Vec<(String, bool)> = needs
            .map(|needs| needs.lacking(self.grants).iter().map(|need| (need.power.to_string(), need.exact)).collect())
            .unwrap_or_default();
        let refused =
            self.calls.iter().filter(|call| call.outcome == CallOutcome::Denied).map(|call| call.grant.clone());
        // What was refused is known; a guess beside it would only mislead.
        let refused: Vec<String> = refused.filter(|grant| grant.starts_with(kind)).collect();
        let mut all: Vec<String> = needed
            .into_iter()
            .filter(|(_, exact)| *exact || refused.is_empty())
            .map(|(grant, _)| grant)
            .chain(refused.iter().cloned())
            .collect();
        all.retain(|grant| grant.starts_with(kind));
        let mut seen = BTreeSet::new();
        all.retain(|grant| seen.insert(grant.clone()));
        all
    }
}

/// A hint for a failure.
pub(crate) fn for_failure(failure: &Failure, about: &About<'_>) -> Option<String> {
    match failure.kind {
        ErrorKind::Denied => denied(failure, about),
        ErrorKind::Thrown if failure.name == "ReferenceError" => absent(&failure.message, about),
        ErrorKind::Thrown if failure.name == "TypeError" => ungranted_tool(about),
        ErrorKind::CpuLimit => Some("raise the limit `cpu`, or let the program compute less".into()),
        ErrorKind::Timeout => Some("raise the limit `timeout`, or let the program wait less".into()),
        ErrorKind::MemoryLimit => Some("raise the limit `memory`, or let the program hold less at a time".into()),
        ErrorKind::StackOverflow => Some("a function calls itself without end, or too deep".into()),
        ErrorKind::Stalled => {
            Some("a promise is awaited that nobody resolves: look for a missing `resolve` call".into())
        }
        ErrorKind::OutputLimit => Some("write or return less: the program's value and outputs are for a reader".into()),
        ErrorKind::CallLimit => Some("ask for more in each call, or raise the limit `calls`".into()),
        _ => None,
    }
}

/// The names of bindings, with the kind of grant that brings each.
const BINDINGS: [(&str, &str); 5] =
    [("fetch", "egress"), ("kv", "kv"), ("files", "files"), ("invoke", "invoke"), ("secrets", "secret")];

fn absent(message: &str, about: &About<'_>) -> Option<String> {
    let name = message.trim_matches('\'').split([' ', '\'']).next()?;
    if let Some((_, kind)) = BINDINGS.iter().find(|(binding, _)| *binding == name) {
        return Some(match about.missing(kind).as_slice() {
            [] => format!("`{name}` needs a grant of the kind `{kind}`, and does not exist without one"),
            missing => grant_them(missing),
        });
    }
    if let Some(builtin) = Builtin::of_global(name) {
        return Some(format!("grant it, on the engine that has it: --engine v8 --grant builtin:{builtin}"));
    }
    if let Some((_, hint)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return Some((*hint).into());
    }
    let tools = about.tools();
    let tool = name.strip_prefix("external_").unwrap_or(name);
    if tool != name {
        let within = about.namespaces().into_iter().find_map(|space| {
            let function = tool.strip_prefix(&*space)?.strip_prefix('_')?.to_owned();
            Some((space, function))
        });
        return Some(match within {
            Some((space, function)) => format!("call it as `tools.{space}.{function}(…)`"),
            None => not_granted(tool, &tools, &about.namespaces()),
        });
    }
    if about.namespaces().iter().any(|space| space == name) {
        return Some(format!("it is a granted namespace: call its tools as `tools.{name}.<function>(…)`"));
    }
    tools.iter().any(|t| t == tool).then(|| format!("it is a granted tool: call it as `tools.{tool}(…)`"))
}

fn denied(failure: &Failure, about: &About<'_>) -> Option<String> {
    let kind = failure.code.as_deref()?.split('.').next()?;
    match about.missing(kind).as_slice() {
        [] => None,
        missing => Some(grant_them(missing)),
    }
}

/// How to grant what is missing: the flags of the command line, which the other doors' users can read as well.
fn grant_them(missing: &[String]) -> String {
    let flag = |grant: &String| match grant.split_once(':').unwrap_or_default() {
        ("egress", what) => format!("--allow-net {}", quoted(what)),
        ("kv", what) => format!("--allow-kv {}", quoted(what)),
        ("files", what) => match what.split_once(' ') {
            Some(("read", path)) => format!("--allow-read {}", quoted(path)),
            _ => format!("--allow-write {}", quoted(what.trim_start_matches("write "))),
        },
        ("tool", name) if name.contains('.') => format!("--grant {}", quoted(grant)),
        ("tool", name) => format!("--tool {name}=COMMAND"),
        ("invoke", name) => format!("--program {name}=FILE"),
        ("secret", name) => format!("--reveal {}", quoted(name.trim_start_matches("reveal "))),
        _ => grant.clone(),
    };
    format!("grant it: {}", missing.iter().take(FLAGS_MAX).map(flag).collect::<Vec<_>>().join(" "))
}

/// More than this many flags are no hint any more.
const FLAGS_MAX: usize = 12;

/// As a shell takes it.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// `tools.name(…)` of a name that is not granted is a call of `undefined`, and `tools.name.function(…)` looks for a function in
/// it; the source says which name.
fn ungranted_tool(about: &About<'_>) -> Option<String> {
    let (tools, namespaces) = (about.tools(), about.namespaces());
    let text = about.program.source().lines().nth(about.line? as usize - 1)?;
    let called = text.split("tools.").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
        rest.split_at(end)
    });
    let told = |name: &str| !namespaces.is_empty() && ["search", "describe"].contains(&name);
    let known = |name: &str| told(name) || tools.iter().chain(&namespaces).any(|known| known == name);
    let (missing, rest) = called.into_iter().find(|(name, _)| !name.is_empty() && !known(name))?;
    let is_namespace = rest.trim_start_matches('?').starts_with('.') && !namespaces.is_empty();
    if !is_namespace {
        return Some(not_granted(missing, &tools, &namespaces));
    }
    Some(match isolith_core::nearest(missing, namespaces.iter().map(String::as_str)) {
        Some(near) => format!("there is no namespace `{missing}`: did you mean `tools.{near}`?"),
        None => format!("there is no namespace `{missing}`; these are granted: {}", namespaces.join(", ")),
    })
}

fn not_granted(name: &str, tools: &[String], namespaces: &[String]) -> String {
    let of_namespaces = namespaces.iter().map(|space| format!("{space}.*"));
    let all: Vec<String> = tools.iter().cloned().chain(of_namespaces).collect();
    match all.as_slice() {
        [] => format!("tool `{name}` is not granted; no tool is"),
        all => format!("tool `{name}` is not granted; these are: {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_program::Language;

    fn hint(name: &str, message: &str, source: &str, tools: &[&str]) -> Option<String> {
        let failure = Failure::of(ErrorKind::Thrown, name, message);
        let grants: Vec<Grant> = tools.iter().map(|t| format!("tool:{t}").parse().unwrap()).collect();
        let program = &isolith_program::prepare(source, "program", Language::Auto).unwrap();
        for_failure(&failure, &About { program, line: Some(1), grants: &grants, calls: &[] })
    }

    #[test]
    fn absent_names_are_explained() {
        let some = |text: &str| Some(text.to_owned());
        let rows = [
            (
                hint("ReferenceError", "fetch is not defined", "await fetch('https://a.test/x y')", &[]),
                some("grant it: --allow-net 'GET https://a.test/x%20y'"),
            ),
            (hint("ReferenceError", "'process' is not defined", "", &[]), some(ABSENT[1].1)),
            (
                hint("ReferenceError", "'Atomics' is not defined", "", &[]),
                some("grant it, on the engine that has it: --engine v8 --grant builtin:SharedArrayBuffer"),
            ),
            (hint("ReferenceError", "zzz is not defined", "", &[]), None),
            (
                hint("ReferenceError", "echo is not defined", "", &["echo"]),
                some("it is a granted tool: call it as `tools.echo(…)`"),
            ),
            (
                hint("ReferenceError", "external_mail is not defined", "", &["echo"]),
                some("tool `mail` is not granted; these are: echo"),
            ),
            (
                hint("TypeError", "not a function", "await tools.echo(1) + tools.mail()", &["echo"]),
                some("tool `mail` is not granted; these are: echo"),
            ),
            (hint("TypeError", "not a function", "x.map(1)", &["echo"]), None),
            (
                hint("TypeError", "no property", "await tools.gihub.list()", &["echo", "github.*"]),
                some("there is no namespace `gihub`: did you mean `tools.github`?"),
            ),
            (
                hint("TypeError", "no property", "await tools.mail.list()", &["github.list", "slack.*"]),
                some("there is no namespace `mail`; these are granted: github, slack"),
            ),
            (
                hint("TypeError", "not a function", "await tools.mail() + tools.search('x')", &["echo", "github.*"]),
                some("tool `mail` is not granted; these are: echo, github.*"),
            ),
            (
                hint("ReferenceError", "external_github_list is not defined", "", &["github.*"]),
                some("call it as `tools.github.list(…)`"),
            ),
            (
                hint("ReferenceError", "github is not defined", "", &["github.*"]),
                some("it is a granted namespace: call its tools as `tools.github.<function>(…)`"),
            ),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
    }
}
