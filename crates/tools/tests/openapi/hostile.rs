//! Descriptions that are large, and those that mean harm.

use super::{BASE, described, issues, search, taking, tool, tools};
use isolith_tools::{OpenApi, OpenApiError};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Every `$ref` of a schema leads to one of its own definitions.
fn check_stands_alone(schema: &Value, root: &Value) {
    match schema {
        Value::Object(table) => {
            if let Some(Value::String(reference)) = table.get("$ref") {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(pointer.starts_with("/$defs/") && root.pointer(pointer).is_some(), "{reference}");
            }
            table.values().for_each(|value| check_stands_alone(value, root));
        }
        Value::Array(values) => values.iter().for_each(|value| check_stands_alone(value, root)),
        _ => {}
    }
}

fn check_all(api: &OpenApi) -> usize {
    let tools = tools(api);
    let names: HashSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), tools.len());
    assert!(tools.is_sorted_by(|a, b| a.name < b.name));
    for tool in &tools {
        check_stands_alone(&tool.input, &tool.input);
        tool.output.iter().for_each(|output| check_stands_alone(output, output));
        assert_eq!(api.operation(tool.name.as_str()).unwrap().tool(), *tool);
    }
    tools.len()
}

/// A description as a large company would write it: kinds of things that refer to each other, with the usual operations.
fn generated(kinds: usize) -> Value {
    let (mut paths, mut schemas) = (serde_json::Map::new(), serde_json::Map::new());
    for i in 0..kinds {
        let kind = format!("Kind{i}");
        let of = |n: usize| json!({ "$ref": format!("#/components/schemas/Kind{}", n % kinds) });
        let properties = json!({
            "id": { "type": "string", "readOnly": true }, "next": of(i + 1), "jump": of(i * 7 + 3),
            "many": { "type": "array", "items": of(i * i) }, "state": { "type": "string", "nullable": i % 2 == 0 },
        });
        schemas.insert(kind.clone(), json!({ "type": "object", "required": ["id"], "properties": properties }));
        let answer = json!({ "200": { "content": { "application/json": { "schema": of(i) } } } });
        let body = json!({ "required": true, "content": { "application/json": { "schema": of(i) } } });
        let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
        paths.insert(
            format!("/{kind}"),
            json!({
                "get": { "operationId": format!("{kind}/list"), "responses": answer },
                "post": { "operationId": format!("{kind}/create"), "requestBody": body, "responses": answer },
            }),
        );
        paths.insert(
            format!("/{kind}/{{id}}"),
            json!({
                "parameters": [id],
                "get": { "operationId": format!("{kind}/get"), "responses": answer },
                "put": { "requestBody": body, "responses": answer },
                "delete": { "operationId": "remove" },
            }),
        );
    }
    described("3.0.1", paths.into(), json!({ "schemas": schemas }))
}

#[test]
fn every_tool_of_a_large_description_stands_alone() {
    let api = OpenApi::read(&generated(120)).unwrap();
    assert_eq!(check_all(&api), 600);
    assert!(api.operation("remove_120").is_ok() && api.operation("putKind7ById").is_ok());
    let request = api.operation("Kind3Create").unwrap().request(BASE, &json!({ "body": { "next": {} } })).unwrap();
    assert_eq!(request.url, format!("{BASE}/Kind3"));
    assert_eq!(check_all(&issues()) + check_all(&search()), 8);
    let again = |kinds: usize| tools(&OpenApi::read(&generated(kinds)).unwrap());
    assert_eq!(again(20), again(20));
}

/// Reads within a time that no exponential way would keep, and checks what came out.
fn soon(description: &Value) -> Result<OpenApi, OpenApiError> {
    let start = Instant::now();
    let api = OpenApi::read(description);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    if let Ok(api) = &api
        && !api.operations().is_empty()
    {
        check_all(api);
    }
    api
}

#[test]
fn too_many_operations_are_refused() {
    let many: serde_json::Map<String, Value> = (0..100_000).map(|i| (format!("/{i}"), json!({ "get": {} }))).collect();
    assert_eq!(soon(&described("3.0.0", many.into(), json!({}))).unwrap_err(), OpenApiError::TooManyOperations);
    let item = json!({ "get": {}, "put": {}, "post": {}, "delete": {} });
    let shared: serde_json::Map<String, Value> =
        (0..1_251).map(|i| (format!("/{i}"), json!({ "$ref": "#/components/x" }))).collect();
    let description = described("3.0.0", shared.into(), json!({ "x": item }));
    assert_eq!(soon(&description).unwrap_err(), OpenApiError::TooManyOperations);
}

#[test]
fn five_thousand_of_one_name_are_told_apart() {
    let get = json!({ "get": { "operationId": "x".repeat(80) } });
    let many: serde_json::Map<String, Value> = (0..5_000).map(|i| (format!("/{i}"), get.clone())).collect();
    let api = soon(&described("3.0.0", many.into(), json!({}))).unwrap();
    assert_eq!(api.operations().len(), 5_000);
    assert_eq!((api.notes().len(), api.notes()[1_000].as_str()), (1_001, "and 3999 more of this kind"));
}

