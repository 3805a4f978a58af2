//! The wire of TanStack's Cloudflare isolate driver, spoken as that driver speaks it: the whole program in every round, with all
//! results so far.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Map, Value, json};
use support::server::{Answer, Served, serve};
use support::{Folder, command, folder};

const PATH: &str = "/v1/code-mode";
/// Rounds the driver makes at most.
const ROUNDS_MAX: usize = 10;

fn send(server: &Served, body: &Value) -> Answer {
    server.post(PATH, "", body)
}

#[track_caller]
fn round(server: &Served, body: &Value) -> Value {
    let answer = send(server, body);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("access-control-allow-origin: *"), "{}", answer.head);
    answer.json()
}

/// A program under way at the driver's side.
struct Driver {
    code: String,
    tools: Vec<&'static str>,
    timeout: u64,
    results: Map<String, Value>,
    logs: Vec<String>,
    /// Names and arguments of the calls of each round.
    rounds: Vec<Vec<(String, Value)>>,
}

fn driver(code: &str, tools: &[&'static str]) -> Driver {
    Driver {
        code: code.into(),
        tools: tools.to_vec(),
        timeout: 30_000,
        results: Map::new(),
        logs: Vec::new(),
        rounds: Vec::new(),
    }
}

impl Driver {
    fn body(&self) -> Value {
        let tools: Vec<Value> =
            self.tools.iter().map(|name| json!({ "name": name, "description": "", "inputSchema": {} })).collect();
        let mut body = json!({ "code": self.code, "tools": tools, "timeout": self.timeout });
        if !self.results.is_empty() {
            body["toolResults"] = Value::Object(self.results.clone());
        }
        body
    }

    /// One round. The answer when it was the last.
    #[track_caller]
    fn step(&mut self, server: &Served, tool: impl Fn(&str, &Value) -> Result<Value, String>) -> Option<Value> {
        let answer = round(server, &self.body());
        let logs = answer["logs"].as_array().cloned().unwrap_or_default();
        self.logs.extend(logs.iter().map(|line| line.as_str().unwrap().to_owned()));
        if answer["status"] != "need_tools" {
            return Some(answer);
        }
        let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["continuationId", "logs", "status", "toolCalls"]);
        let mut calls = Vec::new();
        for call in answer["toolCalls"].as_array().unwrap() {
            let (id, name) = (call["id"].as_str().unwrap(), call["name"].as_str().unwrap());
            assert_eq!(id, format!("tc_{}", self.results.len()), "ids count on in the order of calls");
            let result = match tool(name, &call["args"]) {
                Ok(value) => json!({ "success": true, "value": value }),
                Err(error) => json!({ "success": false, "error": error }),
            };
            self.results.insert(id.into(), result);
            calls.push((name.to_owned(), call["args"].clone()));
        }
        assert!(!calls.is_empty(), "{answer}");
        self.rounds.push(calls);
        None
    }

    #[track_caller]
    fn run(&mut self, server: &Served, tool: impl Fn(&str, &Value) -> Result<Value, String>) -> Value {
        for _ in 0..ROUNDS_MAX {
            if let Some(answer) = self.step(server, &tool) {
                return answer;
            }
        }
        panic!("more than {ROUNDS_MAX} rounds");
    }

    fn sizes(&self) -> Vec<usize> {
        self.rounds.iter().map(Vec::len).collect()
    }
}

fn echo(_: &str, args: &Value) -> Result<Value, String> {
    Ok(args.clone())
}

fn here() -> (Folder, Served) {
    let folder = folder();
    let server = serve(&folder, &[]);
    (folder, server)
}

