//! Each capability with its grant, without any, and with one that does not reach.

use crate::{failed, refused, scene};
use serde_json::{Value, json};

/// A program that works under `grant`; without it a name is missing, and under `near` the grant `wanted` is.
struct Row {
    program: &'static str,
    grant: &'static [&'static str],
    value: Value,
    absent: &'static str,
    /// What the hint says when there is no such grant at all.
    hint: &'static str,
    near: &'static [&'static str],
    code: &'static str,
    wanted: &'static str,
}

fn rows() -> Vec<Row> {
    let kv = |program, value: Value| Row {
        program,
        grant: &["--allow-kv", "cache"],
        value,
        absent: "kv",
        hint: "--allow-kv",
        near: &["--allow-kv", "read cache"],
        code: "kv.denied",
        wanted: "`kv:cache`",
    };
    let files = |program, value: Value, wanted| Row {
        program,
        grant: &["--allow-write", "files/notes"],
        value,
        absent: "files",
        hint: "--allow-",
        near: &["--allow-read", "files/notes"],
        code: "files.denied",
        wanted,
    };
    vec![
        Row {
            program: "return (await fetch('BASE/x?q=1')).text()",
            grant: &["--allow-net", "BASE"],
            value: json!("GET /x?q=1"),
            absent: "fetch",
            hint: "--allow-net 'GET BASE/x'",
            near: &["--allow-net", "POST BASE"],
            code: "egress.denied",
            wanted: "`egress:GET BASE/x`",
        },
        Row {
            program: "return (await fetch('BASE/x', { method: 'POST', body: 'b' })).text()",
            grant: &["--allow-net", "POST,PUT BASE/x"],
            value: json!("POST /x"),
            absent: "fetch",
            hint: "--allow-net 'POST BASE/x'",
            near: &["--allow-net", "GET,HEAD BASE"],
            code: "egress.denied",
            wanted: "`egress:POST BASE/x`",
        },
        kv(
            "await kv.cache.put('k', [1], { metadata: { m: 1 } }); const e = await kv.cache.getWithMetadata('k'); return [e.value, e.metadata, e.expires]",
            json!([[1], { "m": 1 }, null]),
        ),
        kv(
            "await kv.cache.put('a', 1); await kv.cache.put('b', 2); return kv.cache.getMany(['b', 'none', 'a'])",
            json!([2, null, 1]),
        ),
        kv(
            "const one = await kv.cache.compareAndSet('c', null, 'x'); const again = await kv.cache.compareAndSet('c', null, 'y'); const two = await kv.cache.compareAndSet('c', one, 'z'); return [one > 0, again, two > one, await kv.cache.get('c')]",
            json!([true, null, true, "z"]),
        ),
        kv(
            "await kv.cache.put('d', 1); return [await kv.cache.delete('d'), await kv.cache.delete('d'), await kv.cache.get('d')]",
            json!([true, false, null]),
        ),
        kv(
            "for (let i = 0; i < 7; i++) await kv.cache.put('p/' + i, i); await kv.cache.put('q', 0); const seen = []; let cursor; do { const page = await kv.cache.list({ prefix: 'p/', limit: 3, cursor }); seen.push(page.keys.map((k) => k.key)); cursor = page.cursor } while (cursor); const keys = []; for await (const key of kv.cache.keys('p/')) keys.push(key); return [seen.flat(), keys.length, seen.length >= 3]",
            json!([["p/0", "p/1", "p/2", "p/3", "p/4", "p/5", "p/6"], 7, true]),
        ),
        kv(
            "await kv.cache.put('t', 1, { ttl: 0.05 }); const kept = await kv.cache.getWithMetadata('t'); await new Promise((r) => setTimeout(r, 80)); return [kept?.expires instanceof Date || kept === null, await kv.cache.get('t')]",
            json!([true, null]),
        ),
        Row {
            program: "return [await files.readText('files/notes/a.txt'), (await files.list('files/notes')).map((e) => e.name + ':' + e.kind).sort(), (await files.stat('files/notes/b.txt')).size, await files.exists('files/notes/none')]",
            grant: &["--allow-read", "files/notes"],
            value: json!(["alpha", ["a.txt:file", "b.txt:file", "beside:link", "out:link"], 4, false]),
            absent: "files",
            hint: "--allow-read files/notes",
            near: &["--allow-read", "files/notes/b.txt"],
            code: "files.denied",
            wanted: "`files:read files/notes/a.txt`",
        },
        files(
            "const size = await files.write('files/notes/new/n.txt', 'one'); return [size, await files.append('files/notes/new/n.txt', 'two'), await files.readText('files/notes/new/n.txt')]",
            json!([3, 6, "onetwo"]),
            "`files:write files/notes/new/n.txt`",
        ),
        files(
            "await files.makeFolder('files/notes/f'); await files.writeJson('files/notes/f/x.json', { a: 1 }); await files.rename('files/notes/f/x.json', 'files/notes/f/y.json'); const y = await files.readJson('files/notes/f/y.json'); return [y, await files.remove('files/notes/f', { recursive: true }), await files.exists('files/notes/f')]",
            json!([{ "a": 1 }, true, false]),
            "`files:write files/notes/f`",
        ),
        Row {
            program: "const found = await files.grep('^al', { path: 'files/notes' }); return [found.matches.map((m) => m.path + ':' + m.line), await files.glob('*.txt', { path: 'files/notes' }), (await files.readLines('files/notes/b.txt')).total, (await files.find({ path: 'files/notes', kind: 'file' })).entries.map((e) => e.path), (await files.tree('files/notes')).files, (await files.diff('files/notes/a.txt', 'files/notes/b.txt')).includes('+beta'), await files.history('files/notes').catch((e) => e.code)]",
            grant: &["--allow-read", "files/notes"],
            value: json!([
                ["files/notes/a.txt:1"],
                ["files/notes/a.txt", "files/notes/b.txt"],
                1,
                ["files/notes/a.txt", "files/notes/b.txt"],
                4,
                true,
                "files.unsupported"
            ]),
            absent: "files",
            hint: "--allow-read files/notes",
            near: &["--allow-read", "files/notes/b.txt"],
            code: "files.denied",
            wanted: "`files:read files/notes`",
        },
        files(
            "await files.write('files/notes/e.txt', 'one two'); const edited = await files.edit('files/notes/e.txt', 'two', 'three'); await files.copy('files/notes/e.txt', 'files/notes/c/d.txt'); return [edited.replaced, await files.readText('files/notes/c/d.txt')]",
            json!([1, "one three"]),
            "`files:write files/notes/e.txt`",
        ),
    ]
}

