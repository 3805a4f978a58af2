//! Items of arrays, and what is made of all of them.

use super::context::{Frame, Given};
use super::eval::{Eval, append_each};
use super::text::{Text, Why};
use super::value::{VALUES_MAX, Value, Values};
use oxc::ast::ast::{Argument, ArrayExpressionElement};
use oxc::span::{GetSpan, Span};
use oxc::syntax::scope::ScopeId;

impl<'a> Eval<'_, 'a> {
    /// The items of arrays. What may be any array has one item that may be anything.
    pub(super) fn items(&mut self, arrays: &Values<'a>, span: Span) -> Vec<Values<'a>> {
        // An array may be spread into itself.
        let items = self.deeper(|eval| eval.items_inner(arrays, span));
        items.unwrap_or_else(|| vec![Values::unknown(Why::Far(span))])
    }

    fn items_inner(&mut self, arrays: &Values<'a>, span: Span) -> Vec<Values<'a>> {
        let mut items = Vec::new();
        for array in &arrays.0 {
            if items.len() > VALUES_MAX {
                break;
            }
            match array {
                Value::Array(array, depth) => self.in_first_frames(*depth, |eval| {
                    for element in array.elements.iter().take(VALUES_MAX + 1) {
                        match element {
                            ArrayExpressionElement::SpreadElement(spread) => {
                                let spread_values = eval.eval(&spread.argument);
                                items.extend(eval.items(&spread_values, spread.span));
                            }
                            ArrayExpressionElement::Elision(_) => items.push(Values::one(Value::Nothing)),
                            element => items.extend(element.as_expression().map(|item| eval.eval(item))),
                        }
                    }
                }),
                Value::Items(known) => items.extend(known.iter().cloned()),
                Value::Nothing => {}
                Value::Unknown(why) => items.push(Values::unknown(*why)),
                _ => items.push(Values::unknown(Why::From(span))),
            }
        }
        if items.len() > VALUES_MAX {
            items.truncate(VALUES_MAX);
            items.push(Values::unknown(Why::Many(span)));
        }
        items
    }

    /// One item of arrays.
    pub(super) fn at(&mut self, arrays: &Values<'a>, index: usize, span: Span) -> Values<'a> {
        let mut all = Values::none();
        for array in &arrays.0 {
            let has_spread = matches!(array, Value::Array(array, _)
                if array.elements.iter().take(index + 1).any(ArrayExpressionElement::is_spread));
            let values = match array {
                Value::Array(..) if has_spread => self.any_item(array, span),
                Value::Array(array, depth) => self.in_first_frames(*depth, |eval| {
                    let item = array.elements.get(index).and_then(ArrayExpressionElement::as_expression);
                    item.map_or_else(|| Values::one(Value::Nothing), |item| eval.eval(item))
                }),
                Value::Items(items) => items.get(index).cloned().unwrap_or_else(|| Values::one(Value::Nothing)),
                Value::Unknown(why @ (Why::Many(_) | Why::Far(_))) => Values::unknown(*why),
                _ => Values::unknown(Why::From(span)),
            };
            all = all.join(values, span);
        }
        all
    }

    /// Whatever is in an array.
    pub(super) fn any_item(&mut self, array: &Value<'a>, span: Span) -> Values<'a> {
        let items = self.items(&Values::one(array.clone()), span);
        items.into_iter().fold(Values::none(), |all, item| all.join(item, span))
    }

    /// Arrays, and what is pushed onto them somewhere.
    pub(super) fn with_pushed(&mut self, values: Values<'a>, pushed: &[&'a Argument<'a>], span: Span) -> Values<'a> {
        let mut items = self.items(&values, span);
        for argument in pushed.iter().take(VALUES_MAX) {
            items.push(match argument.as_expression() {
                Some(expression) => self.eval(expression),
                None => Values::unknown(Why::From(argument.span())),
            });
        }
        Values::one(Value::Items(items.into()))
    }

    /// `items.map(function)`
    pub(super) fn map(&mut self, array: &Value<'a>, function: ScopeId, span: Span) -> Values<'a> {
        let facts = self.facts;
        let Some(func) = facts.functions.get(&function).filter(|func| !func.kind.is_generator()) else {
            return Values::unknown(Why::From(span));
        };
        let mut mapped = Vec::new();
        for value in self.items(&Values::one(array.clone()), span).into_iter().flat_map(|values| values.0) {
            self.frames.push(Frame { scope: function, given: Given::First(value) });
            let returns = func.returns.iter().take(VALUES_MAX);
            mapped.push(returns.fold(Values::none(), |all, value| all.join(self.eval(value), span)));
            self.frames.pop();
            if mapped.len() > VALUES_MAX {
                break;
            }
        }
        self.context_uses += 1;
        Values::one(Value::Items(mapped.into()))
    }

    /// `items.join(separator)`
    pub(super) fn joined(&mut self, array: &Value<'a>, separator: &Text, span: Span) -> Values<'a> {
        let known = match array {
            Value::Array(array, _) => !array.elements.iter().any(ArrayExpressionElement::is_spread),
            Value::Items(_) => true,
            _ => false,
        };
        if !known {
            return Values::unknown(Why::From(span));
        }
        let mut texts = vec![Text::default()];
        for (index, item) in self.items(&Values::one(array.clone()), span).into_iter().enumerate() {
            if index > 0 {
                texts = append_each(texts, std::slice::from_ref(separator), span);
            }
            texts = append_each(texts, &item.texts(span), span);
        }
        Values(texts.into_iter().map(Value::Text).collect())
    }
}
