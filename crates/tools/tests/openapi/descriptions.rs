//! Whole descriptions: what is read, left out and refused.

use super::{BASE, api, issues, tool, tools};
use isolith_core::BindingName;
use isolith_tools::{OpenApi, OpenApiError};
use serde_json::{Value, json};

#[test]
fn an_issue_tracker_becomes_tools() {
    let api = issues();
    let namespace = api.namespace(&BindingName::new("lantern").unwrap()).unwrap();
    assert_eq!(namespace.description, "Lantern Issues: Issues, comments and people of a small tracker.");
    let names: Vec<&str> = namespace.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["createIssue", "deleteIssue", "getIssue", "issuesList", "postLogin", "updateIssue"]);
    assert_eq!(api.servers(), ["https://eu.lantern.example/v2", "/v2"]);
    assert_eq!(
        api.notes(),
        [
            "the server `https://{nowhere}.lantern.example` is left out: a variable in it has no default",
            "GET /broken is left out: `parameters.0.schema`: `$ref` leads to another document: `other.json#/components/schemas/X`",
            "GET /projects/{project}/issues: the header parameter `Authorization` is left out: the host sets this header",
            "POST /projects/{project}/issues/{number}/attachments is left out: `requestBody`: `multipart/form-data` cannot be \
             sent: JSON, forms and plain text can",
        ]
    );
    let list = tool(&api, "issuesList");
    assert_eq!(list.upstream, "issues/list");
    assert_eq!(list.description, "Lists issues, the newest first. Closed ones are left out unless asked for.");
    assert_eq!(tool(&api, "deleteIssue").description, "Deprecated.\n\nPrefer to close it.");
    assert_eq!(list.input["properties"]["project"], json!({ "type": "string", "description": "Its short name" }));
    assert_eq!(list.input["$defs"], json!({ "State": { "type": "string", "enum": ["open", "closed"] } }));

    let args = json!({
        "project": "a b", "state": "open", "labels": ["x", "y,z"], "assignee": ["p", "q"], "created": { "from": "2026-01-01" },
        "page": 2, "X-Trace-Id": "t", "theme": "dark"
    });
    let request = api.operation("issuesList").unwrap().request(api.servers()[0].as_str(), &args).unwrap();
    assert_eq!(
        request.url,
        "https://eu.lantern.example/v2/projects/a%20b/issues?state=open&labels=x,y%2Cz&assignee=p&assignee=q\
         &created%5Bfrom%5D=2026-01-01&page=2"
    );
    let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(headers, ["x-trace-id: t", "accept: application/json", "cookie: theme=dark"]);

    let body = json!({ "user": "u", "scopes": ["a", "b"], "claims": { "x": 1 }, "device": { "os": "l" } });
    let request = api.operation("postLogin").unwrap().request(BASE, &json!({ "body": body })).unwrap();
    let sent = String::from_utf8(request.body.unwrap()).unwrap();
    assert_eq!(sent, "claims=%7B%22x%22%3A1%7D&device%5Bos%5D=l&scopes=a%20b&user=u");
}

#[test]
fn what_is_no_description_is_refused() {
    for (description, expected) in [
        (json!(null), "this is not an OpenAPI description: it is not an object"),
        (json!([]), "this is not an OpenAPI description: it is not an object"),
        (json!({}), "this is not an OpenAPI description: `openapi` is missing"),
        (json!({ "openapi": 3.1 }), "this is not an OpenAPI description: `openapi` is not text, such as `\"3.1.0\"`"),
        (json!({ "openapi": "3.1.0" }), "this is not an OpenAPI description: `paths` is missing"),
        (json!({ "openapi": "3.0.0", "paths": [] }), "this is not an OpenAPI description: `paths` is not an object"),
        (json!({ "openapi": "3.2.0", "paths": {} }), "OpenAPI 3.2.0 is not supported, 3.0 and 3.1 are"),
        (json!({ "openapi": "3.10.0", "paths": {} }), "OpenAPI 3.10.0 is not supported, 3.0 and 3.1 are"),
        (
            json!({ "swagger": "2.0", "paths": {} }),
            "this is a description in Swagger 2.0, not in OpenAPI 3: convert it first, for instance with `swagger2openapi`",
        ),
    ] {
        assert_eq!(OpenApi::read(&description).unwrap_err().to_string(), expected, "{description}");
    }
    let empty = OpenApi::read(&json!({ "openapi": "3.0", "paths": {} })).unwrap();
    assert_eq!(empty.namespace(&BindingName::new("a").unwrap()), Err(OpenApiError::NoOperations));
}

