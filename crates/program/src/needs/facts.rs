//! What one walk over the tree tells about names, functions and calls.

use oxc::ast::ast::{
    Argument, ArrowFunctionExpression, CallExpression, Expression, Function, NewExpression, TSEnumDeclaration,
};
use oxc::span::Span;
use oxc::syntax::reference::ReferenceId;
use oxc::syntax::scope::ScopeId;
use oxc::syntax::symbol::SymbolId;
use std::collections::{HashMap, HashSet};

/// All of it.
#[derive(Default)]
pub(super) struct Facts<'a> {
    pub(super) bindings: HashMap<SymbolId, Binding<'a>>,
    /// By the scope that each has of its own.
    pub(super) functions: HashMap<ScopeId, Func<'a>>,
    /// Names of functions that have not been walked over yet.
    pub(super) early_names: HashMap<ScopeId, Vec<Callee<'a>>>,
    /// The loops `for (… of iterable)`, by their scopes.
    pub(super) loops: HashMap<ScopeId, &'a Expression<'a>>,
    pub(super) writes: HashMap<SymbolId, Writes<'a>>,
    /// What is called, and where.
    pub(super) sites: HashMap<Callee<'a>, Vec<Site<'a>>>,
    /// How often `name.key` stands in the program, by name and by both.
    pub(super) member_reads: HashMap<Callee<'a>, usize>,
    pub(super) calls: Vec<Call<'a>>,
    /// Every mention of a global that leads outside.
    pub(super) mentions: Vec<Mention<'a>>,
    /// Mentions that use nothing, such as `typeof fetch`, by their offset.
    pub(super) idle: HashSet<u32>,
    /// The names of `"name" in …`.
    pub(super) looked_for: HashSet<&'a str>,
    /// The keys that are read of what is mentioned at an offset: `tools.search`, `const { search } = tools`.
    pub(super) keys: HashMap<u32, Vec<(&'a str, Span)>>,
}

/// Where the value of a name comes from.
#[derive(Clone)]
pub(super) enum Binding<'a> {
    /// `const name = init`, or a part of `init`.
    Declared {
        init: Option<&'a Expression<'a>>,
        steps: Vec<Take<'a>>,
    },
    /// A parameter, or a part of one.
    Parameter {
        function: ScopeId,
        index: usize,
        default: Option<&'a Expression<'a>>,
        steps: Vec<Take<'a>>,
        span: Span,
    },
    /// The variable of a loop over items, or a part of it.
    Item {
        scope: ScopeId,
        steps: Vec<Take<'a>>,
        span: Span,
    },
    Function(ScopeId),
    Enum(&'a TSEnumDeclaration<'a>),
    /// `declare const name`: there only for the types, so the global is meant.
    Ambient,
    /// A class, something caught, or a name declared more than once.
    Opaque,
}

/// One step from a value to a part of it.
#[derive(Clone, Copy)]
pub(super) enum Take<'a> {
    Key(&'a str),
    Index(usize),
    /// This, where there is nothing.
    Or(&'a Expression<'a>),
    /// Something that is not followed.
    Unknown,
}

/// A function with a body.
pub(super) struct Func<'a> {
    pub(super) kind: FuncKind<'a>,
    pub(super) returns: Vec<&'a Expression<'a>>,
    /// Under which names it is called.
    pub(super) names: Vec<Callee<'a>>,
}

#[derive(Clone, Copy)]
pub(super) enum FuncKind<'a> {
    Function(&'a Function<'a>),
    Arrow(&'a ArrowFunctionExpression<'a>),
}

impl FuncKind<'_> {
    pub(super) fn span(self) -> Span {
        match self {
            FuncKind::Function(function) => function.span,
            FuncKind::Arrow(arrow) => arrow.span,
        }
    }

    pub(super) fn is_generator(self) -> bool {
        matches!(self, FuncKind::Function(function) if function.generator)
    }
}

/// What a call names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee<'a> {
    /// `name()`
    Name(SymbolId),
    /// `name.key()`
    Member(SymbolId, &'a str),
    /// `(() => …)()`, or a function handed over in its place.
    Itself(ScopeId),
}

/// Where and with what something is called.
#[derive(Clone, Copy)]
pub(super) enum Site<'a> {
    /// With these arguments.
    Arguments(&'a [Argument<'a>]),
    /// Once for each item: `items.map(callee)`.
    EachOf(&'a Expression<'a>),
}

/// How a name or the object it stands for is changed.
#[derive(Default)]
pub(super) struct Writes<'a> {
    /// `name = value`
    pub(super) assigned: Vec<&'a Expression<'a>>,
    /// How often `name += value` stands in the program.
    pub(super) appended: usize,
    /// `name.key = value`; no key where it is computed.
    pub(super) keys: Vec<Option<&'a str>>,
    /// `name.push(value)`
    pub(super) pushed: Vec<&'a Argument<'a>>,
}

/// A call or a `new`.
#[derive(Clone, Copy)]
pub(super) enum Call<'a> {
    Call(&'a CallExpression<'a>),
    New(&'a NewExpression<'a>),
}

/// A global that leads outside, wherever it stands.
pub(super) struct Mention<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    pub(super) reference: Option<ReferenceId>,
}
