//! Imported variables that their module changes: whoever reads one sees what it is by then.

use super::bind::Live;
use oxc::ast::ast::{
    CallExpression, Expression, IdentifierName, NumberBase, ObjectProperty, Program, TaggedTemplateExpression,
};
use oxc::ast::builder::AstBuilder;
use oxc::ast_visit::{VisitMut, walk_mut};
use oxc::semantic::{ReferenceId, SemanticBuilder};
use oxc::span::{GetSpan, Span};
use oxc::str::Ident;
use std::collections::HashMap;

/// Makes a program that is a function body read these variables from their modules each time.
///
/// The variables themselves stay, for whoever looks at the program from within.
pub(crate) fn read_anew<'a>(program: &mut Program<'a>, live: &[Live], builder: &AstBuilder<'a>) {
    if live.is_empty() {
        return;
    }
    let scoping = SemanticBuilder::new().build(program).semantic.into_scoping();
    let mut reads = HashMap::new();
    for one in live {
        let Some(symbol) = scoping.get_root_binding(Ident::from(one.local.as_str())) else { continue };
        let references = scoping.get_resolved_reference_ids(symbol).iter();
        reads.extend(references.map(|reference| (*reference, one)));
    }
    Reader { reads, builder }.visit_program(program);
}

struct Reader<'r, 'a> {
    reads: HashMap<ReferenceId, &'r Live>,
    builder: &'r AstBuilder<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn read(&self, expression: &Expression<'a>) -> Option<Expression<'a>> {
        let Expression::Identifier(name) = expression else { return None };
        let live = self.reads.get(&name.reference_id.get()?)?;
        let (span, builder) = (name.span, self.builder);
        let module = Expression::new_identifier(span, Ident::from_str_in(&live.namespace, builder), builder);
        if oxc::syntax::identifier::is_identifier_name(&live.exported) {
            let name = IdentifierName::new(span, Ident::from_str_in(&live.exported, builder), builder);
            return Some(Expression::new_static_member_expression(span, module, name, false, builder));
        }
        let key = oxc::str::Str::from_str_in(&live.exported, builder);
        let key = Expression::new_string_literal(span, key, None, builder);
        Some(Expression::new_computed_member_expression(span, module, key, false, builder))
    }

    /// `(0, module.f)`: a function that is called as a plain one has no `this`.
    fn detach(&self, callee: &mut Expression<'a>) {
        let Some(read) = self.read(callee) else { return };
        let (span, builder): (Span, _) = (callee.span(), self.builder);
        let zero = Expression::new_numeric_literal(span, 0.0, None, NumberBase::Decimal, builder);
        *callee = Expression::new_sequence_expression(span, [zero, read], builder);
    }
}

impl<'a> VisitMut<'a> for Reader<'_, 'a> {
    fn visit_expression(&mut self, expression: &mut Expression<'a>) {
        match self.read(expression) {
            Some(read) => *expression = read,
            None => walk_mut::walk_expression(self, expression),
        }
    }

    fn visit_call_expression(&mut self, call: &mut CallExpression<'a>) {
        self.detach(&mut call.callee);
        walk_mut::walk_call_expression(self, call);
    }

    fn visit_tagged_template_expression(&mut self, tagged: &mut TaggedTemplateExpression<'a>) {
        self.detach(&mut tagged.tag);
        walk_mut::walk_tagged_template_expression(self, tagged);
    }

    fn visit_object_property(&mut self, property: &mut ObjectProperty<'a>) {
        walk_mut::walk_object_property(self, property);
        property.shorthand &= matches!(property.value, Expression::Identifier(_));
    }
}
