//! What operations are called, and which may be called unasked.

use super::{api, tools};
use isolith_core::Rule;
use serde_json::{Value, json};

#[test]
fn operations_are_named_for_a_program() {
    let long = "x".repeat(70);
    let cut = "x".repeat(64);
    for (method, path, id, name) in [
        ("get", "/a", json!("createIssue"), "createIssue"),
        ("get", "/a", json!("repos/get-content"), "reposGetContent"),
        ("get", "/a", json!("get_user"), "get_user"),
        ("get", "/a", json!("Users.Get by id"), "UsersGetById"),
        ("get", "/a", json!("2fa"), "_2fa"),
        ("get", "/a", json!("größe"), "grE"),
        ("get", "/a", json!("then"), "then_"),
        ("get", "/a", json!("__proto__"), "__proto___"),
        ("get", "/a", json!("constructor"), "constructor_"),
        ("get", "/a", json!("toJSON"), "toJSON_"),
        ("get", "/a", json!("delete"), "delete"),
        ("get", "/a", json!(long), cut.as_str()),
        ("get", "/issues/all-open", json!(null), "getIssuesAllOpen"),
        ("delete", "/issues/open_ones", json!("+++"), "deleteIssuesOpenOnes"),
        ("get", "/", json!(5), "get"),
        ("post", "/ä", json!(""), "post"),
    ] {
        let api = api(json!({ path: { method: { "operationId": id } } }));
        assert_eq!(api.operations()[0].name().as_str(), name, "{id}");
    }
    let api = api(json!({ "/a/{issue_id}/b": { "get": { "parameters": [{ "name": "issue_id", "in": "path" }] } } }));
    assert_eq!(api.operations()[0].name().as_str(), "getAByIssueIdB");
    assert_eq!(tools(&api)[0].upstream, "GET /a/{issue_id}/b");
}

#[test]
fn two_operations_never_have_one_name() {
    let paths = json!({
        "/a": { "get": { "operationId": "same" }, "post": { "operationId": "same" } },
        "/b": { "get": { "operationId": "same_2" }, "post": { "operationId": "sa-me" }, "put": { "operationId": "saMe" } },
        "/c": { "get": { "operationId": "same" } },
    });
    let api = api(paths);
    let named: Vec<String> = tools(&api)
        .iter()
        .map(|tool| format!("{} {}", tool.name, api.operation(tool.name.as_str()).unwrap().path()))
        .collect();
    assert_eq!(named, ["saMe /b", "saMe_2 /b", "same /a", "same_2 /b", "same_3 /a", "same_4 /c"]);
    assert_eq!(
        api.notes(),
        [
            "POST /a is called `same_3`: there is another `same`",
            "PUT /b is called `saMe_2`: there is another `saMe`",
            "GET /c is called `same_4`: there is another `same`",
        ]
    );
}

#[test]
fn what_reads_needs_no_question() {
    let methods = ["get", "head", "options", "post", "put", "patch", "delete", "trace"];
    let item: serde_json::Map<String, Value> =
        methods.iter().map(|method| ((*method).to_owned(), json!({ "operationId": method }))).collect();
    let api = api(json!({ "/a": item }));
    let rules: Vec<(String, Rule)> = tools(&api).into_iter().map(|tool| (tool.name.to_string(), tool.rule)).collect();
    let expected = [
        ("delete", Rule::Ask),
        ("get", Rule::Allow),
        ("head", Rule::Allow),
        ("options", Rule::Allow),
        ("patch", Rule::Ask),
        ("post", Rule::Ask),
        ("put", Rule::Ask),
    ];
    assert_eq!(rules, expected.map(|(name, rule)| (name.to_owned(), rule)));
    assert_eq!(api.notes(), ["TRACE /a is left out: the method TRACE is never sent"]);
}
