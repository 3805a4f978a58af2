//! What an expression can be, as far as its text tells.

use super::text::{Text, Why};
use isolith_core::Builtin;
use oxc::ast::ast::{ArrayExpression, ObjectExpression, TSEnumDeclaration};
use oxc::span::Span;
use oxc::syntax::scope::ScopeId;
use std::rc::Rc;

/// More possibilities than this are not kept apart.
pub(super) const VALUES_MAX: usize = 64;

/// Bytes that are read in the time of one step.
const BYTES_A_STEP: usize = 64;

/// One thing that an expression can be.
#[derive(Clone)]
pub(super) enum Value<'a> {
    /// A text, or something that is used as one: a number, a `URL`.
    Text(Text),
    /// `null` or `undefined`.
    Nothing,
    /// An object as written. Its values are looked at in the first so many frames, those it was written in.
    Object(&'a ObjectExpression<'a>, usize),
    /// An array as written.
    Array(&'a ArrayExpression<'a>, usize),
    /// An array whose items are known already.
    Items(Rc<[Values<'a>]>),
    /// An enum of TypeScript.
    Enum(&'a TSEnumDeclaration<'a>),
    /// A function of the program.
    Function(ScopeId),
    /// Something that the sandbox provides.
    Host(Host),
    /// A `Request`.
    Request(Rc<Request>),
    /// Anything.
    Unknown(Why),
}

/// Something that the sandbox provides: `kv.cache.get` is the root `kv` and the keys `cache` and `get`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) root: Root,
    pub(super) keys: Vec<Text>,
}

/// The globals that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Global,
    Fetch,
    Request,
    Url,
    Tools,
    Kv,
    Files,
    Invoke,
    Secrets,
    Date,
    Math,
    Crypto,
    Performance,
    Object,
    String,
    /// `encodeURI` and `encodeURIComponent`.
    Encode,
    /// What is there only when it is granted.
    Builtin(Builtin),
}

impl Root {
    /// What a global of this name is; tools also have globals of their own, `external_<name>`.
    pub(super) fn of(name: &str) -> Option<Root> {
        Some(match name {
            "globalThis" => Root::Global,
            "fetch" => Root::Fetch,
            "Request" => Root::Request,
            "URL" => Root::Url,
            "tools" => Root::Tools,
            "kv" => Root::Kv,
            "files" => Root::Files,
            "invoke" => Root::Invoke,
            "secrets" => Root::Secrets,
            "Date" => Root::Date,
            "Math" => Root::Math,
            "crypto" => Root::Crypto,
            "performance" => Root::Performance,
            "Object" => Root::Object,
            "String" => Root::String,
            "encodeURI" | "encodeURIComponent" => Root::Encode,
            name => Root::Builtin(Builtin::of_global(name)?),
        })
    }
}

/// The global that a program is called with.
pub(super) const INPUT: &str = "input";

/// The prefix of the globals that tools have.
pub(super) const TOOL_PREFIX: &str = "external_";

impl Host {
    /// The global of this name.
    pub(super) fn global(name: &str, span: Span) -> Option<Host> {
        if let Some(tool) = name.strip_prefix(TOOL_PREFIX).filter(|tool| !tool.is_empty()) {
            return Some(Host { root: Root::Tools, keys: vec![Text::known(tool, span)] });
        }
        Root::of(name).map(|root| Host { root, keys: Vec::new() })
    }
}

/// A `Request`, or the arguments of a `fetch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) url: Text,
    pub(super) method: Method,
}

/// A method as the program gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// None is given.
    Default,
    Known(String),
    Any,
}

/// Everything that an expression can be.
#[derive(Clone)]
pub(super) struct Values<'a>(pub(super) Vec<Value<'a>>);

impl<'a> Values<'a> {
    pub(super) fn none() -> Self {
        Values(Vec::new())
    }

    pub(super) fn one(value: Value<'a>) -> Self {
        Values(vec![value])
    }

    pub(super) fn unknown(why: Why) -> Self {
        Values::one(Value::Unknown(why))
    }

    pub(super) fn text(text: &str, span: Span) -> Self {
        Values::one(Value::Text(Text::known(text, span)))
    }

    /// Adds a possibility; `span` is what to blame if there are too many.
    pub(super) fn add(&mut self, value: Value<'a>, span: Span) {
        let again = match &value {
            Value::Text(text) => self.0.iter().any(|v| matches!(v, Value::Text(other) if other == text)),
            Value::Nothing => self.0.iter().any(|v| matches!(v, Value::Nothing)),
            Value::Unknown(_) => self.0.iter().any(|v| matches!(v, Value::Unknown(_))),
            _ => false,
        };
        match self.0.len() {
            _ if again => {}
            0..VALUES_MAX => self.0.push(value),
            VALUES_MAX => self.0.push(Value::Unknown(Why::Many(span))),
            _ => {}
        }
    }

    pub(super) fn join(mut self, other: Values<'a>, span: Span) -> Self {
        other.0.into_iter().for_each(|value| self.add(value, span));
        self
    }

    /// Without `null` and `undefined`, and whether they were there.
    pub(super) fn without_nothing(mut self) -> (Self, bool) {
        let count = self.0.len();
        self.0.retain(|value| !matches!(value, Value::Nothing));
        let had = self.0.len() < count;
        (self, had)
    }

    /// Each possibility used as a text.
    pub(super) fn texts(&self, span: Span) -> Vec<Text> {
        self.0
            .iter()
            .map(|value| match value {
                Value::Text(text) => text.clone(),
                Value::Unknown(why) => Text::hole(*why),
                _ => Text::hole(Why::From(span)),
            })
            .collect()
    }

    /// What it costs to copy and read these, in steps.
    pub(super) fn weight(&self) -> usize {
        let weight = |value: &Value<'a>| match value {
            Value::Text(text) => 1 + text.len() / BYTES_A_STEP,
            _ => 1,
        };
        self.0.iter().map(weight).sum()
    }

    /// Whether these are texts without surprises, which mean the same wherever they are asked for.
    pub(super) fn are_plain(&self) -> bool {
        self.0.iter().all(|value| matches!(value, Value::Text(_) | Value::Nothing | Value::Unknown(_)))
    }
}