#[test]
fn each_works_with_its_grant_and_not_without() {
    for row in rows() {
        let with = |text: &str, base: &str| text.replace("BASE", base);
        let granted = scene();
        let outcome = granted.run(row.program, row.grant);
        assert_eq!(outcome.value(), &row.value, "{}", row.program);
        assert_eq!(outcome.counts("exercised").len(), 1, "{:#}", outcome.json);
        assert_eq!(outcome.counts("denied"), []);

        let bare = scene();
        let outcome = bare.run(row.program, &[]);
        assert_eq!(
            (outcome.code, outcome.json["error"]["name"].as_str()),
            (1, Some("ReferenceError")),
            "{}",
            row.program
        );
        assert_eq!(outcome.message(), format!("{} is not defined", row.absent));
        assert!(outcome.hint().contains(&with(row.hint, &bare.base)), "{}: {}", row.program, outcome.hint());

        let near = scene();
        let outcome = near.run(row.program, row.near);
        refused(&outcome, row.code, &with(row.wanted, &near.base));
        let wanted = with(row.wanted, &near.base);
        assert_eq!(outcome.counts("denied")[0].0, wanted.trim_matches('`'), "{}", row.program);
        assert_eq!((bare.origin.connections(), near.origin.connections()), (0, 0), "{}", row.program);
        assert!(!near.place.work.path().join("files/notes/new").exists());
    }
}

#[test]
fn keys_outlive_a_run_and_spaces_do_not_touch() {
    let scene = scene();
    scene.run("await kv.put('k', 'kept')", &["--allow-kv", "one"]).value();
    let both = ["--allow-kv", "one", "--allow-kv", "read two"];
    let outcome = scene.run("return [await kv.one.get('k'), await kv.two.get('k'), kv.three, typeof kv.space]", &both);
    assert_eq!(outcome.value(), &json!(["kept", null, null, "function"]));
}

#[test]
fn a_key_space_has_a_quota() {
    let scene = scene();
    let manifest = "grants = [{ kind = \"kv\", name = \"small\", quota = \"1KiB\" }]\n";
    let outcome = scene.run_under(manifest, "await kv.put('k', 'x'.repeat(2000))", &[]);
    failed(&outcome, "kv.quota");
    let fits = "await kv.put('k', 'x'.repeat(900)); try { await kv.put('l', 'x'.repeat(900)) } catch (e) { await kv.delete('k'); return [e.code, await kv.put('l', 'x'.repeat(900)) > 0] }";
    assert_eq!(scene.run_under(manifest, fits, &[]).value(), &json!(["kv.quota", true]));
}

