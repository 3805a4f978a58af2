//! How long the catalogue takes: `cargo run --release -p isolith-tools --example measure`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is run by hand and prints what it found")]

use isolith_core::{BindingName, Rule};
use isolith_tools::{Catalogue, Namespace, Tool, typescript};
use serde_json::json;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;
const NAMESPACES: usize = 20;
const TOOLS: usize = 100;

const VERBS: [&str; 10] =
    ["create", "delete", "get", "list", "update", "search", "archive", "merge", "export", "subscribe"];
const NOUNS: [&str; 10] = [
    "Issue",
    "Repository",
    "Invoice",
    "Customer",
    "Message",
    "Deployment",
    "Calendar",
    "Document",
    "Payment",
    "Webhook",
];

fn main() {
    let namespaces: Vec<Namespace> = (0..NAMESPACES).map(namespace).collect();
    let (first, all) = (namespaces[0].clone(), namespaces.clone());
    let catalogue = Catalogue::new(namespaces);

    let queries =
        ["create issue", "find the invoices of a customer", "deploy", "a", "title labels page", "webhook events"];
    for query in queries {
        println!("search {NAMESPACES}x{TOOLS}, {query:?}: {}", median(|| catalogue.search(query, 20).len()));
    }
    println!("types of {TOOLS} tools: {}", median(|| typescript::namespace(&first).len()));
    println!("  in bytes: {}", typescript::namespace(&first).len());
    println!("describe a tool: {}", median(|| catalogue.describe("service0.createIssue").unwrap().len()));
    println!("an unknown path: {}", median(|| catalogue.find("service0.creatIssue").is_err()));
    let started = Instant::now();
    black_box(Catalogue::new(all));
    println!("catalogue of {}: {:.1} ms", NAMESPACES * TOOLS, started.elapsed().as_secs_f64() * 1e3);
}

fn median<T>(mut work: impl FnMut() -> T) -> String {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        black_box(work());
        times.push(started.elapsed());
    }
    times.sort();
    let micros = |place: usize| times[place].as_secs_f64() * 1e6;
    format!("{:.0} µs (slowest of {ROUNDS}: {:.0} µs)", micros(ROUNDS / 2), micros(ROUNDS - 1))
}

fn namespace(place: usize) -> Namespace {
    let mut tools = Vec::new();
    for verb in VERBS {
        for noun in NOUNS {
            tools.push(tool(verb, noun));
        }
    }
    let name = BindingName::new(format!("service{place}")).unwrap();
    Namespace { name, description: "A service with many operations.".into(), tools }
}

fn tool(verb: &str, noun: &str) -> Tool {
    let input = json!({
        "type": "object",
        "required": ["owner", "title"],
        "properties": {
            "owner": { "type": "string", "description": "The account it belongs to. Case does not matter." },
            "title": { "type": "string", "description": "What it is called.", "minLength": 1, "maxLength": 256 },
            "state": { "type": "string", "enum": ["open", "closed", "all"], "default": "open" },
            "labels": { "type": "array", "items": { "type": "string" }, "description": "Labels to go with it." },
            "page": { "type": "integer", "minimum": 1, "default": 1, "description": "The page of the results." },
            "assignee": { "$ref": "#/$defs/User" },
            "reviewers": { "type": "array", "items": { "$ref": "#/$defs/User" } },
            "parent": { "$ref": "#/$defs/Node" }
        },
        "$defs": {
            "User": { "type": "object", "required": ["login"], "properties": {
                "login": { "type": "string" }, "id": { "type": "integer" }, "email": { "type": ["string", "null"] } } },
            "Node": { "type": "object", "properties": {
                "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } }, "by": { "$ref": "#/$defs/User" } } }
        }
    });
    let output = json!({
        "allOf": [{ "$ref": "#/$defs/Base" }, { "properties": { "url": { "type": "string", "format": "uri" } } }],
        "$defs": { "Base": { "type": "object", "required": ["id"], "properties": {
            "id": { "type": "integer" }, "created_at": { "type": "string", "format": "date-time" },
            "kind": { "oneOf": [{ "const": "a" }, { "const": "b" }, { "type": "null" }] } } } }
    });
    Tool {
        name: BindingName::new(format!("{verb}{noun}")).unwrap(),
        upstream: format!("{verb}-{noun}"),
        description: format!(
            "{verb} one {noun} of an account. The caller needs to have access to it.\n\nEvents are sent to all webhooks that \
             have subscribed to a change of this {noun}, which may take some seconds."
        ),
        input,
        output: Some(output),
        rule: Rule::Allow,
    }
}
