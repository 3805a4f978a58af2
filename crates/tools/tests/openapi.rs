//! From a description to tools and requests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "openapi/descriptions.rs"]
mod descriptions;
#[path = "openapi/hostile.rs"]
mod hostile;
#[path = "openapi/names.rs"]
mod names;
#[path = "openapi/requests.rs"]
mod requests;
#[path = "openapi/schemas.rs"]
mod schemas;
#[path = "openapi/texts.rs"]
mod texts;

use isolith_core::BindingName;
use isolith_tools::{OpenApi, Tool};
use serde_json::{Value, json};

const BASE: &str = "https://h.example/v1";

fn issues() -> OpenApi {
    OpenApi::read(&serde_json::from_str(include_str!("data/issues-3.0.json")).unwrap()).unwrap()
}

fn search() -> OpenApi {
    OpenApi::read(&serde_json::from_str(include_str!("data/issues-3.1.json")).unwrap()).unwrap()
}

/// A description with these paths and components.
fn described(version: &str, paths: Value, components: Value) -> Value {
    json!({ "openapi": version, "info": { "title": "T", "version": "1" }, "paths": paths, "components": components })
}

fn api(paths: Value) -> OpenApi {
    OpenApi::read(&described("3.0.3", paths, json!({}))).unwrap()
}

fn tools(api: &OpenApi) -> Vec<Tool> {
    api.namespace(&BindingName::new("api").unwrap()).unwrap().tools
}

fn tool(api: &OpenApi, name: &str) -> Tool {
    api.operation(name).unwrap().tool()
}

/// An operation that takes and answers with this.
fn taking(schema: Value) -> Value {
    let content = json!({ "content": { "application/json": { "schema": schema } } });
    json!({ "post": { "operationId": "op", "requestBody": content, "responses": { "200": content } } })
}