#[test]
fn files_have_a_quota() {
    let scene = scene();
    let manifest = "grants = [{ kind = \"files\", path = \"files/notes\", access = \"write\", quota = \"1KiB\" }]\n";
    let outcome = scene.run_under(manifest, "await files.write('files/notes/big', 'x'.repeat(5000))", &[]);
    assert_eq!(outcome.code, 1, "{:#}", outcome.json);
    assert!(!scene.place.work.path().join("files/notes/big").exists());
}

#[test]
fn no_path_leads_out_of_what_is_granted() {
    let scene = scene();
    for path in [
        "files/notes/out",
        "files/notes/beside",
        "files/notes/../other.txt",
        "files/notes/../../files/other.txt",
        "/etc/passwd",
        "files/notes/./../other.txt",
        "files/other.txt",
        "../program.ts",
        "files\\\\notes\\\\..\\\\other.txt",
        "files/notes/a.txt/../../other.txt",
        "files/notes/\\u0000/../../other.txt",
    ] {
        for act in [
            "readText(P)",
            "write(P, 'x')",
            "list(P)",
            "remove(P)",
            "rename('files/notes/a.txt', P)",
            "append(P, 'x')",
            "readLines(P)",
            "edit(P, 'o', 'x')",
            "grep('o', { path: P })",
            "glob('*', { path: P })",
            "diff('files/notes/a.txt', P)",
            "copy(P, 'files/notes/x')",
        ] {
            let program = format!(
                "try {{ return ['DONE', await files.{}] }} catch (e) {{ return e.code ?? e.name }}",
                act.replace('P', &format!("'{path}'"))
            );
            let outcome = scene.run(&program, &["--allow-write", "files/notes"]);
            let text = outcome.value().to_string();
            let removed_link = act.starts_with("remove") || act.starts_with("rename") || act.starts_with("write");
            let own = path == "files/notes/out" || path == "files/notes/beside";
            // A link is an entry of the folder it is in: it may be taken away or replaced, never followed.
            assert!(!text.contains("DONE") || (own && removed_link), "{act} of {path}: {text}");
            assert!(!text.contains("root:") && !text.contains("other"), "{act} of {path}: {text}");
            if own && removed_link {
                let link = scene.place.work.path().join(path);
                let _ = std::fs::remove_file(&link);
                let to = if path.ends_with("out") { "/etc/passwd" } else { "../other.txt" };
                std::os::unix::fs::symlink(to, link).unwrap();
                scene.place.write("files/notes/a.txt", "alpha");
            }
            assert_eq!(scene.place.work.read("files/other.txt"), b"other", "{act} of {path}");
        }
    }
}

#[test]
fn a_tool_is_a_command() {
    let scene = scene();
    let cat = ["--tool", "echo=cat"];
    assert_eq!(scene.run("return tools.echo({ a: [1, 'ü'] })", &cat).value(), &json!({ "a": [1, "ü"] }));
    let line = ["--tool", "count=tr -d '\\n' | wc -c"];
    assert_eq!(scene.run("return tools.count('abc')", &line).value(), &json!(5));
    let outcome = scene.run("return tools.echo(1)", &[]);
    assert_eq!((outcome.code, outcome.hint()), (1, "tool `echo` is not granted; no tool is"));
    let outcome = scene.run("return tools.other(1)", &cat);
    assert_eq!((outcome.code, outcome.hint()), (1, "tool `other` is not granted; these are: echo"));
    let outcome = scene.run("return tools.fails(1)", &["--tool", "fails=echo sad >&2; exit 3"]);
    failed(&outcome, "tool.failed");
    assert!(outcome.message().contains("exit code 3: sad"), "{}", outcome.message());
    let outcome = scene.run("return tools.env(1)", &["--tool", "env=env | grep -c VAULT_WORD || true"]);
    assert_eq!(outcome.value(), &json!(0), "a tool sees the host's variables");
}

#[test]
fn a_tool_keeps_to_its_schemas() {
    let manifest = r#"
        [[grants]]
        kind = "tool"
        name = "pay"
        command = ["sh", "-c", "cat >/dev/null; echo '{\"done\": true}'"]
        [grants.input]
        type = "object"
        required = ["amount"]
        properties.amount = { type = "integer", minimum = 1 }
        [grants.output]
        type = "object"
        required = ["done"]

        [[grants]]
        kind = "tool"
        name = "liar"
        command = ["sh", "-c", "cat >/dev/null; echo 5"]
        output = { type = "string" }
    "#;
    let scene = scene();
    assert_eq!(scene.run_under(manifest, "return tools.pay({ amount: 2 })", &[]).value(), &json!({ "done": true }));
    for wrong in ["{}", "{ amount: 0 }", "{ amount: '2' }", "undefined", "[2]"] {
        failed(&scene.run_under(manifest, &format!("return tools.pay({wrong})"), &[]), "tool.invalid_input");
    }
    failed(&scene.run_under(manifest, "return tools.liar()", &[]), "tool.invalid_output");
}

