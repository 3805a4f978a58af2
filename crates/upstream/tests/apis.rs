//! An API of more than five hundred operations, and how it is asked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::Rule;
use isolith_core::ToolName;
use isolith_core::{Upstream, UpstreamSource};
use isolith_gate::Upstreams as _;
use serde_json::{Map, Value, json};
use support::origin::{Origin, Reply, Seen};
use support::{Desk, table, upstream};

const SECRET: &str = "hunter2-hunter2";
const KINDS: usize = 130;

/// A description of 520 operations: four for each kind of thing.
fn described(server: &str) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for i in 0..KINDS {
        let reference = json!({ "$ref": format!("#/components/schemas/Thing{i}") });
        let answer =
            json!({ "200": { "description": "", "content": { "application/json": { "schema": reference } } } });
        let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
        let properties = json!({ "id": { "type": "string" }, "size": { "type": "integer" } });
        schemas.insert(format!("Thing{i}"), json!({ "type": "object", "required": ["id"], "properties": properties }));
        paths.insert(
            format!("/things{i}"),
            json!({ "post": {
                "operationId": format!("createThing{i}"), "description": format!("Creates thing {i}."), "responses": answer,
                "requestBody": { "required": true, "content": { "application/json": { "schema": reference } } },
            }, "get": {
                "operationId": format!("findThing{i}"), "description": "Finds one by its size.", "responses": answer,
                "parameters": [{ "name": "size", "in": "query", "required": true, "schema": { "type": "integer" } }],
            } }),
        );
        paths.insert(
            format!("/things{i}/{{id}}"),
            json!({ "parameters": [id], "get": { "operationId": format!("getThing{i}"), "responses": answer },
                "delete": { "operationId": format!("deleteThing{i}"), "responses": { "204": { "description": "" } } } }),
        );
    }
    json!({
        "openapi": "3.0.3", "info": { "title": "Things", "version": "1" }, "servers": [{ "url": server }],
        "paths": paths, "components": { "schemas": schemas },
    })
}

/// Serves the description, and an API that says what it was asked.
fn answer(request: &Seen) -> Option<Reply> {
    let kind = "application/json";
    let path = request.line.split(' ').nth(1).unwrap_or_default();
    match path {
        "/openapi.json" => Some((200, kind, described("/v1").to_string())),
        "/openapi.yaml" => Some((200, "application/yaml", "<html>nothing here</html>\n".into())),
        "/elsewhere.json" => Some((200, kind, described("https://elsewhere.example/v1").to_string())),
        "/v1/things0/wrong" => Some((200, kind, json!({ "id": 5 }).to_string())),
        "/v1/things0/missing" => Some((404, kind, json!({ "message": "gone" }).to_string())),
        "/v1/things0/never" => None,
        _ if request.line.starts_with("DELETE") => Some((204, kind, String::new())),
        _ => {
            let told = request.header("authorization").unwrap_or("nobody");
            Some((200, kind, json!({ "id": format!("{} by {told}", request.line) }).to_string()))
        }
    }
}

fn api(openapi: String, base: Option<String>, headers: &[(&str, &str)]) -> Upstream {
    upstream(UpstreamSource::OpenApi { openapi, base, headers: table(headers) })
}

fn desk(openapi: String, base: Option<String>, headers: &[(&str, &str)]) -> Desk {
    Desk::new(vec![("api", Upstream { timeout_ms: 5_000, ..api(openapi, base, headers) })])
}

