//! Which tools are found, in which order, and what is said when there is none.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

use isolith_core::{BindingName, Rule};
use isolith_tools::{Catalogue, Namespace, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};

fn tool(name: &str, description: &str, input: Value) -> Tool {
    let (upstream, description) = (name.to_owned(), description.to_owned());
    Tool { name: BindingName::new(name).unwrap(), upstream, description, input, output: None, rule: Rule::Allow }
}

fn namespace(name: &str, description: &str, tools: Vec<Tool>) -> Namespace {
    Namespace { name: BindingName::new(name).unwrap(), description: description.into(), tools }
}

fn namespaces() -> Vec<Namespace> {
    let object = |names: &[(&str, &str)]| {
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|(name, said)| ((*name).to_owned(), json!({ "description": said }))).collect();
        json!({ "type": "object", "properties": properties })
    };
    vec![
        namespace(
            "slack",
            "Messages of the team.",
            vec![
                tool("postMessage", "Sends a message to a channel.", object(&[("channel", ""), ("text", "")])),
                tool("listChannels", "Lists the channels.", object(&[])),
                tool("uploadFile", "Uploads a file to a channel.", object(&[("file", "What is shared in the issue.")])),
            ],
        ),
        namespace(
            "github",
            "Code, issues and pull requests.",
            vec![
                tool(
                    "createIssue",
                    "Opens an issue in a repository. It is assigned to nobody.",
                    object(&[("owner", ""), ("repo", ""), ("title", ""), ("labels", "Words to sort issues by.")]),
                ),
                tool("listIssues", "Lists the issues of a repository.", object(&[("state", "open or closed")])),
                tool("delete_repo", "Deletes a repository, for good.", object(&[])),
                tool("getHTTPStatus", "Whether the service is up.", object(&[])),
                tool("mergePullRequest", "Merges a pull request into its base branch.", object(&[("sha", "")])),
            ],
        ),
        namespace(
            "mail",
            "",
            vec![
                tool("send", "Sends an e-mail to someone.", object(&[("to", ""), ("subject", ""), ("body", "")])),
                tool("search", "Finds mails by words in them.", object(&[("query", "Words."), ("labels", "")])),
            ],
        ),
    ]
}

fn paths(catalogue: &Catalogue, query: &str, limit: usize) -> Vec<String> {
    catalogue.search(query, limit).into_iter().map(|found| found.path).collect()
}

#[test]
fn the_best_comes_first() {
    let catalogue = Catalogue::new(namespaces());
    for (query, first) in [
        ("create issue", "github.createIssue"),
        ("createIssue", "github.createIssue"),
        ("create_issue", "github.createIssue"),
        ("createissue", "github.createIssue"),
        ("CREATE ISSUES", "github.createIssue"),
        ("creating an issue", "github.createIssue"),
        ("issues list", "github.listIssues"),
        ("list the issues of a repository", "github.listIssues"),
        ("http status", "github.getHTTPStatus"),
        ("is the service up", "github.getHTTPStatus"),
        ("deleted repos", "github.delete_repo"),
        ("delete", "github.delete_repo"),
        ("merge", "github.mergePullRequest"),
        ("pull requests", "github.mergePullRequest"),
        ("send mail", "mail.send"),
        ("email somebody", "mail.send"),
        ("subject", "mail.send"),
        ("send a message to a channel", "slack.postMessage"),
        ("slack upload", "slack.uploadFile"),
        ("upl", "slack.uploadFile"),
        ("channels", "slack.listChannels"),
        ("sha", "github.mergePullRequest"),
        ("closed", "github.listIssues"),
        ("github.createIssue", "github.createIssue"),
        ("mail.search", "mail.search"),
    ] {
        assert_eq!(paths(&catalogue, query, 1), [first], "{query}");
    }
}

#[test]
fn names_count_more_than_namespaces_and_those_more_than_parameters_and_descriptions() {
    let word = "zebra";
    let with = |name: &str| json!({ "properties": { name: {} } });
    let said = json!({ "properties": { "x": { "description": "A zebra." } } });
    let catalogue = Catalogue::new(vec![
        namespace(
            "a",
            "",
            vec![
                tool("one", "", said),
                tool("two", "A zebra.", json!({})),
                tool("three", "", with(word)),
                tool("zebra", "", json!({})),
                tool("zebras2", "", json!({})),
                tool("other", "", json!({})),
            ],
        ),
        namespace("zebra", "", vec![tool("five", "", json!({}))]),
    ]);
    assert_eq!(paths(&catalogue, word, 9), ["a.zebra", "a.zebras2", "zebra.five", "a.three", "a.two", "a.one"]);
    // The beginning of a word counts, and less than the word.
    assert_eq!(paths(&catalogue, "zeb", 9).len(), 6);
    let names = ["issuer", "issue", "issuance"].map(|name| tool(name, "", json!({})));
    assert_eq!(paths(&Catalogue::new(vec![namespace("a", "", names.into())]), "issue", 9)[0], "a.issue");
}

