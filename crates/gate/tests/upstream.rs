//! Tools of namespaces: admitted like any other, asked about as their owner says, and told about as far as they are granted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    Answer, AuditLog, AuditRow, BoxFuture, CallError, CallId, Consent, Grant, Host, HostCall, HostReply, Json, Limits,
    Rule, RunId, ToolName, Verdict,
};
use isolith_gate::egress::{Net, NetOptions};
use isolith_gate::{Approver, Gate, Identity, Means, Question, Upstreams};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn add(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl AuditLog for Log {
    fn record(&self, row: AuditRow) {
        self.add(format!("{:?} {} {}", row.outcome, row.grant, row.what).to_lowercase());
    }

    fn flush(&self) -> isolith_core::BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

const ALL: [&str; 4] = ["github.create_issue", "github.delete_repo", "github.list_issues", "slack.post"];

/// Says yes to reading, asks about creating, and forbids deleting.
struct Fake(Arc<Log>);

impl Upstreams for Fake {
    fn call<'a>(
        &'a self,
        gate: &'a Gate,
        name: &'a ToolName,
        args: Option<Json>,
    ) -> BoxFuture<'a, Result<Option<Json>, CallError>> {
        Box::pin(async move {
            self.0.add(format!(
                "call {name} {} of {}",
                args.as_ref().map_or("nothing", Json::text),
                gate.grants().len()
            ));
            match name.function() {
                "fail" => {
                    Err(CallError { name: "Error".into(), message: "no".into(), code: Some("tool.failed".into()) })
                }
                _ => Ok(args),
            }
        })
    }

    fn rule<'a>(&'a self, name: &'a ToolName) -> BoxFuture<'a, Rule> {
        let rule = match name.function().split('_').next() {
            Some("create") => Rule::Ask,
            Some("delete") => Rule::Deny,
            _ => Rule::Allow,
        };
        self.0.add(format!("rule {name}"));
        Box::pin(std::future::ready(rule))
    }

    /// Careless: gives all there are.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        _granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Json> {
        self.0.add(format!("search {query} {limit}"));
        let all: Vec<Value> = ALL.iter().map(|path| json!({"path": path, "description": "…"})).collect();
        Box::pin(std::future::ready(Json::of(&all).unwrap()))
    }

    fn describe<'a>(
        &'a self,
        path: &'a str,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Result<String, CallError>> {
        let known = ALL.iter().filter(|name| name.starts_with(path) && granted(&ToolName::new(**name).unwrap()));
        let known: Vec<&str> = known.copied().collect();
        Box::pin(std::future::ready(Ok(known.join(" "))))
    }
}

/// Agrees, and remembers what about.
struct Yes(Arc<Log>);

impl Approver for Yes {
    fn ask(&self, question: Question) -> BoxFuture<'_, Verdict> {
        self.0.add(format!("asked {}", question.grant));
        let verdict =
            if question.grant.contains("slack") { Verdict::deny(None) } else { Verdict::approve(Consent::Run) };
        Box::pin(std::future::ready(verdict))
    }
}

/// The embedder's tools: nothing with a namespace is for them.
struct Embedder(Arc<Log>);

impl Host for Embedder {
    fn call(&self, _: CallId, call: HostCall) -> BoxFuture<'_, Answer> {
        self.0.add(format!("embedder {}", call.label().unwrap().1));
        Box::pin(std::future::ready(HostReply::done().into()))
    }

    fn waits(&self, _: &HostCall) -> bool {
        true
    }
}

struct Desk {
    gate: Gate,
    log: Arc<Log>,
    rows: Arc<Log>,
}

impl Desk {
    fn new(grants: Value) -> Desk {
        Desk::with(grants, true)
    }

    fn with(grants: Value, upstreams: bool) -> Desk {
        let grants: Vec<Grant> =
            grants.as_array().unwrap().iter().map(|grant| Grant::from_value(grant, "").unwrap()).collect();
        let (log, rows) = (Arc::new(Log::default()), Arc::new(Log::default()));
        let means = Means {
            audit: Some(rows.clone()),
            tools: Arc::new(Embedder(log.clone())),
            upstreams: upstreams.then(|| Arc::new(Fake(log.clone())) as Arc<dyn Upstreams>),
            approver: Arc::new(Yes(log.clone())),
            ..Means::new(Arc::new(Net::new(NetOptions::default()).unwrap()), ".".into())
        };
        let identity = Identity { run: RunId("r".into()), program: "p".into() };
        Desk { gate: Gate::new(grants, Limits::default(), identity, means).unwrap(), log, rows }
    }

