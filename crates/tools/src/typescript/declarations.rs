//! Many tools in one declaration, sharing the types that have names.

use super::hints;
use super::print::{Naming, Printed, print};
use super::read::Types;
use super::shape::Shape;
use super::text::{comment, line, lines, method};
use crate::{Namespace, Tool};
use serde_json::Value;
use std::collections::BTreeMap;

/// How much of the description of a tool or a namespace is shown.
const DESCRIPTION_CHARS_MAX: usize = 2_000;

/// How much is said of an answer.
const ANSWER_CHARS_MAX: usize = 200;

/// A declaration that grows until it is full.
pub(crate) struct Declarations {
    bytes_max: usize,
    /// Types by their names, as they are declared.
    aliases: BTreeMap<String, String>,
    /// Their names in the order in which they came.
    order: Vec<String>,
    alias_bytes: usize,
    body: String,
}

impl Declarations {
    /// Nothing yet, and never much more than `bytes_max`.
    pub(crate) fn new(bytes_max: usize) -> Declarations {
        let (aliases, order) = (BTreeMap::new(), Vec::new());
        Declarations { bytes_max, aliases, order, alias_bytes: 0, body: String::new() }
    }

    /// Adds some tools of a namespace, as many as there is room for. The others are counted in a comment.
    pub(crate) fn namespace(&mut self, namespace: &Namespace, tools: &[Tool]) {
        let prefix = format!("{}_", namespace.name);
        self.body.push_str(&comment(&lines(&namespace.description, DESCRIPTION_CHARS_MAX), 1));
        self.body.push_str(&format!("  {}: {{\n", namespace.name));
        for (place, tool) in tools.iter().enumerate() {
            let before = self.order.len();
            let method = self.method(tool, &prefix, 2);
            if self.body.len() + self.alias_bytes + method.len() > self.bytes_max {
                self.forget(before);
                self.body.push_str(&format!("    // {} more are left out\n", tools.len() - place));
                break;
            }
            self.body.push_str(&method);
        }
        self.body.push_str("  };\n");
    }

    /// The whole declaration.
    pub(crate) fn finish(self) -> String {
        let mut text = self.types();
        text.push_str("declare const tools: {\n");
        text.push_str(&self.body);
        text.push_str("};\n");
        text
    }

    /// The types that have names.
    pub(super) fn types(&self) -> String {
        let mut text: String =
            self.order.iter().filter_map(|name| self.aliases.get(name)).map(String::as_str).collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// A tool as a method. The names of its types begin with `prefix`.
    pub(super) fn method(&mut self, tool: &Tool, prefix: &str, indent: usize) -> String {
        let input = Types::read(&tool.input, &format!("{}_args", tool.name));
        let args = if takes_nothing(&input) {
            String::new()
        } else {
            let sign = if is_optional(&input) { "?" } else { "" };
            format!("args{sign}: {}", self.type_text(&input, tool, prefix, indent))
        };
        let output = tool.output.as_ref().map(|output| Types::read(output, &format!("{}_answer", tool.name)));
        let answer = output.map_or("unknown".to_owned(), |output| self.type_text(&output, tool, prefix, indent));
        let mut rows = lines(&tool.description, DESCRIPTION_CHARS_MAX);
        if let Some(Value::Object(table)) = &tool.output {
            let said = line(hints::description(table), ANSWER_CHARS_MAX);
            if !said.is_empty() {
                rows.push(format!("@returns {said}"));
            }
        }
        let (comment, pad) = (comment(&rows, indent), "  ".repeat(indent));
        format!("{comment}{pad}{}({args}): Promise<{answer}>;\n", method(tool.name.as_str()))
    }

    /// The type of a schema. Its named types are added, or are those that are there already.
    fn type_text(&mut self, types: &Types, tool: &Tool, prefix: &str, indent: usize) -> String {
        let mut printed = print(types, &Naming::Prefix(prefix), indent);
        // Tools from one place mostly mean the same by a name. All that a schema mentions is the same, or none of it is
        // shared: then two types with one name cannot be mixed up, however they refer to each other.
        if !self.agrees(&printed) {
            printed = print(types, &Naming::Prefix(&self.free_prefix(&format!("{prefix}{}_", tool.name))), indent);
        }
        for (name, text) in printed.aliases {
            if !self.aliases.contains_key(&name) {
                self.alias_bytes += text.len();
                self.order.push(name.clone());
                self.aliases.insert(name, text);
            }
        }
        printed.text
    }

    fn agrees(&self, printed: &Printed) -> bool {
        printed.aliases.iter().all(|(name, text)| self.aliases.get(name).is_none_or(|known| known == text))
    }

    /// A prefix that no name has.
    fn free_prefix(&self, wanted: &str) -> String {
        let is_free = |prefix: &String| {
            !self.aliases.range::<String, _>(prefix..).next().is_some_and(|(name, _)| name.starts_with(prefix.as_str()))
        };
        let numbered = (2..).map(|n| format!("{wanted}{n}_"));
        // There are more numbers than names, so one is free.
        std::iter::once(wanted.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    }

    /// Drops the types that came after the first so many.
    fn forget(&mut self, keep: usize) {
        for name in self.order.drain(keep..) {
            self.alias_bytes -= self.aliases.remove(&name).map_or(0, |text| text.len());
        }
    }
}

/// Whether there is nothing to be given to a tool.
fn takes_nothing(input: &Types) -> bool {
    match input.definitions.first().map(|root| &root.shape) {
        Some(Shape::Object(object)) => {
            let none = matches!(object.others.as_deref(), None | Some(Shape::Never));
            none && object.members.is_empty() && object.left_out == 0
        }
        _ => false,
    }
}

/// Whether a tool can be called without arguments.
fn is_optional(input: &Types) -> bool {
    let mut known = vec![None; input.definitions.len()];
    optional(input, &Shape::Named(0), &mut known, 0)
}

/// Whether an empty object is of a type. `known` is what was found for the definitions, so that each is looked at once.
fn optional(input: &Types, shape: &Shape, known: &mut [Option<bool>], hops: usize) -> bool {
    /// How far references are followed; behind that, something may be required.
    const HOPS_MAX: usize = 16;
    match shape {
        Shape::Unknown => true,
        Shape::Object(object) => object.members.iter().all(|member| member.optional),
        Shape::Union(parts) => parts.iter().any(|part| optional(input, part, known, hops)),
        Shape::All(parts) => parts.iter().all(|part| optional(input, part, known, hops)),
        Shape::Named(place) => {
            let found = match known[*place] {
                Some(found) => found,
                None => hops < HOPS_MAX && optional(input, &input.definitions[*place].shape, known, hops + 1),
            };
            known[*place] = Some(found);
            found
        }
        Shape::Never | Shape::Word(_) | Shape::Literal(_) | Shape::List(_) | Shape::Tuple { .. } => false,
    }
}
