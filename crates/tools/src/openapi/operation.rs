//! One operation.

use super::OpenApiError;
use super::body::{self, Body};
use super::document::{Broken, cut, flag, text};
use super::notes::Notes;
use super::parameter::{self, Parameter, Place};
use super::path::PathTemplate;
use super::request::{self, Request};
use super::response;
use super::schema::{Root, Schemas, Sender};
use super::server;
use super::spot::Spot;
use crate::Tool;
use isolith_core::{BindingName, Method, Rule};
use serde_json::{Map, Value, json};

/// How much of what is said about an operation is kept.
const DESCRIPTION_CHARS_MAX: usize = 4_000;
/// How much of its name in the description.
const ID_CHARS_MAX: usize = 200;
/// What an operation takes besides its schemas and names.
const OPERATION_BYTES: usize = 256;

/// An operation of an API, and how to ask for it.
#[derive(Clone, Debug)]
pub struct Operation {
    name: BindingName,
    upstream: String,
    description: String,
    pub(super) method: Method,
    pub(super) path: PathTemplate,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) accept: Option<String>,
    pub(super) input: Value,
    output: Option<Value>,
    servers: Vec<String>,
}

impl Operation {
    /// Its name in the guest.
    pub fn name(&self) -> &BindingName {
        &self.name
    }

    /// With which method it is asked for.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Its path, parameters in braces.
    pub fn path(&self) -> &str {
        self.path.text()
    }

    /// Where it is, if that is elsewhere than the rest of the API.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// The same as a tool. What only reads needs no question.
    pub fn tool(&self) -> Tool {
        let rule = match self.method.as_str() {
            "GET" | "HEAD" | "OPTIONS" => Rule::Allow,
            _ => Rule::Ask,
        };
        Tool {
            name: self.name.clone(),
            upstream: self.upstream.clone(),
            description: self.description.clone(),
            input: self.input.clone(),
            output: self.output.clone(),
            rule,
        }
    }

    /// The request for these arguments, below a URL such as `https://api.example.com/v2`.
    ///
    /// Names are checked, and types as far as they are plain; the rest of the schema is not. No argument changes the host,
    /// the method or the segments of the path, or sets a header that is the host's to set.
    pub fn request(&self, base_url: &str, args: &Value) -> Result<Request, OpenApiError> {
        request::request(self, base_url, args)
    }
}