#[test]
fn an_invoked_program_has_no_more_than_both_sides_grant() {
    let scene = scene();
    scene.place.write("callee.ts", "await kv.cache.get('k'); if (input?.write) await kv.cache.put('k', 1); return { got: input, fetch: typeof fetch, files: typeof files }");
    let call = "return invoke('callee', { n: 1 })";
    let caller = ["--allow-kv", "cache", "--program", "callee=callee.ts"];
    let outcome = scene.run(call, &caller);
    assert_eq!(outcome.value(), &json!({ "got": { "n": 1 }, "fetch": "undefined", "files": "undefined" }));
    assert_eq!(outcome.counts("exercised"), [("invoke:callee".to_owned(), 1), ("kv:cache".into(), 1)]);

    // The callee's own grants are narrower than its caller's, and wider ones do not help it.
    let narrow = |grants: &str| {
        format!(
            "grants = [\"kv:cache\", {{ kind = \"invoke\", name = \"callee\", program = \"callee.ts\", grants = [{grants}] }}]\n"
        )
    };
    let write = "return invoke('callee', { write: true })";
    refused(&scene.run_under(&narrow("\"kv:read cache\""), write, &[]), "kv.denied", "`kv:cache`");
    let wide = scene.run_under(&narrow("\"kv:cache\", \"egress:BASE\", \"files:write .\""), write, &[]);
    assert_eq!(wide.value()["fetch"], json!("undefined"));
    let outcome = scene.run_under(&narrow(""), call, &[]);
    assert!(outcome.code == 1 && outcome.message().contains("kv is not defined"), "{:#}", outcome.json);

    let outcome = scene.run(call, &["--allow-kv", "cache"]);
    assert_eq!((outcome.code, outcome.message()), (1, "invoke is not defined"));
    assert!(outcome.hint().contains("--program callee=FILE"), "{}", outcome.hint());
    refused(&scene.run("return invoke('other')", &caller), "invoke.denied", "`invoke:other`");
    failed(&scene.run("return invoke('gone')", &["--program", "gone=gone.ts"]), "invoke.missing");
}

#[test]
fn programs_do_not_invoke_each_other_for_ever() {
    let scene = scene();
    scene.place.write("self.ts", "return invoke('self')");
    let manifest = "grants = [{ kind = \"invoke\", name = \"self\", program = \"self.ts\", grants = [{ kind = \"invoke\", name = \"self\", program = \"self.ts\", grants = [\"invoke:self\"] }] }]\n";
    let outcome = scene.run_under(manifest, "return invoke('self')", &[]);
    assert!(matches!(outcome.code, 1 | 126), "{:#}", outcome.json);
}

#[test]
fn a_secret_is_read_only_where_it_is_revealed() {
    let scene = scene();
    let secret = ["--secret", "WORD=env:VAULT_WORD"];
    let read = "const word = await secrets.get('WORD'); return [word.length, word.split(',')[0] === 'open sesame']";
    let outcome = scene.run(read, &[&secret[..], &["--reveal", "WORD"]].concat());
    assert_eq!(outcome.value(), &json!([24, true]));
    assert_eq!(outcome.counts("exercised"), [("secret:reveal WORD".to_owned(), 1)]);
    let outcome = scene.run(read, &secret);
    assert_eq!((outcome.code, outcome.message()), (1, "secrets is not defined"));
    assert!(outcome.hint().contains("--reveal WORD"), "{}", outcome.hint());
    let other = [&secret[..], &["--secret", "OTHER=env:HOME", "--reveal", "OTHER"]].concat();
    refused(&scene.run(read, &other), "secret.denied", "`secret:reveal WORD`");
    // The program has it; nobody who reads about the run has.
    let told = scene.run(
        "const w = await secrets.get('WORD'); console.log(w); return w",
        &[&secret[..], &["--reveal", "WORD"]].concat(),
    );
    assert_eq!(told.value(), &json!("[redacted WORD]"));
    assert!(!told.json.to_string().contains("sesame"), "{:#}", told.json);
}
