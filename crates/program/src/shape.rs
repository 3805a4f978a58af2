//! The shapes a program comes in, all made into a body that returns its value.

use crate::finder::returns;
use oxc::allocator::{ArenaBox, ArenaVec};
use oxc::ast::ast::{Argument, BindingPattern, Declaration, Directive, Expression, IdentifierName, Statement};
use oxc::ast::builder::AstBuilder;
use oxc::span::{GetSpan, Span};

/// The name of what a program is called with.
pub(crate) const INPUT: &str = "input";

/// The statements of a program, before types are stripped.
pub(crate) struct Shaper<'s, 'a> {
    pub(crate) directives: &'s mut ArenaVec<'a, Directive<'a>>,
    pub(crate) statements: &'s mut ArenaVec<'a, Statement<'a>>,
    pub(crate) builder: &'s AstBuilder<'a>,
    /// Whether the program imports something that it calls `input`.
    pub(crate) input_is_imported: bool,
}

impl<'a> Shaper<'_, 'a> {
    /// Makes the program return its value, if it does not do so by itself:
    /// a lone function is called with `input`, and so is a function as the last expression; any other last expression
    /// is the value; a lone string other than `'use strict'` is a value and no directive.
    pub(crate) fn give_value(&mut self) {
        let mut lasting = (0..self.statements.len()).filter(|&index| !vanishes(&self.statements[index]));
        let (first, last) = (lasting.next(), lasting.next_back());
        match (first, last) {
            (None, _) => self.give_directive(),
            (Some(only), None) if matches!(self.statements[only], Statement::FunctionDeclaration(_)) => {
                self.call_declared(only);
            }
            (Some(index), None) | (_, Some(index)) => self.give_expression(index),
        }
    }

    /// `'hello'` alone is a directive to the parser.
    fn give_directive(&mut self) {
        if self.directives.last().is_none_or(|directive| directive.directive == "use strict") {
            return;
        }
        let Some(directive) = self.directives.pop() else { return };
        self.give(directive.span, Expression::StringLiteral(ArenaBox::new_in(directive.expression, self.builder)));
    }

    /// Makes sure that a program without a value does not look like one with a value after its types are gone: of
    /// `enum E { A } enum E { B = 1 }` an expression is left at the end.
    pub(crate) fn keep_valueless(&mut self) {
        let mut lasting = self.statements.iter().filter(|statement| !vanishes(statement));
        let looks = matches!(
            (lasting.next(), lasting.next_back()),
            (Some(Statement::FunctionDeclaration(_) | Statement::ExpressionStatement(_)), None)
                | (_, Some(Statement::ExpressionStatement(_)))
        );
        if looks && !returns(self.statements) {
            self.statements.push(Statement::new_return_statement(Span::empty(0), None, self.builder));
        }
    }

    fn call_declared(&mut self, index: usize) {
        let Statement::FunctionDeclaration(function) = &self.statements[index] else { return };
        let Some(id) = &function.id else { return };
        let callee = Expression::new_identifier(id.span, id.name, self.builder);
        self.give_call(callee);
    }

    fn give_expression(&mut self, index: usize) {
        if !matches!(self.statements[index], Statement::ExpressionStatement(_)) || returns(self.statements) {
            return;
        }
        let statement = self.statements.remove(index);
        let Statement::ExpressionStatement(statement) = statement else { return };
        let statement = statement.unbox();
        if is_function(&statement.expression) {
            self.give_call(statement.expression);
        } else {
            self.give(statement.span, statement.expression);
        }
    }

    /// Ends the program with the value of a call with `input`.
    pub(crate) fn give_call(&mut self, callee: Expression<'a>) {
        let span = callee.span();
        let input = self.input(span);
        let call = Expression::new_call_expression(span, callee, None, [Argument::from(input)], false, self.builder);
        self.give(span, call);
    }

    /// Ends the program with a value.
    pub(crate) fn give(&mut self, span: Span, value: Expression<'a>) {
        self.statements.push(Statement::new_return_statement(span, Some(value), self.builder));
    }

    /// `input`, past whatever the program itself calls so.
    fn input(&self, span: Span) -> Expression<'a> {
        if self.input_is_imported || self.statements.iter().any(|statement| declares(statement, INPUT)) {
            let global = Expression::new_identifier(span, "globalThis", self.builder);
            let name = IdentifierName::new(span, INPUT, self.builder);
            return Expression::new_static_member_expression(span, global, name, false, self.builder);
        }
        Expression::new_identifier(span, INPUT, self.builder)
    }
}

/// Whether an expression is, without being evaluated, a function.
pub(crate) fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression.get_inner_expression(),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}

/// Whether nothing of a statement is left when it runs: types, signatures, ambient declarations.
pub(crate) fn vanishes(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::EmptyStatement(_) => true,
        Statement::FunctionDeclaration(function) if function.body.is_none() => true,
        statement => statement.as_declaration().is_some_and(|d| d.is_type() || d.declare()),
    }
}

/// Whether a statement declares a name at its own level.
pub(crate) fn declares(statement: &Statement<'_>, name: &str) -> bool {
    let Some(declaration) = statement.as_declaration() else { return false };
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().any(|variable| match &variable.id {
                BindingPattern::BindingIdentifier(id) => id.name == name,
                pattern => pattern.get_binding_identifiers().iter().any(|id| id.name == name),
            })
        }
        declaration => declaration.id().is_some_and(|id| id.name == name),
    }
}
