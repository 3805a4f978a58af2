//! A module made into a body: its exports become plain declarations, and the default one gives the value.

use crate::fault::{Fault, code};
use crate::parse::Text;
use crate::print::unused;
use crate::shape::{Shaper, declares, is_function, vanishes};
use oxc::allocator::{ArenaVec, TakeIn};
use oxc::ast::ast::{
    BindingIdentifier, BindingPattern, Declaration, Directive, ExportDefaultDeclarationKind, Expression, FunctionType,
    ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName, Program, Statement, StringLiteral,
    TSImportEqualsDeclaration, TSModuleReference, VariableDeclaration, VariableDeclarationKind, VariableDeclarator,
};
use oxc::ast::builder::AstBuilder;
use oxc::span::{GetSpan, Span};

/// What `export default` exports.
enum Default<'a> {
    /// A function, to be called.
    Function(Expression<'a>),
    /// A value, made where the statement of this number stands.
    Value(Expression<'a>, usize),
    /// Whatever has this name.
    Name(&'a str, Span),
}

/// Makes the body of a module: strict, without imports and exports, returning the default export.
pub(crate) fn flatten<'a>(program: &mut Program<'a>, builder: &AstBuilder<'a>, text: Text) -> Result<(), Fault> {
    let statements = program.body.take_in(builder);
    let mut flat =
        Flat { statements: ArenaVec::with_capacity_in(statements.len() + 1, builder), default: None, builder, text };
    for statement in statements {
        flat.take(statement)?;
    }
    let Flat { statements, default, .. } = flat;
    program.body = statements;
    let source = program.source_text;
    let mut shaper = Shaper { directives: &mut program.directives, statements: &mut program.body, builder };
    match default {
        None => shaper.give_value(),
        Some(Default::Function(function)) => shaper.give_call(function),
        Some(Default::Value(value, index)) => give_value_of(&mut shaper, value, index, source),
        Some(Default::Name(name, span)) => give_named(&mut shaper, name, span, text)?,
    }
    if !program.directives.iter().any(|directive| directive.directive == "use strict") {
        let literal = StringLiteral::new(Span::empty(0), "use strict", None, builder);
        let directive = Directive::new(Span::empty(0), literal, "use strict", builder);
        program.directives.insert(0, directive);
    }
    Ok(())
}

struct Flat<'b, 'a> {
    statements: ArenaVec<'a, Statement<'a>>,
    default: Option<Default<'a>>,
    builder: &'b AstBuilder<'a>,
    text: Text,
}

impl<'a> Flat<'_, 'a> {
    fn take(&mut self, statement: Statement<'a>) -> Result<(), Fault> {
        match statement {
            Statement::ImportDeclaration(import) => {
                if !is_type_only(&import) {
                    return Err(self.not_granted(&import.source));
                }
            }
            Statement::ExportAllDeclaration(export) => {
                if !export.export_kind.is_type() {
                    return Err(self.not_granted(&export.source));
                }
            }
            Statement::ExportFromDeclaration(export) => {
                if !export.export_kind.is_type() {
                    return Err(self.not_granted(&export.source));
                }
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    if let (true, ModuleExportName::IdentifierReference(local)) =
                        (specifier.exported.name() == "default", &specifier.local)
                    {
                        self.default = Some(Default::Name(local.name.as_str(), local.span));
                    }
                }
            }
            Statement::ExportDeclaration(export) => return self.keep(Statement::from(export.unbox().declaration)),
            Statement::ExportDefaultDeclaration(export) => self.take_default(export.unbox().declaration)?,
            Statement::TSExportAssignment(export) => self.take_value(export.unbox().expression)?,
            Statement::TSNamespaceExportDeclaration(_) => {}
            statement => return self.keep(statement),
        }
        Ok(())
    }

    fn keep(&mut self, statement: Statement<'a>) -> Result<(), Fault> {
        if let Statement::TSImportEqualsDeclaration(import) = &statement
            && let Some(source) = required(import)
        {
            return if import.import_kind.is_type() { Ok(()) } else { Err(self.not_granted(source)) };
        }
        self.statements.push(statement);
        Ok(())
    }

    fn take_default(&mut self, declaration: ExportDefaultDeclarationKind<'a>) -> Result<(), Fault> {
        match declaration {
            // The signature of an overload; the function itself follows.
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
                if function.id.is_some() {
                    self.statements.push(Statement::FunctionDeclaration(function));
                }
                Ok(())
            }
            ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                let callee = match &function.id {
                    Some(id) => {
                        let callee = Expression::new_identifier(id.span, id.name, self.builder);
                        self.statements.push(Statement::FunctionDeclaration(function));
                        callee
                    }
                    None => {
                        function.r#type = FunctionType::FunctionExpression;
                        Expression::FunctionExpression(function)
                    }
                };
                self.default = Some(Default::Function(callee));
                Ok(())
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => Err(self.class(class.span)),
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
                self.statements.push(Statement::TSInterfaceDeclaration(interface));
                Ok(())
            }
            declaration => match Expression::try_from(declaration) {
                Ok(expression) => self.take_value(expression),
                Err(()) => Ok(()),
            },
        }
    }

    fn take_value(&mut self, expression: Expression<'a>) -> Result<(), Fault> {
        self.default = Some(match expression.get_inner_expression() {
            Expression::ClassExpression(class) => return Err(self.class(class.span)),
            Expression::Identifier(name) => Default::Name(name.name.as_str(), name.span),
            _ if is_function(&expression) => Default::Function(expression),
            _ => Default::Value(expression, self.statements.len()),
        });
        Ok(())
    }

    fn class(&self, span: Span) -> Fault {
        class_fault(self.text.offset(span.start))
    }

    fn not_granted(&self, source: &StringLiteral<'_>) -> Fault {
        Fault::new(
            self.text.offset(source.span.start),
            code::IMPORT,
            format!("`{}` is not granted as a module", crate::error::tidy(source.value.as_str())),
        )
        .hint("nothing outside the granted modules can be imported: use the granted tools and the built-in globals")
    }
}

