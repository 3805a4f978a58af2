//! What a text imports and exports, told from its top level.

use crate::module::{is_type_only, passes_on_types};
use crate::parse::{Parsed, Text};
use oxc::ast::ast::{
    Declaration, ExportDefaultDeclarationKind, ExportSpecifier, Expression, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, Statement,
};
use oxc::ast_visit::{Visit, walk::walk_import_expression};
use std::collections::{BTreeMap, BTreeSet};

/// The imports and exports of one text. Offsets are the author's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) requests: Vec<Request>,
    pub(crate) exports: BTreeMap<String, Export>,
    /// The requests of `export *`.
    pub(crate) stars: Vec<usize>,
}

/// One statement or expression that asks for a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) specifier: String,
    pub(crate) offset: usize,
    pub(crate) when: When,
    /// The names that it takes from there, and where it says so.
    pub(crate) names: Vec<(String, usize)>,
}

/// When a module is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Before anything runs: it has to be there.
    Before,
    /// By `import()`: that it is missing is for the program to find out.
    Later,
}

/// What a name stands for outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    /// A variable of the module, a default value, or a type, of which nothing is left when it runs.
    Own { local: Option<String>, is_type: bool },
    /// Whatever another module exports under this name.
    Of { request: usize, name: String },
    /// All of another module.
    Namespace,
}

impl Export {
    /// What a JSON file exports.
    pub(crate) fn value() -> Export {
        Export::Own { local: None, is_type: false }
    }
}

/// What a local name was imported as.
enum Local {
    Of { request: usize, name: String },
    Namespace,
    Type,
}

/// Reads the outline of a text that was parsed as a module, or of a body, which can only have `import()`.
pub(crate) fn outline(parsed: &Parsed<'_>) -> Outline {
    let mut reader = Reader { text: parsed.text, ..Reader::default() };
    let statements = parsed.program.body.as_slice();
    // An export may stand before what it exports.
    for statement in statements {
        reader.learn(statement);
    }
    for statement in statements {
        reader.read(statement);
    }
    if parsed.program.source_text.contains("import") {
        reader.visit_program(&parsed.program);
    }
    reader.outline
}

#[derive(Default)]
struct Reader<'n> {
    text: Text,
    outline: Outline,
    imported: BTreeMap<&'n str, Local>,
    types: BTreeSet<&'n str>,
    values: BTreeSet<&'n str>,
}

impl<'n> Reader<'n> {
    fn learn(&mut self, statement: &'n Statement<'_>) {
        match statement {
            Statement::ImportDeclaration(import) => self.learn_import(import),
            Statement::ExportDeclaration(export) => self.learn_declaration(&export.declaration),
            statement => {
                if let Some(declaration) = statement.as_declaration() {
                    self.learn_declaration(declaration);
                }
            }
        }
    }

