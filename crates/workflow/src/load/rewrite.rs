//! The module that a workflow becomes.

use super::PRIMITIVES;
use super::edits::Edits;
use super::imports::Imports;
use super::parse::Tree;
use super::shape::Shape;
use crate::error::LoadError;
use oxc::ast::ast::{Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, Statement};
use oxc::span::GetSpan;

/// The variable for what `export default` exports.
const DEFAULT: &str = "__isolith_default";

/// The parameter for all primitives together, where a workflow wants them so.
const ALL: &str = "__isolith_primitives";

/// Makes a module whose default export is an async function of the primitives.
///
/// What the workflow is made of becomes the body of that function. The text was parsed as a whole, so none of its
/// brackets can close the function; where the parser is so lenient that one might, `let x: () } T`, `isolith-program`
/// refuses the module when it compiles it. The body has braces of its own: a workflow may declare a name that the function has
/// for a primitive.
pub(crate) fn module(tree: &Tree<'_, '_>, imports: &Imports, shape: &Shape<'_, '_>) -> Result<String, LoadError> {
    let mut edits = Edits::new(tree.text);
    let hoisted = imports.hoisted.concat();
    edits.insert(0, &format!("{hoisted}export default async ({}) => {{{{ ", parameters(imports)));
    let mut given = shape.default_name.map(str::to_owned);
    for statement in &tree.program.body {
        match statement {
            Statement::ImportDeclaration(import) => edits.remove_statement(import.span),
            Statement::ExportAllDeclaration(export) => edits.remove_statement(export.span),
            Statement::ExportFromDeclaration(export) => edits.remove_statement(export.span),
            Statement::ExportNamedDeclaration(export) => edits.remove_statement(export.span),
            Statement::TSNamespaceExportDeclaration(export) => edits.remove_statement(export.span),
            Statement::TSExportAssignment(_) => {
                return Err(LoadError::violation("`export =` is not allowed in a workflow: write `export default`"));
            }
            statement if is_namespace(statement) => {
                return Err(LoadError::violation("`namespace` is not allowed in a workflow: use an object or a file"));
            }
            Statement::ExportDeclaration(export) if is_about_others(&export.declaration) => {
                edits.remove_statement(export.span);
            }
            Statement::ExportDeclaration(export) => {
                edits.replace(export.span.start, export.declaration.span().start, "");
            }
            Statement::ExportDefaultDeclaration(export) if shape.is_legacy() => return_default(export, &mut edits),
            Statement::ExportDefaultDeclaration(export) => {
                edits.replace(export.span.start, export.declaration.span().start, &format!("const {DEFAULT} = "));
                given = Some(DEFAULT.to_owned());
            }
            statement => {
                if statement.as_declaration().is_some_and(is_about_others) {
                    edits.remove_statement(statement.span());
                }
            }
        }
    }
    // The line end closes a comment that the last line may end in.
    let end = given.map_or_else(|| "\n}}".to_owned(), |name| format!("\n;return {name} }}}}"));
    edits.insert(tree.text.len() as u32, &end);
    Ok(edits.finish())
}

/// The default export of a legacy workflow is its value.
fn return_default(export: &ExportDefaultDeclaration<'_>, edits: &mut Edits<'_>) {
    let span = export.declaration.span();
    let name = match &export.declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
        ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
        ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {
            return edits.replace(export.span.start, span.start, "");
        }
        _ => None,
    };
    match name {
        // It is known by its name to what stands before it.
        Some(name) => {
            edits.replace(export.span.start, span.start, "");
            edits.insert(span.end, &format!(";return {};", name.name));
        }
        None => {
            edits.replace(export.span.start, span.start, "return (");
            edits.insert(span.end, ")");
        }
    }
}

/// Declarations of what is elsewhere. Nothing is left of them, and they may not stand in a function.
fn is_about_others(declaration: &Declaration<'_>) -> bool {
    declaration.declare()
        || matches!(declaration, Declaration::TSGlobalDeclaration(_) | Declaration::TSExternalModuleDeclaration(_))
}

/// A namespace with values in it, which may stand only at the top of a module.
fn is_namespace(statement: &Statement<'_>) -> bool {
    let declaration = match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        statement => statement.as_declaration(),
    };
    matches!(declaration, Some(Declaration::TSNamespaceDeclaration(namespace)) if !namespace.declare)
}

/// Every primitive under its own name and under those that it was imported as, unless something else has the name.
fn parameters(imports: &Imports) -> String {
    let is_free = |name: &str| {
        !imports.namespaces.contains(name)
            && imports.primitives.get(name).map_or(!imports.own.contains(name), |primitive| *primitive == name)
    };
    let own = PRIMITIVES.into_iter().filter(|name| is_free(name)).map(str::to_owned);
    let aliases = imports.primitives.iter().filter(|(local, primitive)| local != primitive);
    let names: Vec<String> = own.chain(aliases.map(|(local, primitive)| format!("{primitive}: {local}"))).collect();
    let names = format!("{{ {} }}", names.join(", "));
    if imports.namespaces.is_empty() {
        return names;
    }
    let all: String = imports.namespaces.iter().map(|local| format!(", {local} = {ALL}")).collect();
    format!("{ALL}, {names} = {ALL}{all}")
}
