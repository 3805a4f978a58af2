//! What names stand for.

use super::eval::Eval;
use super::facts::{Binding, Take, Writes};
use super::text::{Text, Why};
use super::url;
use super::value::{Host, INPUT, VALUES_MAX, Value, Values};
use oxc::ast::ast::IdentifierReference;
use oxc::span::Span;
use oxc::syntax::symbol::SymbolId;

impl<'a> Eval<'_, 'a> {
    pub(super) fn name(&mut self, name: &'a IdentifierReference<'a>) -> Values<'a> {
        let reference = name.reference_id.get().map(|id| self.scoping.get_reference(id));
        match reference.and_then(|reference| reference.symbol_id()) {
            Some(symbol) if !matches!(self.facts.bindings.get(&symbol), Some(Binding::Ambient)) => {
                self.symbol(symbol, name.span)
            }
            _ if name.name == INPUT => Values::unknown(Why::Input),
            _ if name.name == "undefined" => Values::one(Value::Nothing),
            _ => match Host::global(&name.name, name.span) {
                Some(host) => {
                    self.touched.push(name.span.start);
                    Values::one(Value::Host(host))
                }
                None => Values::unknown(Why::From(name.span)),
            },
        }
    }

    fn symbol(&mut self, symbol: SymbolId, span: Span) -> Values<'a> {
        if let Some(values) = self.known.get(&symbol).cloned() {
            self.charge(values.weight());
            return values;
        }
        // A name whose value is made from itself: what went before is not known.
        if self.following.contains(&symbol) {
            self.context_uses += 1;
            return Values::unknown(Why::From(span));
        }
        let before = self.context_uses;
        self.following.push(symbol);
        let values = self.binding(symbol, span);
        self.following.pop();
        if self.context_uses == before && values.are_plain() {
            self.known.insert(symbol, values.clone());
        }
        values
    }

    fn binding(&mut self, symbol: SymbolId, span: Span) -> Values<'a> {
        let (facts, unknown) = (self.facts, Values::unknown(Why::From(span)));
        let values = match facts.bindings.get(&symbol) {
            Some(Binding::Function(scope)) => Values::one(Value::Function(*scope)),
            Some(Binding::Enum(declaration)) => Values::one(Value::Enum(declaration)),
            Some(Binding::Declared { init, steps }) => {
                let values = init.map_or_else(|| Values::one(Value::Nothing), |init| self.eval(init));
                self.take(values, steps, span)
            }
            Some(Binding::Parameter { function, index, default, steps, span }) => {
                let values = self.parameter(*function, *index, *default, *span);
                self.take(values, steps, *span)
            }
            Some(Binding::Item { scope, steps, span }) => {
                let values = self.item(*scope, *span);
                self.take(values, steps, *span)
            }
            Some(Binding::Opaque | Binding::Ambient) | None => unknown.clone(),
        };
        self.written(symbol, values, unknown)
    }

    /// What a name can stand for after it, or what it stands for, was changed.
    fn written(&mut self, symbol: SymbolId, values: Values<'a>, unknown: Values<'a>) -> Values<'a> {
        let writes = self.facts.writes.get(&symbol);
        let assigned = writes.map_or(0, |writes| writes.assigned.len());
        let appended = writes.map_or(0, |writes| writes.appended);
        if self.uses(symbol).writes > assigned + appended {
            return unknown;
        }
        let Some(writes) = writes else { return values };
        let span = self.scoping.symbol_span(symbol);
        let mut values = values;
        if assigned > 0 {
            values = writes.assigned.iter().take(VALUES_MAX).fold(values.without_nothing().0, |all, expression| {
                let more = self.eval(expression).without_nothing().0;
                all.join(more, span)
            });
        }
        if appended > 0 {
            let open = |mut text: Text| {
                text.push_hole(Why::From(span));
                Value::Text(text)
            };
            values = Values(values.texts(span).into_iter().map(open).collect());
        }
        if !writes.pushed.is_empty() {
            values = self.with_pushed(values, &writes.pushed, span);
        }
        keys_written(writes, values, unknown, span)
    }

    /// Goes from values to parts of them.
    fn take(&mut self, mut values: Values<'a>, steps: &[Take<'a>], span: Span) -> Values<'a> {
        for step in steps {
            values = match step {
                Take::Key(key) => self.member(&values, &Text::known(key, span), span),
                Take::Index(index) => self.at(&values, *index, span),
                Take::Or(default) => match values.without_nothing() {
                    (values, true) => values.join(self.eval(default), span),
                    // What is not known may be nothing.
                    (values, false) if values.0.iter().any(|value| matches!(value, Value::Unknown(_))) => {
                        values.join(self.eval(default), span)
                    }
                    (values, false) => values,
                },
                Take::Unknown => Values::unknown(Why::From(span)),
            };
        }
        values
    }
}

/// `url.search = …` leaves alone what grants are about, `url.pathname = …` the origin; nothing else is looked into.
fn keys_written<'a>(writes: &Writes<'a>, values: Values<'a>, unknown: Values<'a>, span: Span) -> Values<'a> {
    let written = |harmless: &[&str]| writes.keys.iter().any(|key| !key.is_some_and(|key| harmless.contains(&key)));
    match () {
        () if !written(&["search", "hash"]) => values,
        () if !written(&["search", "hash", "pathname"]) => {
            let origins = values.texts(span).into_iter().map(|text| Value::Text(url::below_origin(&text, span)));
            Values(origins.collect())
        }
        () => unknown,
    }
}
