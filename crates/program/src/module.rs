//! A module made into a body: its exports become plain declarations, and the default one gives the value. Its imports
//! wait for their modules before anything else.

use crate::fault::{Fault, code};
use crate::imports::bind::Binder;
use crate::imports::known::Imports;
use crate::imports::live::read_anew;
use crate::imports::refusal::Refusal;
use crate::parse::Text;
use crate::print::unused;
use crate::shape::{Shaper, declares, is_function, vanishes};
use oxc::allocator::{ArenaVec, TakeIn};
use oxc::ast::ast::{
    BindingIdentifier, BindingPattern, Declaration, Directive, ExportDefaultDeclarationKind, ExportFromDeclaration,
    ExportSpecifier, Expression, FunctionType, ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName,
    Program, Statement, StringLiteral, TSImportEqualsDeclaration, TSModuleReference, VariableDeclaration,
    VariableDeclarationKind, VariableDeclarator,
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
pub(crate) fn flatten<'a>(
    program: &mut Program<'a>,
    builder: &AstBuilder<'a>,
    text: Text,
    imports: Imports<'_>,
) -> Result<(), Fault> {
    let statements = program.body.take_in(builder);
    let source = program.source_text;
    let binder = Binder { imports, builder, text, source, statements: Vec::new(), live: Vec::new() };
    let room = statements.len() + 1;
    let mut flat = Flat { statements: ArenaVec::with_capacity_in(room, builder), default: None, builder, text, binder };
    for statement in statements {
        flat.take(statement)?;
    }
    let Flat { statements, default, binder, .. } = flat;
    program.body = statements;
    let input_is_imported = binder.binds(crate::shape::INPUT);
    let (directives, statements) = (&mut program.directives, &mut program.body);
    let mut shaper = Shaper { directives, statements, builder, input_is_imported };
    match default {
        None => shaper.give_value(),
        Some(Default::Function(function)) => shaper.give_call(function),
        Some(Default::Value(value, index)) => give_value_of(&mut shaper, value, index, source),
        Some(Default::Name(name, span)) => give_named(&mut shaper, name, span, text)?,
    }
    let Binder { statements, live, .. } = binder;
    // Imports come first wherever they stand, and are no part of what the program is.
    program.body.splice(0..0, statements);
    read_anew(program, &live, builder);
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
    binder: Binder<'b, 'a>,
}

impl<'a> Flat<'_, 'a> {
    fn take(&mut self, statement: Statement<'a>) -> Result<(), Fault> {
        match statement {
            Statement::ImportDeclaration(import) => {
                if !is_type_only(&import) {
                    self.binder.import(&import)?;
                }
            }
            Statement::ExportAllDeclaration(export) => {
                if !export.export_kind.is_type() {
                    self.binder.wait(&export.source)?;
                }
            }
            Statement::ExportFromDeclaration(export) => {
                if !passes_on_types(&export) {
                    self.pass_on(&export)?;
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
            let offset = self.text.offset(source.span.start);
            let refusal = || Refusal::Unknown.fault(source.value.as_str(), offset);
            return if import.import_kind.is_type() { Ok(()) } else { Err(refusal()) };
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

    /// What a program exports is seen by nobody but for its default export.
    fn pass_on(&mut self, export: &ExportFromDeclaration<'a>) -> Result<(), Fault> {
        let is_default = |specifier: &&ExportSpecifier<'_>| specifier.exported.name() == "default";
        match export.specifiers.iter().find(is_default) {
            Some(specifier) => {
                let (name, span) = (specifier.local.name(), specifier.span);
                let variable = self.binder.pass_on(&export.source, name.as_str(), span)?;
                self.default = Some(Default::Name(variable, span));
                Ok(())
            }
            None => self.binder.wait(&export.source),
        }
    }
}

fn class_fault(offset: usize) -> Fault {
    Fault::new(offset, code::EXPORT, "a class as the default export has no value to give")
        .hint("export a function, which is called with `input`, or a value")
}

pub(crate) fn is_type_only(import: &ImportDeclaration<'_>) -> bool {
    let named = import.specifiers.as_ref().map_or(&[][..], |specifiers| specifiers.as_slice());
    let all_types = named.iter().all(
        |specifier| matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(s) if s.import_kind.is_type()),
    );
    import.import_kind.is_type() || !named.is_empty() && all_types
}

/// Whether `export { … } from` is about types alone.
pub(crate) fn passes_on_types(export: &ExportFromDeclaration<'_>) -> bool {
    let all_types = export.specifiers.iter().all(|specifier| specifier.export_kind.is_type());
    export.export_kind.is_type() || !export.specifiers.is_empty() && all_types
}

pub(crate) fn required<'i, 'a>(import: &'i TSImportEqualsDeclaration<'a>) -> Option<&'i StringLiteral<'a>> {
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
