//! Secrets that are kept encrypted. Their values go in and never come out here.

use crate::Done;
use crate::args::Secret;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, QUIET};
use crate::{job, show};
use isolith_core::SecretName;
use isolith_store::SecretEntry;
use serde_json::json;
use std::io::{IsTerminal, Read};

/// The longest value.
const VALUE_BYTES_MAX: u64 = 64 << 10;

pub(crate) fn secret(args: Secret) -> Done {
    let secrets = job::data_folder()?.secrets().map_err(job::store)?;
    match args {
        Secret::Set { name } => {
            let name = named(&name)?;
            secrets.set(&name, &value()?).map_err(job::store)?;
            paint::note(QUIET, &format!("kept: use it as `--secret {name}=store:{name}`"));
        }
        Secret::List { json } => {
            let names = secrets.names().map_err(job::store)?;
            if json {
                let one = |kept: &SecretEntry| {
                    let SecretEntry { name, created, changed } = kept;
                    json!({ "name": name, "created": created, "changed": changed })
                };
                show::line(&show::to_json(&names.iter().map(one).collect::<Vec<_>>()));
            } else {
                names.iter().for_each(|kept| show::line(kept.name.as_str()));
            }
        }
        Secret::Remove { name } => {
            if !secrets.remove(&named(&name)?).map_err(job::store)? {
                return Err(Failure::usage(
                    format!("no secret `{name}` is kept"),
                    "`isolith secret list` shows the names",
                ));
            }
        }
    }
    Ok(Exit::Ok)
}

fn named(name: &str) -> Result<SecretName, Failure> {
    SecretName::new(name).map_err(|error| Failure::usage(error, "choose another name"))
}

/// The value, from stdin and not from the command line, where everyone could see it.
fn value() -> Result<String, Failure> {
    if std::io::stdin().is_terminal() {
        paint::note(QUIET, "type the value, then Enter and Ctrl-D (or pipe it in)");
    }
    let mut value = String::new();
    std::io::stdin()
        .lock()
        .take(VALUE_BYTES_MAX + 1)
        .read_to_string(&mut value)
        .map_err(|error| Failure::usage(format!("cannot read the value: {error}"), "pipe it in as UTF-8"))?;
    let trimmed = value.strip_suffix('\n').map_or(&*value, |v| v.strip_suffix('\r').unwrap_or(v));
    match trimmed.len() as u64 {
        0 => Err(Failure::usage("the value is empty", "pipe it in: `printf %s \"$TOKEN\" | isolith secret set NAME`")),
        bytes if bytes > VALUE_BYTES_MAX => Err(Failure::usage("the value is larger than 64 KiB", "keep it in a file")),
        _ => Ok(trimmed.to_owned()),
    }
}
