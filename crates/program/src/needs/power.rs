//! The smallest powers for names and paths that are known in part.

use super::report::Finding;
use super::text::{Piece, Text, Why};
use isolith_core::{
    Access, BindingName, Bounds, FilesGrant, Grant, GuestPath, InvalidPath, InvokeGrant, KvGrant, Power, SecretGrant,
    SecretName, ToolGrant, ToolPattern,
};
use oxc::span::Span;

/// The key space that `kv.get` and the like are taken to mean.
const ONLY_SPACE: &str = "default";

const KV_READS: [&str; 5] = ["get", "getMany", "getWithMetadata", "list", "keys"];
const KV_WRITES: [&str; 3] = ["put", "compareAndSet", "delete"];

/// The need of something that is known by its name.
pub(super) fn named(
    kind: &'static str,
    what: &'static str,
    name: &Text,
    power: impl Fn(BindingName) -> Power,
) -> Finding {
    match (name.whole(), name.beginning().1) {
        (Some(whole), _) => match BindingName::new(whole) {
            Ok(name) => Finding::Need { power: power(name), exact: true },
            Err(error) => Finding::Unknown { kind, why: error.to_string() },
        },
        (None, why) => Finding::Lost { kind, what, why: why.unwrap_or(Why::From(Span::default())) },
    }
}

/// What every object and every function has: `tools.x.bind` is not a tool of the namespace `x`.
const NO_TOOLS: [&str; 6] = ["constructor", "hasOwnProperty", "then", "toJSON", "toString", "valueOf"];

/// `tools.<namespace>.<function>(…)`
pub(super) fn function(namespace: &Text, function: &Text) -> Option<Finding> {
    if function.whole().is_some_and(|name| NO_TOOLS.contains(&name)) {
        return None;
    }
    let what = "the tool's name";
    let Some(space) = namespace.whole() else { return Some(named("tool", what, namespace, tool)) };
    let (beginning, hole) = function.beginning();
    // All of a namespace is not what anyone wants to grant on a guess.
    if let Some(why) = hole.filter(|_| beginning.is_empty()) {
        return Some(Finding::Lost { kind: "tool", what, why });
    }
    let exact = hole.is_none();
    let pattern = ToolPattern::new(&format!("{space}.{beginning}{}", if exact { "" } else { "*" }));
    Some(match pattern {
        Ok(pattern) => Finding::Need { power: Power::Tool(ToolGrant::new(pattern)), exact },
        Err(error) => Finding::Unknown { kind: "tool", why: error.to_string() },
    })
}

pub(super) fn secret(name: &Text) -> Finding {
    match (name.whole().map(SecretName::new), name.beginning().1) {
        (Some(Ok(name)), _) => {
            Finding::Need { power: Power::Secret(SecretGrant { name, from: None, reveal: true }), exact: true }
        }
        (Some(Err(why)), _) => Finding::Unknown { kind: "secret", why },
        (None, why) => {
            let why = why.unwrap_or(Why::From(Span::default()));
            Finding::Lost { kind: "secret", what: "the secret's name", why }
        }
    }
}

/// `kv.<space>.<method>(…)`
pub(super) fn key_space(name: &Text, method: Option<&str>) -> Finding {
    match method {
        Some(method) if KV_READS.contains(&method) => {
            named("kv", "the key space's name", name, |name| kv(name, Access::Read))
        }
        Some(method) if KV_WRITES.contains(&method) => {
            named("kv", "the key space's name", name, |name| kv(name, Access::Write))
        }
        // It may be any method.
        _ => match named("kv", "the key space's name", name, |name| kv(name, Access::Write)) {
            Finding::Need { power, .. } => Finding::Need { power, exact: false },
            finding => finding,
        },
    }
}

/// `kv.get(…)` and the like, which work where exactly one key space is granted.
pub(super) fn only_space(method: &str) -> Option<Finding> {
    let access = match method {
        method if KV_READS.contains(&method) => Access::Read,
        method if KV_WRITES.contains(&method) => Access::Write,
        _ => return None,
    };
    let name = BindingName::new(ONLY_SPACE).ok()?;
    Some(Finding::Need { power: kv(name, access), exact: false })
}

/// Whether a need is the guess that [`only_space`] makes: any key space will do if it is the only one.
pub(super) fn is_only_space(need: &super::Need) -> bool {
    matches!(&need.power, Power::Kv(kv) if !need.exact && kv.name.as_str() == ONLY_SPACE)
}

/// A place in the file tree and whether it is all that is known of a path, or what is to be said instead.
pub(super) type Folder = Result<(GuestPath, bool), Box<Finding>>;

/// The smallest part of the file tree that is certain to hold a path.
pub(super) fn folder(path: &Text) -> Folder {
    let unknown = |why: String| Box::new(Finding::Unknown { kind: "files", why });
    let invalid = |error: InvalidPath| unknown(error.to_string());
    let (beginning, hole) = path.beginning();
    let Some(why) = hole else { return Ok((GuestPath::new(beginning).map_err(invalid)?, true)) };
    let leads_up = |piece: &Piece| matches!(piece, Piece::Known(text) if text.split('/').any(|name| name == ".."));
    let lost = Box::new(Finding::Lost { kind: "files", what: "the path", why });
    let Some(slash) = beginning.rfind('/').filter(|_| !path.pieces().iter().any(leads_up)) else {
        return Err(match beginning {
            "" => lost,
            _ => unknown(format!("only the beginning of the path is known: `{beginning}`")),
        });
    };
    match GuestPath::new(&beginning[..=slash]).map_err(invalid)? {
        // All of the tree is not what anyone wants to grant on a guess.
        path if path.names().is_empty() => Err(lost),
        path => Ok((path, false)),
    }
}

/// The innermost folder that holds both.
pub(super) fn common(a: &GuestPath, b: &GuestPath) -> GuestPath {
    let shared = a.names().iter().zip(b.names()).take_while(|(x, y)| x == y).map(|(name, _)| name.as_str());
    let names = if a.is_absolute() == b.is_absolute() { shared.collect::<Vec<_>>().join("/") } else { String::new() };
    let path = if a.is_absolute() { format!("/{names}") } else { names };
    GuestPath::new(&path).unwrap_or_else(|_| a.clone())
}

pub(super) fn tool(name: BindingName) -> Power {
    Power::Tool(ToolGrant::new(name))
}

pub(super) fn invoke(name: BindingName) -> Power {
    Power::Invoke(InvokeGrant { name, program: None, grants: Vec::new(), args: Bounds::default() })
}

/// A key space with the quota that it has unless a grant says otherwise.
pub(super) fn kv(name: BindingName, access: Access) -> Power {
    match format!("kv:{name}").parse::<Grant>().map(|grant| grant.power) {
        Ok(Power::Kv(grant)) => Power::Kv(KvGrant { access, ..grant }),
        _ => Power::Kv(KvGrant { name, access, quota_bytes: 0 }),
    }
}

/// A part of the file tree with the quota that it has unless a grant says otherwise.
pub(super) fn files(path: GuestPath, access: Access) -> Power {
    match "files:read .".parse::<Grant>().map(|grant| grant.power) {
        Ok(Power::Files(grant)) => Power::Files(FilesGrant { path, access, ..grant }),
        _ => Power::Files(FilesGrant { path, access, quota_bytes: 0 }),
    }
}