#[tokio::test]
async fn an_operation_is_a_function() {
    let origin = Origin::new(answer).await;
    let desk = desk(format!("{}/openapi.json", origin.url), None, &[]);
    let (catalogue, problems) = desk.toolbox.catalogue().await;
    assert_eq!((catalogue.namespaces()[0].tools.len(), problems.len()), (520, 0));
    let got = desk.call("api.getThing7", json!({ "id": "a/b ä" })).await.unwrap();
    assert_eq!(got, json!({ "id": "GET /v1/things7/a%2Fb%20%C3%A4 HTTP/1.1 by nobody" }));
    let got = desk.call("api.findThing129", json!({ "size": 5 })).await.unwrap();
    assert_eq!(got, json!({ "id": "GET /v1/things129?size=5 HTTP/1.1 by nobody" }));
    desk.call("api.createThing1", json!({ "body": { "id": "x", "size": 3 } })).await.unwrap();
    assert_eq!(origin.last().body, r#"{"id":"x","size":3}"#);
    assert_eq!(origin.last().header("content-type"), Some("application/json"));
    assert_eq!(desk.call("api.deleteThing3", json!({ "id": "x" })).await.unwrap(), Value::Null);
    let found = desk.search("create thing 42", &|_| true).await;
    assert_eq!(found[0], json!({ "path": "api.createThing42", "description": "Creates thing 42." }));
    let described = desk.describe("api.getThing7").await.unwrap();
    assert!(described.contains("getThing7(args: { id: string })"), "{described}");
    // The second catalogue is the first.
    let (again, _) = desk.toolbox.catalogue().await;
    assert!(std::sync::Arc::ptr_eq(&catalogue, &again));
}

#[tokio::test]
async fn what_is_wrong_is_told() {
    let origin = Origin::new(answer).await;
    let short = Upstream { timeout_ms: 700, ..api(format!("{}/openapi.json", origin.url), None, &[]) };
    let desk = Desk::new(vec![("api", short)]);
    desk.call("api.getThing0", json!({ "id": "x" })).await.unwrap();
    let before = origin.count();
    let of = |name: &str, what: &str| format!("the argument of the tool `api.{name}` is not what it takes: {what}");
    for (name, args, code, message) in [
        (
            "findThing0",
            json!({ "size": "x" }),
            "tool.invalid_input",
            of("findThing0", "/size: \"x\" is not of type \"integer\""),
        ),
        ("getThing0", json!({}), "tool.invalid_input", of("getThing0", "\"id\" is a required property")),
        (
            "createThing0",
            json!({ "body": { "size": 1 } }),
            "tool.invalid_input",
            of("createThing0", "/body: \"id\" is a required property"),
        ),
        (
            "getThing0",
            json!({ "id": ".." }),
            "tool.invalid_input",
            of("getThing0", "`id` is empty or only dots, which would lead to another path"),
        ),
        (
            "getThingg0",
            json!({}),
            "tool.unknown",
            "there is no tool `api.getThingg0`: did you mean `api.getThing0`?".into(),
        ),
    ] {
        assert_eq!(desk.refused(&format!("api.{name}"), args).await, (code.to_owned(), message));
    }
    assert_eq!(origin.count(), before);
    for (id, code, message) in [
        ("missing", "tool.failed", "the tool `api.getThing0` failed: HTTP status 404: {\"message\":\"gone\"}"),
        (
            "wrong",
            "tool.invalid_output",
            "the answer of the tool `api.getThing0` is not what it promises: /id: 5 is not of type \"string\"",
        ),
        ("never", "tool.timeout", "the tool `api.getThing0` took longer than 700 ms"),
    ] {
        assert_eq!(desk.refused("api.getThing0", json!({ "id": id })).await, (code.to_owned(), message.to_owned()));
    }
}

#[tokio::test]
async fn credentials_reach_the_api_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), SECRET).unwrap();
    std::fs::write(folder.path().join("other"), "another-secret").unwrap();
    let source = |name: &str| format!("${{file:{}}}", folder.path().join(name).display());
    let bearer = format!("Bearer {}", source("key"));
    let headers = [("Authorization", bearer.as_str()), ("X-Other", &source("other")), ("X-Plain", "plain")];
    let origin = Origin::new(answer).await;
    let openapi = format!("{}/openapi.json", origin.url);
    let desk = desk(openapi, None, &headers);
    let got = desk.call("api.getThing1", json!({ "id": "x" })).await.unwrap();
    assert_eq!(got, json!({ "id": "GET /v1/things1/x HTTP/1.1 by Bearer [redacted key]" }));
    let seen = origin.last();
    let sent = ["authorization", "x-other", "x-plain"].map(|name| seen.header(name).unwrap_or_default().to_owned());
    assert_eq!(sent, [format!("Bearer {SECRET}"), "another-secret".into(), "plain".into()]);
    // The description was asked for without them: nobody said that it is of the same house.
    let first = origin.seen.lock().unwrap()[0].clone();
    assert_eq!((first.line.as_str(), first.header("authorization")), ("GET /openapi.json HTTP/1.1", None));
}

