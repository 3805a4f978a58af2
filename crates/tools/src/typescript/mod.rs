//! Tools as TypeScript declares them, for a model to read and for `tsc` to check.
//!
//! Schemas come from strangers. Whatever is in them, the text is bounded and is a declaration and nothing else; what cannot
//! be said in it is `unknown`. A type that is recursive, or is large and used twice, gets a name of its own: `type` lines
//! stand before what mentions them.

mod declarations;
mod hints;
mod merge;
mod object;
mod pointer;
mod print;
mod read;
mod settle;
mod shape;
pub(crate) mod text;

use crate::{Namespace, Tool};
pub(crate) use declarations::Declarations;
use print::{Naming, print};
use read::Types;
use serde_json::Value;

/// How much [`namespace`] and [`catalogue`] write.
const DECLARATIONS_BYTES_MAX: usize = 8 << 20;

/// The type of a schema, in one expression. There is no place for names: a type is `unknown` inside itself.
pub fn type_of(schema: &Value) -> String {
    print(&Types::read(schema, "Root"), &Naming::Off, 0).text
}

/// A tool as a method: `name(args: …): Promise<…>;` with a comment, after the types that need a name.
pub fn function(tool: &Tool) -> String {
    let mut declarations = Declarations::new(usize::MAX);
    let method = declarations.method(tool, &format!("{}_", tool.name), 0);
    let mut text = declarations.types();
    text.push_str(&method);
    text
}

/// `declare const tools: { <namespace>: { … } };`, after the types that need a name.
pub fn namespace(namespace: &Namespace) -> String {
    catalogue(std::slice::from_ref(namespace))
}

/// All namespaces in one declaration of `tools`. Their names are taken to differ, as in a [`Catalogue`](crate::Catalogue).
pub fn catalogue(namespaces: &[Namespace]) -> String {
    let mut declarations = Declarations::new(DECLARATIONS_BYTES_MAX);
    for namespace in namespaces {
        declarations.namespace(namespace, &namespace.tools);
    }
    declarations.finish()
}