#[test]
fn hostile_schemas_are_read_in_bounds() {
    // Doubling at every step: copied in full, this would never end.
    let mut schemas = serde_json::Map::new();
    for i in 0..64 {
        let next = json!({ "$ref": format!("#/components/schemas/S{}", i + 1) });
        schemas.insert(format!("S{i}"), json!({ "allOf": [next, next], "properties": { "a": next, "b": next } }));
    }
    schemas.insert("S64".into(), json!({ "type": "object" }));
    let paths = json!({ "/a": taking(json!({ "$ref": "#/components/schemas/S0" })) });
    let api = soon(&described("3.1.0", paths, json!({ "schemas": schemas }))).unwrap();
    assert_eq!(tool(&api, "op").input["$defs"].as_object().unwrap().len(), 65);

    // Everything refers to everything, round and round.
    let all: Vec<Value> = (0..300).map(|i| json!({ "$ref": format!("#/components/schemas/S{i}") })).collect();
    let schemas: serde_json::Map<String, Value> =
        (0..300).map(|i| (format!("S{i}"), json!({ "oneOf": all }))).collect();
    let paths = json!({ "/a": taking(json!({ "$ref": "#/components/schemas/S0" })) });
    let api = soon(&described("3.0.0", paths, json!({ "schemas": schemas }))).unwrap();
    assert!(tool(&api, "op").input.to_string().len() < 200_000);

    // Nested as deep as no one writes, and deeper than a parser would read.
    let deep = (0..300).fold(json!({ "type": "string" }), |schema, _| json!({ "items": schema }));
    let api = soon(&described("3.1.0", json!({ "/a": taking(deep) }), json!({}))).unwrap();
    assert_eq!(api.operations().len(), 1);
    let value = (0..300).fold(json!([]), |value, _| json!([value]));
    let schema = json!({ "default": value, "type": "array" });
    let api = soon(&described("3.1.0", json!({ "/a": taking(schema) }), json!({}))).unwrap();
    assert_eq!(tool(&api, "op").input["properties"]["body"], json!({ "type": "array" }));
}

#[test]
fn a_large_part_that_many_share_is_not_copied_for_each() {
    let text = "long ".repeat(200_000);
    let many: serde_json::Map<String, Value> =
        (0..20_000).map(|i| (format!("p{i}"), json!({ "type": "string", "x-note": i }))).collect();
    let names: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
    let large = json!({
        "description": text, "title": text, "enum": names, "required": names, "properties": many, "additionalProperties": false,
        "oneOf": names.iter().map(|name| json!({ "required": [name] })).collect::<Vec<_>>(),
    });
    let reference = json!({ "$ref": "#/components/schemas/Large" });
    let shared: serde_json::Map<String, Value> =
        (0..2_000).map(|i| (format!("/{i}"), json!({ "$ref": "#/components/x" }))).collect();
    let components = json!({ "x": taking(reference), "schemas": { "Large": large } });
    let api = soon(&described("3.1.0", shared.into(), components)).unwrap();
    // Whatever the order of the keys was, nothing is refused that the whole would take.
    let definition = &api.operations()[0].tool().input["$defs"]["Large"];
    assert_eq!((&definition["additionalProperties"], &definition["oneOf"]), (&Value::Null, &Value::Null));
    let total: usize = api.operations().iter().map(|operation| operation.tool().input.to_string().len()).sum();
    assert!(total < 128 << 20, "{total}");
}

#[test]
fn values_of_any_kind_anywhere_do_no_harm() {
    let whole: Value = serde_json::from_str(include_str!("../data/issues-3.0.json")).unwrap();
    let mut pointers = vec![];
    fn walk(value: &Value, at: String, pointers: &mut Vec<String>) {
        let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
        match value {
            Value::Object(table) => {
                table.iter().for_each(|(key, v)| walk(v, format!("{at}/{}", escape(key)), pointers));
            }
            Value::Array(values) => values.iter().enumerate().for_each(|(i, v)| walk(v, format!("{at}/{i}"), pointers)),
            _ => {}
        }
        pointers.push(at);
    }
    walk(&whole, String::new(), &mut pointers);
    assert!(pointers.len() > 300);
    for pointer in pointers {
        for odd in
            [json!(null), json!(true), json!(-1.5), json!(""), json!("\u{0}{"), json!([[]]), json!({ "$ref": "#" })]
        {
            let mut description = whole.clone();
            *description.pointer_mut(&pointer).unwrap() = odd;
            let Ok(api) = OpenApi::read(&description) else { continue };
            if api.operations().is_empty() {
                continue;
            }
            check_all(&api);
            for operation in api.operations() {
                let args = json!({ "project": "p", "number": 1, "body": { "title": "t", "user": "u" } });
                if let Ok(request) = operation.request(BASE, &args) {
                    assert!(
                        request.url.starts_with(BASE) && !request.url.contains(['\0', '\n', '{']),
                        "{}",
                        request.url
                    );
                }
            }
        }
    }
}