    fn learn_import(&mut self, import: &'n ImportDeclaration<'_>) {
        let specifiers = import.specifiers.as_ref().map_or(&[][..], |specifiers| specifiers.as_slice());
        if is_type_only(import) {
            self.imported.extend(specifiers.iter().map(|specifier| (specifier.local().name.as_str(), Local::Type)));
            return;
        }
        let request = self.ask(import.source.value.as_str(), import.source.span.start, When::Before);
        for specifier in specifiers {
            let (name, local) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(specifier) if specifier.import_kind.is_type() => {
                    self.imported.insert(specifier.local.name.as_str(), Local::Type);
                    continue;
                }
                ImportDeclarationSpecifier::ImportSpecifier(specifier) => {
                    (specifier.imported.name().to_string(), &specifier.local)
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(specifier) => {
                    ("default".to_owned(), &specifier.local)
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(specifier) => {
                    self.imported.insert(specifier.local.name.as_str(), Local::Namespace);
                    continue;
                }
            };
            let offset = self.text.offset(local.span.start);
            self.outline.requests[request].names.push((name.clone(), offset));
            self.imported.insert(local.name.as_str(), Local::Of { request, name });
        }
    }

    fn learn_declaration(&mut self, declaration: &'n Declaration<'_>) {
        let is_type = declaration.is_type() || declaration.declare();
        let known = if is_type { &mut self.types } else { &mut self.values };
        known.extend(names(declaration));
    }

    fn read(&mut self, statement: &'n Statement<'_>) {
        match statement {
            Statement::ExportAllDeclaration(export) if !export.export_kind.is_type() => {
                let request = self.ask(export.source.value.as_str(), export.source.span.start, When::Before);
                match &export.exported {
                    Some(name) => self.export(name.name().as_str(), Export::Namespace),
                    None => self.outline.stars.push(request),
                }
            }
            Statement::ExportFromDeclaration(export) => {
                if passes_on_types(export) {
                    export.specifiers.iter().for_each(|specifier| self.export_type(specifier));
                    return;
                }
                let request = self.ask(export.source.value.as_str(), export.source.span.start, When::Before);
                for specifier in &export.specifiers {
                    if specifier.export_kind.is_type() {
                        self.export_type(specifier);
                        continue;
                    }
                    let (name, offset) = (specifier.local.name().to_string(), self.text.offset(specifier.span.start));
                    self.outline.requests[request].names.push((name.clone(), offset));
                    self.export(specifier.exported.name().as_str(), Export::Of { request, name });
                }
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    if export.export_kind.is_type() || specifier.export_kind.is_type() {
                        self.export_type(specifier);
                    } else {
                        self.export_local(specifier);
                    }
                }
            }
            Statement::ExportDeclaration(export) => {
                let is_type = export.declaration.is_type() || export.declaration.declare();
                for name in names(&export.declaration) {
                    self.export(name, Export::Own { local: Some(name.to_owned()), is_type });
                }
            }
            Statement::ExportDefaultDeclaration(export) => {
                let is_type = matches!(export.declaration, ExportDefaultDeclarationKind::TSInterfaceDeclaration(_));
                let local = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
                    _ => None,
                };
                self.export("default", Export::Own { local: local.map(|id| id.name.to_string()), is_type });
            }
            _ => {}
        }
    }

    fn export_local(&mut self, specifier: &ExportSpecifier<'_>) {
        let local = specifier.local.name();
        let export = match self.imported.get(local.as_str()) {
            Some(Local::Of { request, name }) => Export::Of { request: *request, name: name.clone() },
            Some(Local::Namespace) => Export::Namespace,
            Some(Local::Type) => Export::Own { local: None, is_type: true },
            None => {
                let is_type = self.types.contains(local.as_str()) && !self.values.contains(local.as_str());
                Export::Own { local: Some(local.to_string()), is_type }
            }
        };
        self.export(specifier.exported.name().as_str(), export);
    }

    fn export_type(&mut self, specifier: &ExportSpecifier<'_>) {
        self.export(specifier.exported.name().as_str(), Export::Own { local: None, is_type: true });
    }

    /// A type and a value may share a name; the value counts.
    fn export(&mut self, name: &str, export: Export) {
        let is_type = matches!(export, Export::Own { is_type: true, .. });
        if !is_type || !self.outline.exports.contains_key(name) {
            self.outline.exports.insert(name.to_owned(), export);
        }
    }

    fn ask(&mut self, specifier: &str, at: u32, when: When) -> usize {
        let request =
            Request { specifier: specifier.to_owned(), offset: self.text.offset(at), when, names: Vec::new() };
        self.outline.requests.push(request);
        self.outline.requests.len() - 1
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        if let Some(specifier) = literal(&import.source) {
            let at = import.span.start;
            self.ask(specifier, at, When::Later);
        }
        walk_import_expression(self, import);
    }
}

/// The specifier of an `import()` where it is there to be read.
pub(crate) fn literal<'e>(source: &'e Expression<'_>) -> Option<&'e str> {
    match source.get_inner_expression() {
        Expression::StringLiteral(literal) => Some(literal.value.as_str()),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            template.quasis.first()?.value.cooked.as_ref().map(|text| text.as_str())
        }
        _ => None,
    }
}

fn names<'d>(declaration: &'d Declaration<'_>) -> Vec<&'d str> {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            let ids = variables.declarations.iter().flat_map(|variable| variable.id.get_binding_identifiers());
            ids.map(|id| id.name.as_str()).collect()
        }
        declaration => declaration.id().map(|id| id.name.as_str()).into_iter().collect(),
    }
}
