//! The imports of a text, written anew: each names the module that it means, and says where it means only a type.

use super::known::{Found, Imports};
use super::outline::literal;
use crate::fault::Fault;
use crate::language::Flavour;
use crate::module::{is_type_only, passes_on_types, required};
use crate::parse::{Parsed, Text};
use oxc::ast::ast::{
    Expression, ImportDeclaration, ImportDeclarationSpecifier, ImportExpression, ImportOrExportKind, Program,
    Statement, StringLiteral,
};
use oxc::ast::builder::AstBuilder;
use oxc::ast_visit::{VisitMut, walk_mut::walk_import_expression};

/// Names the modules that the `import()`s of a text mean, where they are written out and there.
pub(crate) fn mark_later<'a>(program: &mut Program<'a>, imports: Imports<'_>, builder: &AstBuilder<'a>) {
    if !imports.known.modules.is_empty() && program.source_text.contains("import") {
        Later { imports, builder }.visit_program(program);
    }
}

struct Later<'m, 'a> {
    imports: Imports<'m>,
    builder: &'m AstBuilder<'a>,
}

impl<'a> VisitMut<'a> for Later<'_, 'a> {
    fn visit_import_expression(&mut self, import: &mut ImportExpression<'a>) {
        let meant = literal(&import.source).and_then(|specifier| self.imports.engine_name(specifier).ok());
        if let Some(name) = meant {
            let span = oxc::span::GetSpan::span(&import.source);
            let name = oxc::str::Str::from_str_in(&name, self.builder);
            import.source = Expression::new_string_literal(span, name, None, self.builder);
            // `with { type: "json" }` says what is known.
            import.options = None;
        }
        walk_import_expression(self, import);
    }
}

/// Names the modules that the statements of a module mean.
pub(crate) fn mark_module<'a>(
    parsed: &mut Parsed<'a>,
    flavour: Flavour,
    imports: Imports<'_>,
    builder: &AstBuilder<'a>,
) -> Result<(), Fault> {
    let Parsed { program, text } = parsed;
    let marker = Marker { imports, builder, text: *text, flavour };
    for statement in &mut program.body {
        marker.mark(statement)?;
    }
    mark_later(program, imports, builder);
    Ok(())
}

struct Marker<'m, 'a> {
    imports: Imports<'m>,
    builder: &'m AstBuilder<'a>,
    text: Text,
    flavour: Flavour,
}

impl<'a> Marker<'_, 'a> {
    fn mark(&self, statement: &mut Statement<'a>) -> Result<(), Fault> {
        match statement {
            Statement::ImportDeclaration(import) if !is_type_only(import) => {
                refuse_phase(import, self.text)?;
                let meant = import.source.value;
                if let (Flavour::TypeScript, Some(specifiers)) = (self.flavour, &mut import.specifiers) {
                    for specifier in specifiers {
                        if let ImportDeclarationSpecifier::ImportSpecifier(specifier) = specifier
                            && self.is_type(meant.as_str(), specifier.imported.name().as_str())
                        {
                            specifier.import_kind = ImportOrExportKind::Type;
                        }
                    }
                }
                import.with_clause = None;
                self.name(&mut import.source)
            }
            Statement::ExportAllDeclaration(export) if !export.export_kind.is_type() => {
                export.with_clause = None;
                self.name(&mut export.source)
            }
            Statement::ExportFromDeclaration(export) if !export.export_kind.is_type() => {
                if self.flavour == Flavour::TypeScript {
                    let meant = export.source.value;
                    for specifier in &mut export.specifiers {
                        if self.is_type(meant.as_str(), specifier.local.name().as_str()) {
                            specifier.export_kind = ImportOrExportKind::Type;
                        }
                    }
                    if passes_on_types(export) {
                        export.export_kind = ImportOrExportKind::Type;
                        return Ok(());
                    }
                }
                export.with_clause = None;
                self.name(&mut export.source)
            }
            Statement::TSImportEqualsDeclaration(import) if !import.import_kind.is_type() => {
                match required(import) {
                    Some(source) => Err(super::refusal::Refusal::Required
                        .fault(source.value.as_str(), self.text.offset(source.span.start))),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn name(&self, source: &mut StringLiteral<'a>) -> Result<(), Fault> {
        let name = engine_name(source, self.imports, self.text)?;
        *source = StringLiteral::new(source.span, oxc::str::Str::from_str_in(&name, self.builder), None, self.builder);
        Ok(())
    }

    /// A compiler that sees one file takes every name for a value unless it says that it is a type.
    fn is_type(&self, specifier: &str, name: &str) -> bool {
        self.imports.find(specifier, name) == Found::Type
    }
}

/// The name of the module that a statement means, or why there is none.
pub(crate) fn engine_name(source: &StringLiteral<'_>, imports: Imports<'_>, text: Text) -> Result<String, Fault> {
    let specifier = source.value.as_str();
    let offset = text.offset(source.span.start);
    imports.engine_name(specifier).map_err(|refusal| imports.fault(refusal, specifier, offset))
}

/// `import defer` and `import source` are not what engines know.
pub(crate) fn refuse_phase(import: &ImportDeclaration<'_>, text: Text) -> Result<(), Fault> {
    if import.phase.is_none() {
        return Ok(());
    }
    let message = "`import defer` and `import source` are not supported";
    Err(Fault::syntax(text.offset(import.span.start), message).hint("write a plain `import`"))
}
