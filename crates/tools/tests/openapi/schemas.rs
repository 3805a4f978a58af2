//! Schemas of a description become JSON Schema that stands alone.

use super::{BASE, described, issues, search, taking, tool};
use isolith_core::BindingName;
use isolith_tools::OpenApi;
use serde_json::{Value, json};

#[test]
fn schemas_of_3_0_become_json_schema() {
    let api = issues();
    let create = tool(&api, "createIssue").input;
    assert_eq!(create["properties"]["body"], json!({ "$ref": "#/$defs/NewIssue", "description": "What it is about" }));
    assert_eq!(
        create["$defs"],
        json!({
            "NewIssue": {
                "type": "object",
                "required": ["title"],
                "additionalProperties": false,
                "properties": {
                    "id": { "type": "string", "readOnly": true },
                    "title": { "type": "string", "minLength": 1 },
                    "text": { "type": ["string", "null"] },
                    "milestone": { "anyOf": [{ "allOf": [{ "$ref": "#/$defs/Milestone" }] }, { "type": "null" }] },
                },
            },
            "Milestone": { "type": "object", "properties": { "due": { "type": ["string", "null"], "format": "date-time" } } },
        })
    );
    let update = tool(&api, "updateIssue");
    assert_eq!(update.input["properties"]["number"], json!({ "type": "integer", "exclusiveMinimum": 0 }));
    let priority = &update.input["$defs"]["IssuePatch"]["properties"]["priority"];
    assert_eq!(*priority, json!({ "type": ["string", "null"], "enum": ["low", "high", null] }));
    let output = update.output.unwrap();
    assert_eq!(output["$ref"], "#/$defs/Issue");
    assert_eq!(output["$defs"]["Issue"]["properties"]["parent"], json!({ "$ref": "#/$defs/Issue" }));
    assert_eq!(output["$defs"]["Person"]["required"], json!(["name"]));
    assert_eq!(output["$defs"].as_object().unwrap().len(), 4);
    assert_eq!(tool(&api, "deleteIssue").output, None);
}

#[test]
fn schemas_of_3_1_stay_what_they_are() {
    let api = search();
    assert_eq!(api.namespace(&BindingName::new("s").unwrap()).unwrap().description, "Lantern Search: Finds things");
    let watch = tool(&api, "eventsWatch");
    assert_eq!(watch.input["properties"]["since"], json!({ "type": ["string", "null"], "format": "date-time" }));
    assert_eq!(watch.output.unwrap()["$defs"]["Event"]["properties"]["never"], json!(false));
    let search = tool(&api, "search");
    assert_eq!(
        search.input["$defs"],
        json!({ "Query": { "oneOf": [
            { "type": "string" },
            { "type": "object", "properties": { "not": { "$ref": "#/$defs/Query", "description": "What must not match" } } },
            { "type": "array", "prefixItems": [{ "const": "and" }], "items": { "$ref": "#/$defs/Query" } },
        ] } })
    );
    // `Shape` is one of its kinds, and a kind is a `Shape`: the way back is cut.
    let output = search.output.unwrap();
    assert_eq!(output["$ref"], "#/$defs/FoundPage");
    assert_eq!(
        output["$defs"]["Shape"],
        json!({ "anyOf": [{ "$ref": "#/$defs/IssueShape" }, { "$ref": "#/$defs/PersonShape" }] })
    );
    assert_eq!(
        output["$defs"]["IssueShape"],
        json!({ "allOf": [{}, { "type": "object", "properties": { "title": { "type": "string" } } }] })
    );
    assert_eq!(output["$defs"]["items"], json!({ "$ref": "#/$defs/Shape" }));
    let note = "POST /search: its schema is very large or refers to itself without end, and was made less exact";
    assert_eq!(api.notes(), [note]);
    let args = json!({ "where": { "a": 1 }, "limit": "all", "since": null });
    let request = api.operation("eventsWatch").unwrap().request(BASE, &args).unwrap();
    assert_eq!(request.url, format!("{BASE}/events?limit=all&where=%7B%22a%22%3A1%7D"));
    assert_eq!(request.headers, [("accept".to_owned(), "application/vnd.lantern.events+json".to_owned())]);
}