#[test]
fn without_words_the_first_are_listed() {
    let catalogue = Catalogue::new(namespaces());
    let all = [
        "github.createIssue",
        "github.delete_repo",
        "github.getHTTPStatus",
        "github.listIssues",
        "github.mergePullRequest",
        "mail.search",
        "mail.send",
        "slack.listChannels",
        "slack.postMessage",
        "slack.uploadFile",
    ];
    assert_eq!(paths(&catalogue, "", 100), all);
    assert_eq!(paths(&catalogue, " \n ", 3), all[..3]);
    assert_eq!(paths(&catalogue, "", 0), [""; 0]);
    for nothing in ["?!", "qqqqq", "\u{0}", "🦓"] {
        assert_eq!(paths(&catalogue, nothing, 9), [""; 0], "{nothing}");
    }
    assert_eq!(paths(&Catalogue::new(Vec::new()), "x", 9), [""; 0]);
    assert_eq!(paths(&Catalogue::new(Vec::new()), "", 9), [""; 0]);
}

#[test]
fn ties_are_in_the_order_of_paths() {
    let tools = |names: &[&str]| names.iter().map(|name| tool(name, "The same.", json!({}))).collect();
    let catalogue =
        Catalogue::new(vec![namespace("b", "", tools(&["z", "y"])), namespace("a", "", tools(&["x", "w"]))]);
    assert_eq!(paths(&catalogue, "same", 9), ["a.w", "a.x", "b.y", "b.z"]);
}

#[test]
fn the_order_in_which_tools_come_does_not_matter() {
    let (forth, mut back) = (Catalogue::new(namespaces()), namespaces());
    back.reverse();
    back.iter_mut().for_each(|namespace| namespace.tools.reverse());
    let back = Catalogue::new(back);
    assert_eq!(forth.namespaces(), back.namespaces());
    for query in ["create issue", "a", "list", "send mail to a channel", ""] {
        assert_eq!(forth.search(query, 99), back.search(query, 99), "{query}");
        assert_eq!(forth.search(query, 99), forth.search(query, 99), "{query}");
    }
}

#[test]
fn searches_are_bounded() {
    let tools = (0..300).map(|n| tool(&format!("t{n}"), "Words.", json!({}))).collect();
    let catalogue = Catalogue::new(vec![namespace("many", "", tools)]);
    assert_eq!(catalogue.search("words", usize::MAX).len(), 100);
    assert_eq!(catalogue.search("", usize::MAX).len(), 100);
    assert_eq!(catalogue.search("words", 7).len(), 7);
    // What is beyond the limits of a query is not read.
    assert_eq!(catalogue.search(&format!("{} words", "x".repeat(600)), 9).len(), 0);
    let many: String = ('a'..='z').flat_map(|a| ['x', 'z'].map(|b| format!("{a}q{b} "))).collect();
    assert_eq!(catalogue.search(&format!("{many} words"), 9).len(), 0);
    assert_eq!(catalogue.search(&"words ".repeat(1_000_000), 9).len(), 9);
}

#[test]
fn summaries_are_first_sentences() {
    let long = "word ".repeat(100);
    for (description, summary) in [
        ("", ""),
        ("One.", "One."),
        ("One. Two.", "One."),
        ("  One\nTwo.", "One"),
        ("Version 1.2 of it. More.", "Version 1.2 of it."),
        ("Animals, e.g. zebras. More.", "Animals, e.g. zebras."),
        ("a\u{202e}b\tc", "ab c"),
        (&long, &format!("{}wor…", "word ".repeat(23))),
        (&"ä".repeat(200), &format!("{}…", "ä".repeat(119))),
    ] {
        let catalogue = Catalogue::new(vec![namespace("a", "", vec![tool("b", description, json!({}))])]);
        let found = catalogue.search("", 1).remove(0);
        assert_eq!(found.summary, summary);
        assert!(found.summary.chars().count() <= 120);
    }
}

#[test]
fn namespaces_of_one_name_become_one() {
    let one = |description: &str, tools| namespace("a", description, tools);
    let catalogue = Catalogue::new(vec![
        one("First.", vec![tool("x", "First.", json!({}))]),
        one("Second.", vec![tool("x", "Second.", json!({})), tool("b", "", json!({}))]),
    ]);
    let expected = one("First.", vec![tool("b", "", json!({})), tool("x", "First.", json!({}))]);
    assert_eq!(catalogue.namespaces(), [expected]);
}

