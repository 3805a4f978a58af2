//! Workflows made up at random, with answers in a random order: told the same again, from any point, they come to the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_workflow::{End, lines};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Came, run};

/// A piece of a workflow: an expression that is a promise.
#[derive(Clone, Debug)]
enum Piece {
    /// An agent, and whether a failure of it is caught.
    Agent {
        caught: bool,
    },
    Sequence(Vec<Piece>),
    Parallel(Vec<Piece>),
    /// Whoever is first decides what comes next.
    Race(Vec<Piece>, Box<Piece>),
    Pipeline {
        items: u8,
        stages: u8,
    },
    Retry(Box<Piece>),
    /// A branch on what an agent said.
    Branch(Box<Piece>, Box<Piece>),
}

fn pieces() -> impl Strategy<Value = Piece> {
    let leaf = any::<bool>().prop_map(|caught| Piece::Agent { caught });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let many = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            many().prop_map(Piece::Sequence),
            many().prop_map(Piece::Parallel),
            (many(), inner.clone()).prop_map(|(all, then)| Piece::Race(all, Box::new(then))),
            (1u8..4, 1u8..4).prop_map(|(items, stages)| Piece::Pipeline { items, stages }),
            inner.clone().prop_map(|piece| Piece::Retry(Box::new(piece))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Piece::Branch(Box::new(a), Box::new(b))),
        ]
    })
}

/// Writes a piece down. Labels are numbered by where they stand.
fn write(piece: &Piece, next: &mut u32) -> String {
    let mut label = || {
        *next += 1;
        format!("a{}", *next)
    };
    match piece {
        Piece::Agent { caught } => {
            let label = label();
            let call = format!("agent('p {label}', {{ label: '{label}' }})");
            if *caught { format!("{call}.catch((e) => e.workflowError.kind)") } else { call }
        }
        Piece::Sequence(all) => {
            let parts: Vec<String> = all.iter().map(|one| format!("out.push(await ({}));", write(one, next))).collect();
            format!("(async () => {{ const out = []; {} return out; }})()", parts.concat())
        }
        Piece::Parallel(all) => {
            let parts: Vec<String> = all.iter().map(|one| format!("() => {}", write(one, next))).collect();
            format!("parallel([{}])", parts.join(", "))
        }
        Piece::Race(all, then) => {
            let parts: Vec<String> = all.iter().map(|one| write(one, next)).collect();
            let then = write(then, next);
            format!(
                "(async () => {{ const first = await Promise.race([{}].map((p) => p.catch((e) => String(e)))); return [first, await {then}]; }})()",
                parts.join(", ")
            )
        }
        Piece::Pipeline { items, stages } => {
            let items: Vec<String> = (0..*items).map(|item| format!("'i{item}'")).collect();
            let stages: Vec<String> = (0..*stages)
                .map(|_| {
                    let label = label();
                    format!("(before, item) => agent('p ' + before, {{ label: '{label}' + item }})")
                })
                .collect();
            format!("pipeline([{}], {})", items.join(", "), stages.join(", "))
        }
        Piece::Retry(piece) => format!("retry(() => {}, {{ max: 2, delay: 1 }})", write(piece, next)),
        Piece::Branch(one, other) => {
            let label = label();
            let (one, other) = (write(one, next), write(other, next));
            format!(
                "agent('p', {{ label: '{label}' }}).catch(() => '').then((said) => said.length % 2 === 0 ? {one} : {other})"
            )
        }
    }
}

fn case(piece: &Piece, replies: &[(u8, bool, bool)]) -> Value {
    let body = write(piece, &mut 0);
    let source = format!(
        "import {{ agent, parallel, pipeline, retry, defineWorkflow }} from 'defineworkflow';\n\
         export default defineWorkflow({{ name: 't', description: 'd', harness: 'claude', async run() {{ return {body}; }} }});\n"
    );
    // What a call gets depends on its place among the calls, and so on the order in which others were answered.
    let agents: Vec<Value> = replies
        .iter()
        .enumerate()
        .map(|(seq, (delay, fails, odd))| {
            let mut reply = json!({ "match": { "seq": seq }, "delay": delay, "text": if *odd { "odd" } else { "even" }, "outputTokens": seq });
            if *fails {
                reply["fail"] = json!({ "kind": "AdapterSpawn", "adapter": "stub", "cause": format!("no {seq}") });
            }
            reply
        })
        .chain([json!({ "text": "rest" })])
        .collect();
    json!({ "source": source, "agents": agents, "config": { "concurrency": 3 } })
}

fn end(came: &Came) -> Value {
    match &came.finished.end {
        End::Value(_) => json!({ "value": came.value() }),
        End::Failed(fault) => json!({ "failed": fault }),
        End::Waits(_) | End::NotTakenUp(_) => json!("neither"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn from_every_prefix_the_rest_is_the_same(
        piece in pieces(),
        replies in prop::collection::vec((1u8..9, prop::bool::weighted(0.2), any::<bool>()), 24),
    ) {
        let input = case(&piece, &replies);
        let whole = run(&input, None, None);
        let expected = end(&whole);
        let all = lines(&whole.recorded());
        // Everything on record, with its end or without: nothing is asked, and the same comes of it.
        let last = whole.records.len() - 1;
        for records in [&whole.records[..last], &whole.records[..]] {
            let again = run(&input, None, Some(records));
            prop_assert_eq!(end(&again), expected.clone());
            prop_assert!(again.calls.is_empty(), "{:?}", again.calls);
        }
        for k in 1..last {
            let begun = &whole.records[..k];
            let recorded = isolith_runner::Recorded::read(begun).unwrap();
            let again = run(&input, None, Some(begun));
            // What was on record is on record still, in its order, and nothing of it was asked for again.
            let before = lines(&recorded);
            prop_assert_eq!(&lines(&again.recorded())[..before.len()], &all[..before.len()]);
            for line in &before {
                prop_assert!(!again.calls.iter().any(|call| call["seq"] == json!(line.seq)), "{} was asked again", line.key);
            }
            // And the new journal, told again, says what the new run said.
            let records = again.records.clone();
            let told = run(&input, None, Some(&records[..records.len() - 1]));
            prop_assert_eq!(end(&told), end(&again));
            prop_assert!(told.calls.is_empty());
        }
    }
}
