use oxc::ast::AstKind;
use oxc::ast::ast::{Program, Statement};
use oxc::ast_visit::Visit;
use oxc::span::GetSpan;

/// Something that may be in a program and that we look for only when a word in the text says it may be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rarity {
    /// `<b>markup</b>`
    Jsx,
    /// `class { accessor x }`
    Accessor,
    /// `import.meta`
    ImportMeta,
    /// `class { private x }`, which is only TypeScript.
    Modifier,
    /// `let x: () ; T`: the parser takes any token for the arrow of a function type.
    Arrowless,
}

/// The offset of the first one in the parsed text.
pub(crate) fn find(program: &Program<'_>, rarity: Rarity) -> Option<u32> {
    let mut finder = Finder { rarity, source: program.source_text, first: None };
    finder.visit_program(program);
    finder.first
}

struct Finder<'s> {
    rarity: Rarity,
    source: &'s str,
    first: Option<u32>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        let (rarity, start) = match kind {
            AstKind::TSFunctionType(function) => (Rarity::Arrowless, function.return_type.span.start),
            AstKind::TSConstructorType(constructor) => (Rarity::Arrowless, constructor.return_type.span.start),
            kind => match rarity_of(kind) {
                Some(rarity) => (rarity, kind.span().start),
                None => return,
            },
        };
        let has_arrow = || self.source.get(start as usize..).is_some_and(|rest| rest.starts_with("=>"));
        if rarity == self.rarity && !(rarity == Rarity::Arrowless && has_arrow()) {
            self.first = Some(self.first.map_or(start, |first| first.min(start)));
        }
    }
}

fn rarity_of(kind: AstKind<'_>) -> Option<Rarity> {
    Some(match kind {
        AstKind::JSXElement(_) | AstKind::JSXFragment(_) => Rarity::Jsx,
        AstKind::AccessorProperty(_) => Rarity::Accessor,
        AstKind::ImportMeta(_) => Rarity::ImportMeta,
        AstKind::TSInterfaceDeclaration(_) => Rarity::Modifier,
        AstKind::Class(class) if class.declare || class.r#abstract => Rarity::Modifier,
        AstKind::PropertyDefinition(p) if p.accessibility.is_some() || p.readonly || p.r#override || p.declare => {
            Rarity::Modifier
        }
        AstKind::MethodDefinition(m) if m.accessibility.is_some() || m.r#override => Rarity::Modifier,
        _ => return None,
    })
}

/// Whether these statements return by themselves, not only in functions inside them.
pub(crate) fn returns(statements: &[Statement<'_>]) -> bool {
    let mut finder = ReturnFinder(false);
    statements.iter().for_each(|statement| finder.visit_statement(statement));
    finder.0
}

struct ReturnFinder(bool);

impl<'a> Visit<'a> for ReturnFinder {
    fn visit_return_statement(&mut self, _: &oxc::ast::ast::ReturnStatement<'a>) {
        self.0 = true;
    }

    // Nothing in an expression or a declaration belongs to this level.
    fn visit_expression(&mut self, _: &oxc::ast::ast::Expression<'a>) {}
    fn visit_function(&mut self, _: &oxc::ast::ast::Function<'a>, _: oxc::syntax::scope::ScopeFlags) {}
    fn visit_class(&mut self, _: &oxc::ast::ast::Class<'a>) {}
    fn visit_declaration(&mut self, _: &oxc::ast::ast::Declaration<'a>) {}
}