#[test]
fn an_unknown_path_names_the_nearest() {
    let catalogue = Catalogue::new(namespaces());
    for (path, message) in [
        ("github.creatIssue", "there is no tool `github.creatIssue`: did you mean `github.createIssue`?"),
        ("githb.createIssue", "there is no tool `githb.createIssue`: did you mean `github.createIssue`?"),
        ("githb.creatIssue", "there is no tool `githb.creatIssue`: did you mean `github.createIssue`?"),
        ("GitHub.create_issue", "there is no tool `GitHub.create_issue`: did you mean `github.createIssue`?"),
        ("other.uploadFile", "there is no tool `other.uploadFile`: did you mean `slack.uploadFile`?"),
        ("slack.search", "there is no tool `slack.search`: did you mean `mail.search`?"),
        (
            "github.newIssue",
            "there is no tool `github.newIssue`: did you mean `github.listIssues`, `github.createIssue` or `github.delete_repo`?",
        ),
        ("githb", "there is no namespace `githb`: did you mean `github`?"),
        ("createIssue", "there is no namespace `createIssue`: did you mean `github.createIssue`?"),
        ("zzzzzz.qqqqqq", "there is no tool `zzzzzz.qqqqqq`"),
        ("", "there is no namespace ``"),
        (".", "there is no tool `.`"),
        ("github.", "there is no tool `github.`"),
        ("github.createIssue.x", "there is no tool `github.createIssue.x`: did you mean `github.createIssue`?"),
    ] {
        let error = catalogue.find(path).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(catalogue.describe(path).unwrap_err(), error);
    }
    let error = catalogue.find(&format!("a\n\u{202e}.{}", "x".repeat(1_000_000))).map(|_| ()).unwrap_err();
    assert!(error.to_string().len() < 200 && !error.to_string().contains('\n'), "{error}");
}

#[test]
fn a_right_path_is_found() {
    let catalogue = Catalogue::new(namespaces());
    let (namespace, tool) = catalogue.find("mail.send").unwrap();
    assert_eq!((namespace.name.as_str(), tool.name.as_str()), ("mail", "send"));
    assert_eq!(
        catalogue.describe("slack.postMessage").unwrap(),
        "declare const tools: {\n  /** Messages of the team. */\n  slack: {\n    /** Sends a message to a channel. */\n    \
         postMessage(args?: { channel?: unknown; text?: unknown }): Promise<unknown>;\n  };\n};\n"
    );
    let whole = catalogue.describe("mail").unwrap();
    assert!(whole.contains("search(args") && whole.contains("send(args") && !whole.contains("slack"), "{whole}");
}

#[test]
fn a_description_is_bounded() {
    let one = |n: usize| {
        // A type of its own, that needs a name.
        let output = json!({ "properties": { format!("p{n}"): { "$ref": "#" } } });
        Tool { output: Some(output), ..tool(&format!("t{n:04}"), &"word ".repeat(100), json!({})) }
    };
    let catalogue = Catalogue::new(vec![namespace("many", "", (0..1000).map(one).collect())]);
    let text = catalogue.describe("many").unwrap();
    let shown = text.matches("Promise<").count();
    assert!(text.len() <= (64 << 10) + 100, "{}", text.len());
    assert!(shown > 50, "{shown}");
    assert!(text.contains(&format!("    // {} more are left out\n  }};\n}};\n", 1000 - shown)), "{text}");
    // What was left out leaves nothing behind.
    assert_eq!(text.lines().filter(|line| line.starts_with("type ")).count(), shown);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_query_has_an_answer(query in any::<String>(), limit in 0_usize..200) {
        let catalogue = Catalogue::new(namespaces());
        let found = catalogue.search(&query, limit);
        prop_assert!(found.len() <= limit.min(100));
        prop_assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for one in &found {
            prop_assert!(catalogue.find(&one.path).is_ok());
        }
        // Whatever it is not, it says so.
        if let Err(unknown) = catalogue.find(&query) {
            prop_assert!(unknown.near.iter().all(|path| catalogue.describe(path).is_ok()));
        }
    }
}

#[test]
fn what_does_not_exist_for_someone_is_not_told() {
    let catalogue = Catalogue::new(namespaces());
    let exists = |path: &str| path.starts_with("github.") && path != "github.createIssue";
    let view = catalogue.only(&exists);
    let found: Vec<String> = view.search("issue", 10).into_iter().map(|found| found.path).collect();
    assert_eq!(found[0], "github.listIssues");
    assert!(found.iter().all(|path| exists(path)), "{found:?}");
    assert_eq!(view.search("", 100).len(), 4);
    assert!(view.find("github.listIssues").is_ok());
    let unknown = view.find("github.createIssue").unwrap_err();
    assert!(!unknown.near.contains(&"github.createIssue".to_owned()), "{unknown}");
    assert!(view.describe("slack").is_err() && view.describe("slack.postMessage").is_err());
    let described = view.describe("github").unwrap();
    assert!(described.contains("listIssues") && !described.contains("createIssue"), "{described}");
}
