//! Programs that are kept by name: saved, shown, agreed to, forgotten.

use crate::args::{SaveSnippet, Snippet as Args};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{self, HINT, QUIET};
use crate::terminal::inert;
use crate::{Done, grants, job, show, snippets, source};
use isolith_core::{BindingName, Change, Grant, Json, Limits, Manifest, Network, nearest};
use isolith_gate::Schema;
use isolith_program::{Language, Needs, needs};
use isolith_store::{NewSnippet, SavedSnippet, Snippet, SnippetEntry, Snippets, StoreError};
use isolith_tools::typescript;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::Path;

/// The largest file with a schema.
const SCHEMA_BYTES_MAX: u64 = 64 << 10;

pub(crate) fn snippet(args: Args) -> Done {
    let store = job::data_folder()?.snippets().map_err(job::store)?;
    match args {
        Args::Save(args) => save(&store, &args),
        Args::Agree { name, json } => agree(&store, &name, json),
        Args::List { json } => list(&store, json),
        Args::Show { name, version, json } => show(&store, &name, version, json),
        Args::Rm { name } => remove(&store, &name),
    }
}

fn save(store: &Snippets, args: &SaveSnippet) -> Done {
    let name = binding(&args.name)?;
    let program = source::program(&args.file, Limits::default().source_bytes)?;
    let needs =
        needs(&program.text, &program.name, Language::Auto).map_err(|error| Failure::program(error.render()))?;
    let manifest = match &args.manifest {
        Some(file) => own_manifest(file)?,
        None => Manifest { grants: needs.manifest(), ..Manifest::default() },
    };
    let description = args.description.clone().or_else(|| manifest.description.clone()).unwrap_or_default();
    let (input, output) = (schema(args.input_schema.as_deref())?, schema(args.output_schema.as_deref())?);
    tell_what_is_lacking(&needs, &manifest.grants);
    let new = NewSnippet { name, description, source: program.text, manifest, input, output };
    let saved = store.save(&new, args.agree).map_err(refused)?;
    if args.json {
        let mut shown = to_value(&saved.snippet);
        shown["new"] = saved.new.into();
        shown["grown"] = json!(saved.grown);
        show::line(&show::to_json(&shown));
    } else {
        print_saved(&saved);
    }
    if !saved.snippet.entry.agreed {
        tell_what_grew(&saved.snippet.entry, &saved.grown);
    }
    Ok(Exit::Ok)
}

/// What a file says that a program may do. Who brings tools, and how the network is reached, is for whoever runs it.
fn own_manifest(file: &Path) -> Result<Manifest, Failure> {
    let manifest = grants::manifest(file)?;
    if !manifest.tools.is_empty() || manifest.network != Network::default() {
        let message = format!("`{}` says who brings tools, or how the network is reached", file.display());
        return Err(Failure::usage(
            message,
            "leave `[tools.…]` and `[network]` to who runs it; grant `tool:NAME.*` here",
        ));
    }
    Ok(manifest)
}

fn schema(file: Option<&Path>) -> Result<Option<Json>, Failure> {
    let Some(file) = file else { return Ok(None) };
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("`{}` is no JSON Schema: {why}", file.display()), "such as {\"type\": \"object\", …}")
    };
    let json = source::json(file, SCHEMA_BYTES_MAX)?;
    let value: Value = json.parse().map_err(|error| wrong(&error))?;
    Schema::new(&value).map_err(|why| wrong(&why))?;
    Json::of(&value).map(Some).map_err(|error| wrong(&error))
}

fn tell_what_is_lacking(needs: &Needs, grants: &[Grant]) {
    for need in needs.lacking(grants) {
        say(&format!("`{}` is not in the manifest: the program will be refused that", need.power));
    }
    for open in &needs.unknown {
        let at = open.place.line;
        say(&format!("line {at}: {} cannot be told ({}); `--manifest FILE` says what it may do", open.kind, open.why));
    }
}

fn tell_what_grew(entry: &SnippetEntry, grown: &[Change]) {
    let SnippetEntry { name, version, .. } = entry;
    paint::complain(HINT, "note", &format!("version {version} of `{name}` may do more than what was agreed to:"));
    grown.iter().for_each(|change| say(&format!("  {}", change.what)));
    paint::complain(HINT, "hint", &format!("until `isolith snippet agree {name}`, calls of it are refused"));
}

fn print_saved(saved: &SavedSnippet) {
    let SnippetEntry { name, version, .. } = &saved.snippet.entry;
    let word = if saved.new { "saved" } else { "unchanged" };
    show::line(&format!("{word}: {name}, version {version}"));
    saved.snippet.manifest.grants.iter().for_each(|grant| line(&format!("  {grant}")));
}

