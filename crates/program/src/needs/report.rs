//! Calls that lead outside, made into needs.

use super::collect::EACH;
use super::context::Given;
use super::egress::{Lost, Reach, reach};
use super::eval::Eval;
use super::facts::Call;
use super::ledger::Ledger;
use super::mention;
use super::power::{Folder, common, files, folder, function, invoke, key_space, kv, named, only_space, secret, tool};
use super::text::{Text, Why};
use super::value::{Host, Root, Value, Values};
use isolith_core::{Access, BindingName, GuestPath, Power};
use oxc::ast::ast::{Argument, CallExpression, Expression};
use oxc::span::{GetSpan, Span};
use std::collections::HashSet;

const FILE_READS: [&str; 14] = [
    "read",
    "readText",
    "readJson",
    "readLines",
    "stream",
    "list",
    "stat",
    "exists",
    "glob",
    "grep",
    "find",
    "tree",
    "diff",
    "history",
];
const FILE_WRITES: [&str; 7] = ["write", "append", "writeJson", "edit", "remove", "makeFolder", "link"];
/// Those that are about two places, both of which they change.
const FILE_MOVES: [&str; 2] = ["rename", "copy"];
/// Those that are about everything unless they are told where.
const FILE_WHOLES: [&str; 3] = ["list", "tree", "history"];
/// Those that are told where in their options, and which argument these are.
const FILE_SEARCHES: [(&str, usize); 3] = [("glob", 1), ("grep", 1), ("find", 0)];

/// One thing that a call does outside.
pub(super) enum Finding {
    Need {
        power: Power,
        exact: bool,
    },
    /// What is not known, by its kind and a word for it.
    Lost {
        kind: &'static str,
        what: &'static str,
        why: Why,
    },
    Unknown {
        kind: &'static str,
        why: String,
    },
    /// A key space was opened by name; what is done with it shows elsewhere.
    Opened(BindingName),
    Clock,
    Random,
}

/// Looks at every call of a program.
pub(super) fn report<'a>(eval: &mut Eval<'_, 'a>, ledger: &mut Ledger<'_>) {
    let facts = eval.facts;
    let mut used = HashSet::new();
    let mut opened = Vec::new();
    for call in &facts.calls {
        let at = match call {
            Call::Call(call) => call.span.start,
            Call::New(new) => new.span.start,
        };
        for (findings, touched) in eval.in_contexts(|eval| eval.look_at(*call)) {
            used.extend(touched);
            for finding in findings {
                match finding {
                    Finding::Need { power, exact } => ledger.need(power, at, exact),
                    Finding::Lost { kind, what, why } => ledger.lost(kind, what, at, why),
                    Finding::Unknown { kind, why } => ledger.unknown(kind, at, why),
                    Finding::Opened(name) => opened.push((name, at)),
                    Finding::Clock => ledger.clock(at),
                    Finding::Random => ledger.random(at),
                }
            }
        }
    }
    for (name, at) in opened {
        let [read, write] = [Access::Read, Access::Write].map(|access| kv(name.clone(), access));
        if !ledger.has(&read) && !ledger.has(&write) {
            ledger.need(write, at, false);
        }
    }
    mention::report(eval, &used, ledger);
}

