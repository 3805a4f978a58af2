//! Manifests: whether they are right, what they grant, what changed.

use crate::Done;
use crate::args::Manifest as Args;
use crate::exit::Exit;
use crate::paint::{ERROR, GOOD, QUIET};
use crate::{grants, show};
use isolith_core::{Change, SCHEMA};
use owo_colors::OwoColorize;
use serde_json::json;
use std::path::Path;

pub(crate) fn manifest(args: Args) -> Done {
    match args {
        Args::Check { file, json } => check(&file, json),
        Args::Diff { old, new, json } => diff(&old, &new, json),
        Args::Schema => {
            show::line(SCHEMA.trim_end());
            Ok(Exit::Ok)
        }
    }
}

fn check(file: &Path, as_json: bool) -> Done {
    let manifest = grants::manifest(file)?;
    let digest = manifest.digest().to_string();
    if as_json {
        show::line(&show::to_json(&json!({ "digest": digest, "manifest": manifest.to_value() })));
        return Ok(Exit::Ok);
    }
    let title = [manifest.name.as_deref().unwrap_or("a manifest"), manifest.version.as_deref().unwrap_or_default()];
    anstream::println!("{} {}", title.join(" ").trim(), "is right".style(GOOD));
    anstream::println!("{}", format!("digest {digest}").style(QUIET));
    if manifest.grants.is_empty() {
        anstream::println!("it grants nothing");
    }
    for grant in &manifest.grants {
        anstream::println!("  {grant}");
    }
    Ok(Exit::Ok)
}

fn diff(old: &Path, new: &Path, as_json: bool) -> Done {
    let (old, new) = (grants::manifest(old)?, grants::manifest(new)?);
    let changes = new.diff(&old);
    let escalates = changes.iter().any(|change| change.escalates);
    if as_json {
        let digests = json!([old.digest().to_string(), new.digest().to_string()]);
        show::line(&show::to_json(&json!({ "escalates": escalates, "changes": changes, "digests": digests })));
    } else {
        print(&changes);
    }
    Ok(if escalates { Exit::Failed } else { Exit::Ok })
}

fn print(changes: &[Change]) {
    if changes.is_empty() {
        anstream::println!("nothing changed");
    }
    for change in changes {
        match change.escalates {
            true => anstream::println!("{} {}", "escalates".style(ERROR), change.what),
            false => anstream::println!("{} {}", "         ".style(QUIET), change.what),
        }
    }
}