#[test]
fn one_broken_operation_does_not_lose_the_others() {
    let parameters = |value: Value| json!({ "get": { "parameters": value } });
    for (path, item, expected) in [
        ("/a", json!(5), "the path /a is left out: not an object"),
        ("/a", json!({ "$ref": "#/paths/~1a" }), "the path /a is left out: `$ref` goes round in a circle"),
        ("/a", json!({ "$ref": "./a.json" }), "the path /a is left out: `$ref` leads to another document: `./a.json`"),
        ("/a", json!({ "get": [] }), "GET /a is left out: not an object"),
        ("a", json!({ "get": {} }), "GET a is left out: its path does not start with `/`"),
        ("/a?b=c", json!({ "get": {} }), "GET /a?b=c is left out: its path has a character that no path can have"),
        ("/a/../b", json!({ "get": {} }), "GET /a/../b is left out: its path leads up with `..`"),
        ("/a/%2E./b", json!({ "get": {} }), "GET /a/%2E./b is left out: its path leads up with `..`"),
        ("/a/{b", json!({ "get": {} }), "GET /a/{b is left out: the braces in its path do not match"),
        ("/a/b}", json!({ "get": {} }), "GET /a/b} is left out: the braces in its path do not match"),
        ("/a/{}", json!({ "get": {} }), "GET /a/{} is left out: the braces in its path do not match"),
        ("/{x}", json!({ "get": {} }), "GET /{x} is left out: its path has `{x}`, which is not among its parameters"),
        ("/a", parameters(json!({})), "GET /a is left out: `parameters`: not a list"),
        ("/a", parameters(json!([5])), "GET /a is left out: `parameters.0`: not an object"),
        (
            "/a",
            parameters(json!([{ "name": 5, "in": "query" }])),
            "GET /a is left out: `parameters.0`: it has no `name`",
        ),
        ("/a", parameters(json!([{ "name": "x" }])), "GET /a is left out: `parameters.0`: it has no `in`"),
        (
            "/a",
            parameters(json!([{ "name": "x", "in": "body" }])),
            "GET /a is left out: `parameters.0`: its `in` is `body`",
        ),
        (
            "/a",
            parameters(json!([{ "name": "x", "in": "query", "schema": 5 }])),
            "GET /a is left out: `parameters.0.schema`: not a schema",
        ),
        (
            "/a",
            parameters(json!([{ "name": "x", "in": "query", "schema": { "properties": { "y": [] } } }])),
            "GET /a is left out: `parameters.0.schema.properties.y`: not a schema",
        ),
        (
            "/a",
            parameters(json!(vec![json!({ "name": "x", "in": "query" }); 129])),
            "GET /a is left out: there are more than 128 parameters",
        ),
        ("/a", json!({ "post": { "requestBody": 5 } }), "POST /a is left out: `requestBody`: not an object"),
    ] {
        let mut paths = json!({ "/z": { "get": { "operationId": "good" } } });
        paths[path] = item;
        let api = api(paths);
        let names: Vec<String> = tools(&api).into_iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, ["good"], "{path}");
        assert_eq!(api.notes(), [expected]);
    }
}

#[test]
fn what_can_be_done_without_is_left_out() {
    let get = json!({
        "operationId": 5, "tags": "x", "summary": [], "deprecated": "yes", "servers": [{ "url": "https://other.example" }, 5],
        "parameters": [
            { "name": "a", "in": "query", "style": "label" },
            { "name": "b", "in": "path" },
            { "name": "c", "in": "query", "content": { "text/csv": {} } },
            { "name": "d e", "in": "cookie" },
            { "name": "f", "in": "query", "schema": {
                "type": "text", "enum": "x", "minLength": "3", "required": "f", "allOf": [], "pattern": 5, "x-y": 1, "maxLength": 3
            } },
        ],
        "requestBody": { "content": { "application/json": {} } },
        "responses": { "200": { "content": { "application/json": { "schema": { "$ref": "gone.json" } } } } },
    });
    let api = api(json!({ "/a": { "get": get }, "x-more": 5 }));
    assert_eq!(tool(&api, "getA").input["properties"], json!({ "f": { "maxLength": 3, "required": [] } }));
    assert_eq!(api.operation("getA").unwrap().servers(), ["https://other.example"]);
    assert_eq!(
        api.notes(),
        [
            "GET /a: the query parameter `a` is left out: its style `label` is not supported here",
            "GET /a: the query parameter `c` is left out: it is sent as `text/csv`",
            "GET /a: the cookie parameter `d e` is left out: no cookie can have this name",
            "GET /a: the parameter `b` is left out: it is not in the path",
            "GET /a: its body is left out: a GET has none",
            "GET /a: what it answers is not known: `responses.200.content.application/json.schema`: `$ref` leads to another \
             document: `gone.json`",
        ]
    );
}
