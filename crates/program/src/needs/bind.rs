//! Names and where their values come from.

use super::collect::Collector;
use super::facts::{Binding, Callee, Func, FuncKind, Take};
use oxc::ast::ast::{BindingPattern, Expression, FormalParameters, ObjectPropertyKind, VariableDeclarator};
use oxc::span::Span;
use oxc::syntax::scope::ScopeId;
use oxc::syntax::symbol::SymbolId;

/// Parts of parts of a value are followed this far.
const STEPS_MAX: usize = 8;

impl<'a> Collector<'_, 'a> {
    pub(super) fn bind(&mut self, symbol: SymbolId, binding: Binding<'a>) {
        // A name that is declared twice is not followed.
        let twice = |known: &mut Binding<'a>| *known = Binding::Opaque;
        self.facts.bindings.entry(symbol).and_modify(twice).or_insert(binding);
    }

    pub(super) fn declare(&mut self, declarator: &'a VariableDeclarator<'a>) {
        let init = declarator.init.as_ref();
        if self.ambient > 0 {
            return self.pattern(&declarator.id, &mut Vec::new(), &|_, _| Binding::Ambient);
        }
        // The variable of `for (… of …)` has been seen already.
        let bound = |symbol: SymbolId| self.facts.bindings.contains_key(&symbol);
        let own = declarator.id.get_binding_identifier().and_then(|id| id.symbol_id.get());
        if init.is_none() && own.is_none_or(bound) {
            return;
        }
        self.pattern(&declarator.id, &mut Vec::new(), &|steps, _| Binding::Declared { init, steps });
        let Some(init) = init.map(Expression::get_inner_expression) else { return };
        if let (Expression::Identifier(object), BindingPattern::ObjectPattern(pattern)) = (init, &declarator.id) {
            for property in &pattern.properties {
                if let Some(std::borrow::Cow::Borrowed(key)) = property.key.static_name() {
                    self.facts.keys.entry(object.span.start).or_default().push((key, property.span));
                }
            }
        }
        let Some(symbol) = own else { return };
        if let Some(scope) = function_scope(init) {
            self.name(scope, Callee::Name(symbol));
        }
        if let Expression::ObjectExpression(object) = init {
            for property in &object.properties {
                if let ObjectPropertyKind::ObjectProperty(property) = property
                    && let Some(std::borrow::Cow::Borrowed(key)) = property.key.static_name()
                    && let Some(scope) = function_scope(property.value.get_inner_expression())
                {
                    self.name(scope, Callee::Member(symbol, key));
                }
            }
        }
    }

    /// Binds every name in a pattern.
    pub(super) fn pattern(
        &mut self,
        pattern: &'a BindingPattern<'a>,
        steps: &mut Vec<Take<'a>>,
        make: &dyn Fn(Vec<Take<'a>>, Span) -> Binding<'a>,
    ) {
        let depth = steps.len();
        if depth >= STEPS_MAX && !pattern.is_binding_identifier() {
            // What is not bound is not known.
            return;
        }
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                if let Some(symbol) = id.symbol_id.get() {
                    self.bind(symbol, make(steps.clone(), id.span));
                }
            }
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    steps.push(match property.key.static_name() {
                        Some(std::borrow::Cow::Borrowed(key)) => Take::Key(key),
                        _ => Take::Unknown,
                    });
                    self.pattern(&property.value, steps, make);
                    steps.truncate(depth);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                for (index, item) in array.elements.iter().enumerate() {
                    let Some(item) = item else { continue };
                    steps.push(Take::Index(index));
                    self.pattern(item, steps, make);
                    steps.truncate(depth);
                }
            }
            BindingPattern::AssignmentPattern(assignment) => {
                steps.push(Take::Or(&assignment.right));
                self.pattern(&assignment.left, steps, make);
                steps.truncate(depth);
            }
        }
    }

    pub(super) fn function(&mut self, scope: ScopeId, kind: FuncKind<'a>, params: &'a FormalParameters<'a>) {
        let names = vec![Callee::Itself(scope)];
        self.facts.functions.insert(scope, Func { kind, returns: Vec::new(), names });
        for (index, item) in params.items.iter().enumerate() {
            let default = item.initializer.as_deref();
            let make = |steps, span| Binding::Parameter { function: scope, index, default, steps, span };
            self.pattern(&item.pattern, &mut Vec::new(), &make);
        }
        // Names were given before the function itself was seen.
        let known = self.facts.early_names.remove(&scope).unwrap_or_default();
        known.into_iter().for_each(|callee| self.name(scope, callee));
    }

    pub(super) fn name(&mut self, scope: ScopeId, callee: Callee<'a>) {
        match self.facts.functions.get_mut(&scope) {
            Some(func) => func.names.push(callee),
            None => self.facts.early_names.entry(scope).or_default().push(callee),
        }
    }
}

pub(super) fn function_scope(expression: &Expression<'_>) -> Option<ScopeId> {
    match expression {
        Expression::ArrowFunctionExpression(arrow) => arrow.scope_id.get(),
        Expression::FunctionExpression(function) => function.scope_id.get(),
        _ => None,
    }
}
