//! What parameters of functions and variables of loops stand for.
//!
//! A call that leads outside is looked at without a context first. Where it asks for a parameter, it is looked at once
//! more for each place that its function is called from, so that a path and the method that go together stay together.

use super::eval::Eval;
use super::facts::{Callee, FuncKind, Site};
use super::text::Why;
use super::value::{VALUES_MAX, Value, Values};
use oxc::ast::ast::{Argument, Expression};
use oxc::span::{GetSpan, Span};
use oxc::syntax::scope::ScopeId;

/// Functions and loops around one call that are told apart.
const FRAMES_MAX: usize = 8;
/// Contexts that one call is looked at in.
const CONTEXTS_MAX: usize = VALUES_MAX;

/// What a function is called with, or what item a loop is at.
#[derive(Clone)]
pub(super) struct Frame<'a> {
    pub(super) scope: ScopeId,
    pub(super) given: Given<'a>,
}

#[derive(Clone)]
pub(super) enum Given<'a> {
    Arguments(&'a [Argument<'a>]),
    /// The first parameter, or the variable of a loop.
    First(Value<'a>),
    Unknown(Why),
}

impl<'a> Eval<'_, 'a> {
    /// Looks at something in each of its contexts, and gives what was found in those that are complete.
    pub(super) fn in_contexts<T>(&mut self, mut look: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let (mut open, mut found, mut contexts) = (vec![Vec::new()], Vec::new(), 1);
        while let Some(frames) = open.pop() {
            self.restart(frames);
            let seen = look(self);
            match self.next_contexts(CONTEXTS_MAX.saturating_sub(contexts)) {
                Some(next) => {
                    contexts += next.len();
                    open.extend(next.into_iter().rev());
                }
                None => found.push(seen),
            }
        }
        found
    }

    /// The contexts to look at in place of the present one, if it left something open.
    fn next_contexts(&mut self, most: usize) -> Option<Vec<Vec<Frame<'a>>>> {
        let mut wanted = self.wanted.take()?;
        if self.frames.len() >= FRAMES_MAX || self.has_frame(wanted) {
            return None;
        }
        let mut given = self.given_to(wanted);
        // What is iterated over may itself depend on a function around it, which then comes first.
        let mut tried = vec![wanted];
        while let Some(outer) = self.wanted.take().filter(|outer| !tried.contains(outer) && !self.has_frame(*outer)) {
            wanted = outer;
            tried.push(outer);
            given = self.given_to(wanted);
        }
        if given.len() > most {
            given = vec![Given::Unknown(Why::Many(self.span_of(wanted)))];
        }
        let inside = |frame: &Frame<'a>| self.scoping.scope_is_descendant_of(wanted, frame.scope);
        let at = self.frames.iter().rposition(inside).map_or(0, |at| at + 1);
        let with = |given| {
            let mut frames = self.frames.clone();
            frames.insert(at, Frame { scope: wanted, given });
            frames
        };
        Some(given.into_iter().map(with).collect())
    }

    fn has_frame(&self, scope: ScopeId) -> bool {
        self.frames.iter().any(|frame| frame.scope == scope)
    }

    fn span_of(&self, scope: ScopeId) -> Span {
        let function = self.facts.functions.get(&scope).map(|func| func.kind.span());
        function.or_else(|| self.facts.loops.get(&scope).map(|iterable| iterable.span())).unwrap_or_default()
    }

    /// Everything that a function is called with, or that a loop goes over.
    fn given_to(&mut self, scope: ScopeId) -> Vec<Given<'a>> {
        if let Some(iterable) = self.facts.loops.get(&scope) {
            return self.each_of(iterable);
        }
        let facts = self.facts;
        let Some(func) = facts.functions.get(&scope) else { return vec![Given::Unknown(Why::From(Span::default()))] };
        let (mut given, mut all_known) = (Vec::new(), true);
        let mut called = false;
        for name in &func.names {
            let sites = facts.sites.get(name).map_or(&[][..], Vec::as_slice);
            all_known &= self.is_only_called(*name, sites.len());
            called |= !sites.is_empty();
            for site in sites.iter().take(CONTEXTS_MAX + 1) {
                match site {
                    Site::Arguments(arguments) => given.push(Given::Arguments(arguments)),
                    Site::EachOf(items) => given.extend(self.each_of(items)),
                }
            }
        }
        if !called || !all_known {
            given.push(Given::Unknown(Why::From(parameters_span(func.kind))));
        }
        given
    }

    fn each_of(&mut self, items: &'a Expression<'a>) -> Vec<Given<'a>> {
        let values = self.eval(items);
        self.items(&values, items.span()).into_iter().flat_map(|values| values.0).map(Given::First).collect()
    }

    /// Whether a name is never used in another way than by these calls.
    fn is_only_called(&mut self, name: Callee<'a>, calls: usize) -> bool {
        let reads = match name {
            Callee::Name(symbol) | Callee::Member(symbol, _) => self.uses(symbol).reads,
            Callee::Itself(_) => 0,
        };
        let members = |callee| self.facts.member_reads.get(&callee).copied().unwrap_or(0);
        match name {
            // A function without a name is known to be called only where it stands; see `given_to`.
            Callee::Itself(_) => true,
            Callee::Name(_) => reads <= calls,
            Callee::Member(symbol, _) => members(name) <= calls && reads <= members(Callee::Name(symbol)),
        }
    }

    /// What a parameter stands for.
    pub(super) fn parameter(
        &mut self,
        function: ScopeId,
        index: usize,
        default: Option<&'a Expression<'a>>,
        span: Span,
    ) -> Values<'a> {
        let values = self.read_frame(function, span, |eval, given| match given {
            Given::Arguments(arguments) => eval.argument(arguments, index, span),
            Given::First(value) if index == 0 => Values::one(value),
            Given::First(_) => Values::unknown(Why::From(span)),
            Given::Unknown(Why::Many(span)) => Values::unknown(Why::Many(span)),
            Given::Unknown(_) => Values::unknown(Why::From(span)),
        });
        match (default, values.without_nothing()) {
            (Some(default), (values, true)) => {
                let default = self.eval(default);
                values.join(default, span)
            }
            (None, (values, true)) => values.join(Values::one(Value::Nothing), span),
            (_, (values, false)) => values,
        }
    }

    /// What the variable of a loop stands for.
    pub(super) fn item(&mut self, scope: ScopeId, span: Span) -> Values<'a> {
        self.read_frame(scope, span, |_, given| match given {
            Given::First(value) => Values::one(value),
            Given::Unknown(why) => Values::unknown(why),
            Given::Arguments(_) => Values::unknown(Why::From(span)),
        })
    }

    /// Reads from the innermost frame of a function or loop, in the context that this was entered from.
    fn read_frame(
        &mut self,
        scope: ScopeId,
        span: Span,
        read: impl FnOnce(&mut Self, Given<'a>) -> Values<'a>,
    ) -> Values<'a> {
        self.context_uses += 1;
        let Some(at) = self.frames.iter().rposition(|frame| frame.scope == scope) else {
            self.wanted.get_or_insert(scope);
            return Values::unknown(Why::From(span));
        };
        let given = self.frames[at].given.clone();
        let inner = self.frames.split_off(at);
        let values = read(self, given);
        self.frames.extend(inner);
        values
    }

    /// One argument of a call.
    pub(super) fn argument(&mut self, arguments: &'a [Argument<'a>], index: usize, span: Span) -> Values<'a> {
        let spread = arguments.iter().take(index + 1).find(|argument| argument.is_spread());
        match (spread, arguments.get(index).and_then(Argument::as_expression)) {
            (Some(spread), _) => Values::unknown(Why::From(spread.span())),
            (None, Some(expression)) => self.eval(expression),
            (None, None) if arguments.len() <= index => Values::one(Value::Nothing),
            (None, None) => Values::unknown(Why::From(span)),
        }
    }

    /// What a function of the program returns for these arguments.
    pub(super) fn returned(&mut self, scope: ScopeId, arguments: &'a [Argument<'a>], span: Span) -> Values<'a> {
        let facts = self.facts;
        let unknown = Values::unknown(Why::From(span));
        let Some(func) = facts.functions.get(&scope) else { return unknown };
        if func.kind.is_generator() || func.returns.is_empty() || self.frames.len() >= 2 * FRAMES_MAX {
            return unknown;
        }
        self.frames.push(Frame { scope, given: Given::Arguments(arguments) });
        let returns = func.returns.iter().take(VALUES_MAX);
        let values = returns.fold(Values::none(), |all, value| all.join(self.eval(value), span));
        self.frames.pop();
        self.context_uses += 1;
        values
    }
}

fn parameters_span(kind: FuncKind<'_>) -> Span {
    match kind {
        FuncKind::Function(function) => function.params.span,
        FuncKind::Arrow(arrow) => arrow.params.span,
    }
}