#[test]
fn references_lead_within_the_document_only() {
    let components = json!({
        "schemas": {
            "a/b~c": { "type": "string" }, "d e": { "type": "integer" }, "loop": { "$ref": "#/components/schemas/loop" },
            "ping": { "$ref": "#/components/schemas/pong" }, "pong": { "$ref": "#/components/schemas/ping" },
            "self": { "allOf": [{ "$ref": "#/components/schemas/self" }, { "type": "string" }] }, "list": [{ "type": "null" }],
            "deep": { "type": "object", "properties": { "x": { "$ref": "https://evil.example/s.json" } } }
        }
    });
    let def = |reference: Value| {
        let parameter = json!({ "name": "p", "in": "query", "schema": { "$ref": reference } });
        let paths = json!({ "/a": { "get": { "operationId": "op", "parameters": [parameter] } } });
        let api = OpenApi::read(&described("3.1.0", paths, components.clone())).unwrap();
        match api.operation("op") {
            Ok(operation) => operation.tool().input["$defs"].to_string(),
            Err(_) => api.notes()[0]
                .strip_prefix("GET /a is left out: `parameters.0.schema`: ")
                .unwrap_or(&api.notes()[0])
                .to_owned(),
        }
    };
    for (reference, expected) in [
        (json!("#/components/schemas/a~1b~0c"), r#"{"aBC":{"type":"string"}}"#),
        (json!("#/components/schemas/a%7E1b%7e0c"), r#"{"aBC":{"type":"string"}}"#),
        (json!("#/components/schemas/d%20e"), r#"{"dE":{"type":"integer"}}"#),
        (json!("#/components/schemas/list/0"), r#"{"_0":{"type":"null"}}"#),
        (json!("#/components/schemas/loop"), r#"{"loop":{}}"#),
        (json!("#/components/schemas/ping"), r##"{"ping":{"$ref":"#/$defs/pong"},"pong":{}}"##),
        (json!("#/components/schemas/self"), r#"{"self":{"allOf":[{},{"type":"string"}]}}"#),
        (json!("#/components/schemas/none"), "`$ref` leads nowhere: `#/components/schemas/none`"),
        (json!("#anchor"), "`$ref` leads nowhere: `#anchor`"),
        (json!("#/a%zz"), "`$ref` is not a JSON pointer: `#/a%zz`"),
        (json!("#/a%ff"), "`$ref` is not a JSON pointer: `#/a%ff`"),
        (json!("x.json"), "`$ref` leads to another document: `x.json`"),
        (json!("https://evil.example/x#/a"), "`$ref` leads to another document: `https://evil.example/x#/a`"),
        (json!("file:///etc/passwd"), "`$ref` leads to another document: `file:///etc/passwd`"),
        (json!(5), "`$ref` is not text"),
        (json!("#/openapi"), "`$ref` leads to what is not a schema: `#/openapi`"),
        (
            json!("#/components/schemas/deep"),
            "GET /a is left out: `#/components/schemas/deep.properties.x`: `$ref` leads to another document: \
             `https://evil.example/s.json`",
        ),
    ] {
        assert_eq!(def(reference.clone()), expected, "{reference}");
    }
}

#[test]
fn two_definitions_never_have_one_name() {
    let of = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let schemas = json!({ "a-b": { "type": "string" }, "a.b": { "type": "integer" }, "+": { "type": "null" } });
    let paths = json!({ "/a": taking(json!({ "prefixItems": [of("a-b"), of("a.b"), of("+"), of("a-b")] })) });
    let api = OpenApi::read(&described("3.1.0", paths, json!({ "schemas": schemas }))).unwrap();
    let input = tool(&api, "op").input;
    let to = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    assert_eq!(input["properties"]["body"], json!({ "prefixItems": [to("aB"), to("aB_2"), to("Schema"), to("aB")] }));
    assert_eq!(
        input["$defs"],
        json!({ "aB": { "type": "string" }, "aB_2": { "type": "integer" }, "Schema": { "type": "null" } })
    );
}