/// Reads what is at a spot.
pub(super) fn read<'a>(
    spot: &Spot<'a>,
    name: String,
    schemas: &mut Schemas<'a>,
    notes: &mut Notes,
) -> Result<Operation, Broken> {
    let document = schemas.document();
    schemas.begin_operation();
    let name = BindingName::new(name).map_err(|error| Broken::new(error.to_string()))?;
    let method = Method::new(spot.method).map_err(Broken::new)?;
    let path = PathTemplate::read(spot.path)?;
    let (mut parameters, mut roots): (Vec<Parameter>, Vec<Root<'a>>) =
        parameter::read_all(document, spot, notes)?.into_iter().unzip();
    keep_those_in_path(&path, &mut parameters, &mut roots, spot, notes)?;

    let body = match spot.operation.get("requestBody") {
        // OpenAPI 3.0 says to ignore it, and many servers and proxies do.
        Some(_) if matches!(spot.method, "get" | "head") => {
            notes.add(format!("{spot}: its body is left out: a {method} has none"));
            None
        }
        Some(value) => Some(Body::read(document, value).map_err(|broken| broken.under("requestBody"))?),
        None => None,
    };
    let (body, body_root) = body.unzip();
    parameter::name_arguments(&mut parameters, body.as_ref().map(|_| body::ARGUMENT));
    roots.extend(body_root);

    let names: usize = parameters.iter().map(|parameter| parameter.name.len() * 4).sum();
    schemas.charge(OPERATION_BYTES + names)?;
    let built = schemas.build(Sender::Guest, &roots)?;
    let mut is_exact = built.is_exact;
    let input = input(&parameters, body.as_ref(), built.schemas, built.defs);

    let response = response::read(document, spot).and_then(|response| match response {
        None => Ok((None, None)),
        Some(response) => {
            let built = schemas.build(Sender::Api, std::slice::from_ref(&response.root))?;
            is_exact &= built.is_exact;
            Ok((Some(response.media_type), output(built.schemas, built.defs)))
        }
    });
    // What is answered is good to know; the operation works without.
    let (accept, output) = response.unwrap_or_else(|broken| {
        notes.add(format!("{spot}: what it answers is not known: {broken}"));
        (None, None)
    });
    if !is_exact {
        notes.add(format!("{spot}: its schema is very large or refers to itself without end, and was made less exact"));
    }
    let mut servers = server::urls(spot.operation, notes);
    if servers.is_empty() {
        servers = server::urls(spot.item, notes);
    }
    let upstream = spot.id().map_or_else(|| spot.to_string(), |id| cut(id, ID_CHARS_MAX));
    let description = description(spot.operation, spot.item);
    Ok(Operation { name, upstream, description, method, path, parameters, body, accept, input, output, servers })
}

/// A path needs every parameter it names, and can do nothing with others.
fn keep_those_in_path(
    path: &PathTemplate,
    parameters: &mut Vec<Parameter>,
    roots: &mut Vec<Root<'_>>,
    spot: &Spot<'_>,
    notes: &mut Notes,
) -> Result<(), Broken> {
    let is_declared = |name: &str| parameters.iter().any(|known| known.place == Place::Path && known.name == name);
    if let Some(name) = path.parameters().find(|name| !is_declared(name)) {
        return Err(Broken::new(format!("its path has `{{{name}}}`, which is not among its parameters")));
    }
    let kept: Vec<bool> = parameters
        .iter()
        .map(|known| known.place != Place::Path || path.parameters().any(|name| name == known.name))
        .collect();
    for (parameter, _) in parameters.iter().zip(&kept).filter(|(_, kept)| !**kept) {
        notes.add(format!("{spot}: the parameter `{}` is left out: it is not in the path", parameter.name));
    }
    let mut each = kept.iter();
    parameters.retain(|_| each.next() == Some(&true));
    let mut each = kept.iter();
    roots.retain(|_| each.next() == Some(&true));
    Ok(())
}

fn input(parameters: &[Parameter], body: Option<&Body>, schemas: Vec<Value>, defs: Map<String, Value>) -> Value {
    let arguments = parameters.iter().map(|parameter| (parameter.argument.as_str(), parameter.required));
    let arguments: Vec<(&str, bool)> = arguments.chain(body.map(|body| (body::ARGUMENT, body.required))).collect();
    let required: Vec<&str> = arguments.iter().filter(|(_, required)| *required).map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        arguments.iter().zip(schemas).map(|((name, _), schema)| ((*name).to_owned(), schema)).collect();
    let mut input = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        input["required"] = required.into();
    }
    if !defs.is_empty() {
        input["$defs"] = defs.into();
    }
    input
}

/// Nothing where anything may be answered.
fn output(schemas: Vec<Value>, defs: Map<String, Value>) -> Option<Value> {
    match schemas.into_iter().next()? {
        Value::Object(mut schema) if !schema.is_empty() => {
            if !defs.is_empty() {
                schema.insert("$defs".into(), defs.into());
            }
            Some(schema.into())
        }
        _ => None,
    }
}

fn description(operation: &Map<String, Value>, item: &Map<String, Value>) -> String {
    let said =
        |key: &str| text(operation, key).or_else(|| text(item, key)).map(|text| cut(text, DESCRIPTION_CHARS_MAX));
    let deprecated = flag(operation, "deprecated").then(|| "Deprecated.".to_owned());
    let (summary, description) = (said("summary"), said("description"));
    // Many repeat the one at the start of the other.
    let summary =
        summary.filter(|summary| !description.as_ref().is_some_and(|text| text.starts_with(summary.as_str())));
    let parts: Vec<String> = [deprecated, summary, description].into_iter().flatten().collect();
    cut(&parts.join("\n\n"), DESCRIPTION_CHARS_MAX)
}
