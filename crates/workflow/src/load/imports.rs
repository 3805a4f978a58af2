//! What a file imports, and what becomes of it.

use super::PRIMITIVES;
use super::parse::Tree;
use crate::error::LoadError;
use oxc::ast::ast::{
    Expression, ImportAttributeKey, ImportDeclaration, ImportDeclarationSpecifier, ImportSpecifier, Statement,
    WithClause,
};
use std::collections::{BTreeMap, BTreeSet};

/// The names of the package that authors import the primitives from.
const AUTHORING: [&str; 2] = ["defineworkflow", "workflow"];

/// What a file imports.
#[derive(Default)]
pub(crate) struct Imports {
    /// The statements that import local files, each on one line with a semicolon at its end.
    pub(crate) hoisted: Vec<String>,
    /// Local names of primitives that were imported.
    pub(crate) primitives: BTreeMap<String, &'static str>,
    /// Local names for all primitives together: `import * as w`.
    pub(crate) namespaces: BTreeSet<String>,
    /// Names imported from local files, which are no primitives whatever they are called.
    pub(crate) own: BTreeSet<String>,
}

/// Where an import leads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// To the primitives.
    Authoring,
    /// To a file beside this one.
    Local,
    Elsewhere,
}

/// Whose imports they are: a refusal says it in the words for that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Importer {
    Workflow,
    Helper,
}

impl Source {
    pub(crate) fn of(specifier: &str) -> Source {
        match specifier {
            name if AUTHORING.contains(&name) => Source::Authoring,
            "." | ".." => Source::Local,
            path if path.starts_with("./") || path.starts_with("../") => Source::Local,
            _ => Source::Elsewhere,
        }
    }
}

impl Imports {
    /// Reads the imports of a workflow, or says which one it must not have.
    pub(crate) fn read(tree: &Tree<'_, '_>) -> Result<Imports, LoadError> {
        Imports::read_as(tree, Importer::Workflow)
    }

    /// Reads the imports of a file that a workflow imports.
    pub(crate) fn read_helper(tree: &Tree<'_, '_>) -> Result<Imports, LoadError> {
        Imports::read_as(tree, Importer::Helper)
    }

    fn read_as(tree: &Tree<'_, '_>, importer: Importer) -> Result<Imports, LoadError> {
        let mut imports = Imports::default();
        for statement in &tree.program.body {
            match statement {
                Statement::ImportDeclaration(import) => imports.import(import, importer)?,
                Statement::ExportFromDeclaration(export) => {
                    let is_type = export.export_kind.is_type()
                        || !export.specifiers.is_empty() && export.specifiers.iter().all(|s| s.export_kind.is_type());
                    imports.pass_on(export.source.value.as_str(), is_type, &export.with_clause, importer)?;
                }
                Statement::ExportAllDeclaration(export) => {
                    let is_type = export.export_kind.is_type();
                    imports.pass_on(export.source.value.as_str(), is_type, &export.with_clause, importer)?;
                }
                Statement::TSImportEqualsDeclaration(_) => {
                    return Err(LoadError::violation(
                        "`import … =` is not allowed in a workflow: write `import … from`",
                    ));
                }
                _ => {}
            }
        }
        Ok(imports)
    }

    fn import(&mut self, import: &ImportDeclaration<'_>, importer: Importer) -> Result<(), LoadError> {
        match check(import.source.value.as_str(), importer)? {
            _ if is_type_only(import) => {}
            Source::Authoring => self.import_primitives(import)?,
            _ => {
                if import.phase.is_some() {
                    return Err(LoadError::violation(
                        "`import defer` and `import source` are not allowed in a workflow",
                    ));
                }
                self.own.extend(values(import).map(|specifier| specifier.local().name.to_string()));
                self.hoisted.push(written(import));
            }
        }
        Ok(())
    }