#[test]
fn answers_have_the_shapes_that_the_driver_knows() {
    let (_folder, server) = here();
    let options = server.send("OPTIONS", PATH, "", &[], b"");
    assert_eq!((options.status, options.body.len()), (200, 0));
    for header in [
        "access-control-allow-origin: *",
        "access-control-allow-methods: post, options",
        "access-control-allow-headers: content-type, authorization",
    ] {
        assert!(options.head.contains(header), "{}", options.head);
    }
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = server.send(method, PATH, "", &[], b"");
        assert_eq!((answer.status, &answer.body[..]), (405, &b"{\"error\":\"Method not allowed\"}"[..]));
    }
    for body in ["{}", "[]", "1", "\"x\"", "{\"code\":\"\"}", "{\"code\":1,\"tools\":[]}", "{\"code\":null}"] {
        let answer = server.send("POST", PATH, "", &[("content-type", "application/json")], body.as_bytes());
        assert_eq!((answer.status, &answer.body[..]), (400, &b"{\"error\":\"Code is required\"}"[..]), "{body}");
    }
    for body in ["", "null", "{", "{\"code\":\"return 1\",\"tools\":7}"] {
        let answer = server.send("POST", PATH, "", &[("content-type", "application/json")], body.as_bytes());
        let said = answer.json();
        assert_eq!(
            (answer.status, &said["status"], &said["error"]["name"]),
            (500, &json!("error"), &json!("RequestError")),
            "{body}"
        );
        assert!(said["error"]["message"].is_string() && said.get("logs").is_none(), "{said}");
    }
    // Neither the content type nor what else the body has is looked at.
    let plain = server.send(
        "POST",
        PATH,
        "",
        &[("content-type", "text/plain")],
        b"{\"code\":\"return 1\",\"tools\":[],\"new\":1}",
    );
    assert_eq!(plain.body, b"{\"status\":\"done\",\"success\":true,\"value\":1,\"logs\":[]}");
    let done = |code: &str| String::from_utf8(send(&server, &driver(code, &[]).body()).body).unwrap();
    assert_eq!(done("return undefined"), "{\"status\":\"done\",\"success\":true,\"logs\":[]}");
    assert_eq!(done("return null"), "{\"status\":\"done\",\"success\":true,\"value\":null,\"logs\":[]}");
    assert_eq!(done("return '1'"), "{\"status\":\"done\",\"success\":true,\"value\":\"1\",\"logs\":[]}");
    assert_eq!(
        done("return { a: [1, undefined, NaN], d: new Date(0) }"),
        "{\"status\":\"done\",\"success\":true,\"value\":{\"a\":[1,null,null],\"d\":\"1970-01-01T00:00:00.000Z\"},\"logs\":[]}"
    );
    assert_eq!(
        done("console.log('a', { b: 1 }); console.error('c'); console.warn(1); console.info(null) // end"),
        "{\"status\":\"done\",\"success\":true,\"logs\":[\"a {\\\"b\\\":1}\",\"ERROR: c\",\"WARN: 1\",\"INFO: null\"]}"
    );
}