fn class_fault(offset: usize) -> Fault {
    Fault::new(offset, code::EXPORT, "a class as the default export has no value to give")
        .hint("export a function, which is called with `input`, or a value")
}

fn is_type_only(import: &ImportDeclaration<'_>) -> bool {
    let named = import.specifiers.as_ref().map_or(&[][..], |specifiers| specifiers.as_slice());
    let all_types = named.iter().all(
        |specifier| matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(s) if s.import_kind.is_type()),
    );
    import.import_kind.is_type() || !named.is_empty() && all_types
}

fn required<'i, 'a>(import: &'i TSImportEqualsDeclaration<'a>) -> Option<&'i StringLiteral<'a>> {
    match &import.module_reference {
        TSModuleReference::ExternalModuleReference(reference) => Some(&reference.expression),
        _ => None,
    }
}

/// The value is made in its place, and given at the end.
fn give_value_of<'a>(shaper: &mut Shaper<'_, 'a>, value: Expression<'a>, index: usize, source: &str) {
    let span = value.span();
    if shaper.statements[index..].iter().all(vanishes) {
        return shaper.give(span, value);
    }
    let name = format!("{}default", unused(source, 1));
    let builder = shaper.builder;
    let name = oxc::str::Ident::from_str_in(&name, builder);
    let pattern = BindingPattern::BindingIdentifier(BindingIdentifier::boxed(span, name, builder));
    let kind = VariableDeclarationKind::Const;
    let declarator = VariableDeclarator::new(span, pattern, None, Some(value), false, builder);
    let declaration = VariableDeclaration::boxed(span, kind, [declarator], false, builder);
    shaper.statements.insert(index, Statement::VariableDeclaration(declaration));
    shaper.give(span, Expression::new_identifier(span, name, builder));
}

/// A name stands for a function where it is plain to see, and for a value otherwise.
fn give_named<'a>(shaper: &mut Shaper<'_, 'a>, name: &'a str, span: Span, text: Text) -> Result<(), Fault> {
    let mut declarations = shaper.statements.iter().filter(|s| declares(s, name)).filter_map(Statement::as_declaration);
    let mut only_type = false;
    let mut calls = false;
    if let Some(first) = declarations.next() {
        only_type = first.is_type() && declarations.all(Declaration::is_type);
    }
    for declaration in shaper.statements.iter().filter(|s| declares(s, name)).filter_map(Statement::as_declaration) {
        calls |= match declaration {
            Declaration::ClassDeclaration(_) => return Err(class_fault(text.offset(span.start))),
            Declaration::FunctionDeclaration(_) => true,
            Declaration::VariableDeclaration(variables) => variables.declarations.iter().any(|variable| {
                variable.id.get_binding_identifier().is_some_and(|id| id.name == name)
                    && variable.init.as_ref().is_some_and(is_function)
            }),
            _ => false,
        };
    }
    if only_type {
        return Ok(());
    }
    let value = Expression::new_identifier(span, name, shaper.builder);
    if calls {
        shaper.give_call(value);
    } else {
        shaper.give(span, value);
    }
    Ok(())
}
