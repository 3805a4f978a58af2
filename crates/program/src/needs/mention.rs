//! Globals that are mentioned and not called: handed to something that is not followed, or kept.

use super::eval::Eval;
use super::facts::{Binding, Mention};
use super::ledger::Ledger;
use super::power::{kv, only_space};
use super::report::Finding;
use super::value::{Host, Root};
use isolith_core::{Access, BindingName, Builtin, Power, ToolGrant};
use oxc::span::Span;
use std::collections::HashSet;

/// Reports every mention that no call was found to use.
pub(super) fn report(eval: &Eval<'_, '_>, used: &HashSet<u32>, ledger: &mut Ledger<'_>) {
    let is_idle = |mention: &Mention<'_>| eval.facts.idle.contains(&mention.span.start);
    let looked_at = eval.facts.mentions.iter().filter(|mention| is_idle(mention)).map(|mention| mention.name);
    let looked_for: HashSet<Builtin> =
        looked_at.chain(eval.facts.looked_for.iter().copied()).filter_map(Builtin::of_global).collect();
    for mention in &eval.facts.mentions {
        let symbol = mention.reference.and_then(|id| eval.scoping.get_reference(id).symbol_id());
        let shadowed = symbol.is_some_and(|id| !matches!(eval.facts.bindings.get(&id), Some(Binding::Ambient)));
        if shadowed || is_idle(mention) {
            continue;
        }
        let keys = eval.facts.keys.get(&mention.span.start).map_or(&[][..], Vec::as_slice);
        let at = mention.span.start;
        let is_used = used.contains(&at);
        let Some(host) = Host::global(mention.name, mention.span) else { continue };
        match host.root {
            // `const { a, b } = tools`: a call of one is not a call of the other.
            Root::Tools if host.keys.is_empty() && !keys.is_empty() => {
                keys.iter().for_each(|(key, span)| tool(key, if is_used { span.start } else { at }, ledger));
            }
            // Whoever looks whether it is there can do without; so can who reads it off `globalThis`.
            Root::Builtin(builtin) if looked_for.contains(&builtin) => {}
            Root::Builtin(builtin) => ledger.need(Power::Builtin(builtin), at, true),
            _ if is_used => {}
            Root::Tools => match host.keys.first().and_then(|key| key.whole()) {
                Some(name) => tool(name, at, ledger),
                None => value("tool", mention.name, at, ledger),
            },
            Root::Global => keys.iter().for_each(|(key, _)| global(key, mention.span, ledger)),
            root => of(root, mention.name, keys, at, ledger),
        }
    }
}

fn of(root: Root, name: &str, keys: &[(&str, Span)], at: u32, ledger: &mut Ledger<'_>) {
    match root {
        Root::Fetch => value("egress", name, at, ledger),
        Root::Files => value("files", name, at, ledger),
        Root::Invoke => value("invoke", name, at, ledger),
        Root::Secrets => value("secret", name, at, ledger),
        Root::Kv if keys.is_empty() => value("kv", name, at, ledger),
        Root::Kv => {
            for (key, _) in keys {
                match (only_space(key), BindingName::new(*key)) {
                    (Some(Finding::Need { power, exact }), _) => ledger.need(power, at, exact),
                    (_, Ok(name)) if *key != "space" => ledger.need(kv(name, Access::Write), at, false),
                    _ => value("kv", "kv", at, ledger),
                }
            }
        }
        Root::Date | Root::Performance if keys.iter().any(|(key, _)| *key == "now") => ledger.clock(at),
        Root::Math if keys.iter().any(|(key, _)| *key == "random") => ledger.random(at),
        Root::Crypto if keys.iter().any(|(key, _)| ["getRandomValues", "randomUUID"].contains(key)) => {
            ledger.random(at);
        }
        _ => {}
    }
}

/// `globalThis.<name>`
fn global(name: &str, span: Span, ledger: &mut Ledger<'_>) {
    match Host::global(name, span) {
        Some(Host { root: Root::Tools, keys }) => match keys.first().and_then(|key| key.whole()) {
            Some(name) => tool(name, span.start, ledger),
            None => value("tool", name, span.start, ledger),
        },
        Some(Host { root, .. }) => of(root, name, &[], span.start, ledger),
        None => {}
    }
}

fn tool(name: &str, at: u32, ledger: &mut Ledger<'_>) {
    if let Ok(name) = BindingName::new(name) {
        let within = ledger.has_within(&name);
        let power = Power::Tool(ToolGrant::new(name));
        // A namespace whose tools are called is no tool.
        if !within && !ledger.has(&power) {
            ledger.need(power, at, true);
        }
    }
}

fn value(kind: &'static str, name: &str, at: u32, ledger: &mut Ledger<'_>) {
    ledger.unknown(kind, at, format!("what is done with `{name}` cannot be told here"));
}
