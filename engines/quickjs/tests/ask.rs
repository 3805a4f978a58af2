//! Calls that come as JSON with bytes beside it, through the whole engine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use isolith_core::{BodyId, ErrorKind, FetchCall, FilesOp, HostCall, HostReply, Json, KvOp, Redirect, RequestId};
use support::{Given, json, run, run_with};

fn nothing(_: &HostCall) -> HostReply {
    json("null")
}

#[test]
fn what_was_not_granted_does_not_exist() {
    let code = "return ['fetch', 'kv', 'files', 'invoke', 'secrets'].map((name) => name in globalThis)";
    assert_eq!(run(code, &Given::nothing(), nothing).value(), "[false,false,false,false,false]");
    assert_eq!(run(code, &Given::default(), nothing).value(), "[true,true,true,true,true]");
}

#[test]
fn what_was_granted_looks_as_it_should_and_cannot_be_changed() {
    let code = "
        'use strict';
        const shown = (object) => [Object.isFrozen(object), Object.keys(object), typeof object.constructor, typeof object.toString];
        const global = Object.getOwnPropertyDescriptor(globalThis, 'kv');
        const frozen = [() => { tools.echo = 1; }, () => { kv.get = 1; }, () => { kv.more = 1; }, () => { delete kv.cache; }, () => { kv.cache.x = 1; }]
            .map((change) => { try { change(); return 'changed'; } catch (e) { return e.name; } });
        return [shown(tools), shown(kv), shown(kv.cache), shown(files), shown(secrets), global.enumerable, global.writable, frozen.join(),
            tools.echo === external_echo, tools.echo.name, tools.echo.length, kv.space('cache') === kv.cache, kv.get === kv.cache.get, Object.prototype.toString.call(kv)];";
    let object = |keys: &str| format!(r#"[true,[{keys}],"undefined","undefined"]"#);
    let files = [
        "read",
        "readText",
        "readJson",
        "stream",
        "write",
        "append",
        "writeJson",
        "list",
        "stat",
        "exists",
        "remove",
        "makeFolder",
        "rename",
        "readLines",
        "edit",
        "copy",
        "link",
        "glob",
        "grep",
        "find",
        "tree",
        "diff",
        "history",
        "undo",
    ];
    let files = files.map(|name| format!("\"{name}\"")).join(",");
    let objects = ["\"echo\"", "\"cache\"", "", &files, "\"get\""].map(object).join(",");
    let rest =
        r#"false,true,"TypeError,TypeError,TypeError,TypeError,TypeError",true,"echo",1,true,true,"[object Object]""#;
    assert_eq!(run(code, &Given::default(), nothing).value(), format!("[{objects},{rest}]"));

    let mut given = Given::default();
    given.bindings.kv = ["get", "space", "constructor"].map(support::name).into();
    let code = "return [Object.keys(kv), typeof kv.get.get, typeof kv.space, typeof kv.space('space').get, typeof kv.constructor.put, typeof kv.put]";
    let wanted = r#"[["get","constructor"],"function","function","function","function","undefined"]"#;
    assert_eq!(run(code, &given, nothing).value(), wanted);
    given.bindings.kv = vec![support::name("get")];
    let code = "return [Object.keys(kv), typeof kv.get, await kv.get.call({}, 'k').catch((e) => e.name), await kv.space('get').get('k')]";
    assert_eq!(run(code, &given, |_| json("[null]")).value(), r#"[[],"function","TypeError",null]"#);
}

#[test]
fn a_tool_called_with_what_json_cannot_carry_rejects() {
    let code = "const p = tools.echo(10n); return [p instanceof Promise, await p.catch((e) => e.name), await tools.echo(5, 6), await external_echo()]";
    let ran = run(code, &Given::default(), |_| json("7"));
    assert_eq!(ran.value(), r#"[true,"TypeError",7,7]"#);
    let tool = |args: Option<&str>| HostCall::Tool {
        name: support::name("echo").into(),
        args: args.map(|text| Json::from_text(text.into()).unwrap()),
    };
    assert_eq!(ran.calls, [tool(Some("5")), tool(None)]);
}

#[test]
fn a_request_and_its_response_make_the_round() {
    let code = "
        const r = await fetch('https://api.example/v1?q=1#part', { method: 'post', headers: { 'X-A': 'b' }, body: 'héllo', redirect: 'manual' });
        return [r.status, r.statusText, r.url, r.type, r.headers.get('x-b'), r.headers.getSetCookie(), await r.json(), r.bodyUsed];";
    let mut left = Some(b"{\"a\":[1,2]}".to_vec());
    let ran = run(code, &Given::default(), |call| match call {
        HostCall::Fetch(_) => json(
            r#"{"url":"https://api.example/v1?q=1","status":201,"statusText":"Made","headers":[["x-b","c"],["set-cookie","a=1"],["set-cookie","b=2"]],"redirected":false,"body":7,"length":11}"#,
        ),
        HostCall::ReadBody { body: BodyId(7), .. } => HostReply::Bytes { bytes: left.take().unwrap_or_default() },
        other => panic!("{other:?}"),
    });
    assert_eq!(ran.value(), r#"[201,"Made","https://api.example/v1?q=1","basic","c",["a=1","b=2"],{"a":[1,2]},true]"#);
    let HostCall::Fetch(fetch) = &ran.calls[0] else { panic!("{:?}", ran.calls) };
    assert_eq!((fetch.method.as_str(), fetch.url.as_str()), ("POST", "https://api.example/v1?q=1"));
    assert_eq!(fetch.body.as_deref(), Some("héllo".as_bytes()));
    assert_eq!((fetch.redirect, fetch.streamed), (Redirect::Manual, false));
    let wanted = [("content-type", "text/plain;charset=UTF-8"), ("x-a", "b")];
    assert_eq!(fetch.headers, wanted.map(|(n, v)| (n.to_owned(), v.to_owned())));
}

#[test]
fn a_response_may_come_whole() {
    let head = r#"{"url":"http://h/x?é","status":203,"statusText":"Öd","headers":[["x-b","c"]],"redirected":true,"body":null,"length":7}"#;
    let whole = |body: &[u8]| HostReply::Response {
        head: Json::from_text(head.into()).unwrap(),
        status: 203,
        whole: body.to_vec(),
    };
    let code = "
        const first = await fetch('http://h/x');
        const seen = [first.ok, first.status, first.bodyUsed, await first.json(), first.bodyUsed, await first.text().catch((e) => e.name)];
        const r = await fetch('http://h/x', {});
        seen.push(r.url, r.statusText, r.type, r.redirected, r.headers.get('x-b'), await r.clone().text());
        for await (const chunk of r.body) seen.push(chunk.length);
        const aborted = new AbortController();
        const late = await fetch('http://h/x', { signal: aborted.signal });
        aborted.abort('late');
        seen.push(await late.text().catch((e) => e));
        return seen;";
    let ran = run(code, &Given::default(), |_| whole(b"{\"n\":1}"));
    let wanted =
        r#"[true,203,false,{"n":1},true,"TypeError","http://h/x?é","Öd","basic",true,"c","{\"n\":1}",7,"late"]"#;
    assert_eq!(ran.value(), wanted);
    // However it is asked for, the host is asked the same, and nothing more.
    let bare: Vec<HostCall> =
        (1..=3).map(|n| HostCall::Fetch(Box::new(FetchCall::get(RequestId(n), "http://h/x")))).collect();
    assert_eq!(ran.calls, bare);
    let code = "return [(await (await fetch('http://h/')).bytes()).length, await (await fetch('http://h/')).json().catch((e) => e.name)]";
    assert_eq!(run(code, &Given::default(), |_| whole(b"\xff\x00{")).value(), r#"[3,"SyntaxError"]"#);
    // A program that gives every object a `then` gets what it asked for, once.
    let code = "Object.prototype.then = function (done) { delete Object.prototype.then; done(this.status); }; return await fetch('http://h/')";
    assert_eq!(run(code, &Given::default(), |_| whole(b"")).value(), "203");
    let code = "Object.defineProperty(Response.prototype, 'then', { get() { throw new RangeError('x'); } }); return await fetch('http://h/').catch((e) => e.name)";
    assert_eq!(run(code, &Given::default(), |_| whole(b"")).value(), r#""RangeError""#);
}

/// A space in front is no part of a URL, and sends it through the parser: the guest's own and the quick way have to agree.
#[test]
fn what_is_taken_for_a_plain_url_is_one() {
    let code = r#"
        const hosts = ['h', 'a.b', 'a-b.c', 'A.b', '1.2.3.4', '1.2.3', '01.2.3.4', '256.1.1.1', '1.2.3.4.5', 'a.1', 'a.0x1', '1.a', 'a.', '.a', 'xn--bcher-kva.x', 'a.xn--x', 'é', 'a_b', '[::1]', '', 'h%41', 'u@h', 'u:p@h', '0.0.0.0'];
        const ports = ['', ':', ':80', ':443', ':8080', ':0', ':08', ':65535', ':65536', ':1x', ':8080?'];
        const paths = ['', '/', '/a', '/a/b/', '//', '/.', '/..', '/a/../b', '/a.b', '/.a', '/%2e', '/%2E%2e/x', '/%20', '/%', '/a b', '/a\b', "/'", '/{', '/^', '/`', '/|', '/é', '/a;b=c,d', '/~!$&()*+:@[]', '/x	', '/?', '/?a=b&c', "/?'", '/?a b', '/?<', '/?{}|^`', '/?é', '/?%zz', '/?a?b/..', '/#x', '/?q#x', '/%2'];
        const parts = (text) => { try { const u = new URL(text); return [u.href, u.protocol, u.username, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin].join(' '); } catch (e) { return e.name; } };
        const wrong = [];
        let n = 0;
        for (const scheme of ['http://', 'https://']) for (const host of hosts) for (const port of ports) for (const path of paths) {
            const text = scheme + host + port + path;
            n++;
            if (parts(text) !== parts(' ' + text)) wrong.push(text);
        }
        return [n, wrong.slice(0, 5)];"#;
    assert_eq!(run(code, &Given::default(), nothing).value(), format!("[{},[]]", 2 * 24 * 11 * 37));
}

#[test]
fn a_value_keeps_its_text_depth_and_lone_surrogates() {
    let code = "
        let deep = 1;
        for (let i = 0; i < 300; i++) deep = [deep];
        await kv.put('a', deep, { ttl: 1.5, metadata: { m: '\\ud800' } });
        await kv.put('b', { toJSON() {} });
        await invoke('helper', deep);
        await invoke('helper', null);
        await invoke('helper');";
    let ran = run(code, &Given::default(), |_| json("1"));
    let deep = Json::from_text(format!("{}1{}", "[".repeat(300), "]".repeat(300))).unwrap();
    let space = support::name("cache");
    let metadata = Json::from_text(r#"{"m":"\ud800"}"#.into()).ok();
    let put = |key: &str, value, ttl_ms, metadata| {
        let op = KvOp::Put { key: key.into(), value, ttl_ms, metadata, expect: None };
        HostCall::Kv { space: space.clone(), op }
    };
    let invoke = |args| HostCall::Invoke { name: support::name("helper"), args };
    assert_eq!(
        ran.calls,
        [
            put("a", deep.clone(), Some(1_500), metadata),
            put("b", Json::null(), None, None),
            invoke(Some(deep)),
            invoke(Some(Json::null())),
            invoke(None),
        ]
    );
}

#[test]
fn odd_texts_of_a_program_never_make_a_malformed_call() {
    let code = r#"
        const odd = '\ud800"\\\u0000é';
        const out = [];
        const note = (p) => p.then((v) => out.push('ok'), (e) => out.push(e.name));
        await note(kv.get(odd));
        await note(kv.list({ prefix: odd, cursor: odd, limit: 4294967295 }));
        await note(kv.compareAndSet(odd, 9007199254740991, odd, { ttl: 1e11 }));
        await note(files.read(odd, { offset: 9007199254740991, length: 0 }));
        await note(files.rename(odd, odd));
        await note(files.writeJson(odd, odd));
        await note(fetch('http://h/' + odd, { method: 'a!b', headers: { a: '\xff\x80' } }));
        await note(invoke(odd));
        await note(invoke('__proto__'));
        await note(invoke('1a'));
        await note(secrets.get(odd));
        await note(secrets.get('a-b.c_1'));
        Array.prototype.toJSON = Object.prototype.toJSON = () => 5;
        await note(fetch('http://h/', { method: 'POST', body: 'x', headers: { a: 'b' } }));
        await note(kv.getMany(['a', 'b']));
        await note(kv.put('a', [1]));
        return out.join();"#;
    let ran = run(code, &Given::default(), |call| match call {
        HostCall::Kv { op: KvOp::List { .. }, .. } => json(r#"{"keys":[],"cursor":null}"#),
        HostCall::Kv { op: KvOp::Get { keys }, .. } => json(&format!("[{}]", vec!["null"; keys.len()].join(","))),
        HostCall::Fetch(_) => {
            json(r#"{"url":"","status":200,"statusText":"","headers":[],"redirected":false,"body":null,"length":null}"#)
        }
        HostCall::Files { op: FilesOp::Read { .. }, .. } => HostReply::Bytes { bytes: vec![] },
        _ => json("1"),
    });
    assert_eq!(
        ran.value(),
        "\"ok,ok,ok,ok,ok,ok,ok,TypeError,TypeError,TypeError,TypeError,ok,ok,ok,ok\"",
        "{:?}",
        ran.calls
    );
}

#[test]
fn the_payload_limit_counts_text_and_bytes_together() {
    let given = Given::with(|limits| limits.payload_bytes = 4096);
    let code = "
        const out = [];
        for (const size of [3000, 4096, 5000]) {
            out.push(await fetch('http://h/', { method: 'POST', body: new Uint8Array(size) }).then((r) => r.status, (e) => e.name + ': ' + e.message));
        }
        out.push(await files.write('f', new Uint8Array(10000)));
        return out;";
    let mut file: Vec<u8> = Vec::new();
    let ran = run(code, &given, |call| match call {
        HostCall::Files { op: FilesOp::Write { append, .. }, bytes } => {
            if !append {
                file.clear();
            }
            file.extend(bytes);
            json(&file.len().to_string())
        }
        _ => {
            json(r#"{"url":"","status":200,"statusText":"","headers":[],"redirected":false,"body":null,"length":null}"#)
        }
    });
    let refused = "RangeError: the arguments are larger than 4096 bytes, the limit of one call";
    assert_eq!(ran.value(), format!(r#"[200,"{refused}","{refused}",10000]"#));
    assert_eq!(file.len(), 10_000);
}

#[test]
fn only_calls_that_exercise_a_grant_are_counted() {
    let code = "
        async function* chunks() { for (let i = 0; i < 5; i++) yield new Uint8Array(10); }
        const r = await fetch('http://h/', { method: 'POST', body: chunks(), duplex: 'half' });
        for await (const chunk of r.body) break;
        await kv.get('a');
        return r.status;";
    let ran = run(code, &Given::with(|limits| limits.calls = 2), |call| match call {
        HostCall::Fetch(_) => {
            json(r#"{"url":"","status":200,"statusText":"","headers":[],"redirected":false,"body":3,"length":null}"#)
        }
        HostCall::ReadBody { .. } => HostReply::Bytes { bytes: vec![1; 10] },
        HostCall::Kv { .. } => json("[null]"),
        _ => HostReply::done(),
    });
    assert_eq!((ran.value(), ran.counted), ("200", 2));
    let written: Vec<(usize, bool)> = ran
        .calls
        .iter()
        .filter_map(|call| match call {
            HostCall::WriteBody { bytes, last, .. } => Some((bytes.len(), *last)),
            _ => None,
        })
        .collect();
    assert!(written.starts_with(&[(10, false)]), "{written:?}");
    assert!(ran.calls.contains(&HostCall::Drop { request: None, body: Some(BodyId(3)) }), "{:?}", ran.calls);

    let ran = run("await kv.get('a'); await kv.get('b'); await kv.get('c');", &Given::with(|l| l.calls = 2), |_| {
        json("[null]")
    });
    assert_eq!(ran.failure().kind, ErrorKind::CallLimit);
}

#[test]
fn bytes_of_unanswered_calls_are_the_guests_memory() {
    let code = "
        const bytes = new Uint8Array(1 << 20);
        for (let i = 0; i < 100; i++) files.write('f', bytes);
        return 'survived';";
    let given = Given::with(|limits| limits.memory_bytes = 32 << 20);
    assert_eq!(run(code, &given, nothing).failure().kind, ErrorKind::MemoryLimit);
    let code = "
        const bytes = new Uint8Array(1 << 20);
        for (let i = 0; i < 100; i++) await files.write('f', bytes);
        return 'survived';";
    assert_eq!(run(code, &given, |_| json("1")).value(), "\"survived\"");
}

#[test]
fn a_run_that_waits_for_any_call_can_leave_memory() {
    let code = "
        const [a, b, c] = await Promise.all([kv.get('k'), files.readText('f'), invoke('helper', { x: 1 })]);
        const stream = [];
        for await (const chunk of files.stream('f')) stream.push(chunk.length);
        return [a, b, c, stream, await secrets.get('token')];";
    let mut piece = 0;
    let ran = run_with(code, &Given::default(), true, |call| match call {
        HostCall::Kv { .. } => json(r#"[{"value":{"v":1},"metadata":null,"version":1,"expires":null}]"#),
        HostCall::Files { .. } => HostReply::Body { body: BodyId(1), length: Some(4) },
        HostCall::ReadBody { .. } => {
            piece += 1;
            HostReply::Bytes { bytes: if piece % 2 == 1 { b"text".to_vec() } else { vec![] } }
        }
        HostCall::Invoke { .. } => json("[3]"),
        HostCall::Reveal { .. } => json("\"s3cret\""),
        other => panic!("{other:?}"),
    });
    assert_eq!(ran.value(), r#"[{"v":1},"text",[3],[4],"s3cret"]"#);
}

#[test]
fn a_refusal_of_the_host_can_be_caught_with_its_name_and_code() {
    let code = "
        const out = [];
        for (const p of [fetch('http://h/'), kv.get('a'), files.read('f'), invoke('nope'), secrets.get('x')]) {
            out.push(await p.catch((e) => e.name + ' ' + e.code));
        }
        return out.join();";
    let ran = run(code, &Given::default(), |_| HostReply::failed_as("egress.denied", "NotGranted", "no"));
    assert_eq!(ran.value(), format!("\"{}\"", ["NotGranted egress.denied"; 5].join(",")));
}
