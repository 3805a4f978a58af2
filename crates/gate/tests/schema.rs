//! Schemas of tools.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{Grant, Json, Power, Rule, ToolGrant, ToolName};
use isolith_gate::Schemas;
use serde_json::{Value, json};

fn name() -> ToolName {
    ToolName::new("send").unwrap()
}

fn grant(input: Option<Value>, output: Option<Value>) -> Grant {
    let json = |schema: Value| Json::of(&schema).unwrap();
    let tool = ToolGrant { input: input.map(json), output: output.map(json), ..ToolGrant::new(name()) };
    Grant::allow(Power::Tool(tool))
}

fn check(schema: Value, args: Option<Value>) -> Result<(), String> {
    let schemas = Schemas::of(&[grant(Some(schema), None)]).unwrap();
    let args = args.map(|args| Json::of(&args).unwrap());
    schemas.check_input(&name(), args.as_ref()).map_err(|error| {
        assert_eq!((error.code.as_deref(), &*error.name), (Some("tool.invalid_input"), "TypeError"));
        error.message.strip_prefix("the argument of the tool `send` is not what it takes: ").unwrap().to_owned()
    })
}

#[test]
fn arguments_are_checked() {
    let mail = json!({
        "type": "object",
        "properties": { "to": { "type": "string", "pattern": "^[^@]+@[^@]+$" }, "copies": { "items": { "maximum": 9 } } },
        "required": ["to"],
        "additionalProperties": false,
    });
    for (args, expected) in [
        (Some(json!({ "to": "a@b" })), Ok(())),
        (Some(json!({})), Err("\"to\" is a required property".to_owned())),
        (None, Err("null is not of type \"object\"".into())),
        (
            Some(json!({ "to": 7, "copies": [1, 10, 11, 12] })),
            Err("/copies/1: 10 is greater than the maximum of 9; /copies/2: 11 is greater than the maximum of 9; \
                 /copies/3: 12 is greater than the maximum of 9; and more"
                .into()),
        ),
        (
            Some(json!({ "to": "a@b", "x": 1 })),
            Err("Additional properties are not allowed ('x' was unexpected)".into()),
        ),
    ] {
        assert_eq!(check(mail.clone(), args.clone()), expected, "{args:?}");
    }
}

#[test]
fn answers_are_checked_and_tools_without_a_schema_are_not() {
    let schemas = Schemas::of(&[grant(None, Some(json!({ "type": "number" })))]).unwrap();
    let text = Json::of("x").unwrap();
    let error = schemas.check_output(&name(), Some(&text)).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("tool.invalid_output"));
    assert!(schemas.check_output(&name(), Some(&Json::of(&1).unwrap())).is_ok());
    assert!(schemas.check_output(&name(), None).is_err());
    assert!(schemas.check_input(&name(), Some(&text)).is_ok());
    assert!(schemas.check_input(&ToolName::new("other").unwrap(), Some(&text)).is_ok());
    let denied = Grant { rule: Rule::Deny, ..grant(Some(json!({ "type": 7 })), None) };
    assert!(Schemas::of(&[denied]).is_ok());
}

#[test]
fn schemas_lead_nowhere_and_have_to_be_sound() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "{}").unwrap();
    for (schema, says) in [
        (json!({ "$ref": "https://example.com/schema.json" }), "nothing is fetched"),
        (json!({ "$ref": "http://127.0.0.1:1/schema.json" }), "nothing is fetched"),
        (json!({ "$ref": format!("file://{}", file.path().display()) }), "nothing is fetched"),
        (json!({ "properties": { "a": { "$ref": "other.json" } } }), "No base URI"),
        (json!({ "$schema": "https://example.com/meta" }), ""),
        (json!({ "$ref": "#/$defs/none" }), ""),
        (json!({ "type": "strin" }), ""),
        (json!({ "pattern": "(" }), ""),
        (json!({ "pattern": "(a)\\1" }), ""),
        (json!({ "pattern": "((((a{100}){100}){100}){100})" }), ""),
        (json!(7), ""),
    ] {
        let error = Schemas::of(&[grant(Some(schema.clone()), None)]).unwrap_err();
        assert!(error.starts_with("the input schema of the tool `send` cannot be used: "), "{error}");
        assert!(error.contains(says) && error.len() < 500, "{schema}: {error}");
    }
    assert_eq!(check(json!({ "$ref": "#/$defs/n", "$defs": { "n": { "minimum": 3 } } }), Some(json!(3))), Ok(()));
}

#[test]
fn large_and_hostile_values_are_fine() {
    let list = json!({ "type": "array", "uniqueItems": true, "items": { "type": "object", "required": ["id"] } });
    let items = |n: u32| Value::from((0..n).map(|id| json!({ "id": id, "text": "x" })).collect::<Vec<_>>());
    assert_eq!(check(list.clone(), Some(items(10_000))), Ok(()));
    let wrong = Value::from(vec![json!({}); 10_000]);
    assert!(check(list, Some(wrong)).unwrap_err().len() < 1500);
    // An engine that backtracks would not be back before long after the sun went out.
    assert!(check(json!({ "pattern": "^(a+)+$" }), Some(json!("a".repeat(50_000) + "!"))).is_err());
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let schemas = Schemas::of(&[grant(Some(json!({ "items": { "$ref": "#" } })), None)]).unwrap();
    assert!(schemas.check_input(&name(), Some(&Json::from_text(deep).unwrap())).is_err());
    let surrogate = Json::from_text("\"\\ud800\"".into()).unwrap();
    assert!(schemas.check_input(&name(), Some(&surrogate)).is_err());
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
    ] {
        if let Ok(schemas) = Schemas::of(&[grant(Some(schema), None)]) {
            let _ = schemas.check_input(&name(), None);
        }
    }
}
