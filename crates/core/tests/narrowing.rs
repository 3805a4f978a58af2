//! Narrowing never widens, and loses nothing that both sides had.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

#[path = "narrowing/make.rs"]
mod make;

use isolith_core::{Ambient, Bindings, Builtin, Grant, Limits, Power, Rule, Source, narrow, narrow_limits};
use make::{Ask, ask, builtin, forged, grant, grants, secrets, verdict};
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

/// Whether someone wants to be asked about a secret: then what carries it is asked about too, which neither side need have
/// said on its own.
fn asks_about_secrets(grants: &[Grant]) -> bool {
    grants.iter().any(|grant| grant.rule != Rule::Allow && matches!(grant.power, Power::Secret(_)))
}

/// Tools and programs whose commands differ are not the same thing: neither side's say is enough.
fn differ(grants: &[Grant], requested: &[Grant]) -> bool {
    let odd = |grant: &Grant| match &grant.power {
        Power::Tool(tool) => !tool.command.is_empty(),
        Power::Secret(secret) => secret.from.is_some(),
        _ => false,
    };
    grants.iter().any(odd) || requested.iter().any(odd)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_left_is_what_both_allow(op in grants(), req in grants(), asks in prop::collection::vec(ask(), 1..12)) {
        let both = narrow(&op, &req).grants;
        for ask in &asks {
            let (by_op, by_req, left) = (verdict(&op, ask), verdict(&req, ask), verdict(&both, ask));
            prop_assert!(left >= by_op.max(by_req), "WIDER: {:?} is {:?}, not {:?} and {:?}\n{:#?}", ask, left, by_op, by_req, both);
            // An address can be granted in two forms, by one side each.
            let exact = !asks_about_secrets(&op) && !asks_about_secrets(&req) && !differ(&op, &req);
            if exact && !matches!(ask, Ask::Address(..)) {
                prop_assert_eq!(left, by_op.max(by_req), "NARROWER: {:?}\n{:#?}", ask, both);
            }
        }
    }

    #[test]
    fn no_secret_is_used_that_was_not_let(op in grants(), req in grants(), asks in prop::collection::vec(ask(), 1..12)) {
        let both = narrow(&op, &req).grants;
        for ask in &asks {
            let sent = secrets(&both, ask);
            let Ask::Fetch(method, target) = ask else { continue };
            for secret in &sent {
                // Either an operator's grant that leads there carries it, or the request does and the operator lets it be used.
                let carries = |side: &[Grant]| side.iter().any(|grant| match &grant.power {
                    Power::Egress(egress) if grant.rule != Rule::Deny && egress.covers(method, target) => {
                        egress.credential.iter().flat_map(|c| c.secrets()).any(|name| name.as_str() == secret)
                    }
                    _ => false,
                });
                let says = |side: &[Grant]| side.iter()
                    .filter(|grant| matches!(&grant.power, Power::Secret(s) if s.name.as_str() == secret))
                    .map(|grant| grant.rule).max();
                let let_by_op = says(&op).is_some_and(|rule| rule != Rule::Deny);
                prop_assert!(carries(&op) || (carries(&req) && let_by_op), "{secret} for {ask:?}\n{both:#?}");
                prop_assert!(says(&op) != Some(Rule::Deny) && says(&req) != Some(Rule::Deny), "{secret} for {ask:?}");
            }
        }
    }

    #[test]
    fn narrowing_twice_is_narrowing_once(op in grants(), req in grants(), asks in prop::collection::vec(ask(), 1..12)) {
        let once = narrow(&op, &req).grants;
        let twice = narrow(&op, &once).grants;
        for ask in &asks {
            prop_assert_eq!(verdict(&twice, ask), verdict(&once, ask), "{:?}\n{:#?}\n{:#?}", ask, once, twice);
        }
    }

    #[test]
    fn narrowing_by_one_grant_twice_leaves_the_very_same(op in grant(), req in grants()) {
        let once = narrow(std::slice::from_ref(&op), &req).grants;
        let twice = narrow(&[op], &once);
        prop_assert_eq!(&twice.grants, &once);
    }

    #[test]
    fn an_empty_report_means_that_nothing_was_lost(op in grants(), req in grants(), asks in prop::collection::vec(ask(), 1..12)) {
        let narrowed = narrow(&op, &req);
        if narrowed.report.is_empty() {
            // Where names lead is not known before, so a ban of an address is not told with every name.
            for ask in asks.iter().filter(|ask| !matches!(ask, Ask::Address(..))) {
                prop_assert_eq!(verdict(&narrowed.grants, ask), verdict(&req, ask), "{:?}\n{:#?}", ask, narrowed);
            }
            let kept = req.iter().all(|grant| narrowed.grants.contains(grant));
            prop_assert!(kept, "{:#?}", narrowed);
        }
    }

    #[test]
    fn one_grant_that_is_held_whole_is_not_reported(one in grant()) {
        let mut op = one.clone();
        op.budgets.clear();
        // The secrets of a credential are the operator's to give.
        if let Power::Egress(egress) = &mut op.power && one.rule == Rule::Deny {
            egress.credential = None;
        }
        let narrowed = narrow(&[op], std::slice::from_ref(&one));
        prop_assert!(narrowed.report.is_empty(), "{narrowed:#?}");
        prop_assert!(narrowed.grants.contains(&one), "{narrowed:#?}");
    }

    #[test]
    fn an_operators_count_is_on_every_piece(op in grant(), req in grants(), calls in 0_u32..5) {
        let of = op.to_string();
        let op = Grant { budgets: vec![isolith_core::Budget { of: of.clone(), calls }], ..op };
        let hostile: Vec<Grant> = req.iter().map(|grant| forged(grant, &op)).collect();
        for requested in [req, hostile] {
            for piece in narrow(std::slice::from_ref(&op), &requested).grants.iter().filter(|grant| grant.rule != Rule::Deny) {
                let counts: Vec<u32> = piece.budgets.iter().filter(|b| b.of == format!("operator {of}")).map(|b| b.calls).collect();
                prop_assert_eq!(counts, vec![calls], "{:#?}", piece);
            }
        }
    }

    #[test]
    fn quotas_commands_and_answers_are_the_stricter(op in grant(), req in grant()) {
        for piece in narrow(std::slice::from_ref(&op), std::slice::from_ref(&req)).grants.iter().filter(|g| g.rule != Rule::Deny) {
            match (&op.power, &req.power, &piece.power) {
                (Power::Kv(a), Power::Kv(b), Power::Kv(c)) => {
                    prop_assert_eq!((c.access, c.quota_bytes), (a.access.min(b.access), a.quota_bytes.min(b.quota_bytes)));
                }
                (Power::Files(a), Power::Files(b), Power::Files(c)) => {
                    prop_assert_eq!((c.access, c.quota_bytes), (a.access.min(b.access), a.quota_bytes.min(b.quota_bytes)));
                    prop_assert!(a.path.covers(&c.path) && b.path.covers(&c.path));
                }
                (Power::Tool(a), Power::Tool(b), Power::Tool(c)) => {
                    prop_assert_eq!((&c.command, c.timeout_ms), (&a.command, a.timeout_ms.min(b.timeout_ms)));
                    let text = c.input.as_ref().map_or("", |schema| schema.text());
                    for schema in [&a.input, &b.input].into_iter().flatten() {
                        prop_assert!(text.contains(schema.text()), "{text} without {schema}");
                    }
                }
                (Power::Secret(a), Power::Secret(b), Power::Secret(c)) => {
                    prop_assert_eq!((c.reveal, &c.from), (a.reveal && b.reveal, &a.from));
                }
                (Power::Builtin(a), Power::Builtin(b), Power::Builtin(c)) => prop_assert!(a == b && b == c),
                (Power::Egress(a), Power::Egress(b), Power::Egress(c)) => prop_assert_eq!(c.redact, a.redact || b.redact),
                (Power::Invoke(a), Power::Invoke(b), Power::Invoke(c)) => {
                    prop_assert_eq!(&c.program, &a.program);
                    let kv = |grants: &[Grant], name| {
                        let name = isolith_core::BindingName::new(name).unwrap();
                        verdict(grants, &Ask::Kv(name, isolith_core::Access::Write))
                    };
                    for name in ["a", "b"] {
                        let ceiling = if a.grants.is_empty() { Rule::Allow } else { kv(&a.grants, name) };
                        prop_assert_eq!(kv(&c.grants, name), ceiling.max(kv(&b.grants, name)));
                    }
                    // Nothing is not the same as no word about it.
                    prop_assert!(a.grants.is_empty() || !c.grants.is_empty());
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    #[test]
    fn grants_read_back_as_they_were_written(grant in grant()) {
        prop_assert_eq!(Grant::from_value(&grant.to_value(), ""), Ok(grant.clone()));
        let shown = grant.to_string();
        let read: Grant = shown.parse().unwrap_or_else(|error| panic!("{shown}: {error}"));
        prop_assert_eq!(&read.to_string(), &shown);
        prop_assert_eq!(read.rule, grant.rule);
        // One line holds no credential, quota, bound or count; all else is the same.
        let bare = match (&grant.power, read.power) {
            (Power::Egress(a), Power::Egress(b)) => {
                Power::Egress(isolith_core::Egress { credential: a.credential.clone(), redact: a.redact, ..b }) == grant.power
            }
            (Power::Kv(a), Power::Kv(b)) => (&a.name, a.access) == (&b.name, b.access),
            (Power::Files(a), Power::Files(b)) => (&a.path, a.access) == (&b.path, b.access),
            (Power::Tool(a), Power::Tool(b)) => a.name == b.name,
            (Power::Invoke(a), Power::Invoke(b)) => a.name == b.name,
            (Power::Secret(a), Power::Secret(b)) => (&a.name, a.reveal) == (&b.name, b.reveal),
            (Power::Builtin(a), Power::Builtin(b)) => *a == b,
            _ => false,
        };
        prop_assert!(bare, "{shown}");
    }

    #[test]
    fn a_builtin_is_there_only_if_both_have_it_and_neither_forbids_it(op in prop::collection::vec(builtin(), 0..5), req in prop::collection::vec(builtin(), 0..5)) {
        let has = |side: &[Grant], name: &str| {
            let says = |rule: &str| side.iter().any(|grant| grant.to_string() == format!("{rule}builtin:{name}"));
            says("") && !says("deny ")
        };
        let found = Bindings::of(&narrow(&op, &req).grants).builtins;
        for builtin in Builtin::ALL {
            let name = builtin.name();
            prop_assert_eq!(found.contains(&builtin), has(&op, name) && has(&req, name), "{}", name);
            prop_assert_eq!(Bindings::of(&op).builtins.contains(&builtin), has(&op, name), "{}", name);
        }
    }

    #[test]
    fn limits_and_ambient_are_the_stricter(a in any::<[u32; 13]>(), b in any::<[u32; 13]>(), s in 0_usize..81) {
        let (one, two) = (limits(a), limits(b));
        let both = narrow_limits(&one, &two);
        let mut least = [0; 13];
        (0..13).for_each(|i| least[i] = a[i].min(b[i]));
        prop_assert_eq!(both, limits(least));
        let source = |n: usize| [Source::Live, Source::Virtual, Source::Banned][n % 3];
        let (one, two) = (Ambient { time: source(s), random: source(s / 3) }, Ambient { time: source(s / 9), random: source(s / 27) });
        prop_assert_eq!(one.and(two), Ambient { time: one.time.max(two.time), random: one.random.max(two.random) });
        prop_assert_eq!(one.and(two), two.and(one));
    }
}

fn limits(n: [u32; 13]) -> Limits {
    Limits {
        wall: Duration::from_millis(n[0].into()),
        cpu: Duration::from_millis(n[1].into()),
        memory_bytes: n[2].into(),
        stack_bytes: n[3].into(),
        source_bytes: n[4].into(),
        output_bytes: n[5].into(),
        value_bytes: n[6].into(),
        payload_bytes: n[7].into(),
        calls: n[8],
        calls_in_flight: n[9],
        suspended_bytes: n[10].into(),
        egress_requests: n[11],
        egress_response_bytes: n[12].into(),
    }
}

/// What was wrong once, by name.
#[test]
fn holes_that_were_closed() {
    let read = |value: serde_json::Value| -> Vec<Grant> {
        value.as_array().unwrap().iter().map(|grant| Grant::from_value(grant, "").unwrap()).collect()
    };
    let fetch =
        |url: &str| Ask::Fetch(isolith_core::Method::new("GET").unwrap(), isolith_core::Target::parse(url).unwrap());
    // A wide allow of the operator's made nothing of the narrow question beside it.
    let op = read(json!(["egress:*.x.example", "ask egress:a.x.example"]));
    let both = narrow(&op, &read(json!(["egress:*.x.example"])));
    assert_eq!(verdict(&both.grants, &fetch("https://a.x.example/")), Rule::Ask);
    assert_eq!(both.report.len(), 1);
    // A credential for one host went to another that the request asked it for.
    let op = read(json!(["egress:*", {"kind": "egress", "host": "a.example", "credential": {"bearer": "T"}}]));
    let req = read(json!([{"kind": "egress", "host": "evil.example", "credential": {"bearer": "T"}}]));
    assert_eq!(secrets(&narrow(&op, &req).grants, &fetch("https://evil.example/")), Vec::<String>::new());
    // A question about a secret was not asked when a request used it.
    let op = read(json!(["egress:*", "ask secret:T"]));
    let both = narrow(&op, &req).grants;
    assert_eq!(
        (verdict(&both, &fetch("https://evil.example/")), secrets(&both, &fetch("https://evil.example/"))),
        (Rule::Ask, vec!["T".into()])
    );
    // A question about a secret of one's own was not asked when the operator let only the bare request through.
    let req = read(json!([{"kind": "egress", "host": "a.example", "credential": {"bearer": "T"}}, "ask secret:T"]));
    assert_eq!(verdict(&narrow(&read(json!(["egress:*"])), &req).grants, &fetch("https://a.example/")), Rule::Ask);
    // A question about a name was not asked when the operator means another command by it.
    let req = read(json!(["tool:t", {"kind": "tool", "name": "t", "command": ["mine"], "rule": "ask"}]));
    let tool = Ask::Tool(isolith_core::ToolName::new("t").unwrap(), isolith_core::Json::of(&json!({})).unwrap());
    assert_eq!(verdict(&narrow(&read(json!(["tool:t"])), &req).grants, &tool), Rule::Ask);
    // A count on a narrow grant was lost to a wide one without.
    let op = read(json!(["egress:*.x.example", {"kind": "egress", "host": "a.x.example", "calls": 1}]));
    for req in [json!(["egress:*.x.example"]), json!(["egress:a.x.example"])] {
        let both = narrow(&op, &read(req)).grants;
        let Ask::Fetch(method, target) = fetch("https://a.x.example/") else { panic!() };
        let admitted = isolith_core::admit::egress(&both, &method, &target).unwrap();
        assert_eq!(admitted.grant.budgets.len(), 1, "{both:#?}");
    }
    // A count on a wide grant was lost to a narrow one without.
    let op = read(json!(["egress:a.x.example", {"kind": "egress", "host": "*.x.example", "calls": 1}]));
    let both = narrow(&op, &read(json!(["egress:a.x.example"]))).grants;
    assert_eq!(both[0].budgets.len(), 1, "{both:#?}");
    // A schema for one tool was lost to a grant of all of them.
    let schema = json!({"kind": "tool", "name": "g.x", "input": {"required": ["n"]}});
    let both = narrow(&read(json!(["tool:g.*", schema])), &read(json!(["tool:g.*"]))).grants;
    assert_eq!(both, read(json!(["tool:g.*", schema])));
    // What an operator forbids of a grant is told.
    let op = read(json!(["egress:*", "deny egress:evil.example"]));
    assert_eq!(narrow(&op, &read(json!(["egress:*"]))).report.len(), 1);
    assert_eq!(narrow(&op, &read(json!(["egress:*.good.example"]))).report, []);
    // `*.arpa` holds names at home that `*` does not.
    let both = narrow(&read(json!(["egress:*"])), &read(json!(["egress:*.arpa"]))).grants;
    assert_eq!(verdict(&both, &fetch("https://nas.home.arpa/")), Rule::Deny);
}
