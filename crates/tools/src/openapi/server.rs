//! Where an API is.

use super::document::{SHOWN_CHARS_MAX, cut};
use super::notes::Notes;
use serde_json::{Map, Value};

/// How many servers are looked at.
const SERVERS_MAX: usize = 32;
/// The longest URL of one.
const URL_BYTES_MAX: usize = 2_048;

/// The servers of a description, a path or an operation, as far as they can be read.
pub(super) fn urls(table: &Map<String, Value>, notes: &mut Notes) -> Vec<String> {
    let servers = table.get("servers").and_then(Value::as_array);
    let servers = servers.into_iter().flatten().take(SERVERS_MAX).filter_map(Value::as_object);
    let mut urls = Vec::new();
    for server in servers {
        let Some(template) = server.get("url").and_then(Value::as_str) else { continue };
        match filled(template, server.get("variables")) {
            Some(url) if url.len() <= URL_BYTES_MAX => urls.push(url),
            Some(_) => notes.add("a server is left out: its URL is too long".into()),
            None => notes.add(format!(
                "the server `{}` is left out: a variable in it has no default",
                cut(template, SHOWN_CHARS_MAX)
            )),
        }
    }
    urls
}

/// The URL with the defaults of its variables. What a default holds is not looked at again.
fn filled(template: &str, variables: Option<&Value>) -> Option<String> {
    let mut parts = template.split('{');
    let mut url = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A long default in many places would grow without end.
        if url.len() > URL_BYTES_MAX {
            break;
        }
        let (name, rest) = part.split_once('}')?;
        url.push_str(variables?.get(name)?.get("default")?.as_str()?);
        url.push_str(rest);
    }
    Some(url)
}
