//! What calls give back, as far as that is a text, an array or a binding.

use super::eval::{Eval, append_each};
use super::text::{Text, Why};
use super::url;
use super::value::{Host, Method, Request, Root, VALUES_MAX, Value, Values};
use oxc::ast::ast::{
    Argument, CallExpression, Expression, NewExpression, ObjectExpression, ObjectPropertyKind, PropertyKey,
};
use oxc::span::{GetSpan, Span};
use std::rc::Rc;

/// Reading a URL takes this many times as long as copying it.
const URL_STEPS: usize = 4;

impl<'a> Eval<'_, 'a> {
    pub(super) fn call(&mut self, call: &'a CallExpression<'a>) -> Values<'a> {
        let (span, arguments) = (call.span, call.arguments.as_slice());
        let Expression::StaticMemberExpression(member) = call.callee.get_inner_expression() else {
            let callees = self.eval(&call.callee);
            return self.results(callees, arguments, span);
        };
        let objects = self.eval(&member.object);
        let mut all = Values::none();
        for object in objects.0 {
            let values = match self.method(&object, &member.property.name, arguments, span) {
                Some(values) => values,
                None => {
                    let key = Text::known(&member.property.name, span);
                    let callees = self.member(&Values::one(object), &key, span);
                    self.results(callees, arguments, span)
                }
            };
            all = all.join(values, span);
        }
        all
    }

    fn results(&mut self, callees: Values<'a>, arguments: &'a [Argument<'a>], span: Span) -> Values<'a> {
        let mut all = Values::none();
        for callee in callees.0 {
            let values = match callee {
                Value::Function(scope) => self.returned(scope, arguments, span),
                Value::Host(host) => self.host_result(&host, arguments, span),
                Value::Unknown(why @ (Why::Many(_) | Why::Far(_))) => Values::unknown(why),
                _ => Values::unknown(Why::From(span)),
            };
            all = all.join(values, span);
        }
        all
    }

    /// What a method of a text or an array gives back.
    fn method(
        &mut self,
        object: &Value<'a>,
        name: &str,
        arguments: &'a [Argument<'a>],
        span: Span,
    ) -> Option<Values<'a>> {
        Some(match (object, name) {
            (Value::Text(text), "toString" | "valueOf" | "toJSON") => Values::one(Value::Text(text.clone())),
            (Value::Text(text), "concat") => {
                let mut texts = vec![text.clone()];
                for index in 0..arguments.len().min(VALUES_MAX) {
                    let next = self.argument(arguments, index, span).texts(span);
                    texts = append_each(texts, &next, span);
                }
                Values(texts.into_iter().map(Value::Text).collect())
            }
            (Value::Array(..) | Value::Items(_), "join") => {
                let separators = match self.argument(arguments, 0, span).without_nothing() {
                    (_, true) => vec![Text::known(",", span)],
                    (separators, false) => separators.texts(span),
                };
                let joined = separators.iter().map(|separator| self.joined(object, separator, span));
                joined.collect::<Vec<_>>().into_iter().fold(Values::none(), |all, one| all.join(one, span))
            }
            (
                Value::Array(..) | Value::Items(_),
                "filter" | "slice" | "sort" | "reverse" | "toSorted" | "toReversed" | "values",
            ) => Values::one(object.clone()),
            (Value::Array(..) | Value::Items(_), "find" | "findLast" | "at" | "pop" | "shift") => {
                self.any_item(object, span)
            }
            (Value::Array(..) | Value::Items(_), "concat") => {
                let mut items = self.items(&Values::one(object.clone()), span);
                for index in 0..arguments.len().min(VALUES_MAX) {
                    let more = self.argument(arguments, index, span);
                    items.extend(self.items(&more, span));
                }
                Values::one(Value::Items(items.into()))
            }
            (Value::Array(..) | Value::Items(_) | Value::Unknown(_), "map") => {
                match self.argument(arguments, 0, span).0.as_slice() {
                    [Value::Function(scope)] => self.map(object, *scope, span),
                    _ => Values::unknown(Why::From(span)),
                }
            }
            _ => return None,
        })
    }

    /// What something of the sandbox gives back.
    fn host_result(&mut self, host: &Host, arguments: &'a [Argument<'a>], span: Span) -> Values<'a> {
        let keys: Vec<&str> = host.keys.iter().map(|key| key.whole().unwrap_or("")).collect();
        match (host.root, keys.as_slice()) {
            (_, [.., "bind"]) => {
                let keys = host.keys[..host.keys.len() - 1].to_vec();
                Values::one(Value::Host(Host { root: host.root, keys }))
            }
            (Root::Kv, ["space"]) => {
                let names = self.argument(arguments, 0, span).texts(span);
                let space = |name| Value::Host(Host { root: Root::Kv, keys: vec![name] });
                Values(names.into_iter().map(space).collect())
            }
            (Root::String, []) => {
                let texts = self.argument(arguments, 0, span).texts(span);
                Values(texts.into_iter().map(Value::Text).collect())
            }
            (Root::Encode, []) => {
                let texts = self.argument(arguments, 0, span).texts(span);
                Values(texts.into_iter().map(|text| Value::Text(encoded(text, span))).collect())
            }
            (Root::Object, ["freeze" | "seal"]) => self.argument(arguments, 0, span),
            (Root::Object, [part @ ("keys" | "values" | "entries")]) => {
                let objects = self.argument(arguments, 0, span).0;
                let [Value::Object(object, depth)] = objects.as_slice() else {
                    return Values::unknown(Why::From(span));
                };
                self.in_first_frames(*depth, |eval| eval.parts(object, part, span))
            }
            _ => Values::unknown(Why::From(span)),
        }
    }

    /// `Object.keys`, `Object.values` or `Object.entries`.
    fn parts(&mut self, object: &'a ObjectExpression<'a>, part: &str, span: Span) -> Values<'a> {
        let mut items = Vec::new();
        for property in object.properties.iter().take(VALUES_MAX + 1) {
            let (key, value) = match property {
                ObjectPropertyKind::ObjectProperty(property) => {
                    let name = match &property.key {
                        PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
                        key if !property.computed => key.static_name().map(Into::into),
                        _ => None,
                    };
                    let unknown = || Values::unknown(Why::From(property.span));
                    (name.map_or_else(unknown, |name| Values::text(&name, span)), self.eval(&property.value))
                }
                ObjectPropertyKind::SpreadProperty(spread) => {
                    (Values::unknown(Why::From(spread.span)), Values::unknown(Why::From(spread.span)))
                }
            };
            items.push(match part {
                "keys" => key,
                "values" => value,
                _ => Values::one(Value::Items(Rc::new([key, value]))),
            });
        }
        Values::one(Value::Items(items.into()))
    }

    /// `new URL(…)` and `new Request(…)`.
    pub(super) fn construct(&mut self, new: &'a NewExpression<'a>) -> Values<'a> {
        let (span, arguments) = (new.span, new.arguments.as_slice());
        let callees = self.eval(&new.callee);
        let mut all = Values::none();
        for callee in callees.0 {
            let values = match callee {
                Value::Host(Host { root: Root::Url, keys }) if keys.is_empty() => {
                    let texts = self.argument(arguments, 0, span).texts(span);
                    let bases = match self.argument(arguments, 1, span).without_nothing() {
                        (bases, true) if bases.0.is_empty() => None,
                        (bases, _) => Some(bases.texts(span)),
                    };
                    let resolved = texts.iter().flat_map(|text| match &bases {
                        None => vec![text.clone()],
                        Some(bases) => bases.iter().map(|base| url::resolve(text, base, span)).collect(),
                    });
                    let mut values = Values::none();
                    resolved.for_each(|text| values.add(Value::Text(text), span));
                    values
                }
                Value::Host(Host { root: Root::Request, keys }) if keys.is_empty() => {
                    let at = arguments.first().map_or(span, GetSpan::span);
                    let (first, init) = (self.argument(arguments, 0, span), self.argument(arguments, 1, span));
                    let requests = self.requests(first, init, at);
                    Values(requests.into_iter().map(|request| Value::Request(Rc::new(request))).collect())
                }
                _ => Values::unknown(Why::From(span)),
            };
            all = all.join(values, span);
        }
        all
    }

    /// The requests that `fetch` and `new Request` make of their arguments.
    pub(super) fn requests(&mut self, first: Values<'a>, init: Values<'a>, at: Span) -> Vec<Request> {
        let methods = self.methods(init, at);
        self.charge(first.weight() * methods.len() * URL_STEPS);
        let mut requests: Vec<Request> = Vec::new();
        for value in first.0 {
            let (url, own) = match value {
                Value::Text(text) => (text, Method::Default),
                Value::Request(request) => (request.url.clone(), request.method.clone()),
                Value::Unknown(why) => (Text::hole(why), Method::Default),
                _ => (Text::hole(Why::From(at)), Method::Default),
            };
            for method in &methods {
                let method = if *method == Method::Default { own.clone() } else { method.clone() };
                let request = Request { url: url.clone(), method };
                if !requests.contains(&request) && requests.len() <= VALUES_MAX {
                    requests.push(request);
                }
            }
        }
        requests
    }

    fn methods(&mut self, init: Values<'a>, span: Span) -> Vec<Method> {
        let mut methods = Vec::new();
        for value in init.0 {
            let given = match value {
                Value::Nothing => vec![Method::Default],
                Value::Object(object, depth) => {
                    let values = self.in_first_frames(depth, |eval| eval.property(object, Some("method"), span));
                    values.0.iter().map(method).collect()
                }
                _ => vec![Method::Any],
            };
            for method in given {
                if !methods.contains(&method) {
                    methods.push(method);
                }
            }
        }
        // Any method includes the others.
        if methods.contains(&Method::Any) { vec![Method::Any] } else { methods }
    }
}

fn method(value: &Value<'_>) -> Method {
    match value {
        Value::Nothing => Method::Default,
        Value::Text(text) => text.whole().map_or(Method::Any, |text| Method::Known(text.to_owned())),
        _ => Method::Any,
    }
}

/// What needs no escapes stays as it is.
fn encoded(text: Text, span: Span) -> Text {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    match text.whole() {
        Some(whole) if whole.chars().all(plain) => text,
        _ => Text::hole(Why::From(span)),
    }
}
