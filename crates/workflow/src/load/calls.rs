//! What a file calls, as far as its text tells.

use super::imports::Imports;
use super::literal;
use super::parse::Tree;
use oxc::ast::ast::{Argument, CallExpression, Expression, IdentifierReference, ObjectPropertyKind};
use oxc::ast_visit::{Visit, walk::walk_call_expression};
use oxc::span::GetSpan;
use oxc::syntax::operator::BinaryOperator;
use std::collections::BTreeSet;

/// How much of a prompt is shown, in characters.
const PROMPT_CHARS_MAX: usize = 80;

/// What a file calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The workflows that it calls by a literal name, each once, in the order of the text.
    pub children: Vec<String>,
    /// Whether it may call workflows besides those: by a name that is computed, or through another name.
    pub children_unknown: bool,
    /// The literal names that it asks `patched` about, each once, in the order of the text.
    pub patches: Vec<String>,
    /// Where it calls agents, in the order of the text.
    pub agents: Vec<AgentSite>,
}

/// One place where a file calls an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSite {
    /// The line of the call, from 1.
    pub line: u32,
    /// Its label, if that is written out.
    pub label: Option<String>,
    /// How its prompt begins, if that is written out; what is cut off or computed is `…`.
    pub prompt: Option<String>,
}

impl Calls {
    pub(crate) fn read<'a>(tree: &Tree<'_, 'a>, imports: &Imports) -> Calls {
        let mut reader =
            Reader { tree, imports, called: BTreeSet::new(), seen: BTreeSet::new(), found: Calls::default() };
        reader.visit_program(tree.program);
        reader.found
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asking {
    Workflow,
    Patched,
}

struct Reader<'r, 'a> {
    tree: &'r Tree<'r, 'a>,
    imports: &'r Imports,
    /// Where names stand that are called there.
    called: BTreeSet<u32>,
    /// Names that were found, by what asks for them.
    seen: BTreeSet<(Asking, String)>,
    found: Calls,
}

impl<'a> Visit<'a> for Reader<'_, 'a> {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let callee = call.callee.get_inner_expression();
        self.called.insert(callee.span().start);
        match self.primitive(callee) {
            Some("workflow") => match first_text(call) {
                Some(name) => self.add(Asking::Workflow, name),
                None => self.found.children_unknown = true,
            },
            Some("patched") => first_text(call).into_iter().for_each(|name| self.add(Asking::Patched, name)),
            Some("agent") => {
                let (line, _) = self.tree.lines.position(call.span.start);
                self.found.agents.push(AgentSite { line, label: label(call), prompt: prompt(call) });
            }
            _ => {}
        }
        walk_call_expression(self, call);
    }

    fn visit_identifier_reference(&mut self, name: &IdentifierReference<'a>) {
        // `names.map(workflow)`: whoever gets the function may call it with any name.
        if self.imports.primitive(name.name.as_str()) == Some("workflow") && !self.called.contains(&name.span.start) {
            self.found.children_unknown = true;
        }
    }
}

impl Reader<'_, '_> {
    fn add(&mut self, asking: Asking, name: String) {
        if self.seen.insert((asking, name.clone())) {
            match asking {
                Asking::Workflow => self.found.children.push(name),
                Asking::Patched => self.found.patches.push(name),
            }
        }
    }

    /// The primitive that is called: by its name, or as a method of whatever has it, like the `ctx` of `run(ctx)`.
    fn primitive<'c>(&self, callee: &'c Expression<'_>) -> Option<&'c str> {
        match callee {
            Expression::Identifier(name) => self.imports.primitive(name.name.as_str()),
            Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
            Expression::ComputedMemberExpression(member) => match member.expression.get_inner_expression() {
                Expression::StringLiteral(name) => Some(name.value.as_str()),
                _ => None,
            },
            _ => None,
        }
    }
}

fn first_text(call: &CallExpression<'_>) -> Option<String> {
    call.arguments.first().and_then(Argument::as_expression).and_then(literal::text)
}

/// The label in the options, wherever they stand.
fn label(call: &CallExpression<'_>) -> Option<String> {
    call.arguments.iter().find_map(|argument| {
        let Expression::ObjectExpression(options) = argument.as_expression()?.get_inner_expression() else {
            return None;
        };
        options.properties.iter().find_map(|property| match property {
            ObjectPropertyKind::ObjectProperty(property)
                if !property.computed && property.key.is_specific_static_name("label") =>
            {
                literal::text(&property.value)
            }
            _ => None,
        })
    })
}

/// The prompt is the first argument, or the second one behind a profile.
fn prompt(call: &CallExpression<'_>) -> Option<String> {
    let (start, whole) = call.arguments.iter().take(2).filter_map(Argument::as_expression).find_map(beginning)?;
    let trimmed = start.trim_start();
    let mut shown: String = trimmed.chars().take(PROMPT_CHARS_MAX).collect();
    if !whole || trimmed.chars().nth(PROMPT_CHARS_MAX).is_some() {
        shown.push('…');
    }
    Some(shown)
}

/// How a text begins, and whether that is all of it.
fn beginning(expression: &Expression<'_>) -> Option<(String, bool)> {
    let mut expression = expression.get_inner_expression();
    let mut whole = true;
    while let Expression::BinaryExpression(sum) = expression
        && sum.operator == BinaryOperator::Addition
    {
        (expression, whole) = (sum.left.get_inner_expression(), false);
    }
    match expression {
        Expression::StringLiteral(text) => Some((text.value.to_string(), whole)),
        Expression::TemplateLiteral(template) => {
            let first = template.quasis.first()?.value.cooked?;
            Some((first.to_string(), whole && template.expressions.is_empty()))
        }
        _ => None,
    }
}
