use super::bind::function_scope;
use super::facts::{Binding, Call, Callee, Facts, FuncKind, Mention, Site, Writes};
use super::value::{Root, TOOL_PREFIX};
use oxc::ast::AstKind;
use oxc::ast::ast::{
    Argument, AssignmentExpression, AssignmentOperator, AssignmentTarget, CallExpression, Expression, ForStatementLeft,
    IdentifierReference, Program, SimpleAssignmentTarget, UnaryOperator,
};
use oxc::ast_visit::Visit;
use oxc::semantic::Scoping;
use oxc::span::{GetSpan, Span};
use oxc::syntax::scope::ScopeId;
use oxc::syntax::symbol::SymbolId;

/// Methods of arrays that call a function once for each item, with the item first.
pub(super) const EACH: [&str; 10] =
    ["map", "forEach", "flatMap", "filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex"];

/// Walks over a program once.
pub(super) fn collect<'a>(program: &Program<'a>, scoping: &Scoping) -> Facts<'a> {
    let mut collector = Collector { facts: Facts::default(), scoping, functions: Vec::new(), ambient: 0 };
    collector.visit_program(program);
    collector.facts
}

pub(super) struct Collector<'s, 'a> {
    pub(super) facts: Facts<'a>,
    pub(super) scoping: &'s Scoping,
    /// The functions around the present node.
    functions: Vec<Option<ScopeId>>,
    /// How many `declare` are around the present node.
    pub(super) ambient: usize,
}

impl<'a> Visit<'a> for Collector<'_, 'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::VariableDeclaration(declaration) => self.ambient += usize::from(declaration.declare),
            AstKind::VariableDeclarator(declarator) => self.declare(declarator),
            AstKind::Function(function) => {
                let scope = function.scope_id.get().filter(|_| function.body.is_some());
                self.functions.push(scope);
                let symbol = function.id.as_ref().and_then(|id| id.symbol_id.get());
                match (scope, symbol) {
                    (Some(scope), symbol) => {
                        self.function(scope, FuncKind::Function(function), &function.params);
                        if let Some(symbol) = symbol {
                            self.bind(symbol, Binding::Function(scope));
                            self.name(scope, Callee::Name(symbol));
                        }
                    }
                    (None, Some(symbol)) if function.declare => self.bind(symbol, Binding::Ambient),
                    _ => {}
                }
            }
            AstKind::ArrowFunctionExpression(arrow) => {
                let scope = arrow.scope_id.get();
                self.functions.push(scope);
                if let Some(scope) = scope {
                    self.function(scope, FuncKind::Arrow(arrow), &arrow.params);
                    if let (Some(body), Some(func)) = (arrow.body.as_expression(), self.facts.functions.get_mut(&scope))
                    {
                        func.returns.push(body);
                    }
                }
            }
            AstKind::ReturnStatement(statement) => {
                if let (Some(Some(scope)), Some(value)) = (self.functions.last(), &statement.argument)
                    && let Some(func) = self.facts.functions.get_mut(scope)
                {
                    func.returns.push(value);
                }
            }
            AstKind::ForOfStatement(statement) => {
                if let (Some(scope), ForStatementLeft::VariableDeclaration(left)) =
                    (statement.scope_id.get(), &statement.left)
                {
                    self.facts.loops.insert(scope, &statement.right);
                    for declarator in &left.declarations {
                        let make = |steps, span| Binding::Item { scope, steps, span };
                        self.pattern(&declarator.id, &mut Vec::new(), &make);
                    }
                }
            }
            AstKind::ForInStatement(statement) => {
                if let ForStatementLeft::VariableDeclaration(left) = &statement.left {
                    for declarator in &left.declarations {
                        self.pattern(&declarator.id, &mut Vec::new(), &|_, _| Binding::Opaque);
                    }
                }
            }
            AstKind::TSNamespaceDeclaration(namespace) => {
                if let Some(symbol) = namespace.id.symbol_id.get() {
                    let ambient = namespace.declare.then_some(Binding::Ambient);
                    self.bind(symbol, ambient.unwrap_or(Binding::Opaque));
                }
            }
            AstKind::TSEnumDeclaration(declaration) => {
                if let Some(symbol) = declaration.id.symbol_id.get() {
                    self.bind(symbol, Binding::Enum(declaration));
                }
            }
            AstKind::Class(class) => {
                if let Some(symbol) = class.id.as_ref().and_then(|id| id.symbol_id.get()) {
                    let ambient = class.declare.then_some(Binding::Ambient);
                    self.bind(symbol, ambient.unwrap_or(Binding::Opaque));
                }
            }
            AstKind::CallExpression(call) => self.call(call),
            AstKind::NewExpression(new) => self.facts.calls.push(Call::New(new)),
            AstKind::AssignmentExpression(assignment) => self.assign(assignment),
            AstKind::StaticMemberExpression(member) => {
                if let Expression::Identifier(object) = member.object.get_inner_expression() {
                    self.key(object, member.property.name.as_str(), member.property.span);
                }
            }
            AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof => self.idle(&unary.argument),
            AstKind::BinaryExpression(binary) if binary.operator.is_in() => {
                if let Expression::StringLiteral(name) = &binary.left {
                    self.facts.looked_for.insert(name.value.as_str());
                }
                self.idle(&binary.right);
            }
            AstKind::IdentifierReference(name) => self.mention(name),
            _ => {}
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::VariableDeclaration(declaration) => self.ambient -= usize::from(declaration.declare),
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) => {
                self.functions.pop();
            }
            _ => {}
        }
    }
}

