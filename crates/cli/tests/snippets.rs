//! Saved programs: kept in versions, called by others, never with more than someone agreed to or their caller has.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::place::{Place, place};

const TOTAL: &str = "return input.items.reduce((sum, item) => sum + item.price, 0)\n";
const INPUT: &str = r#"{
    "type": "object",
    "properties": { "items": { "type": "array", "items": { "type": "object", "properties": { "price": { "type": "number" } } } } },
    "required": ["items"]
}"#;

/// A place where `total` is saved.
fn with_total() -> Place {
    let place = place();
    place.write("total.ts", TOTAL);
    place.write("input.json", INPUT);
    place.write("output.json", r#"{"type": "number"}"#);
    let schemas = ["--input-schema", "input.json", "--output-schema", "output.json"];
    save(&place, &[&["total", "total.ts", "--description", "Adds up prices"][..], &schemas].concat());
    place
}

#[track_caller]
fn save(place: &Place, args: &[&str]) -> Value {
    json_of(place, &[&["snippet", "save"], args, &["--json"]].concat())
}

#[track_caller]
fn json_of(place: &Place, args: &[&str]) -> Value {
    let ran = place.isolith(args);
    assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

const CALL: &str = "return await tools.snippets.total({ items: [{ price: 1.5 }, { price: 2 }] })";

#[test]
fn a_saved_program_is_called_by_another() {
    let place = with_total();
    let ran = place.outcome(CALL, &["--allow-snippets"]);
    assert_eq!(ran.value(), &json!(3.5));
    assert_eq!(ran.counts("exercised"), [("tool:snippets.*".to_owned(), 1)]);
    for granted in ["tool:snippets.total", "tool:snippets.t*"] {
        assert_eq!(place.outcome(CALL, &["--grant", granted]).value(), &json!(3.5), "{granted}");
    }
}

#[test]
fn without_the_grant_there_is_none_and_nothing_is_opened() {
    let place = place();
    let ran = place.outcome("return typeof tools.snippets", &["--allow-kv", "notes"]);
    assert_eq!(ran.value(), &json!("undefined"));
    assert!(!place.data_path().join("snippets.sqlite").exists());
    let place = with_total();
    let ran = place.outcome(CALL, &["--allow-kv", "notes"]);
    assert_eq!((ran.code, &ran.json["status"]), (1, &json!("error")), "{:#}", ran.json);
    let ran = place.outcome(CALL, &["--grant", "tool:snippets.other"]);
    assert_eq!((ran.code, &ran.json["error"]["code"]), (126, &json!("tool.denied")), "{:#}", ran.json);
    let ran = place.outcome(CALL, &["--allow-snippets", "--grant", "deny tool:snippets.total"]);
    assert_eq!((ran.code, &ran.json["error"]["code"]), (126, &json!("tool.denied")), "{:#}", ran.json);
}

#[test]
fn what_it_takes_and_gives_is_checked() {
    let place = with_total();
    let program = "try { await tools.snippets.total({ item: 1 }) } catch (error) { return [error.name, error.code, error.message] }";
    let ran = place.outcome(program, &["--allow-snippets"]);
    let message = "the argument of the tool `snippets.total` is not what it takes: \"items\" is a required property";
    assert_eq!(ran.value(), &json!(["TypeError", "tool.invalid_input", message]));
    place.write("total.ts", "return 'much'");
    save(&place, &["total", "total.ts", "--output-schema", "output.json"]);
    let program = "try { await tools.snippets.total() } catch (error) { return [error.name, error.code] }";
    let ran = place.outcome(program, &["--allow-snippets"]);
    assert_eq!(ran.value(), &json!(["Error", "tool.invalid_output"]));
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_that_is_granted() {
    let place = with_total();
    let program = "try { await tools.snippets.totl() } catch (error) { return [error.code, error.message] }";
    let ran = place.outcome(program, &["--allow-snippets"]);
    let message = "there is no tool `snippets.totl`: did you mean `snippets.total`?";
    assert_eq!(ran.value(), &json!(["tool.unknown", message]));
    let ran = place.outcome(program, &["--grant", "tool:snippets.totl"]);
    assert_eq!(ran.value(), &json!(["tool.unknown", "there is no tool `snippets.totl`"]));
    let ran = place.isolith(&["snippet", "show", "totl"]);
    ran.is(2, "", "error: there is no snippet `totl`\nhint: did you mean `total`?\n");
    place.isolith(&["snippet", "rm", "nothing"]).is(
        2,
        "",
        "error: there is no snippet `nothing`\nhint: `isolith snippet list` shows what there is\n",
    );
}

#[test]
fn needs_that_grow_need_consent_again() {
    let place = place();
    place.write("note.ts", "return await kv.notes.get('n')\n");
    let first = save(&place, &["note", "note.ts"]);
    assert_eq!(
        (&first["version"], &first["agreed"], &first["grants"]),
        (&json!(1), &json!(true), &json!(["kv:read notes"]))
    );
    place.write("note.ts", "await kv.notes.put('n', input);\nreturn await kv.notes.get('n')\n");
    let second = save(&place, &["note", "note.ts"]);
    assert_eq!((&second["version"], &second["agreed"]), (&json!(2), &json!(false)));
    assert_eq!(second["grown"], json!([{ "what": "granted: `kv:notes`", "escalates": true }]));
    let again = save(&place, &["note", "note.ts"]);
    assert_eq!((&again["version"], &again["new"], &again["agreed"]), (&json!(2), &json!(false), &json!(false)));

    let call = "return await tools.snippets.note(7)";
    let flags = ["--allow-snippets", "--allow-kv", "notes"];
    let ran = place.outcome(call, &flags);
    let message = "the tool `snippets.note` is not agreed to: its version 2 may do more than the one before, and `isolith snippet agree note` says yes to that";
    assert_eq!((ran.code, ran.message(), &ran.json["error"]["code"]), (126, message, &json!("tool.denied")));
    let agreed = place.isolith(&["snippet", "agree", "note"]);
    agreed.is(0, "agreed: note, version 2\n  granted: `kv:notes`\n", "");
    assert_eq!(place.outcome(call, &flags).value(), &json!(7));

    // Less is no question, and who saves can say so at once.
    place.write("note.ts", "return await kv.notes.get('n')\n");
    let less = save(&place, &["note", "note.ts"]);
    assert_eq!((&less["version"], &less["agreed"]), (&json!(3), &json!(true)));
    place.write("note.ts", "await kv.notes.put('n', input); return 'put'\n");
    let more = save(&place, &["note", "note.ts", "--agree"]);
    assert_eq!((&more["version"], &more["agreed"]), (&json!(4), &json!(true)));
    assert_eq!(place.outcome(call, &flags).value(), &json!("put"));
}

#[test]
fn it_can_do_no_more_than_its_caller_and_no_more_than_itself() {
    let place = place();
    place.write("put.ts", "await kv.notes.put('n', input); return 'put'\n");
    save(&place, &["put", "put.ts"]);
    let call = "try { return await tools.snippets.put(1) } catch (error) { return [error.name, error.code] }";
    assert_eq!(place.outcome(call, &["--allow-snippets", "--allow-kv", "notes"]).value(), &json!("put"));
    let narrower = place.outcome(call, &["--allow-snippets", "--allow-kv", "read notes"]);
    assert_eq!(narrower.value(), &json!(["DeniedError", "kv.denied"]));
    let none = place.outcome(call, &["--allow-snippets"]);
    assert_eq!(none.value(), &json!(["ReferenceError", "invoke.failed"]));
    // Its caller's own grants are not its own.
    place.write("look.ts", "return [typeof kv, typeof files]\n");
    place.write("nothing.toml", "");
    save(&place, &["look", "look.ts", "--manifest", "nothing.toml"]);
    let look = place.outcome(
        "return await tools.snippets.look()",
        &["--allow-snippets", "--allow-kv", "notes", "--allow-read", "."],
    );
    assert_eq!(look.value(), &json!(["undefined", "undefined"]));
}

#[test]
fn what_it_did_is_in_the_receipt_and_in_the_audit() {
    let place = place();
    place.write("put.ts", "await kv.notes.put('n', input); return 'put'\n");
    let saved = save(&place, &["put", "put.ts"]);
    let ran = place.outcome("return await tools.snippets.put(1)", &["--allow-snippets", "--allow-kv", "notes"]);
    assert_eq!(ran.value(), &json!("put"));
    assert_eq!(ran.counts("exercised"), [("kv:notes".to_owned(), 1), ("tool:snippets.*".to_owned(), 1)]);
    let rows = place.audit(&["--run", ran.run()]);
    let did: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["grant"].as_str().unwrap(), row["what"].as_str().unwrap())).collect();
    assert_eq!(did, [("kv:notes", "put notes"), ("tool:snippets.*", "snippets.put")]);
    assert_eq!(rows[0]["program"], saved["digest"]);
    assert_ne!(rows[1]["program"], saved["digest"]);
    // A count of the caller's is counted in it, too.
    let twice = "await tools.snippets.put(1); return await tools.snippets.put(2)";
    place.write("once.toml", "grants = [\"tool:snippets.*\", { kind = \"kv\", name = \"notes\", calls = 1 }]\n");
    let ran = place.outcome(twice, &["--manifest", "once.toml"]);
    assert_eq!((ran.code, &ran.json["error"]["code"]), (126, &json!("kv.denied")), "{:#}", ran.json);
}

#[test]
fn they_call_each_other_to_a_depth() {
    let place = place();
    place.write("down.ts", "return input === 0 ? 'bottom' : await tools.snippets.down(input - 1)\n");
    save(&place, &["down", "down.ts"]);
    let call = |deep: u32| {
        format!("try {{ return await tools.snippets.down({deep}) }} catch (error) {{ return error.message }}")
    };
    assert_eq!(place.outcome(&call(3), &["--allow-snippets"]).value(), &json!("bottom"));
    let deeper = place.outcome(&call(4), &["--allow-snippets"]);
    assert!(deeper.value().as_str().unwrap().contains("programs may invoke each other 4 deep"), "{:#}", deeper.json);
}

#[test]
fn versions_are_kept_until_all_are_removed() {
    let place = with_total();
    place.write("total.ts", "return 0");
    let second = save(&place, &["total", "total.ts"]);
    assert_eq!((&second["version"], &second["new"]), (&json!(2), &json!(true)));
    let shown = |version: &str| json_of(&place, &["snippet", "show", "total", "--version", version, "--json"]);
    assert_eq!((&shown("1")["source"], &shown("2")["source"]), (&json!(TOTAL), &json!("return 0")));
    assert_eq!(shown("1")["versions"], json!([1, 2]));
    assert!(shown("1")["signature"].as_str().unwrap().contains("): Promise<number>;"), "{:#}", shown("1"));
    let ran = place.isolith(&["snippet", "show", "total", "--version", "3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    place.isolith(&["snippet", "list"]).is(0, "total 2\n", "");
    place.isolith(&["snippet", "rm", "total"]).is(0, "", "removed: total, 2 versions\n");
    assert_eq!(json_of(&place, &["snippet", "list", "--json"]), json!([]));
    let program = "try { await tools.snippets.total() } catch (error) { return error.code }";
    assert_eq!(place.outcome(program, &["--allow-snippets"]).value(), &json!("tool.unknown"));
}

#[test]
fn what_is_wrong_is_not_saved() {
    let place = place();
    place.write("wrong.ts", "const a = ;\n");
    let ran = place.isolith(&["snippet", "save", "wrong", "wrong.ts"]);
    assert!(ran.code == 1 && ran.stdout.is_empty() && ran.stderr.contains("wrong.ts:1:11"), "{}", ran.stderr);
    place.write("right.ts", "return 1");
    place.write("schema.json", r#"{"type": 7}"#);
    place.write("tools.toml", "[tools.github]\nurl = \"https://example.com/mcp\"\n");
    for args in [
        &["no-name", "right.ts"][..],
        &["right", "right.ts", "--input-schema", "schema.json"],
        &["right", "right.ts", "--manifest", "tools.toml"],
    ] {
        let ran = place.isolith(&[&["snippet", "save"], args].concat());
        assert!(ran.code == 2 && ran.stdout.is_empty() && ran.stderr.contains("\nhint: "), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(json_of(&place, &["snippet", "list", "--json"]), json!([]));
}

#[test]
fn they_are_found_and_described_where_they_are_granted() {
    let place = with_total();
    let program = "return [await tools.search('prices'), await tools.describe('snippets.total')]";
    let ran = place.outcome(program, &["--allow-snippets"]);
    let value = ran.value();
    assert_eq!(value[0], json!([{ "path": "snippets.total", "description": "Adds up prices" }]));
    assert!(value[1].as_str().unwrap().contains("total(args: "), "{value:#}");
    let ran = place.outcome("return await tools.search('prices')", &["--grant", "tool:snippets.other"]);
    assert_eq!(ran.value(), &json!([]));
    let found = json_of(&place, &["tools", "search", "prices", "--allow-snippets", "--json"]);
    assert_eq!(found, json!([{ "path": "snippets.total", "description": "Adds up prices" }]));
    let ran = place.isolith(&["prompt", "--allow-snippets"]);
    assert!(ran.code == 0 && ran.stdout.contains("total(args: "), "{}", ran.stdout);
}

#[test]
fn an_mcp_client_has_them_where_its_operator_says_so() {
    let place = with_total();
    let execute = |flags: &[&str]| {
        support::mcp::execute(&mut place.command(&[&["mcp"], flags].concat()), json!({ "program": CALL }))
    };
    assert_eq!(execute(&["--allow-snippets"])["result"]["structuredContent"]["value"], json!(3.5));
    let without = execute(&[]);
    assert_eq!(without["result"]["isError"], json!(true), "{without:#}");
    // They run in what the policy wants around every program, and not without.
    let policy = |housing: &str| place.write("policy.toml", &format!("{housing}\ngrants = [\"tool:snippets.*\"]\n"));
    let flags = ["--allow-snippets", "--policy", "policy.toml"];
    policy("isolation = \"process\"");
    assert_eq!(execute(&flags)["result"]["structuredContent"]["value"], json!(3.5));
    policy("engine = \"v8\"");
    let refused = place.isolith_fed(&[&["mcp"], &flags[..]].concat(), "");
    assert!(refused.code == 2 && refused.stderr.contains("`isolith engine install v8`"), "{}", refused.stderr);
}
