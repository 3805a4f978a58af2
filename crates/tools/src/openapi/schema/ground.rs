//! Definitions that refer to themselves.
//!
//! A list of lists of lists ends with the value that is checked. `A: all of A` does not: whoever checks it never comes
//! back. Descriptions have such circles in good faith, a base that names its kinds and kinds that name their base.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Cuts every circle that goes round without going into a value, and says whether there was one.
pub(super) fn ground(defs: &mut Map<String, Value>, order: &[String]) -> bool {
    let mut edges: HashMap<String, Vec<String>> = HashMap::new();
    for (name, schema) in defs.iter_mut() {
        let targets = edges.entry(name.clone()).or_default();
        in_place(schema, &mut |target| {
            targets.push(target.to_owned());
            true
        });
    }
    let mut search = Search { edges: &edges, entered: HashSet::new(), left: HashSet::new(), back: HashSet::new() };
    order.iter().for_each(|name| search.visit(name));
    let back = search.back.into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect::<HashSet<_>>();
    for (name, schema) in defs.iter_mut() {
        in_place(schema, &mut |target| !back.contains(&(name.clone(), target.to_owned())));
    }
    !back.is_empty()
}

struct Search<'a> {
    edges: &'a HashMap<String, Vec<String>>,
    entered: HashSet<&'a str>,
    left: HashSet<&'a str>,
    back: HashSet<(&'a str, &'a str)>,
}

impl<'a> Search<'a> {
    /// As deep as there are definitions, which are few.
    fn visit(&mut self, name: &str) {
        let Some((name, targets)) = self.edges.get_key_value(name) else { return };
        if !self.entered.insert(name) {
            return;
        }
        for target in targets {
            if self.entered.contains(target.as_str()) && !self.left.contains(target.as_str()) {
                self.back.insert((name, target));
            } else {
                self.visit(target);
            }
        }
        self.left.insert(name);
    }
}

/// Visits the references that are held against the same value as the schema itself, and takes away those not to keep.
fn in_place(schema: &mut Value, keep: &mut dyn FnMut(&str) -> bool) {
    let Some(table) = schema.as_object_mut() else { return };
    let target = table.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix("#/$defs/"));
    if target.is_some_and(|target| !keep(target)) {
        table.remove("$ref");
    }
    for (key, value) in table {
        match (key.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| in_place(schema, keep));
            }
            ("not" | "if" | "then" | "else", schema) => in_place(schema, keep),
            ("dependentSchemas", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| in_place(schema, keep));
            }
            _ => {}
        }
    }
}
