//! Parts of values: `object.key`, `items[0]`.

use super::eval::Eval;
use super::text::{Text, Why};
use super::url;
use super::value::{Host, INPUT, Root, VALUES_MAX, Value, Values};
use oxc::ast::ast::{
    ComputedMemberExpression, ObjectExpression, ObjectPropertyKind, PropertyKey, PropertyKind, StaticMemberExpression,
    TSEnumDeclaration, TSEnumMemberName,
};
use oxc::span::{GetSpan, Span};

/// Keys behind a global: `kv.cache.get.call` has three.
const HOST_KEYS_MAX: usize = 4;

impl<'a> Eval<'_, 'a> {
    pub(super) fn static_member(&mut self, member: &'a StaticMemberExpression<'a>) -> Values<'a> {
        let object = self.eval(&member.object);
        self.member(&object, &Text::known(&member.property.name, member.span), member.span)
    }

    pub(super) fn computed_member(&mut self, member: &'a ComputedMemberExpression<'a>) -> Values<'a> {
        let object = self.eval(&member.object);
        let keys = self.eval(&member.expression).texts(member.expression.span());
        keys.iter().fold(Values::none(), |all, key| all.join(self.member(&object, key, member.span), member.span))
    }

    /// What is under a key of each of these values.
    pub(super) fn member(&mut self, objects: &Values<'a>, key: &Text, span: Span) -> Values<'a> {
        let mut all = Values::none();
        for object in &objects.0 {
            let values = self.member_of(object, key, span);
            all = all.join(values, span);
        }
        all
    }

    fn member_of(&mut self, object: &Value<'a>, key: &Text, span: Span) -> Values<'a> {
        let unknown = Values::unknown(Why::From(span));
        match object {
            Value::Host(Host { root: Root::Global, .. }) if key.whole() == Some(INPUT) => Values::unknown(Why::Input),
            Value::Host(host) => host_member(host, key, span).map_or(unknown, |host| Values::one(Value::Host(host))),
            Value::Object(object, depth) => {
                self.in_first_frames(*depth, |eval| eval.property(object, key.whole(), span))
            }
            Value::Enum(declaration) => self.enum_member(declaration, key.whole(), span),
            Value::Array(..) | Value::Items(_) => match key.whole().map(str::parse) {
                Some(Ok(index)) => self.at(&Values::one(object.clone()), index, span),
                Some(Err(_)) => unknown,
                None => self.any_item(object, span),
            },
            Value::Text(text) => match key.whole() {
                Some("href") => Values::one(Value::Text(text.clone())),
                Some("origin") => url::origin(text).map_or(unknown, |origin| Values::text(origin, span)),
                _ => unknown,
            },
            Value::Request(request) if key.whole() == Some("url") => Values::one(Value::Text(request.url.clone())),
            Value::Nothing => Values::one(Value::Nothing),
            Value::Unknown(why @ (Why::Many(_) | Why::Far(_))) => Values::unknown(*why),
            Value::Request(_) | Value::Function(_) | Value::Unknown(_) => unknown,
        }
    }

    /// Looks at something that was written where only the first frames were there.
    pub(super) fn in_first_frames<T>(&mut self, depth: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        let inner = self.frames.split_off(depth.min(self.frames.len()));
        let seen = look(self);
        self.frames.extend(inner);
        seen
    }

    /// What an object has under a key, or under any key.
    pub(super) fn property(&mut self, object: &'a ObjectExpression<'a>, key: Option<&str>, span: Span) -> Values<'a> {
        // An object may be spread into itself.
        let values = self.deeper(|eval| eval.property_inner(object, key, span));
        values.unwrap_or_else(|| Values::unknown(Why::Far(span)))
    }

    fn property_inner(&mut self, object: &'a ObjectExpression<'a>, key: Option<&str>, span: Span) -> Values<'a> {
        let mut all = Values::none();
        // The last one counts, but what may be the same key in disguise hides nothing that stands before it.
        for property in object.properties.iter().rev() {
            if !self.step() || all.0.len() > VALUES_MAX {
                return all.join(Values::unknown(Why::Far(span)), span);
            }
            match property {
                ObjectPropertyKind::ObjectProperty(property) => {
                    let own = match (&property.key, property.computed) {
                        (PropertyKey::StaticIdentifier(name), _) => Some(name.name.to_string()),
                        (key, false) => key.static_name().map(Into::into),
                        (computed, true) => match computed.as_expression().map(|key| self.eval(key).texts(span)) {
                            Some(texts) if texts.len() == 1 => texts[0].whole().map(str::to_owned),
                            _ => None,
                        },
                    };
                    if key.is_some() && own.is_some() && own.as_deref() != key {
                        continue;
                    }
                    let values = match property.kind {
                        PropertyKind::Init => self.eval(&property.value),
                        PropertyKind::Get | PropertyKind::Set => Values::unknown(Why::From(property.span)),
                    };
                    all = all.join(values, span);
                    if key.is_some() && own.is_some() {
                        return all;
                    }
                }
                ObjectPropertyKind::SpreadProperty(spread) => {
                    for value in self.eval(&spread.argument).0 {
                        let values = match &value {
                            Value::Object(object, depth) => {
                                self.in_first_frames(*depth, |eval| eval.property(object, key, span))
                            }
                            Value::Nothing => Values::none(),
                            _ => Values::unknown(Why::From(spread.span)),
                        };
                        all = all.join(values.without_nothing().0, span);
                    }
                }
            }
        }
        match key {
            Some(_) if all.0.is_empty() => Values::one(Value::Nothing),
            Some(_) => all,
            None => Values(all.0.into_iter().rev().collect()),
        }
    }

    fn enum_member(&mut self, declaration: &'a TSEnumDeclaration<'a>, key: Option<&str>, span: Span) -> Values<'a> {
        let mut all = Values::none();
        for member in declaration.body.members.iter().take(VALUES_MAX + 1) {
            let own = match &member.id {
                TSEnumMemberName::Identifier(name) => Some(name.name.as_str()),
                TSEnumMemberName::String(name) | TSEnumMemberName::ComputedString(name) => Some(name.value.as_str()),
                TSEnumMemberName::ComputedTemplateString(_) => None,
            };
            if key.is_none() || own == key {
                let value = member.initializer.as_ref().map(|value| self.eval(value));
                all = all.join(value.unwrap_or_else(|| Values::unknown(Why::From(member.span))), span);
            }
        }
        if all.0.is_empty() { Values::unknown(Why::From(span)) } else { all }
    }
}

fn host_member(host: &Host, key: &Text, span: Span) -> Option<Host> {
    if host.root == Root::Global {
        return Host::global(key.whole()?, span).or(Some(host.clone()).filter(|_| key.whole() == Some("globalThis")));
    }
    let mut host = host.clone();
    if host.keys.len() >= HOST_KEYS_MAX {
        return None;
    }
    host.keys.push(key.clone());
    Some(host)
}
