use super::facts::{Binding, Facts, Take, Writes};
use super::text::{Text, Why};
use super::value::{Host, INPUT, VALUES_MAX, Value, Values};
use super::context::Frame;
use oxc::ast::ast::{
    BinaryExpression, BinaryOperator, ChainElement, Expression, IdentifierReference, LogicalOperator, TemplateLiteral,
};
use oxc::semantic::Scoping;
use oxc::span::{GetSpan, Span};
use oxc::syntax::scope::ScopeId;
use oxc::syntax::symbol::SymbolId;
use std::collections::HashMap;

/// How many expressions are followed one from another.
pub(super) const DEPTH_MAX: usize = 48;
/// Expressions that are looked at for one call in one context.
const CALL_STEPS_MAX: usize = 20_000;
/// Expressions that are looked at for one program.
const STEPS_MAX: usize = 2_000_000;

/// Says what expressions can be.
pub(super) struct Eval<'f, 'a> {
    pub(super) facts: &'f Facts<'a>,
    pub(super) scoping: &'f Scoping,
    /// What the parameters of functions and the variables of loops stand for at the moment, the outermost first.
    pub(super) frames: Vec<Frame<'a>>,
    /// A function or a loop whose parameter or variable was asked for and has no frame.
    pub(super) wanted: Option<ScopeId>,
    /// How often the answer depended on frames.
    pub(super) context_uses: u64,
    /// The offsets of globals on the way.
    pub(super) touched: Vec<u32>,
    /// Names whose value is being looked for.
    following: Vec<SymbolId>,
    /// What names stand for in every context.
    known: HashMap<SymbolId, Values<'a>>,
    depth: usize,
    call_steps: usize,
    steps: usize,
}

impl<'f, 'a> Eval<'f, 'a> {
    pub(super) fn new(facts: &'f Facts<'a>, scoping: &'f Scoping) -> Self {
        Eval {
            facts,
            scoping,
            frames: Vec::new(),
            wanted: None,
            context_uses: 0,
            touched: Vec::new(),
            following: Vec::new(),
            known: HashMap::new(),
            depth: 0,
            call_steps: 0,
            steps: 0,
        }
    }

    /// Begins another question.
    pub(super) fn restart(&mut self, frames: Vec<Frame<'a>>) {
        self.frames = frames;
        self.wanted = None;
        self.call_steps = 0;
        self.touched.clear();
    }

