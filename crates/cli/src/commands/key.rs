//! The keys that clients of a server need. A key's text is shown when it is made and never again.

use crate::args::Key;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, QUIET};
use crate::{Done, grants, job, show};
use isolith_core::{ApiKey, Json, Scope, Timestamp, key};
use isolith_store::{Keys, NewKey, StoreError};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn key(args: Key) -> Done {
    let keys = job::data_folder()?.keys().map_err(job::store)?;
    match args {
        Key::Create { name, scope, policy, rate, json } => {
            let scopes = scope.iter().filter_map(|name| Scope::named(name)).collect();
            let policy = policy.as_deref().map(policy_of).transpose()?;
            create(&keys, NewKey { name, scopes, policy, rate }, json)
        }
        Key::List { json } => list(&keys, json),
        Key::Revoke { key, json } => revoke(&keys, &key, json),
    }
}

fn create(keys: &Keys, new: NewKey, as_json: bool) -> Done {
    let (made, text) = keys.create(new).map_err(refused)?;
    if as_json {
        let mut shown = to_value(&made);
        shown["key"] = text.as_str().into();
        show::line(&show::to_json(&shown));
    } else {
        // Alone on stdout, so that it can be piped to where it is kept.
        show::line(&text);
    }
    paint::note(QUIET, "this key is not shown again: keep it now, and send it as `Authorization: Bearer KEY`");
    paint::note(QUIET, &format!("`isolith key revoke {}` makes it worth nothing", made.name));
    Ok(Exit::Ok)
}

fn list(keys: &Keys, as_json: bool) -> Done {
    let keys = keys.list().map_err(job::store)?;
    if as_json {
        show::line(&show::to_json(&keys.iter().map(to_value).collect::<Vec<_>>()));
        return Ok(Exit::Ok);
    }
    for key in &keys {
        let mut facts = vec![key.name.clone(), key.caller.to_string(), names(key).join(",")];
        facts.extend(key.rate.map(|rate| format!("{rate}/s")));
        facts.extend(key.policy.as_ref().map(|_| "policy".to_owned()));
        facts.push(match key.revoked {
            Some(at) => format!("revoked {}", date(at)),
            None => format!("created {}", date(key.created)),
        });
        show::line(&facts.join(" "));
    }
    if keys.is_empty() {
        paint::note(QUIET, "there is no key: `isolith key create NAME` makes one");
    }
    Ok(Exit::Ok)
}

fn revoke(keys: &Keys, given: &str, as_json: bool) -> Done {
    let hint = "`isolith key list` shows the names and ids";
    // A key that got into wrong hands may be all that one has. Its text is not repeated.
    let wanted = match key::parse(given) {
        Some((caller, _)) => caller.0,
        None if given.starts_with(key::PREFIX) => return Err(Failure::usage("this is not the text of a key", hint)),
        None => given.to_owned(),
    };
    let Some(revoked) = keys.revoke(&wanted).map_err(job::store)? else {
        let known = keys.list().map_err(job::store)?;
        let was = known.iter().any(|key| key.name == wanted || key.caller.0 == wanted);
        let message =
            if was { format!("the key `{wanted}` was revoked before") } else { format!("no key `{wanted}` is kept") };
        return Err(Failure::usage(message, hint));
    };
    if as_json {
        show::line(&show::to_json(&to_value(&revoked)));
    }
    paint::note(QUIET, &format!("revoked: the key `{}` ({}) is worth nothing any more", revoked.name, revoked.caller));
    if keys.list().map_err(job::store)?.iter().all(|key| key.revoked.is_some()) {
        paint::note(QUIET, "no key is left: a server that listens on loopback asks nobody on this machine for one");
    }
    Ok(Exit::Ok)
}

/// What can be told about a key.
fn to_value(key: &ApiKey) -> Value {
    let ApiKey { caller, name, hash: _, scopes: _, policy, rate, created, revoked } = key;
    let policy = policy.as_ref().and_then(|policy| policy.parse::<Value>().ok());
    json!({
        "id": caller, "name": name, "scopes": names(key), "policy": policy, "rate": rate, "created": created,
        "revoked": revoked,
    })
}

fn names(key: &ApiKey) -> Vec<&'static str> {
    key.scopes.iter().map(|scope| scope.name()).collect()
}

fn date(at: Timestamp) -> jiff::Timestamp {
    let seconds = i64::try_from(at.as_micros() / 1_000_000).unwrap_or_default();
    jiff::Timestamp::from_second(seconds).unwrap_or_default()
}

/// The policy in a file, whole and checked, as a server reads it again.
fn policy_of(file: &Path) -> Result<Json, Failure> {
    let policy = grants::manifest(file)?;
    Json::of(&policy.to_value()).map_err(|error| Failure::internal("keeping the policy", &error))
}

fn refused(error: StoreError) -> Failure {
    match error {
        StoreError::Invalid(why) => Failure::usage(why, "`isolith key list` shows the keys there are"),
        error => job::store(error),
    }
}
