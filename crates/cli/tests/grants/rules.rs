//! Bounds, budgets, bans and questions.

use crate::{refused, scene};
use serde_json::json;

#[test]
fn a_ban_wins_whatever_the_order() {
    let scene = scene();
    let ban = ["--grant", "deny egress:BASE/private"];
    let allow = ["--allow-net", "BASE"];
    for flags in [[ban, allow].concat(), [allow, ban].concat()] {
        assert_eq!(scene.run("return (await fetch('BASE/public')).status", &flags).value(), &json!(200));
        for path in ["private", "private/x", "private?y", "public/../private"] {
            let outcome = scene.run(&format!("return (await fetch('BASE/{path}')).status"), &flags);
            refused(&outcome, "egress.denied", "forbidden by `deny egress:");
        }
    }
    assert!(!scene.origin.requests().iter().any(|request| request.path().starts_with("/private")));
}

#[test]
fn arguments_are_bounded() {
    let manifest = r#"
        [[grants]]
        kind = "tool"
        name = "pay"
        command = "cat"
        args = { amount = "<= 100", repo = "me/*" }
    "#;
    let scene = scene();
    let good = "return tools.pay({ amount: 100, repo: 'me/x' })";
    assert_eq!(scene.run_under(manifest, good, &[]).value(), &json!({ "amount": 100, "repo": "me/x" }));
    for wrong in [
        "{ amount: 101, repo: 'me/x' }",
        "{ amount: 1, repo: 'you/x' }",
        "{ repo: 'me/x' }",
        "{ amount: '1', repo: 'me/x' }",
        "undefined",
    ] {
        let outcome = scene.run_under(manifest, &format!("return tools.pay({wrong})"), &[]);
        refused(&outcome, "tool.denied", "granted only within bounds");
    }
}

const TWICE: &str = "grants = [{ kind = \"egress\", url = \"BASE\", calls = 2 }]\n";

#[test]
fn a_budget_is_spent_once() {
    let scene = scene();
    let three = "for (let i = 0; i < 3; i++) await fetch('BASE/' + i).then((r) => r.text())";
    refused(&scene.run_under(TWICE, three, &[]), "egress.denied", "may be used 2 times");
    let side_by_side = "return (await Promise.allSettled([1, 2, 3, 4, 5].map((i) => fetch('BASE/' + i)))).filter((r) => r.status === 'fulfilled').length";
    assert_eq!(scene.run_under(TWICE, side_by_side, &[]).value(), &json!(2));
    assert_eq!(scene.origin.requests().len(), 4);
}

#[test]
fn a_budget_outlives_a_suspension() {
    let scene = scene();
    let wait = "await new Promise((r) => setTimeout(r, 5));";
    let program = format!(
        "const seen = []; for (let i = 0; i < 4; i++) {{ try {{ seen.push((await fetch('BASE/' + i).then((r) => r.text())).length) }} catch (e) {{ seen.push(e.code) }} {wait} }} return seen;"
    );
    let first = scene.run_under(TWICE, &program, &["--suspend", "state"]);
    assert_eq!(first.code, 75, "{:#}", first.json);
    let mut rounds = 0;
    let last = loop {
        let ran = scene.place.isolith(&["resume", "state", "--suspend", "state", "--json"]);
        if ran.code != 75 {
            break crate::Outcome::of(ran);
        }
        rounds += 1;
        assert!(rounds < 10, "it waits for ever");
    };
    assert_eq!(last.value(), &json!([6, 6, "egress.denied", "egress.denied"]));
    assert_eq!(scene.origin.requests().len(), 2);
    // The state is of before the second call, but what it may do is what is granted now as well.
    let again = scene.run_under(TWICE, &program, &["--suspend", "state"]);
    assert_eq!(again.code, 75);
    scene.place.write("policy.toml", "grants = []\n");
    let mut ran = scene.place.isolith(&["resume", "state", "--policy", "policy.toml", "--json"]);
    for _ in 0..5 {
        if ran.code != 75 {
            break;
        }
        ran = scene.place.isolith(&["resume", "state", "--policy", "policy.toml", "--json"]);
    }
    assert_ne!(crate::Outcome::of(ran).json["value"][1], json!(6), "a policy of now has a say");
}

#[test]
fn what_has_to_be_asked_waits_where_nobody_is_there() {
    let scene = scene();
    for flags in
        [&["--grant", "ask egress:BASE"][..], &["--grant", "ask egress:BASE", "--no-prompt", "--allow-net", "BASE"]]
    {
        let outcome = scene.run("return (await fetch('BASE/x')).status", flags);
        assert_eq!((outcome.code, &outcome.json["status"]), (75, &json!("suspended")), "{:#}", outcome.json);
        assert_eq!(outcome.json["calls"][0]["what"], outcome.json["approvals"][0]["what"]);
    }
    let manifest = "grants = [{ kind = \"tool\", name = \"mail\", command = \"cat\", rule = \"ask\" }]\n";
    let outcome = scene.run_under(manifest, "return tools.mail(1)", &[]);
    assert_eq!((outcome.code, &outcome.json["approvals"][0]["args"]), (75, &json!(1)), "{:#}", outcome.json);
    assert_eq!(scene.origin.connections(), 0);
}

#[test]
fn a_program_can_cope_with_a_refusal() {
    let scene = scene();
    let program = "try { await fetch('BASE/b') } catch (e) { return [e.name, e.code, e instanceof Error, e.message.includes('egress:GET')] }";
    let outcome = scene.run(program, &["--allow-net", "BASE/a"]);
    assert_eq!(outcome.value(), &json!(["DeniedError", "egress.denied", true, true]));
    assert_eq!(outcome.counts("denied"), [(format!("egress:GET {}/b", scene.base), 1)]);
}

#[test]
fn ambience_can_be_banned_or_made_up() {
    let scene = scene();
    let program = "try { return [new Date().toISOString(), Math.random()] } catch (e) { return e.name }";
    let [one, two] = [(); 2].map(|()| scene.run_under("time = \"virtual\"\nrandom = \"virtual\"\n", program, &[]));
    assert_eq!(one.value(), two.value());
    let outcome = scene.run_under("time = \"banned\"\nrandom = \"banned\"\n", program, &[]);
    assert_eq!(outcome.value(), &json!("SandboxViolation"));
}
