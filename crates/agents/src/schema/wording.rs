//! Issues in the words of Ajv, which is what those who repair answers have read most of.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// How much of a path or a pattern is shown.
const SHOWN_CHARS_MAX: usize = 300;
/// How deep into alternatives is told.
const DEPTH_MAX: usize = 4;

/// Adds what an error says: for alternatives what is wrong with each, then that none fits.
pub(super) fn tell(error: &ValidationError<'_>, schema: &Value, issues: &mut Vec<String>) {
    within(error, schema, issues, 0);
}

fn within(error: &ValidationError<'_>, schema: &Value, issues: &mut Vec<String>, depth: usize) {
    if let Kind::AnyOf { context } | Kind::OneOfNotValid { context } = error.kind()
        && depth < DEPTH_MAX
    {
        for inner in context.iter().flatten() {
            within(inner, schema, issues, depth + 1);
        }
    }
    let path = shorten(error.instance_path().as_str());
    let issue = format!("{} {}", if path.is_empty() { "/" } else { &path }, message(error, schema));
    if !issues.contains(&issue) {
        issues.push(issue);
    }
}

fn message(error: &ValidationError<'_>, schema: &Value) -> String {
    match error.kind() {
        Kind::Type { kind: TypeKind::Single(one) } => format!("must be {one}"),
        Kind::Type { kind: TypeKind::Multiple(several) } => {
            // In the order in which they are written, if that can be found.
            let written = schema.pointer(error.schema_path().as_str()).and_then(Value::as_array);
            let names: Vec<String> = match written {
                Some(written) => written.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                None => several.iter().map(|one| one.to_string()).collect(),
            };
            format!("must be {}", names.join(","))
        }
        Kind::Required { property } => {
            format!("must have required property '{}'", property.as_str().map(shorten).unwrap_or_default())
        }
        Kind::AdditionalProperties { .. } => "must NOT have additional properties".into(),
        Kind::UnevaluatedProperties { .. } => "must NOT have unevaluated properties".into(),
        Kind::UnevaluatedItems { .. } => "must NOT have unevaluated items".into(),
        Kind::AdditionalItems { limit } => format!("must NOT have more than {limit} items"),
        Kind::Enum { .. } => "must be equal to one of the allowed values".into(),
        Kind::Constant { .. } => "must be equal to constant".into(),
        Kind::AnyOf { .. } => "must match a schema in anyOf".into(),
        Kind::OneOfNotValid { .. } | Kind::OneOfMultipleValid { .. } => "must match exactly one schema in oneOf".into(),
        Kind::Not { .. } => "must NOT be valid".into(),
        Kind::FalseSchema => "boolean schema is false".into(),
        Kind::MinLength { limit } => format!("must NOT have fewer than {limit} characters"),
        Kind::MaxLength { limit } => format!("must NOT have more than {limit} characters"),
        Kind::MinItems { limit } => format!("must NOT have fewer than {limit} items"),
        Kind::MaxItems { limit } => format!("must NOT have more than {limit} items"),
        Kind::MinProperties { limit } => format!("must NOT have fewer than {limit} properties"),
        Kind::MaxProperties { limit } => format!("must NOT have more than {limit} properties"),
        Kind::Minimum { limit } => format!("must be >= {limit}"),
        Kind::Maximum { limit } => format!("must be <= {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be > {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be < {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be multiple of {multiple_of}"),
        Kind::Pattern { pattern } => format!("must match pattern \"{}\"", shorten(pattern)),
        Kind::Format { format } => format!("must match format \"{}\"", shorten(format)),
        Kind::UniqueItems => duplicates(error.instance()),
        Kind::Contains => "must contain at least 1 valid item(s)".into(),
        Kind::PropertyNames { .. } => "property name must be valid".into(),
        _ => shorten(&error.to_string()),
    }
}

fn duplicates(items: &Value) -> String {
    let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
    let pair = items.iter().enumerate().rev().find_map(|(later, item)| {
        items[..later].iter().rposition(|other| other == item).map(|earlier| (earlier, later))
    });
    match pair {
        Some((one, two)) => format!("must NOT have duplicate items (items ## {one} and {two} are identical)"),
        None => "must NOT have duplicate items".into(),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::validate;
    use isolith_core::Json;
    use serde_json::{Value, json};

    fn issues(schema: Value, data: Value) -> Vec<String> {
        validate(&Json::of(&schema).unwrap(), &Json::of(&data).unwrap()).unwrap_err()
    }

    #[test]
    fn issues_are_worded_as_ajv_does() {
        let n = json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"],
            "additionalProperties": false });
        for (schema, data, expected) in [
            (n.clone(), json!({ "n": "x" }), "/n must be number"),
            (n.clone(), json!({}), "/ must have required property 'n'"),
            (n.clone(), json!({ "n": 1, "m": 2, "o": 3 }), "/ must NOT have additional properties"),
            (n, json!([]), "/ must be object"),
            (json!({ "type": ["string", "null"] }), json!(1), "/ must be string,null"),
            (json!({ "enum": ["a"] }), json!("b"), "/ must be equal to one of the allowed values"),
            (json!({ "const": 1 }), json!(2), "/ must be equal to constant"),
            (json!({ "minLength": 1 }), json!(""), "/ must NOT have fewer than 1 characters"),
            (json!({ "maxLength": 1 }), json!("ab"), "/ must NOT have more than 1 characters"),
            (json!({ "items": { "minItems": 2 } }), json!([[], []]), "/0 must NOT have fewer than 2 items"),
            (json!({ "maxItems": 0 }), json!([1]), "/ must NOT have more than 0 items"),
            (json!({ "minProperties": 1 }), json!({}), "/ must NOT have fewer than 1 properties"),
            (json!({ "minimum": 1 }), json!(0), "/ must be >= 1"),
            (json!({ "maximum": 1.5 }), json!(2), "/ must be <= 1.5"),
            (json!({ "exclusiveMinimum": 0 }), json!(0), "/ must be > 0"),
            (json!({ "exclusiveMaximum": 0 }), json!(0), "/ must be < 0"),
            (json!({ "multipleOf": 2 }), json!(3), "/ must be multiple of 2"),
            (json!({ "pattern": "^a" }), json!("b"), "/ must match pattern \"^a\""),
            (
                json!({ "uniqueItems": true }),
                json!([1, 2, 1]),
                "/ must NOT have duplicate items (items ## 0 and 2 are identical)",
            ),
            (json!({ "contains": { "const": 1 } }), json!([2]), "/ must contain at least 1 valid item(s)"),
            (json!({ "not": {} }), json!(1), "/ must NOT be valid"),
            (json!(false), json!(1), "/ boolean schema is false"),
        ] {
            assert_eq!(issues(schema.clone(), data)[0], expected, "{schema}");
        }
    }

    #[test]
    fn alternatives_are_told_one_by_one() {
        let nullable = json!({ "properties": { "n": { "anyOf": [{ "type": "number" }, { "type": "null" }] } } });
        assert_eq!(
            issues(nullable, json!({ "n": "x" })),
            ["/n must be number", "/n must be null", "/n must match a schema in anyOf"]
        );
        let two = json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] });
        assert_eq!(issues(two, json!(1)), ["/ must match exactly one schema in oneOf"]);
    }
}
