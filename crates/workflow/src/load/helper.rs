use super::edits::Edits;
use super::imports::{Imports, Source, primitive, quoted, values};
use super::is_data;
use super::parse::{Flavour, Tree, with_tree};
use crate::error::LoadError;
use oxc::ast::ast::{ImportDeclaration, ImportDeclarationSpecifier, Statement, StringLiteral};

/// Makes the module of a file that a workflow imports: what it imports from `"defineworkflow"` comes from `library`.
///
/// `library` is a specifier relative to the file. Imports of local files stay, any other is refused. The file stays as it
/// is but for that, and every line is where its author put it. A JSON file, told by its name, stays as it is.
pub fn helper(text: &str, name: &str, library: &str) -> Result<String, LoadError> {
    if is_data(name) {
        return Ok(text.to_owned());
    }
    with_tree(text, name, |tree| {
        Imports::read_helper(tree)?;
        let mut edits = Edits::new(tree.text);
        for statement in &tree.program.body {
            match statement {
                Statement::ImportDeclaration(import) => {
                    redirect(&import.source, library, &mut edits);
                    mark_types(import, tree, &mut edits);
                }
                Statement::ExportAllDeclaration(export) => redirect(&export.source, library, &mut edits),
                Statement::ExportFromDeclaration(export) => redirect(&export.source, library, &mut edits),
                _ => {}
            }
        }
        Ok(edits.finish())
    })
}

fn redirect(source: &StringLiteral<'_>, library: &str, edits: &mut Edits<'_>) {
    if Source::of(source.value.as_str()) == Source::Authoring {
        edits.replace(source.span.start, source.span.end, &quoted(library));
    }
}

/// The library has no types. A name that it does not have is that of one, and has to say so.
fn mark_types(import: &ImportDeclaration<'_>, tree: &Tree<'_, '_>, edits: &mut Edits<'_>) {
    let is_ours = Source::of(import.source.value.as_str()) == Source::Authoring;
    if !is_ours || tree.flavour == Flavour::JavaScript || import.import_kind.is_type() {
        return;
    }
    for specifier in values(import) {
        if let ImportDeclarationSpecifier::ImportSpecifier(named) = specifier
            && primitive(named).is_none()
        {
            edits.insert(named.span.start, "type ");
        }
    }
}
