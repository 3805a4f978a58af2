use crate::language::Flavour;
use crate::parse;
use crate::scan::scan;
use crate::stack::with_stack;
use oxc::allocator::Allocator;
use oxc::ast::ast::{Declaration, Statement};

/// The variables that a prepared program declares at its own level, in their order. Functions are none.
///
/// Takes the code that an engine runs, the body of one function; gives nothing for anything else.
pub fn variables(code: &str) -> Vec<String> {
    let found = scan(code).and_then(|scanned| {
        with_stack(scanned.deepest, || {
            let allocator = Allocator::default();
            let parsed = parse::body(&allocator, code, Flavour::JavaScript)?;
            Ok(parsed.program.body.iter().flat_map(declared).collect())
        })
    });
    found.unwrap_or_default()
}

fn declared(statement: &Statement<'_>) -> Vec<String> {
    let Some(Declaration::VariableDeclaration(variables)) = statement.as_declaration() else { return Vec::new() };
    let names = variables.declarations.iter().flat_map(|variable| variable.id.get_binding_identifiers());
    names.map(|id| id.name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn only_variables_of_the_top_are_found() {
        let code = "\"use strict\";\nconst a = 1, { b, c: [d] } = input;\nlet e;\nfunction f() { var g; }\nif (a) { let h; }\nreturn e;";
        assert_eq!(variables(code), ["a", "b", "d", "e"]);
        assert_eq!(variables("}"), Vec::<String>::new());
    }
}