    fn tool(name: &str, args: Value) -> HostCall {
        let args = (!args.is_null()).then(|| Json::of(&args).unwrap());
        HostCall::Tool { name: ToolName::new(name).unwrap(), args }
    }

    /// What came back, what happened meanwhile, and what was written down.
    async fn call(&self, name: &str, args: Value) -> (String, Vec<String>, Vec<String>) {
        let call = Desk::tool(name, args);
        assert!(self.gate.describe(&call).is_some());
        let answer = self.gate.call(CallId(0), call).await;
        let said = match answer.reply {
            HostReply::Value { json } => json.map_or("undefined".into(), |json| json.text().to_owned()),
            HostReply::Failed { error } => format!("{} {}", error.code.unwrap_or_default(), error.message),
            other => panic!("{other:?}"),
        };
        assert_eq!(answer.acts.len(), 1);
        (said, self.log.take(), self.rows.take())
    }
}

fn lines(all: &[&str]) -> Vec<String> {
    all.iter().map(|line| (*line).to_owned()).collect()
}

#[tokio::test]
async fn a_tool_of_a_namespace_is_performed_by_who_brings_it() {
    let desk = Desk::new(json!(["tool:github.*", "tool:plain"]));
    assert_eq!(
        desk.call("github.list_issues", json!({"n": 1})).await,
        (
            r#"{"n":1}"#.into(),
            lines(&["rule github.list_issues", r#"call github.list_issues {"n":1} of 2"#]),
            lines(&["ok tool:github.* github.list_issues"]),
        )
    );
    assert_eq!(desk.call("plain", json!(1)).await.1, ["embedder plain"]);
    assert_eq!(
        desk.call("github.fail", Value::Null).await,
        (
            "tool.failed no".into(),
            lines(&["rule github.fail", "call github.fail nothing of 2"]),
            lines(&["failed tool:github.fail github.fail"]),
        )
    );
    let waits = |name: &str| desk.gate.waits(&Desk::tool(name, Value::Null));
    assert_eq!((waits("plain"), waits("github.list_issues"), waits("tools.search")), (true, false, false));
}

#[tokio::test]
async fn what_is_not_granted_reaches_nobody() {
    let desk = Desk::new(json!([
        "tool:github.list_*",
        "deny tool:github.list_secrets",
        {"kind": "tool", "name": "mail.*", "args": {"to": "me@*"}, "calls": 1},
    ]));
    for (name, args, why) in [
        ("github.create_issue", json!({}), "not granted: `tool:github.create_issue` would allow it"),
        ("github.list_secrets", json!({}), "forbidden by `deny tool:github.list_secrets`"),
        ("slack.post", json!({}), "not granted: `tool:slack.post` would allow it"),
        ("mail.send", json!({"to": "you@x"}), "granted only within bounds: `to` has to be me@*"),
    ] {
        let (said, happened, rows) = desk.call(name, args).await;
        assert_eq!(said, format!("tool.denied the tool `{name}` is {why}"));
        assert_eq!((happened, rows), (Vec::new(), vec![format!("denied tool:{name} {name}")]));
    }
    assert_eq!(desk.call("mail.send", json!({"to": "me@x"})).await.0, r#"{"to":"me@x"}"#);
    let (said, happened, _) = desk.call("mail.send", json!({"to": "me@x"})).await;
    assert_eq!(said, "tool.denied `tool:mail.*` may be used 1 times, and was");
    assert_eq!(happened, ["rule mail.send"]);
}

#[tokio::test]
async fn its_owner_may_ask_or_forbid_whatever_the_grant_says() {
    let desk = Desk::new(json!(["tool:github.*", "ask tool:slack.*"]));
    let create = |what: &str| format!("call github.create_{what} 1 of 2");
    assert_eq!(
        desk.call("github.create_issue", json!(1)).await.1,
        ["rule github.create_issue".into(), "asked ask tool:github.create_issue".into(), create("issue")]
    );
    // A yes to one is none to another.
    assert_eq!(
        desk.call("github.create_repo", json!(1)).await.1,
        ["rule github.create_repo".into(), "asked ask tool:github.create_repo".into(), create("repo")]
    );
    let (said, happened, rows) = desk.call("github.delete_repo", json!(1)).await;
    assert_eq!(
        said,
        "tool.denied the tool `github.delete_repo` is forbidden by who brings it: see `deny` of `[tools.github]`"
    );
    assert_eq!(
        (happened, rows),
        (lines(&["rule github.delete_repo"]), lines(&["denied tool:github.delete_repo github.delete_repo"]))
    );
    // A grant that asks is asked about once for all it names, as ever; here nobody agrees.
    let (said, happened, _) = desk.call("slack.create_x", json!(1)).await;
    assert!(said.starts_with("tool.denied the tool `slack.create_x` has to be agreed to"), "{said}");
    assert_eq!(happened, ["rule slack.create_x", "asked ask tool:slack.*"]);
}

#[tokio::test]
async fn one_of_them_may_be_a_command() {
    let echo = json!({"kind": "tool", "name": "github.delete_repo", "command": ["cat"], "input": {"type": "object"}});
    let desk = Desk::new(json!([echo, "tool:github.*"]));
    assert_eq!(desk.call("github.delete_repo", json!({"a": 1})).await.0, r#"{"a":1}"#);
    assert!(desk.call("github.delete_repo", json!(1)).await.0.starts_with("tool.invalid_input"));
    assert_eq!(desk.log.take(), Vec::<String>::new());
}

#[tokio::test]
async fn nobody_brings_namespaces() {
    let desk = Desk::with(json!(["tool:github.*"]), false);
    let missing = "tool.missing nobody brings the tool `github.x`: there are no namespaces here";
    assert_eq!(
        desk.call("github.x", json!(1)).await,
        (missing.into(), Vec::new(), lines(&["failed tool:github.x github.x"]))
    );
    assert!(desk.call("tools.search", json!({"query": "x"})).await.0.starts_with("tool.missing"));
}

#[tokio::test]
async fn what_is_told_about_tools_is_what_is_granted() {
    let desk = Desk::new(json!([
        "tool:github.*",
        "deny tool:github.delete_*",
        {"kind": "tool", "name": "github.list_issues", "rule": "deny", "args": {"repo": "mine"}},
        {"kind": "tool", "name": "slack.post", "args": {"to": "#general"}},
    ]));
    let found = |paths: &[&str]| {
        json!(paths.iter().map(|path| json!({"path": path, "description": "…"})).collect::<Vec<_>>()).to_string()
    };
    assert_eq!(
        desk.call("tools.search", json!({"query": "issue"})).await,
        (
            found(&["github.create_issue", "github.list_issues", "slack.post"]),
            lines(&["search issue 10"]),
            lines(&["ok tool:tools.search tools.search"]),
        )
    );
    let one = Desk::new(json!(["ask tool:github.list_issues", "tool:other"]));
    assert_eq!(one.call("tools.search", json!({"query": "x", "limit": 1e9})).await.0, found(&["github.list_issues"]));
    assert_eq!(one.log.take(), Vec::<String>::new());
    assert_eq!(one.call("tools.search", json!({"query": "x", "limit": 0})).await.1, ["search x 1"]);
    assert_eq!(
        one.call("tools.describe", json!({"path": "github"})).await,
        (r#""github.list_issues""#.into(), Vec::new(), lines(&["ok tool:tools.describe tools.describe"]))
    );
    for args in [json!({}), json!({"query": 1}), json!("x"), Value::Null, json!({"query": "x", "more": 1})] {
        let (said, happened, rows) = one.call("tools.search", args).await;
        assert!(said.starts_with("tool.invalid_input `tools.search` takes words"), "{said}");
        assert_eq!((happened, rows), (Vec::new(), lines(&["failed tool:tools.search tools.search"])));
    }
    // Without a namespace there is nothing to tell.
    for grants in [json!(["tool:plain"]), json!(["deny tool:github.*"]), json!([])] {
        let none = Desk::new(grants);
        for (name, args) in [("tools.search", json!({"query": "x"})), ("tools.describe", json!({"path": "github"}))] {
            let (said, happened, rows) = none.call(name, args).await;
            assert!(said.starts_with(&format!("tool.denied `{name}` is not granted")), "{said}");
            assert_eq!((happened, rows), (Vec::new(), vec![format!("denied tool:{name} {name}")]));
        }
    }
}