fn agree(store: &Snippets, name: &str, as_json: bool) -> Done {
    let mut found = find(store, name, None)?;
    let grown = store.grown(&found.entry.name).map_err(job::store)?;
    if !found.entry.agreed && !store.agree(&found.entry.name, found.entry.version).map_err(job::store)? {
        let hint = format!("`isolith snippet show {name}` shows it");
        return Err(Failure::usage(format!("there is another version of `{name}` by now"), hint));
    }
    found.entry.agreed = true;
    if as_json {
        let mut shown = to_value(&found);
        shown["grown"] = json!(grown);
        show::line(&show::to_json(&shown));
        return Ok(Exit::Ok);
    }
    line(&format!("agreed: {}, version {}", found.entry.name, found.entry.version));
    grown.iter().for_each(|change| line(&format!("  {}", change.what)));
    Ok(Exit::Ok)
}

fn list(store: &Snippets, as_json: bool) -> Done {
    let entries = store.list().map_err(job::store)?;
    if as_json {
        show::line(&show::to_json(&entries.iter().map(entry_value).collect::<Vec<_>>()));
        return Ok(Exit::Ok);
    }
    for entry in &entries {
        let word = if entry.agreed { "" } else { " (not agreed to)" };
        line(format!("{} {}{word} {}", entry.name, entry.version, first_line(&entry.description)).trim_end());
    }
    if entries.is_empty() {
        paint::note(QUIET, "there is none: `isolith snippet save NAME FILE` keeps a program");
    }
    Ok(Exit::Ok)
}

fn show(store: &Snippets, name: &str, version: Option<u32>, as_json: bool) -> Done {
    let found = find(store, name, version)?;
    let Snippet { entry, source, digest, manifest } = &found;
    if as_json {
        let mut shown = to_value(&found);
        let versions = store.versions(&entry.name).map_err(job::store)?;
        shown["versions"] = versions.iter().map(|entry| entry.version).collect();
        show::line(&show::to_json(&shown));
        return Ok(Exit::Ok);
    }
    let word = if entry.agreed { "agreed to" } else { "not agreed to" };
    line(&format!("// {}, version {}, {word}", entry.name, entry.version));
    line(&format!("// digest {digest}"));
    manifest.grants.iter().for_each(|grant| line(&format!("// may: {grant}")));
    let signature = typescript::function(&snippets::tool(entry));
    signature.trim_end().lines().for_each(|text| line(&format!("// {text}")));
    line(source.trim_end());
    Ok(Exit::Ok)
}

fn remove(store: &Snippets, name: &str) -> Done {
    let found = find(store, name, None)?;
    let versions = store.remove(&found.entry.name).map_err(job::store)?;
    paint::note(QUIET, &format!("removed: {name}, {versions} version{}", if versions == 1 { "" } else { "s" }));
    Ok(Exit::Ok)
}

/// A version of a name, or its last one; a name that is not there is answered with the nearest.
fn find(store: &Snippets, name: &str, version: Option<u32>) -> Result<Snippet, Failure> {
    let entries = store.list().map_err(job::store)?;
    let Some(entry) = entries.iter().find(|entry| entry.name.as_str() == name) else {
        let hint = match nearest(name, entries.iter().map(|entry| entry.name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`isolith snippet list` shows what there is".to_owned(),
        };
        return Err(Failure::usage(format!("there is no snippet `{name}`"), hint));
    };
    let found = store.find(&entry.name, version).map_err(job::store)?;
    found.ok_or_else(|| {
        let hint = format!("its last one is {}", entry.version);
        Failure::usage(format!("there is no such version of `{name}`, or not any more"), hint)
    })
}

fn entry_value(entry: &SnippetEntry) -> Value {
    let schema = |json: &Option<Json>| json.as_ref().and_then(|json| json.parse::<Value>().ok());
    let SnippetEntry { name, version, description, input, output, agreed, created } = entry;
    let (input, output) = (schema(input), schema(output));
    json!({
        "name": name, "version": version, "description": description, "agreed": agreed, "created": created,
        "input": input, "output": output,
    })
}

fn to_value(snippet: &Snippet) -> Value {
    let mut value = entry_value(&snippet.entry);
    value["digest"] = snippet.digest.clone().into();
    value["manifest"] = snippet.manifest.to_value();
    value["grants"] = snippet.manifest.grants.iter().map(ToString::to_string).collect();
    value["source"] = snippet.source.clone().into();
    value["signature"] = typescript::function(&snippets::tool(&snippet.entry)).into();
    value
}

fn binding(name: &str) -> Result<BindingName, Failure> {
    BindingName::new(name).map_err(|error| Failure::usage(error, "choose a name that a program can write"))
}

fn refused(error: StoreError) -> Failure {
    match error {
        StoreError::Invalid(why) => Failure::usage(why, "`isolith snippet list` shows what there is"),
        error => job::store(error),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// To stdout, where what a stranger wrote cannot steer the terminal.
fn line(text: &str) {
    show::line(&inert(text, std::io::stdout().is_terminal()));
}

/// The same to stderr.
fn say(text: &str) {
    paint::note(QUIET, &inert(text, std::io::stderr().is_terminal()));
}