    fn import_primitives(&mut self, import: &ImportDeclaration<'_>) -> Result<(), LoadError> {
        for specifier in values(import) {
            let local = specifier.local().name.to_string();
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(named) if named.imported.name() != "default" => {
                    // Any other name is that of a type, which needs no word of its own to be imported.
                    if let Some(primitive) = primitive(named) {
                        self.primitives.insert(local, primitive);
                    }
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                    self.namespaces.insert(local);
                }
                _ => {
                    let source = import.source.value.as_str();
                    let message = format!(
                        "\"{source}\" has no default export: import names from it, e.g. `import {{ defineWorkflow }} from \"{source}\"`"
                    );
                    return Err(LoadError::violation(message));
                }
            }
        }
        Ok(())
    }

    /// What a workflow passes on to nobody is still made, as it would be made for someone.
    fn pass_on(
        &mut self,
        source: &str,
        is_type: bool,
        attributes: &Option<oxc::allocator::Box<'_, WithClause<'_>>>,
        importer: Importer,
    ) -> Result<(), LoadError> {
        if check(source, importer)? == Source::Local && !is_type {
            self.hoisted.push(format!("import {}{};", quoted(source), with(attributes.as_deref())));
        }
        Ok(())
    }

    /// The primitive that a name of this file stands for, unless something in a function has the same name.
    pub(crate) fn primitive(&self, name: &str) -> Option<&'static str> {
        if self.own.contains(name) {
            return None;
        }
        self.primitives.get(name).copied().or_else(|| PRIMITIVES.into_iter().find(|primitive| *primitive == name))
    }

    /// Whether an expression is this primitive: by its name, or as a member of all of them.
    pub(crate) fn names(&self, expression: &Expression<'_>, primitive: &str) -> bool {
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.primitive(name.name.as_str()) == Some(primitive),
            Expression::StaticMemberExpression(member) => {
                let object = member.object.get_inner_expression();
                member.property.name == primitive
                    && matches!(object, Expression::Identifier(name) if self.namespaces.contains(name.name.as_str()))
            }
            _ => false,
        }
    }
}

/// The primitive that `import { agent as a }` names.
pub(crate) fn primitive(specifier: &ImportSpecifier<'_>) -> Option<&'static str> {
    PRIMITIVES.into_iter().find(|primitive| specifier.imported.name() == *primitive)
}

/// Whether an import is about types alone, as far as it says so.
pub(crate) fn is_type_only(import: &ImportDeclaration<'_>) -> bool {
    let named = import.specifiers.as_ref().is_some_and(|specifiers| !specifiers.is_empty());
    import.import_kind.is_type() || named && values(import).next().is_none()
}

/// What an import binds besides types.
pub(crate) fn values<'t, 'a>(
    import: &'t ImportDeclaration<'a>,
) -> impl Iterator<Item = &'t ImportDeclarationSpecifier<'a>> {
    import.specifiers.iter().flatten().filter(|specifier| {
        !matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(named) if named.import_kind.is_type())
    })
}

fn check(specifier: &str, importer: Importer) -> Result<Source, LoadError> {
    let source = Source::of(specifier);
    if source != Source::Elsewhere {
        return Ok(source);
    }
    let message = match (importer, specifier) {
        (Importer::Helper, _) => {
            format!("a workflow may only import local files or \"defineworkflow\"; \"{specifier}\" is not allowed")
        }
        (Importer::Workflow, "zod") => format!(
            "cannot import from \"{specifier}\" inside a workflow: import `z` from \"defineworkflow\" instead — e.g. `import {{ z }} from \"defineworkflow\"`"
        ),
        (Importer::Workflow, _) => format!(
            "cannot import from \"{specifier}\" inside a workflow: the workflow sandbox injects the runtime and resolves no modules; import what you need from \"defineworkflow\""
        ),
    };
    Err(LoadError::violation(message))
}

/// An import on one line, without its types and comments.
fn written(import: &ImportDeclaration<'_>) -> String {
    let (mut parts, mut named) = (Vec::new(), Vec::new());
    for specifier in values(import) {
        let local = specifier.local().name.as_str();
        match specifier {
            ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => parts.push(local.to_owned()),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => parts.push(format!("* as {local}")),
            ImportDeclarationSpecifier::ImportSpecifier(specifier) => {
                let imported = specifier.imported.name();
                let name = if specifier.imported.is_identifier() { imported.to_string() } else { quoted(&imported) };
                named.push(if name == local { name } else { format!("{name} as {local}") });
            }
        }
    }
    if !named.is_empty() {
        parts.push(format!("{{ {} }}", named.join(", ")));
    }
    let from = if parts.is_empty() { String::new() } else { format!("{} from ", parts.join(", ")) };
    format!("import {from}{}{};", quoted(import.source.value.as_str()), with(import.with_clause.as_deref()))
}

fn with(clause: Option<&WithClause<'_>>) -> String {
    let Some(clause) = clause else { return String::new() };
    let entry = |key: &ImportAttributeKey<'_>, value: &str| match key {
        ImportAttributeKey::Identifier(name) => format!("{}: {}", name.name, quoted(value)),
        ImportAttributeKey::StringLiteral(name) => format!("{}: {}", quoted(name.value.as_str()), quoted(value)),
    };
    let entries: Vec<String> = clause.with_entries.iter().map(|e| entry(&e.key, e.value.value.as_str())).collect();
    format!(" with {{ {} }}", entries.join(", "))
}

/// A text as a literal of JavaScript, which JSON is a part of.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
