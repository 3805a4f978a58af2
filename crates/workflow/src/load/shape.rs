//! Which kind of workflow a file is, and where its metadata stands.

use super::imports::Imports;
use crate::error::LoadError;
use oxc::ast::ast::{
    BindingPattern, CallExpression, Declaration, Expression, ModuleExportName, Program, Statement,
    VariableDeclarationKind, VariableDeclarator,
};

/// How often a default export may be followed from one variable to the next.
const NAMES_FOLLOWED_MAX: usize = 8;

/// How a file is a workflow.
pub(crate) struct Shape<'t, 'a> {
    kind: Kind,
    /// What should be the object that describes it; nothing if `defineWorkflow()` was given nothing.
    pub(crate) described: Option<&'t Expression<'a>>,
    /// The variable that `export { variable as default }` names.
    pub(crate) default_name: Option<&'t str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `export default defineWorkflow({ … })`
    Defined,
    /// `export const meta = { … }`, then a body that returns.
    Legacy,
}

impl<'t, 'a> Shape<'t, 'a> {
    /// Finds out how a program is a workflow. Where it is one in both ways, `defineWorkflow` counts.
    pub(crate) fn of(program: &'t Program<'a>, imports: &Imports) -> Result<Self, LoadError> {
        let default_name = program.body.iter().find_map(exported_as_default);
        if let Some(call) = definition(program, default_name, imports) {
            let described = call.arguments.first().and_then(|argument| argument.as_expression());
            return Ok(Shape { kind: Kind::Defined, described, default_name });
        }
        let Some(index) = program.body.iter().position(|statement| legacy_meta(statement).is_some()) else {
            let message = "workflow script must export `const meta` or `export default defineWorkflow({ … })`";
            return Err(LoadError::violation(message));
        };
        if !program.body[..index].iter().all(may_precede_meta) {
            return Err(LoadError::violation("`export const meta` must be the first statement of the workflow script"));
        }
        let described = legacy_meta(&program.body[index]).and_then(|meta| meta.init.as_ref());
        Ok(Shape { kind: Kind::Legacy, described, default_name })
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.kind == Kind::Legacy
    }
}

/// The call of `defineWorkflow` whose value is the default export.
fn definition<'t, 'a>(
    program: &'t Program<'a>,
    default_name: Option<&'t str>,
    imports: &Imports,
) -> Option<&'t CallExpression<'a>> {
    let exported = program.body.iter().find_map(|statement| match statement {
        Statement::ExportDefaultDeclaration(export) => export.declaration.as_expression(),
        _ => None,
    });
    let mut value = exported.or_else(|| variable(program, default_name?))?;
    for _ in 0..NAMES_FOLLOWED_MAX {
        value = match value.get_inner_expression() {
            Expression::Identifier(name) => variable(program, name.name.as_str())?,
            Expression::CallExpression(call) => {
                return imports.names(&call.callee, "defineWorkflow").then_some(&**call);
            }
            _ => return None,
        };
    }
    None
}

/// What a variable of the top level begins with.
fn variable<'t, 'a>(program: &'t Program<'a>, name: &str) -> Option<&'t Expression<'a>> {
    program.body.iter().filter_map(declaration).find_map(|declaration| {
        let Declaration::VariableDeclaration(variables) = declaration else { return None };
        variables.declarations.iter().find(|variable| is_named(variable, name)).and_then(|found| found.init.as_ref())
    })
}

fn declaration<'t, 'a>(statement: &'t Statement<'a>) -> Option<&'t Declaration<'a>> {
    match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        statement => statement.as_declaration(),
    }
}

fn is_named(variable: &VariableDeclarator<'_>, name: &str) -> bool {
    matches!(&variable.id, BindingPattern::BindingIdentifier(id) if id.name == name)
}

fn exported_as_default<'t>(statement: &'t Statement<'_>) -> Option<&'t str> {
    let Statement::ExportNamedDeclaration(export) = statement else { return None };
    export.specifiers.iter().find_map(|specifier| match &specifier.local {
        ModuleExportName::IdentifierReference(local) if specifier.exported.name() == "default" => {
            Some(local.name.as_str())
        }
        _ => None,
    })
}

/// `meta` of `export const meta = …`.
fn legacy_meta<'t, 'a>(statement: &'t Statement<'a>) -> Option<&'t VariableDeclarator<'a>> {
    let Statement::ExportDeclaration(export) = statement else { return None };
    let Declaration::VariableDeclaration(variables) = &export.declaration else { return None };
    let first = variables.declarations.first()?;
    (variables.kind == VariableDeclarationKind::Const && !variables.declare && is_named(first, "meta")).then_some(first)
}

/// Imports, and what is gone when the types are.
fn may_precede_meta(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::ImportDeclaration(_) | Statement::EmptyStatement(_))
        || declaration(statement).is_some_and(|declaration| declaration.is_type() || declaration.declare())
}
