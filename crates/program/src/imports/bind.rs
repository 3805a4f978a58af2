//! The imports of a program, which runs as a function: each becomes a variable that waits for its module.

use super::known::{Found, Imports};
use super::mark::{engine_name, refuse_phase};
use crate::fault::Fault;
use crate::parse::Text;
use crate::print::unused;
use oxc::ast::ast::{
    BindingPattern, BindingProperty, Expression, ImportDeclaration, ImportDeclarationSpecifier, PropertyKey, Statement,
    StringLiteral, VariableDeclaration, VariableDeclarationKind, VariableDeclarator,
};
use oxc::ast::builder::AstBuilder;
use oxc::span::Span;
use oxc::str::Str;

/// The imports of one program, in their order.
pub(crate) struct Binder<'b, 'a> {
    pub(crate) imports: Imports<'b>,
    pub(crate) builder: &'b AstBuilder<'a>,
    pub(crate) text: Text,
    /// The whole text, to find names in that it does not use.
    pub(crate) source: &'b str,
    /// What stands before the program.
    pub(crate) statements: Vec<Statement<'a>>,
    pub(crate) live: Vec<Live>,
}

/// A variable that its module may change: reading it means asking the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Live {
    /// What the program calls it.
    pub(crate) local: String,
    /// The variable that holds the module.
    pub(crate) namespace: String,
    /// What the module calls it.
    pub(crate) exported: String,
}

impl<'a> Binder<'_, 'a> {
    /// Binds what `import a, { b as c } from "./x"` names.
    pub(crate) fn import(&mut self, import: &ImportDeclaration<'a>) -> Result<(), Fault> {
        refuse_phase(import, self.text)?;
        let module = engine_name(&import.source, self.imports, self.text)?;
        let specifier = import.source.value.as_str();
        let (mut namespace, mut names, mut types) = (None, Vec::new(), 0);
        for named in import.specifiers.iter().flatten() {
            let (exported, local) = match named {
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(all) => {
                    namespace = Some((all.local.name.to_string(), all.span));
                    continue;
                }
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type() => continue,
                ImportDeclarationSpecifier::ImportSpecifier(one) => (one.imported.name().to_string(), &one.local),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => ("default".to_owned(), &one.local),
            };
            // Of a type nothing is left to wait for.
            if self.imports.find(specifier, &exported) == Found::Type {
                types += 1;
                continue;
            }
            names.push((exported, local.name.to_string(), local.span));
        }
        if types > 0 && names.is_empty() && namespace.is_none() {
            return Ok(());
        }
        let changes = |exported: &str| self.imports.is_changing(specifier, exported);
        if namespace.is_none() && names.iter().any(|(exported, ..)| changes(exported)) {
            namespace = Some((format!("{}module{}", unused(self.source, 1), self.statements.len()), import.span));
        }
        if let Some((namespace, _)) = &namespace {
            let live = names.iter().filter(|(exported, ..)| changes(exported)).map(|(exported, local, _)| Live {
                local: local.clone(),
                namespace: namespace.clone(),
                exported: exported.clone(),
            });
            self.live.extend(live.collect::<Vec<_>>());
        }
        self.bind(import.span, &module, namespace, &names);
        Ok(())
    }

    /// Waits for a module of which the program takes nothing.
    pub(crate) fn wait(&mut self, source: &StringLiteral<'a>) -> Result<(), Fault> {
        let module = engine_name(source, self.imports, self.text)?;
        self.bind(source.span, &module, None, &[]);
        Ok(())
    }

    /// Binds the one name that a program exports as its default out of another module, and gives the variable.
    pub(crate) fn pass_on(&mut self, source: &StringLiteral<'a>, exported: &str, span: Span) -> Result<&'a str, Fault> {
        let module = engine_name(source, self.imports, self.text)?;
        let local = format!("{}default", unused(self.source, 1));
        let kept = Str::from_str_in(&local, self.builder).as_str();
        self.bind(span, &module, None, &[(exported.to_owned(), local, span)]);
        Ok(kept)
    }

    /// Whether an import is called so.
    pub(crate) fn binds(&self, name: &str) -> bool {
        self.statements.iter().any(|statement| crate::shape::declares(statement, name))
    }

    /// `const all = await import("module"), { a, b: c } = all;`
    fn bind(&mut self, span: Span, module: &str, namespace: Option<(String, Span)>, names: &[(String, String, Span)]) {
        let builder = self.builder;
        let literal = Expression::new_string_literal(span, Str::from_str_in(module, builder), None, builder);
        let import = Expression::new_import_expression(span, literal, None, None, builder);
        let mut module = Expression::new_await_expression(span, import, builder);
        let mut declarators = Vec::new();
        if let Some((name, at)) = namespace {
            let name = oxc::str::Ident::from_str_in(&name, builder);
            let pattern = BindingPattern::new_binding_identifier(at, name, builder);
            declarators.push(VariableDeclarator::new(at, pattern, None, Some(module), false, builder));
            module = Expression::new_identifier(at, name, builder);
        } else if names.is_empty() {
            self.statements.push(Statement::new_expression_statement(span, module, builder));
            return;
        }
        if !names.is_empty() {
            let properties: Vec<BindingProperty<'a>> = names.iter().map(|name| self.property(name)).collect();
            let properties = oxc::allocator::ArenaVec::from_iter_in(properties, builder);
            let pattern = BindingPattern::new_object_pattern(span, properties, None, builder);
            declarators.push(VariableDeclarator::new(span, pattern, None, Some(module), false, builder));
        }
        let declarators = oxc::allocator::ArenaVec::from_iter_in(declarators, builder);
        let kind = VariableDeclarationKind::Const;
        let declaration = VariableDeclaration::boxed(span, kind, declarators, false, builder);
        self.statements.push(Statement::VariableDeclaration(declaration));
    }

    fn property(&self, (exported, local, span): &(String, String, Span)) -> BindingProperty<'a> {
        let (builder, shorthand) = (self.builder, exported == local);
        let key = if oxc::syntax::identifier::is_identifier_name(exported) {
            PropertyKey::new_static_identifier(*span, oxc::str::Ident::from_str_in(exported, builder), builder)
        } else {
            PropertyKey::new_string_literal(*span, Str::from_str_in(exported, builder), None, builder)
        };
        let local = oxc::str::Ident::from_str_in(local, builder);
        let value = BindingPattern::new_binding_identifier(*span, local, builder);
        BindingProperty::new(*span, key, value, shorthand, false, builder)
    }
}
