//! Values that a text writes out, told from its tree.

use crate::error::LoadError;
use oxc::ast::ast::{
    ArrayExpression, ArrayExpressionElement, Expression, ObjectExpression, ObjectProperty, ObjectPropertyKind,
    PropertyKind, UnaryOperator,
};
use serde_json::{Map, Number, Value};
use std::fmt;

/// How deep metadata may nest. What is deeper would be too deep for whoever reads it as JSON.
const DEPTH_MAX: usize = 64;

/// Keys that mean something else than a property, in JavaScript or to those who merge objects.
const RESERVED: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Integers up to here are written without a fraction and without loss.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// A key at the top that is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    Nothing,
    /// `run`, which is a function and no metadata.
    Run,
}

/// Where a value stands, as refusals say it. Written out only for those: a key may be long and have many values.
#[derive(Clone, Copy)]
enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    fn depth(self) -> usize {
        match self {
            Path::Root => 0,
            Path::Key(outer, _) | Path::Index(outer, _) => outer.depth() + 1,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => f.write_str("meta"),
            Path::Key(outer, key) => write!(f, "{outer}.{key}"),
            Path::Index(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}

/// The value of the object literal that describes a workflow.
pub(crate) fn object(object: &ObjectExpression<'_>, skip: Skip) -> Result<Map<String, Value>, LoadError> {
    object_at(object, Path::Root, skip)
}

/// The text of a string literal or of a template without holes.
pub(crate) fn text(expression: &Expression<'_>) -> Option<String> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(literal) => Some(literal.value.to_string()),
        Expression::TemplateLiteral(template) => template.single_quasi().map(|text| text.to_string()),
        _ => None,
    }
}

fn object_at(object: &ObjectExpression<'_>, path: Path<'_>, skip: Skip) -> Result<Map<String, Value>, LoadError> {
    let mut map = Map::new();
    for property in &object.properties {
        let property = match property {
            ObjectPropertyKind::ObjectProperty(property) => property,
            ObjectPropertyKind::SpreadProperty(_) => return refuse(format!("spread not allowed in {path}")),
        };
        if skip == Skip::Run && is_run(property) {
            continue;
        }
        if property.computed {
            return refuse(format!("computed keys not allowed in {path}"));
        }
        if property.method || property.kind != PropertyKind::Init {
            return refuse(format!("methods/accessors not allowed in {path}"));
        }
        let Some(key) = property.key.static_name() else {
            return refuse(format!("computed keys not allowed in {path}"));
        };
        if RESERVED.contains(&key.as_ref()) {
            return refuse(format!("reserved key name not allowed in {path}: {key}"));
        }
        let value = value(&property.value, Path::Key(&path, &key))?;
        map.insert(key.into_owned(), value);
    }
    Ok(map)
}

fn is_run(property: &ObjectProperty<'_>) -> bool {
    !property.computed && property.kind == PropertyKind::Init && property.key.is_specific_static_name("run")
}

fn value(expression: &Expression<'_>, path: Path<'_>) -> Result<Value, LoadError> {
    if path.depth() > DEPTH_MAX {
        return refuse(format!("meta nests more than {DEPTH_MAX} levels deep"));
    }
    Ok(match expression.get_inner_expression() {
        Expression::StringLiteral(literal) => Value::String(literal.value.to_string()),
        Expression::NumericLiteral(literal) => number(literal.value),
        Expression::BooleanLiteral(literal) => Value::Bool(literal.value),
        Expression::NullLiteral(_) => Value::Null,
        // What JSON makes of a regular expression.
        Expression::RegExpLiteral(_) => Value::Object(Map::new()),
        Expression::TemplateLiteral(template) => match template.single_quasi() {
            Some(text) => Value::String(text.to_string()),
            None => return refuse(format!("template interpolation not allowed in {path}")),
        },
        Expression::UnaryExpression(unary) => match unary.argument.get_inner_expression() {
            Expression::NumericLiteral(literal) if unary.operator == UnaryOperator::UnaryNegation => {
                number(-literal.value)
            }
            _ => {
                let message = "UnaryExpression (only unary minus before a number is allowed)";
                return refuse(format!("non-literal value in {path}: {message}"));
            }
        },
        Expression::ArrayExpression(items) => Value::Array(array(items, path)?),
        Expression::ObjectExpression(inner) => Value::Object(object_at(inner, path, Skip::Nothing)?),
        other => return refuse(format!("non-literal value in {path}: {}", kind(other))),
    })
}

fn array(array: &ArrayExpression<'_>, path: Path<'_>) -> Result<Vec<Value>, LoadError> {
    let item = |(index, element): (usize, &ArrayExpressionElement<'_>)| match element {
        ArrayExpressionElement::Elision(_) => refuse(format!("sparse arrays not allowed in {path}")),
        ArrayExpressionElement::SpreadElement(_) => refuse(format!("spread not allowed in {path}")),
        element => match element.as_expression() {
            Some(expression) => value(expression, Path::Index(&path, index)),
            None => refuse(format!("sparse arrays not allowed in {path}")),
        },
    };
    array.elements.iter().enumerate().map(item).collect()
}

/// The number as JSON writes it: nothing for infinity, no sign for zero.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= SAFE_INTEGER_MAX {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn refuse<T>(message: String) -> Result<T, LoadError> {
    Err(LoadError::violation(message))
}

/// What ESTree, and so most tools, call this kind of expression.
pub(crate) fn kind(expression: &Expression<'_>) -> &'static str {
    match expression {
        Expression::Identifier(_) => "Identifier",
        Expression::CallExpression(_) => "CallExpression",
        Expression::NewExpression(_) => "NewExpression",
        Expression::ArrowFunctionExpression(_) => "ArrowFunctionExpression",
        Expression::FunctionExpression(_) => "FunctionExpression",
        Expression::ClassExpression(_) => "ClassExpression",
        Expression::BinaryExpression(_) | Expression::PrivateInExpression(_) => "BinaryExpression",
        Expression::LogicalExpression(_) => "LogicalExpression",
        Expression::ConditionalExpression(_) => "ConditionalExpression",
        Expression::AssignmentExpression(_) => "AssignmentExpression",
        Expression::SequenceExpression(_) => "SequenceExpression",
        Expression::UnaryExpression(_) => "UnaryExpression",
        Expression::UpdateExpression(_) => "UpdateExpression",
        Expression::AwaitExpression(_) => "AwaitExpression",
        Expression::YieldExpression(_) => "YieldExpression",
        Expression::ChainExpression(_) => "ChainExpression",
        Expression::ImportExpression(_) => "ImportExpression",
        Expression::TaggedTemplateExpression(_) => "TaggedTemplateExpression",
        Expression::TemplateLiteral(_) => "TemplateLiteral",
        Expression::ArrayExpression(_) => "ArrayExpression",
        Expression::ObjectExpression(_) => "ObjectExpression",
        Expression::ThisExpression(_) => "ThisExpression",
        Expression::Super(_) => "Super",
        Expression::ImportMeta(_) | Expression::NewTarget(_) => "MetaProperty",
        Expression::StaticMemberExpression(_)
        | Expression::ComputedMemberExpression(_)
        | Expression::PrivateFieldExpression(_) => "MemberExpression",
        Expression::BigIntLiteral(_) => "BigIntLiteral",
        Expression::StringLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::RegExpLiteral(_) => "Literal",
        _ => "Expression",
    }
}
