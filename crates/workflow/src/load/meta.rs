use super::literal::{self, Skip, kind};
use super::shape::Shape;
use crate::error::LoadError;
use oxc::ast::ast::Expression;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a workflow says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// What it is called; not blank.
    pub name: String,
    /// What it does; not blank.
    pub description: String,
    /// The agent program that it is written for, as it is written: whether there is one of that name is not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<Value>,
    /// When to use it, for whoever chooses a workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    /// The phases that it announces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Vec<Value>>,
    /// Where its results go, as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl Meta {
    /// Reads the object that describes a workflow. It has to be written out; keys that nobody knows are dropped.
    pub(crate) fn read(shape: &Shape<'_, '_>) -> Result<Meta, LoadError> {
        let skip = if shape.is_legacy() { Skip::Nothing } else { Skip::Run };
        let described = shape.described.map(Expression::get_inner_expression);
        let Some(Expression::ObjectExpression(object)) = described else {
            let found = described.map_or_else(String::new, |found| format!(", not {}", kind(found)));
            return Err(LoadError::violation(format!("meta must be an object literal{found}")));
        };
        let mut map = literal::object(object, skip)?;
        Ok(Meta {
            name: required(&mut map, "name")?,
            description: required(&mut map, "description")?,
            when_to_use: optional(&mut map, "whenToUse")?,
            phases: match map.remove("phases") {
                None => None,
                Some(Value::Array(phases)) => Some(phases),
                Some(_) => return Err(LoadError::violation("meta.phases must be an array")),
            },
            output: optional(&mut map, "output")?,
            harness: map.remove("harness"),
        })
    }
}

fn required(map: &mut Map<String, Value>, key: &str) -> Result<String, LoadError> {
    match map.remove(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        _ => Err(LoadError::violation(format!("meta.{key} must be a non-empty string"))),
    }
}

fn optional(map: &mut Map<String, Value>, key: &str) -> Result<Option<String>, LoadError> {
    match map.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(LoadError::violation(format!("meta.{key} must be a string"))),
    }
}
