//! What to do about a failure, where we can tell.

use isolith_core::{ErrorKind, Failure};

/// Names that programs reach for and that a sandbox does not have, with what to do instead.
const ABSENT: &[(&str, &str)] = &[
    ("fetch", "the network needs an egress grant; without one `fetch` does not exist"),
    ("require", "there are no modules to require; everything a program can use is a global or a granted tool"),
    ("process", "there is no process; values come in as `input` or as arguments"),
    ("Buffer", "use Uint8Array, TextEncoder and TextDecoder, atob and btoa"),
    ("Deno", "this is not Deno; everything a program can use is a global or a granted tool"),
    ("Bun", "this is not Bun; everything a program can use is a global or a granted tool"),
    ("XMLHttpRequest", "the network needs an egress grant, and then it is `fetch`"),
    ("WebSocket", "there are no sockets in a sandbox"),
    ("Worker", "a program is one thread; use Promise.all for calls that can go side by side"),
    ("WebAssembly", "a program is JavaScript or TypeScript only"),
    ("SharedArrayBuffer", "a program is one thread and shares no memory"),
    ("window", "there is no browser; use globalThis"),
    ("document", "there is no browser and no document"),
    ("localStorage", "there is no browser storage"),
    ("__dirname", "there are no files unless they are granted"),
];

/// A hint for a failure at `line` of `source`, given the names of the granted tools.
pub(crate) fn for_failure(failure: &Failure, source: &str, line: Option<u32>, tools: &[String]) -> Option<String> {
    match failure.kind {
        ErrorKind::Thrown if failure.name == "ReferenceError" => absent(&failure.message, tools),
        ErrorKind::Thrown if failure.name == "TypeError" => ungranted_tool(source, line?, tools),
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

fn absent(message: &str, tools: &[String]) -> Option<String> {
    let name = message.trim_matches('\'').split([' ', '\'']).next()?;
    if let Some((_, hint)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return Some((*hint).into());
    }
    let tool = name.strip_prefix("external_").unwrap_or(name);
    if tool != name {
        return Some(not_granted(tool, tools));
    }
    tools.iter().any(|t| t == tool).then(|| format!("it is a granted tool: call it as `tools.{tool}(…)`"))
}

/// `tools.name(…)` of a name that is not granted is a call of `undefined`; the source says which name.
fn ungranted_tool(source: &str, line: u32, tools: &[String]) -> Option<String> {
    let text = source.lines().nth(line as usize - 1)?;
    let called = text.split("tools.").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
        &rest[..end]
    });
    let missing = called.into_iter().find(|name| !name.is_empty() && !tools.iter().any(|t| t == name))?;
    Some(not_granted(missing, tools))
}

fn not_granted(name: &str, tools: &[String]) -> String {
    match tools {
        [] => format!("tool `{name}` is not granted; no tool is"),
        tools => format!("tool `{name}` is not granted; these are: {}", tools.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(name: &str, message: &str, source: &str, tools: &[&str]) -> Option<String> {
        let failure = Failure::of(ErrorKind::Thrown, name, message);
        let tools: Vec<String> = tools.iter().map(|t| (*t).to_owned()).collect();
        for_failure(&failure, source, Some(1), &tools)
    }

    #[test]
    fn absent_names_are_explained() {
        let some = |text: &str| Some(text.to_owned());
        let rows = [
            (hint("ReferenceError", "fetch is not defined", "", &[]), some(ABSENT[0].1)),
            (hint("ReferenceError", "'process' is not defined", "", &[]), some(ABSENT[2].1)),
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
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
    }
}