impl<'a> Collector<'_, 'a> {
    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        name.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id())
    }

    fn call(&mut self, call: &'a CallExpression<'a>) {
        self.facts.calls.push(Call::Call(call));
        let callee = call.callee.get_inner_expression();
        if let Some(callee) = self.callee(callee) {
            self.facts.sites.entry(callee).or_default().push(Site::Arguments(&call.arguments));
        }
        let Expression::StaticMemberExpression(member) = callee else { return };
        let (object, method) = (member.object.get_inner_expression(), member.property.name.as_str());
        let first = call.arguments.first();
        if EACH.contains(&method)
            && let Some(callback) = first.and_then(Argument::as_expression)
            && let Some(callee) = self.callee(callback.get_inner_expression())
        {
            self.facts.sites.entry(callee).or_default().push(Site::EachOf(&member.object));
        }
        let Expression::Identifier(name) = object else { return };
        match (self.symbol(name), method, first) {
            (Some(symbol), "push" | "unshift", _) => self.writes(symbol).pushed.extend(&call.arguments),
            (None, "keys", Some(first)) if name.name == "Object" => {
                first.as_expression().into_iter().for_each(|first| self.idle(first));
            }
            _ => {}
        }
    }

    /// What an expression names, if it is called or handed to something that calls it.
    fn callee(&self, expression: &'a Expression<'a>) -> Option<Callee<'a>> {
        match expression {
            Expression::Identifier(name) => self.symbol(name).map(Callee::Name),
            Expression::StaticMemberExpression(member) => match member.object.get_inner_expression() {
                Expression::Identifier(object) => {
                    self.symbol(object).map(|symbol| Callee::Member(symbol, member.property.name.as_str()))
                }
                _ => None,
            },
            expression => function_scope(expression).map(Callee::Itself),
        }
    }

    fn writes(&mut self, symbol: SymbolId) -> &mut Writes<'a> {
        self.facts.writes.entry(symbol).or_default()
    }

    fn assign(&mut self, assignment: &'a AssignmentExpression<'a>) {
        match &assignment.left {
            AssignmentTarget::AssignmentTargetIdentifier(name) => {
                let Some(symbol) = self.symbol(name) else { return };
                match assignment.operator {
                    AssignmentOperator::Assign => self.writes(symbol).assigned.push(&assignment.right),
                    AssignmentOperator::Addition => self.writes(symbol).appended += 1,
                    _ => {}
                }
            }
            target => {
                let Some(target) = target.as_simple_assignment_target() else { return };
                let (object, key) = match target {
                    SimpleAssignmentTarget::StaticMemberExpression(member) => {
                        (&member.object, Some(member.property.name.as_str()))
                    }
                    SimpleAssignmentTarget::ComputedMemberExpression(member) => (&member.object, None),
                    _ => return,
                };
                if let Expression::Identifier(name) = object.get_inner_expression()
                    && let Some(symbol) = self.symbol(name)
                {
                    self.writes(symbol).keys.push(key);
                }
            }
        }
    }

    fn key(&mut self, object: &IdentifierReference<'a>, key: &'a str, span: Span) {
        match self.symbol(object) {
            Some(symbol) => {
                *self.facts.member_reads.entry(Callee::Name(symbol)).or_default() += 1;
                *self.facts.member_reads.entry(Callee::Member(symbol, key)).or_default() += 1;
            }
            None => self.facts.keys.entry(object.span.start).or_default().push((key, span)),
        }
    }

    /// Looking whether something is there uses nothing.
    fn idle(&mut self, expression: &Expression<'_>) {
        let mut inner = expression.get_inner_expression();
        while let Expression::StaticMemberExpression(member) = inner {
            inner = member.object.get_inner_expression();
        }
        self.facts.idle.insert(inner.span().start);
    }

    fn mention(&mut self, name: &'a IdentifierReference<'a>) {
        let text = name.name.as_str();
        let outside = text.starts_with(TOOL_PREFIX) || Root::of(text).is_some();
        let reference = name.reference_id.get();
        // What is only a type, or only assigned to, is not used.
        let flags = reference.map(|id| self.scoping.get_reference(id).flags());
        if outside && flags.is_none_or(|flags| flags.is_value() && flags.is_read()) {
            self.facts.mentions.push(Mention { name: text, span: name.span, reference });
        }
    }
}