#[tokio::test]
async fn a_description_does_not_send_credentials_elsewhere() {
    let origin = Origin::new(answer).await;
    let openapi = format!("{}/elsewhere.json", origin.url);
    let (code, message) =
        desk(openapi.clone(), None, &[("X-Key", "written-out")]).refused("api.getThing1", json!({ "id": "x" })).await;
    assert_eq!(code, "tool.unavailable");
    assert!(message.contains("say `base = \"https://elsewhere.example/v1\"` if that is right"), "{message}");
    // An operator who says where it is decides.
    let base = Some(format!("{}/v1", origin.url));
    let told = desk(openapi, base, &[("Authorization", "Bearer written-out")]);
    let got = told.call("api.getThing1", json!({ "id": "x" })).await.unwrap();
    assert_eq!(got, json!({ "id": "GET /v1/things1/x HTTP/1.1 by Bearer [redacted Authorization]" }));
}

#[tokio::test]
async fn descriptions_come_from_files_too() {
    let origin = Origin::new(answer).await;
    let folder = tempfile::tempdir().unwrap();
    let text = described(&format!("{}/v1", origin.url)).to_string();
    std::fs::write(folder.path().join("api.json"), text).unwrap();
    let yaml = format!(
        "openapi: 3.0.3\ninfo: {{ title: T, version: 1 }}\nservers:\n  - url: {}/v1\npaths:\n  /things1/{{id}}:\n    get:\n      \
         operationId: getThing1\n      parameters:\n        - {{ name: id, in: path, required: true, schema: {{ type: string }} }}\n      \
         responses:\n        200: {{ description: ok }}\n",
        origin.url
    );
    std::fs::write(folder.path().join("api.yaml"), yaml).unwrap();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", ")));
    }
    std::fs::write(folder.path().join("bomb.yaml"), bomb).unwrap();
    let desk = Desk::at(
        folder.path().into(),
        vec![
            ("api", api("api.json".into(), None, &[])),
            ("yaml", api("api.yaml".into(), None, &[])),
            ("web", api(format!("{}/openapi.yaml", origin.url), None, &[])),
            ("bomb", api("bomb.yaml".into(), None, &[])),
            ("none", api("none.json".into(), None, &[])),
            ("old", api("old.json".into(), None, &[])),
        ],
    );
    std::fs::write(folder.path().join("old.json"), r#"{"swagger":"2.0"}"#).unwrap();
    let written = desk.call("api.getThing1", json!({ "id": "x" })).await.unwrap();
    assert_eq!(desk.call("yaml.getThing1", json!({ "id": "x" })).await.unwrap(), written);
    for (name, said) in [
        ("bomb.x", "budget breached"),
        ("web.x", "is no object, neither of JSON nor of YAML"),
        ("none.x", "cannot be read: entity not found"),
        ("old.x", "not in OpenAPI 3"),
    ] {
        let (code, message) = desk.refused(name, json!({})).await;
        assert_eq!(code, "tool.unavailable");
        assert!(message.contains(said), "{message}");
    }
}

#[tokio::test]
async fn what_only_reads_needs_no_question() {
    let origin = Origin::new(answer).await;
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let lists = Upstream {
        allow: list(&["createThing1*"]),
        deny: list(&["getThing5"]),
        ..api(format!("{}/openapi.json", origin.url), None, &[])
    };
    let broken = api("none.json".into(), None, &[]);
    let desk = Desk::new(vec![("api", lists), ("broken", broken)]);
    for (name, rule) in [
        ("api.getThing1", Rule::Allow),
        ("api.getThing5", Rule::Deny),
        ("api.createThing2", Rule::Ask),
        ("api.createThing12", Rule::Allow),
        ("api.deleteThing2", Rule::Ask),
        ("broken.x", Rule::Ask),
    ] {
        assert_eq!(desk.toolbox.rule(&ToolName::new(name).unwrap()).await, rule, "{name}");
    }
}