#[test]
fn tools_that_cannot_be_are_refused_in_the_workers_words() {
    let (_folder, server) = here();
    let said = |body: Value| {
        let answer = round(&server, &body);
        assert_eq!(answer["status"], "error", "{answer}");
        assert!(answer.get("logs").is_none(), "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let named =
        |name: &str| json!({ "code": "return 1", "tools": [{ "name": name, "description": "", "inputSchema": {} }] });
    said(json!({ "code": "return 1" }));
    for name in ["1a", "a-b", "a b", "", "a.b", "é", "a;alert(1)", "a\nb", "\u{0}"] {
        let message = said(named(name));
        let rule = "must match /^[a-zA-Z_$][a-zA-Z0-9_$]*$/ (letters, digits, _, $; cannot start with a digit)";
        assert_eq!(message, format!("Invalid tool name '{name}': {rule}"));
    }
    for name in ["await", "class", "return", "yield", "let", "enum", "null", "true", "package"] {
        assert_eq!(said(named(name)), format!("Invalid tool name '{name}': reserved JavaScript keyword"));
    }
    // Names that mean something already are names like any other, or fail the program; never the server.
    for name in ["tools", "console", "globalThis", "Object", "constructor", "own", "text", "JSON", "Promise", "$", "_"]
    {
        let answer = round(&server, &named(name));
        assert_eq!((&answer["status"], &answer["value"]), (&json!("done"), &json!(1)), "{name}: {answer}");
    }
    for name in ["undefined", "NaN", "Infinity"] {
        assert_eq!(round(&server, &named(name))["status"], "done", "{name}");
    }
    // The Worker takes this one; here no binding is called so.
    assert_eq!(round(&server, &named("__proto__"))["status"], "error");
    let mut hostile = driver(
        "return [await Object(1), await JSON(2), await console(3), await x(4)]",
        &["Object", "JSON", "console", "x"],
    );
    assert_eq!(hostile.run(&server, echo)["value"], json!([1, 2, 3, 4]));
    // The same name twice is one tool.
    let twice = json!({ "code": "return typeof t", "tools": [{ "name": "t" }, { "name": "t" }] });
    assert_eq!(round(&server, &twice)["value"], "function");
}

#[test]
fn calls_that_are_made_together_come_in_one_round() {
    let (_folder, server) = here();
    let mut all = driver("return await Promise.all([a(1), b({ x: [2] }), a('3')])", &["a", "b"]);
    let answer = all.run(&server, echo);
    assert_eq!(answer, json!({ "status": "done", "success": true, "value": [1, { "x": [2] }, "3"], "logs": [] }));
    assert_eq!(all.rounds, [[("a".into(), json!(1)), ("b".into(), json!({ "x": [2] })), ("a".into(), json!("3"))]]);
    let mut many = driver("return (await Promise.all(Array.from({ length: 50 }, (_, i) => a(i)))).length", &["a"]);
    assert_eq!(many.run(&server, echo)["value"], 50);
    assert_eq!(many.sizes().iter().sum::<usize>(), 50);
    let mut mixed = driver(
        "const x = await a(1); const ys = await Promise.all([a(x + 1), a(x + 2)]); return [x, ...ys, await b()]",
        &["a", "b"],
    );
    assert_eq!(mixed.run(&server, echo)["value"], json!([1, 2, 3, {}]));
    assert_eq!(mixed.sizes(), [1, 2, 1]);
}

#[test]
fn a_program_goes_on_where_it_was() {
    let (_folder, server) = here();
    // Nothing of it is done twice: what it wrote, drew and counted is the same in every round.
    let code = "console.log('one'); const drawn = Math.random(); let n = 0; n += await a(1); console.log('two'); n += await a(2); console.log('three'); n += await a(3); return [n, drawn === Number(drawn), typeof drawn]";
    let mut steps = driver(code, &["a"]);
    assert_eq!(steps.run(&server, echo)["value"], json!([6, true, "number"]));
    assert_eq!((steps.sizes(), steps.logs), (vec![1, 1, 1], ["one", "two", "three"].map(str::to_owned).to_vec()));
    let mut nine = driver("let n = 0; for (let i = 0; i < 9; i++) n += await a(i); return n", &["a"]);
    assert_eq!(
        nine.run(&server, echo)["value"],
        36,
        "nine calls one after the other are what the driver's rounds are enough for"
    );
}

#[test]
fn what_a_tool_throws_is_caught_by_the_program_and_nothing_else_is() {
    let (_folder, server) = here();
    let fails = |name: &str, args: &Value| if name == "bad" { Err(format!("no {args}")) } else { Ok(args.clone()) };
    let mut tried = driver(
        "try { return await bad(1) } catch (e) { return [e instanceof Error, e.name, e.message, await good(2)] }",
        &["bad", "good"],
    );
    assert_eq!(tried.run(&server, fails)["value"], json!([true, "Error", "no 1", 2]));
    let mut good = driver("try { return await good(1) } catch (e) { return 'caught ' + e.message }", &["good"]);
    assert_eq!(good.run(&server, fails)["value"], 1, "there is nothing to catch where nothing fails");
    let mut settled = driver(
        "return (await Promise.allSettled([good(1), bad(2), good(3)])).map(r => r.status + (r.value ?? r.reason.message))",
        &["bad", "good"],
    );
    assert_eq!(settled.run(&server, fails)["value"], json!(["fulfilled1", "rejectedno 2", "fulfilled3"]));
    assert_eq!(settled.sizes(), [3]);
    let mut uncaught = driver("console.log('before'); await bad(1)", &["bad"]);
    let answer = uncaught.run(&server, fails);
    assert_eq!(
        (&answer["status"], &answer["success"], &answer["error"]["name"], &answer["error"]["message"]),
        (&json!("done"), &json!(false), &json!("Error"), &json!("no 1"))
    );
    assert_eq!(uncaught.logs, ["before"]);
    let silent = json!({ "code": "return await a().catch(e => e.message)", "tools": [{ "name": "a" }], "toolResults": { "tc_0": { "success": false } } });
    assert_eq!(round(&server, &silent)["value"], "Tool call failed");
    let nothing = json!({ "code": "return typeof await a()", "tools": [{ "name": "a" }], "toolResults": { "tc_0": { "success": true } } });
    assert_eq!(round(&server, &nothing)["value"], "undefined");
    let null = json!({ "code": "return [await a()]", "tools": [{ "name": "a" }], "toolResults": { "tc_0": { "success": true, "value": null } } });
    assert_eq!(round(&server, &null)["value"], json!([null]));
}

#[test]
fn arguments_arrive_as_they_were_given() {
    let (_folder, server) = here();
    let mut args = driver(
        "await Promise.all([a(), a(undefined), a(null), a(0), a(''), a([]), a({ u: undefined })]); return 1",
        &["a"],
    );
    assert_eq!(args.run(&server, echo)["value"], 1);
    let given: Vec<&Value> = args.rounds[0].iter().map(|(_, args)| args).collect();
    assert_eq!(given, [&json!({}), &json!({}), &json!(null), &json!(0), &json!(""), &json!([]), &json!({})]);
    let mut wrong =
        driver("const o = {}; o.o = o; return [await a(o).catch(e => e.name), await a(1n).catch(e => e.name)]", &["a"]);
    assert_eq!(wrong.run(&server, echo)["value"], json!(["TypeError", "TypeError"]));
    assert!(wrong.rounds.is_empty(), "what cannot be said is not asked");
    let text = "\u{2028}</script>\"\\ \u{1f600}\u{0}";
    let mut odd = driver(
        "return await a(input_of())\nfunction input_of() { return '\\u2028</script>\"\\\\ \\ud83d\\ude00\\0' }",
        &["a"],
    );
    assert_eq!(odd.run(&server, echo)["value"], text);
}

#[test]
fn failures_have_the_names_that_the_driver_knows() {
    let (_folder, server) = here();
    let failed = |code: &str, timeout: u64| {
        let mut driver = driver(code, &[]);
        driver.timeout = timeout;
        let answer = round(&server, &driver.body());
        assert_eq!((&answer["status"], &answer["success"]), (&json!("done"), &json!(false)), "{answer}");
        assert!(answer.get("value").is_none(), "{answer}");
        (
            answer["error"]["name"].as_str().unwrap().to_owned(),
            answer["error"]["message"].as_str().unwrap().to_owned(),
            answer["logs"].clone(),
        )
    };
    let (name, message, logs) = failed("console.log('a'); while (true) {}", 300);
    assert_eq!((&*name, &*message, logs), ("TimeoutError", "Execution timed out after 300ms", json!(["a"])));
    let (name, message, _) = failed("await new Promise(r => setTimeout(r, 60000))", 300);
    assert_eq!((&*name, &*message), ("TimeoutError", "Execution timed out after 300ms"));
    assert_eq!(failed("const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)", 30_000).0, "MemoryLimitError");
    assert_eq!(failed("const f = () => f() + 1; f()", 30_000).0, "RangeError");
    assert_eq!(failed("return (", 30_000).0, "SyntaxError");
    assert_eq!(failed("})(); (async () => {", 30_000).0, "SyntaxError");
    assert_eq!(failed("class Odd extends Error { name = 'Odd' } throw new Odd('x')", 30_000).0, "Odd");
    let (name, message, logs) = failed("console.log('kept'); return 1n", 30_000);
    assert!(
        name == "TypeError" && message.to_lowercase().contains("bigint") && logs == json!(["kept"]),
        "{name} {message} {logs}"
    );
    let (name, message, _) = failed("const o = {}; o.o = o; return o", 30_000);
    assert!(name == "TypeError" && message.contains("circular"), "{name} {message}");
    assert_eq!(failed("throw { name: 'Own', message: 'object' }", 30_000).1, "object");
    assert_eq!(failed("throw 'text'", 30_000).1, "text");
    let (_, message, _) = failed("throw null", 30_000);
    assert!(message.contains("null"), "{message}");
    // Nothing of the server is in a stack.
    let answer = round(&server, &driver("null.x", &[]).body());
    assert!(!answer.to_string().contains("/work") && !answer.to_string().contains(".rs"), "{answer}");
}

#[test]
fn results_for_a_program_that_was_never_seen_are_given_to_its_calls_in_order() {
    let (_folder, server) = here();
    let code = "console.log('a'); const x = await t(1); console.log('b'); const y = await t(2); console.log('c'); return [x, y, await t(3)]";
    let tools = json!([{ "name": "t" }]);
    let two = json!({ "tc_0": { "success": true, "value": "one" }, "tc_1": { "success": true, "value": "two" } });
    let answer = round(&server, &json!({ "code": code, "tools": tools, "toolResults": two }));
    assert_eq!(
        (&answer["status"], &answer["toolCalls"], &answer["logs"]),
        (&json!("need_tools"), &json!([{ "id": "tc_2", "name": "t", "args": 3 }]), &json!(["c"])),
        "{answer}"
    );
    // Results that are not there yet, and some that nobody asked for.
    let odd = json!({ "tc_0": { "success": true, "value": 1 }, "tc_2": { "success": true, "value": 3 }, "tc_x": { "success": true }, "__proto__": { "success": true } });
    let answer = round(&server, &json!({ "code": code, "tools": tools, "toolResults": odd }));
    assert_eq!(answer["toolCalls"], json!([{ "id": "tc_1", "name": "t", "args": 2 }]), "{answer}");
    let more = json!({ "tc_0": { "success": true, "value": 1 }, "tc_1": { "success": true, "value": 2 }, "tc_2": { "success": true, "value": 3 }, "tc_3": { "success": true, "value": 4 } });
    assert_eq!(
        round(&server, &json!({ "code": code, "tools": tools, "toolResults": more }))["value"],
        json!([1, 2, 3])
    );
}

#[test]
fn a_program_survives_whatever_becomes_of_the_server_between_its_rounds() {
    let folder = folder();
    let mut server = serve(&folder, &[]);
    let code = "console.log('a'); const x = await t(1); console.log('b'); const y = await t(2); console.log('c'); return [x, y, await t(3)]";
    // Stopped in order; killed; killed, and its folder lost.
    for end in ["stop", "kill", "lose"] {
        let mut steps = driver(code, &["t"]);
        while steps.rounds.len() < 3 {
            assert_eq!(steps.step(&server, echo), None, "{end}");
            match end {
                "stop" => assert_eq!(server.stop(), 0),
                _ => server.kill(),
            }
            if end == "lose" {
                std::fs::remove_dir_all(folder.path().join("data")).unwrap();
            }
            server = serve(&folder, &[]);
        }
        assert_eq!(steps.run(&server, echo)["value"], json!([1, 2, 3]), "{end}");
        assert_eq!(steps.logs, ["a", "b", "c"], "{end}");
    }
}

#[test]
fn the_same_program_many_times_at_once_stays_apart() {
    let (_folder, server) = here();
    let code = "console.log('x'); const a = await t(); const b = await t(); return [a, b]";
    // In step, so that all of them wait in the same place at the same time; half of them get the same answers.
    let mut all: Vec<Driver> = (0..8).map(|_| driver(code, &["t"])).collect();
    for step in 0..2 {
        for (n, one) in all.iter_mut().enumerate() {
            assert_eq!(one.step(&server, |_, _| Ok(json!([step, n / 2]))), None);
        }
    }
    for (n, one) in all.iter_mut().enumerate() {
        assert_eq!(one.run(&server, echo)["value"], json!([[0, n / 2], [1, n / 2]]), "{n}");
        assert_eq!(one.logs, ["x"], "{n}");
    }
    std::thread::scope(|scope| {
        for n in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let answer = driver(code, &["t"]).run(server, |_, _| Ok(json!(n)));
                assert_eq!(answer["value"], json!([n, n]));
            });
        }
    });
    // The same round twice, as after a lost answer, gives the same answer.
    let mut lost = driver(code, &["t"]);
    assert_eq!(lost.step(&server, |_, _| Ok(json!(1))), None);
    let (once, again) = (round(&server, &lost.body()), round(&server, &lost.body()));
    assert_eq!((&once["status"], &once["toolCalls"]), (&again["status"], &again["toolCalls"]));
}

#[test]
fn it_needs_a_key_like_everything_else_and_programs_of_others_are_others() {
    let folder = folder();
    let key = |name: &str| {
        let output =
            command(&["key", "create", name]).env("ISOLITH_DATA", folder.path().join("data")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (a, b) = (key("a"), key("b"));
    let server = serve(&folder, &[]);
    let mut body = driver("const kept = await t(); console.log('then'); return kept", &["t"]).body();
    assert_eq!(send(&server, &body).status, 401);
    let first = server.post(PATH, &a, &body).json();
    assert_eq!(first["status"], "need_tools");
    body["toolResults"] = json!({ "tc_0": { "success": true, "value": "of b" } });
    assert_eq!(server.post(PATH, &b, &body).json()["value"], "of b", "it is run anew, as b's own");
    body["toolResults"] = json!({ "tc_0": { "success": true, "value": "of a" } });
    assert_eq!(server.post(PATH, &a, &body).json()["value"], "of a");
}