impl<'a> Eval<'_, 'a> {
    /// What a call does outside, and the mentions of globals that it uses for that.
    fn look_at(&mut self, call: Call<'a>) -> (Vec<Finding>, Vec<u32>) {
        let call = match call {
            Call::Call(call) => call,
            Call::New(new) => {
                let callees = self.eval(&new.callee);
                let is_clock = |value: &Value<'a>| matches!(value, Value::Host(host) if host.root == Root::Date && host.keys.is_empty());
                let clock = new.arguments.is_empty() && callees.0.iter().any(is_clock);
                return (if clock { vec![Finding::Clock] } else { Vec::new() }, Vec::new());
            }
        };
        let mut findings = Vec::new();
        let mut used = Vec::new();
        self.touched.clear();
        for callee in self.eval(&call.callee).0 {
            if let Value::Host(host) = callee {
                used.append(&mut self.touched);
                self.act(host, Given::Arguments(&call.arguments), call.span, &mut findings);
            }
        }
        if let Some((items, callback)) = callback(call) {
            self.touched.clear();
            for callee in self.eval(callback).0 {
                if let Value::Host(host) = callee {
                    used.append(&mut self.touched);
                    let items_values = self.eval(items);
                    for value in self.items(&items_values, items.span()).into_iter().flat_map(|values| values.0) {
                        self.act(host.clone(), Given::First(value), call.span, &mut findings);
                    }
                }
            }
        }
        (findings, used)
    }

    /// What something of the sandbox does when it is called.
    fn act(&mut self, host: Host, given: Given<'a>, span: Span, out: &mut Vec<Finding>) {
        let Host { root, mut keys } = host;
        let given = match (keys.last().and_then(Text::whole), given) {
            (Some("bind"), _) => return,
            (Some("call"), Given::Arguments(arguments)) => {
                keys.pop();
                Given::Arguments(arguments.get(1..).unwrap_or_default())
            }
            (Some("apply"), given) => {
                keys.pop();
                let list = match given {
                    Given::Arguments(arguments) => arguments.get(1).map(GetSpan::span),
                    _ => None,
                };
                Given::Unknown(Why::From(list.unwrap_or(span)))
            }
            (_, given) => given,
        };
        let wholes: Vec<Option<&str>> = keys.iter().map(Text::whole).collect();
        match (root, wholes.as_slice()) {
            (Root::Fetch, []) => self.fetch(&given, span, out),
            (Root::Tools, [_]) => out.push(named("tool", "the tool's name", &keys[0], tool)),
            (Root::Tools, [_, _]) => out.extend(function(&keys[0], &keys[1])),
            (Root::Invoke, []) => {
                let names = self.given(&given, 0, span).texts(span);
                out.extend(names.iter().map(|name| named("invoke", "the program's name", name, invoke)));
            }
            (Root::Secrets, [Some("get")]) => {
                let names = self.given(&given, 0, span).texts(span);
                out.extend(names.iter().map(secret));
            }
            (Root::Kv, [Some("space")]) => {
                for name in self.given(&given, 0, span).texts(span) {
                    match (name.whole(), name.whole().map(BindingName::new)) {
                        (Some(_), Some(Ok(name))) => out.push(Finding::Opened(name)),
                        _ => out.push(named("kv", "the key space's name", &name, |name| kv(name, Access::Write))),
                    }
                }
            }
            (Root::Kv, [Some(method)]) => out.extend(only_space(method)),
            (Root::Kv, [None]) => {
                out.push(named("kv", "the key space's name", &keys[0], |name| kv(name, Access::Write)));
            }
            (Root::Kv, [_, method]) => out.push(key_space(&keys[0], *method)),
            (Root::Files, [Some(method)]) => self.files(method, &given, span, out),
            (Root::Files, [None]) => {
                let why = keys[0].beginning().1.unwrap_or(Why::From(span));
                out.push(Finding::Lost { kind: "files", what: "what is done", why });
            }
            (Root::Date, [] | [Some("now")]) | (Root::Performance, [Some("now")]) => out.push(Finding::Clock),
            (Root::Math, [Some("random")]) | (Root::Crypto, [Some("getRandomValues" | "randomUUID")]) => {
                out.push(Finding::Random);
            }
            _ => {}
        }
    }

    fn given(&mut self, given: &Given<'a>, index: usize, span: Span) -> Values<'a> {
        match given {
            Given::Arguments(arguments) => self.argument(arguments, index, span),
            Given::First(value) if index == 0 => Values::one(value.clone()),
            // A callback also gets the index and the array, which mean nothing to these functions.
            Given::First(_) => Values::one(Value::Nothing),
            Given::Unknown(why) => Values::unknown(*why),
        }
    }

    fn fetch(&mut self, given: &Given<'a>, span: Span, out: &mut Vec<Finding>) {
        let at = match given {
            Given::Arguments([first, ..]) => first.span(),
            _ => span,
        };
        let (first, init) = (self.given(given, 0, span), self.given(given, 1, span));
        for request in self.requests(first, init, at) {
            out.push(match reach(&request.url, &request.method) {
                Ok(Reach { egress, exact }) => Finding::Need { power: Power::Egress(egress), exact },
                Err(Lost::Url(why)) => Finding::Lost { kind: "egress", what: "the URL", why },
                Err(Lost::Never(why)) => Finding::Unknown { kind: "egress", why },
            });
        }
    }

    fn files(&mut self, method: &str, given: &Given<'a>, span: Span, out: &mut Vec<Finding>) {
        let access = match method {
            // It may be about everything.
            "undo" => {
                return out.push(Finding::Need { power: files(GuestPath::root(), Access::Write), exact: true });
            }
            method if FILE_READS.contains(&method) => Access::Read,
            method if FILE_WRITES.contains(&method) || FILE_MOVES.contains(&method) => Access::Write,
            // There is no such method, so the call only fails.
            _ => return,
        };
        let first = self.paths(method, given, 0, span);
        let second = match method {
            "diff" => self.compared(given, span),
            method if FILE_MOVES.contains(&method) => self.paths(method, given, 1, span),
            _ => Vec::new(),
        };
        if second.is_empty() {
            let need = |path: Folder| match path {
                Ok((path, exact)) => Finding::Need { power: files(path, access), exact },
                Err(finding) => *finding,
            };
            return out.extend(first.into_iter().map(need));
        }
        // Both ends have to lie in one grant.
        match (first.as_slice(), second.as_slice()) {
            ([Ok((from, _))], [Ok((to, _))]) => {
                out.push(Finding::Need { power: files(common(from, to), access), exact: false });
            }
            _ => out.extend(first.into_iter().chain(second).map(|path| match path {
                Ok((path, _)) => Finding::Need { power: files(path, access), exact: false },
                Err(finding) => *finding,
            })),
        }
    }

    /// The paths that a method of `files` is about, by where they stand among its arguments.
    fn paths(&mut self, method: &str, given: &Given<'a>, index: usize, span: Span) -> Vec<Folder> {
        let options = FILE_SEARCHES.iter().find(|(search, _)| *search == method).map(|(_, options)| *options);
        let values = match options {
            Some(options) => {
                let options = self.given(given, options, span);
                self.option(&options, "path", span)
            }
            None => self.given(given, index, span),
        };
        let or_root = options.is_some() || (index == 0 && FILE_WHOLES.contains(&method));
        match values {
            Values(values) if or_root && matches!(values[..], [Value::Nothing]) => {
                vec![folder(&Text::known(".", span))]
            }
            values => values.texts(span).iter().map(folder).collect(),
        }
    }

    /// The other file of a comparison; none where it is an earlier version.
    fn compared(&mut self, given: &Given<'a>, span: Span) -> Vec<Folder> {
        let mut found = Vec::new();
        for value in self.given(given, 1, span).0 {
            let values = match value {
                Value::Object(..) => self.option(&Values::one(value), "to", span),
                value => Values::one(value),
            };
            found.extend(values.without_nothing().0.texts(span).iter().map(folder));
        }
        found
    }

    /// What an option says, where there may be no options.
    fn option(&mut self, options: &Values<'a>, key: &str, span: Span) -> Values<'a> {
        let mut all = Values::none();
        for value in &options.0 {
            let values = match value {
                Value::Nothing => Values::one(Value::Nothing),
                value => self.member(&Values::one(value.clone()), &Text::known(key, span), span),
            };
            all = all.join(values, span);
        }
        all
    }
}

/// The items and the function of `items.map(function)`, unless the function stands there in full.
fn callback<'a>(call: &'a CallExpression<'a>) -> Option<(&'a Expression<'a>, &'a Expression<'a>)> {
    let Expression::StaticMemberExpression(member) = call.callee.get_inner_expression() else { return None };
    let callback = call.arguments.first().and_then(Argument::as_expression)?;
    let inline = matches!(
        callback.get_inner_expression(),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    );
    (!inline && EACH.contains(&member.property.name.as_str())).then_some((&member.object, callback))
}
