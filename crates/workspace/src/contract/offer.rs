use super::Capabilities;
use serde_json::{Value, json};

/// What a model is told where it has both tiers.
pub const PREFER_SCRIPT: &str = "Prefer workspace_script for quick one-off computations; use workspace_run_code when you need a full environment, persistence, or other languages.";

/// A tool that a workspace brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: &'static str,
    /// For models.
    pub description: &'static str,
    /// Its fields with their types; those that have to be given come first.
    pub fields: &'static [(&'static str, &'static str)],
    /// How many have to be given.
    pub required: usize,
    /// Whether it changes nothing.
    pub reads: bool,
}

impl Offer {
    /// The JSON Schema of its argument.
    pub fn schema(&self) -> Value {
        let properties: serde_json::Map<String, Value> =
            self.fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
        let required: Vec<&str> = self.fields[..self.required].iter().map(|(name, _)| *name).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }
}

const fn offer(
    name: &'static str,
    description: &'static str,
    required: usize,
    fields: &'static [(&'static str, &'static str)],
    reads: bool,
) -> Offer {
    Offer { name, description, fields, required, reads }
}

const FS: [Offer; 10] = [
    offer(
        "workspace_read_file",
        "Reads a text file of the workspace, whole or some lines of it.",
        1,
        &[("path", "string"), ("from", "integer"), ("lines", "integer")],
        true,
    ),
    offer(
        "workspace_write_file",
        "Writes a file, and the folders it is in.",
        2,
        &[("path", "string"), ("content", "string"), ("append", "boolean")],
        false,
    ),
    offer(
        "workspace_edit_file",
        "Replaces text in a file. It has to be there once, to the letter, or `replace_all` is set.",
        3,
        &[("path", "string"), ("old", "string"), ("new", "string"), ("replace_all", "boolean")],
        false,
    ),
    offer("workspace_ls", "Lists a folder.", 0, &[("path", "string")], true),
    offer(
        "workspace_glob",
        "Lists files that fit a pattern such as `src/**/*.{ts,js}`.",
        1,
        &[("pattern", "string")],
        true,
    ),
    offer(
        "workspace_grep",
        "Searches files with a regular expression.",
        1,
        &[
            ("pattern", "string"),
            ("path", "string"),
            ("includeGlob", "string"),
            ("ignoreCase", "boolean"),
            ("maxResults", "integer"),
        ],
        true,
    ),
    offer("workspace_stat", "Says what is at a path.", 1, &[("path", "string")], true),
    offer(
        "workspace_rm",
        "Removes a file, or a folder with `recursive`.",
        1,
        &[("path", "string"), ("recursive", "boolean")],
        false,
    ),
    offer("workspace_mkdir", "Makes a folder.", 1, &[("path", "string")], false),
    offer("workspace_mv", "Moves a file or a folder.", 2, &[("path", "string"), ("to", "string")], false),
];

const SCRIPT: [Offer; 1] = [offer(
    "workspace_script",
    "Runs a short JavaScript in a fresh isolate: outputs in order, then the value it returns.",
    1,
    &[("code", "string"), ("language", "string"), ("timeoutMs", "integer")],
    false,
)];

const SNAPSHOT: [Offer; 4] = [
    offer("workspace_snapshot", "Keeps the workspace as it is now.", 0, &[("name", "string")], false),
    offer("workspace_restore", "Makes a new workspace as a snapshot was.", 1, &[("snapshot", "string")], false),
    offer("workspace_list_snapshots", "Lists the snapshots.", 0, &[("limit", "integer")], true),
    offer("workspace_delete_snapshot", "Forgets a snapshot.", 1, &[("snapshot", "string")], false),
];

/// The tools of these capabilities, in an order that never changes.
pub fn offers(capabilities: &Capabilities) -> Vec<&'static Offer> {
    let names = capabilities.names();
    let of = |name: &str, offers: &'static [Offer]| if names.contains(&name) { offers } else { &[] };
    of("fs", &FS).iter().chain(of("script", &SCRIPT)).chain(of("snapshot", &SNAPSHOT)).collect()
}

/// What a model is told about them.
pub fn prompt(capabilities: &Capabilities) -> String {
    let names = capabilities.names();
    let mut text = String::new();
    if names.contains(&"fs") {
        text.push_str("You have a workspace of files: paths are relative to it, such as `src/main.ts`.\n");
    }
    if names.contains(&"script") {
        text.push_str("workspace_script runs JavaScript or TypeScript; return what you want to see.\n");
    }
    if names.contains(&"script") && names.contains(&"code") {
        text.push_str(PREFER_SCRIPT);
        text.push('\n');
    }
    text
}
