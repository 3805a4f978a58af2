use super::context::Frame;
use super::facts::Facts;
use super::text::{Text, Why};
use super::value::{VALUES_MAX, Value, Values};
use oxc::ast::ast::{BinaryExpression, BinaryOperator, ChainElement, Expression, LogicalOperator, TemplateLiteral};
use oxc::semantic::Scoping;
use oxc::span::{GetSpan, Span};
use oxc::syntax::reference::Reference;
use oxc::syntax::scope::ScopeId;
use oxc::syntax::symbol::SymbolId;
use std::collections::HashMap;

/// How many expressions are followed one from another.
pub(super) const DEPTH_MAX: usize = 48;
/// Expressions that are looked at for one call in one context.
const CALL_STEPS_MAX: usize = 20_000;
/// Expressions that are looked at for one program.
const STEPS_MAX: usize = 1_000_000;

/// How often a name is read and written.
#[derive(Clone, Copy)]
pub(super) struct Uses {
    pub(super) reads: usize,
    pub(super) writes: usize,
}

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
    pub(super) following: Vec<SymbolId>,
    /// What names stand for in every context.
    pub(super) known: HashMap<SymbolId, Values<'a>>,
    uses: HashMap<SymbolId, Uses>,
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
            uses: HashMap::new(),
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

    /// Counts work that is not a step of its own.
    pub(super) fn charge(&mut self, steps: usize) {
        self.steps += steps;
        self.call_steps += steps;
    }

    /// Does something one level deeper; nothing where that is too deep.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if !self.step() {
            // It might come out otherwise in another context, so nothing is to be remembered of it.
            self.context_uses += 1;
            return None;
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        Some(done)
    }

    pub(super) fn uses(&mut self, symbol: SymbolId) -> Uses {
        let scoping = self.scoping;
        *self.uses.entry(symbol).or_insert_with(|| {
            let count = |counts: fn(&Reference) -> bool| {
                scoping.get_resolved_references(symbol).filter(|reference| counts(reference)).count()
            };
            Uses { reads: count(Reference::is_read), writes: count(Reference::is_write) }
        })
    }

    /// Everything that an expression can be.
    pub(super) fn eval(&mut self, expression: &'a Expression<'a>) -> Values<'a> {
        let expression = expression.get_inner_expression();
        let values = self.deeper(|eval| eval.eval_inner(expression));
        values.unwrap_or_else(|| Values::unknown(Why::Far(expression.span())))
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
                self.charge(texts.len());
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
            self.charge(texts.len());
        }
        Values(texts.into_iter().map(Value::Text).collect())
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