    /// Counts the work; false when there has been too much of it.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.call_steps += 1;
        self.steps <= STEPS_MAX && self.call_steps <= CALL_STEPS_MAX && self.depth <= DEPTH_MAX
    }

    /// Everything that an expression can be.
    pub(super) fn eval(&mut self, expression: &'a Expression<'a>) -> Values<'a> {
        let expression = expression.get_inner_expression();
        if !self.step() {
            // It might be another value in another context, so nothing is to be remembered of it.
            self.context_uses += 1;
            return Values::unknown(Why::Far(expression.span()));
        }
        self.depth += 1;
        let values = self.eval_inner(expression);
        self.depth -= 1;
        values
    }

    fn eval_inner(&mut self, expression: &'a Expression<'a>) -> Values<'a> {
        let span = expression.span();
        let unknown = || Values::unknown(Why::From(span));
        match expression {
            Expression::StringLiteral(literal) => Values::text(&literal.value, span),
            Expression::NumericLiteral(literal) => Values::text(&literal.value.to_string(), span),
            Expression::BooleanLiteral(literal) => Values::text(if literal.value { "true" } else { "false" }, span),
            Expression::NullLiteral(_) => Values::one(Value::Nothing),
            Expression::TemplateLiteral(template) => self.template(template),
            Expression::Identifier(name) => self.name(name),
            Expression::ObjectExpression(object) => Values::one(Value::Object(object, self.frames.len())),
            Expression::ArrayExpression(array) => Values::one(Value::Array(array, self.frames.len())),
            Expression::ArrowFunctionExpression(arrow) => {
                arrow.scope_id.get().map_or_else(unknown, |scope| Values::one(Value::Function(scope)))
            }
            Expression::FunctionExpression(function) => {
                function.scope_id.get().map_or_else(unknown, |scope| Values::one(Value::Function(scope)))
            }
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => self.sum(binary),
            Expression::ConditionalExpression(either) => {
                let values = self.eval(&either.consequent);
                values.join(self.eval(&either.alternate), span)
            }
            Expression::LogicalExpression(logical) => match logical.operator {
                LogicalOperator::And => self.eval(&logical.right),
                LogicalOperator::Or | LogicalOperator::Coalesce => {
                    let (values, _) = self.eval(&logical.left).without_nothing();
                    values.join(self.eval(&logical.right), span)
                }
            },
            Expression::AwaitExpression(awaited) => self.eval(&awaited.argument),
            Expression::AssignmentExpression(assignment) if assignment.operator.is_assign() => {
                self.eval(&assignment.right)
            }
            Expression::SequenceExpression(sequence) => match sequence.expressions.last() {
                Some(last) => self.eval(last),
                None => unknown(),
            },
            Expression::StaticMemberExpression(member) => self.static_member(member),
            Expression::ComputedMemberExpression(member) => self.computed_member(member),
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::CallExpression(call) => self.call(call),
                ChainElement::StaticMemberExpression(member) => self.static_member(member),
                ChainElement::ComputedMemberExpression(member) => self.computed_member(member),
                ChainElement::TSNonNullExpression(inner) => self.eval(&inner.expression),
                ChainElement::PrivateFieldExpression(_) => unknown(),
            },
            Expression::CallExpression(call) => self.call(call),
            Expression::NewExpression(new) => self.construct(new),
            _ => unknown(),
        }
    }

    fn template(&mut self, template: &'a TemplateLiteral<'a>) -> Values<'a> {
        let mut texts = vec![Text::default()];
        for (index, quasi) in template.quasis.iter().enumerate() {
            let cooked = quasi.value.cooked.as_ref().map_or("", |cooked| cooked.as_str());
            texts.iter_mut().for_each(|text| text.push_known(cooked, quasi.span));
            if let Some(expression) = template.expressions.get(index) {
                let next = self.eval(expression).texts(expression.span());
                texts = append_each(texts, &next, expression.span());
            }
        }
        Values(texts.into_iter().map(Value::Text).collect())
    }

    /// `a + b + c`, which nests to the left as deep as it is long.
    fn sum(&mut self, binary: &'a BinaryExpression<'a>) -> Values<'a> {
        let (mut parts, mut left) = (vec![&binary.right], binary.left.get_inner_expression());
        while let Expression::BinaryExpression(inner) = left
            && inner.operator == BinaryOperator::Addition
        {
            parts.push(&inner.right);
            left = inner.left.get_inner_expression();
        }
        parts.push(left);
        let mut texts = vec![Text::default()];
        for part in parts.into_iter().rev() {
            let next = self.eval(part).texts(part.span());
            texts = append_each(texts, &next, part.span());
        }
        Values(texts.into_iter().map(Value::Text).collect())
    }

    fn name(&mut self, name: &'a IdentifierReference<'a>) -> Values<'a> {
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
        if let Some(values) = self.known.get(&symbol) {
            return values.clone();
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
        let times = self.scoping.get_resolved_references(symbol).filter(|reference| reference.is_write()).count();
        if times > assigned + appended {
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

/// Puts each text in front of each of the next ones.
pub(super) fn append_each(texts: Vec<Text>, next: &[Text], span: Span) -> Vec<Text> {
    let many = Text::hole(Why::Many(span));
    let next = if texts.len() * next.len() > VALUES_MAX { std::slice::from_ref(&many) } else { next };
    let append = |text: &Text, end: &Text| {
        let mut text = text.clone();
        text.push(end, span);
        text
    };
    texts.iter().flat_map(|text| next.iter().map(move |end| append(text, end))).collect()
}

/// `url.search = …` leaves alone what grants are about, `url.pathname = …` the origin; nothing else is looked into.
fn keys_written<'a>(writes: &Writes<'a>, values: Values<'a>, unknown: Values<'a>, span: Span) -> Values<'a> {
    let written = |harmless: &[&str]| writes.keys.iter().any(|key| !key.is_some_and(|key| harmless.contains(&key)));
    match () {
        () if !written(&["search", "hash"]) => values,
        () if !written(&["search", "hash", "pathname"]) => {
            let origins = values.texts(span).into_iter().map(|text| Value::Text(super::url::below_origin(&text, span)));
            Values(origins.collect())
        }
        () => unknown,
    }
}
