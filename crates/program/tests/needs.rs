//! What programs reach for, told from their text: a source, and its needs as lines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

mod needs_support;

use needs_support::check;

#[test]
fn aliases_count_and_shadows_do_not() {
    check(&[
        (r#"const f = fetch; f("https://h.test/a")"#, "egress:GET https://h.test/a @ 1:18"),
        (
            r#"globalThis.fetch("https://h.test/a"); globalThis["fetch"]("https://h.test/b")"#,
            "
             egress:GET https://h.test/a @ 1:1
             egress:GET https://h.test/b @ 1:39",
        ),
        (r#"const { fetch: get } = globalThis; get("https://h.test/a")"#, "egress:GET https://h.test/a @ 1:36"),
        (r#"function go(fetch) { return fetch("https://h.test/a") } go(() => 1)"#, ""),
        (r#"const fetch = () => 1; fetch("https://h.test/a")"#, ""),
        ("{ const tools = { search() {} }; tools.search() } tools.search()", "tool:search @ 1:51"),
        (r#"try { kv.a.get("x") } catch (files) { files.read("x") }"#, "kv:read a @ 1:7"),
        (
            r#"if (typeof fetch === "function") console.log("fetch" in globalThis, typeof tools.search, "x" in tools, Object.keys(tools))"#,
            "",
        ),
        (
            "console.log(fetch); run(tools); keep(kv.cache); x = files; y = [invoke, secrets]",
            "
             ~kv:cache @ 1:38
             ? egress @ 1:13: what is done with `fetch` cannot be told here
             ? tool @ 1:25: what is done with `tools` cannot be told here
             ? files @ 1:53: what is done with `files` cannot be told here
             ? invoke @ 1:65: what is done with `invoke` cannot be told here
             ? secret @ 1:73: what is done with `secrets` cannot be told here",
        ),
        (
            r#"const deps = { fetch, t: tools }; deps.fetch("https://h.test/a"); deps.t.search({})"#,
            "
             egress:GET https://h.test/a @ 1:35
             tool:search @ 1:67",
        ),
        (r#"if (false) fetch("https://h.test/dead")"#, "egress:GET https://h.test/dead @ 1:12"),
        (
            r#"fetch?.("https://h.test/a"); tools?.search?.({}); kv?.cache?.get("x")"#,
            "
             egress:GET https://h.test/a @ 1:1
             tool:search @ 1:30
             kv:read cache @ 1:51",
        ),
        (r#"fetch = () => 1; fetch("https://h.test/a")"#, "egress:GET https://h.test/a @ 1:18"),
        (
            r#"const url = "https://h.test/a"; { const url = "https://h.test/b"; fetch(url) } fetch(url)"#,
            "
             egress:GET https://h.test/b @ 1:67
             egress:GET https://h.test/a @ 1:80",
        ),
        (r#"eval("fetch('https://h.test/a')")"#, ""),
    ]);
}

#[test]
fn tools_by_name() {
    check(&[
        (
            "tools.search({ q: 1 }); await external_fetch_page({})",
            "
             tool:search @ 1:1
             tool:fetch_page @ 1:31",
        ),
        (
            r#"tools["search"]({}); tools[`find`]({}); const n = "last"; tools[n]({})"#,
            "
             tool:search @ 1:1
             tool:find @ 1:22
             tool:last @ 1:59",
        ),
        ("tools[input.name]({})", "? tool @ 1:1: the tool's name comes from `input.name`"),
        (
            "const { search, lookup: look } = tools; search(1); look(2)",
            "
             tool:search @ 1:41
             tool:lookup @ 1:52",
        ),
        (
            "const { search, lookup } = tools; search(1); later(lookup)",
            "
             tool:lookup @ 1:17
             tool:search @ 1:35",
        ),
        ("const t = tools; const s = t.search; s({})", "tool:search @ 1:38"),
        ("await Promise.all([1, 2].map((n) => tools.square({ n })))", "tool:square @ 1:37"),
        (
            "[1, 2].map(tools.square); items.forEach(external_log)",
            "
             tool:square @ 1:1
             tool:log @ 1:27",
        ),
        (
            r#"for (const name of ["a", "b"]) await tools[name]({})"#,
            "
             tool:a @ 1:38
             tool:b @ 1:38",
        ),
        (
            r#"const call = (name, args) => tools[name](args); call("x", 1); call("y", 2)"#,
            "
             tool:x @ 1:30
             tool:y @ 1:30",
        ),
        (
            r#"tools["not a name"]({})"#,
            "? tool @ 1:1: `not a name` cannot name a binding: use up to 64 ASCII letters, digits, `_` or `$`, not starting with a digit",
        ),
        (
            "await tools.github.create_issue({}); const { github } = tools; github.list({}); const g = tools.github; g['close_' + x]()",
            "
             tool:github.create_issue @ 1:7
             tool:github.list @ 1:64
             ~tool:github.close_* @ 1:105",
        ),
        (
            "[1].map(tools.a.one); tools[input.x].y(); tools.a[input.x](); tools.a.b.call(null, 1); tools.a.toString()",
            "
             tool:a.one @ 1:1
             tool:a.b @ 1:63
             ? tool @ 1:23: the tool's name comes from `input.x`
             ? tool @ 1:43: the tool's name comes from `input.x`",
        ),
        (
            "tools.tools.x()",
            "
             tool:tools @ 1:7
             ? tool @ 1:1: `tools.x`: `tools` cannot be a namespace of tools: `tools.search` and `tools.describe` come with every other",
        ),
        (
            "globalThis.tools.search(); globalThis.external_x()",
            "
             tool:search @ 1:1
             tool:x @ 1:28",
        ),
    ]);
}

#[test]
fn state_programs_secrets_and_time() {
    check(&[
        (
            r#"await kv.cache.get("x"); await kv.cache.put("x", 1)"#,
            "
             kv:read cache @ 1:7
             kv:cache @ 1:32",
        ),
        (
            r#"for await (const k of kv.cache.keys("p")) console.log(k); kv["cache"].getMany([]); kv.cache.list(); kv.cache.getWithMetadata("x")"#,
            "kv:read cache @ 1:23 1:59 1:84 1:101",
        ),
        (
            r#"const cache = kv.space("cache"); cache.delete("x"); kv.space("b").compareAndSet("k", 1, 2)"#,
            "
             kv:cache @ 1:34
             kv:b @ 1:53",
        ),
        (
            r#"kv.space(input.name).get("x"); kv[input.name].get("x")"#,
            "
             ? kv @ 1:1: the key space's name comes from `input.name`
             ? kv @ 1:32: the key space's name comes from `input.name`",
        ),
        (
            r#"kv.get("x"); kv.put("y", 1)"#,
            "
             ~kv:read default @ 1:1
             ~kv:default @ 1:14",
        ),
        (r#"const { cache } = kv; cache.get("a")"#, "kv:read cache @ 1:23"),
        (r#"kv.space("only")"#, "~kv:only @ 1:1"),
        (
            r#"kv["my-space"].get("x")"#,
            "? kv @ 1:1: `my-space` cannot name a binding: use up to 64 ASCII letters, digits, `_` or `$`, not starting with a digit",
        ),
        (
            r#"await files.readText("data/a.csv"); await files.write("out/r.json", "{}"); files.exists("data")"#,
            "
             files:read data/a.csv @ 1:7
             files:write out/r.json @ 1:43
             files:read data @ 1:76",
        ),
        (
            r#"for (const f of await files.list("data")) await files.readText(`data/${f.name}`)"#,
            "~files:read data @ 1:23 1:49",
        ),
        (
            r#"files.list(); files.list("."); files.stat("./a/../b")"#,
            "
             files:read . @ 1:1 1:15
             files:read b @ 1:32",
        ),
        (
            r#"files.write(`report-${input.day}.txt`, ""); files.read(input.path); files.read(`${input.dir}/x`); files.read(`/${input.x}`)"#,
            "
             ? files @ 1:1: only the beginning of the path is known: `report-`
             ? files @ 1:45: the path comes from `input.path`
             ? files @ 1:69: the path comes from `input.dir`
             ? files @ 1:99: the path comes from `input.x`",
        ),
        (
            r#"files.read("../secret"); files.read(`data/${input.x}/../../y`)"#,
            "
             ? files @ 1:1: `../secret` is not a path: it leads above the root
             ? files @ 1:26: only the beginning of the path is known: `data/`",
        ),
        (
            r#"files.rename("out/tmp", "out/done/final"); files.rename("a", input.to)"#,
            "
             ~files:write out @ 1:1
             ~files:write a @ 1:44
             ? files @ 1:44: the path comes from `input.to`",
        ),
        (
            r#"files.grep("x"); files.grep("x", { path: "src" }); files.find({ name: "a", path: "out" }); files.glob("*", { path: input.p })"#,
            "
             files:read . @ 1:1
             files:read src @ 1:18
             files:read out @ 1:52
             ? files @ 1:92: the path comes from `input.p`",
        ),
        (
            r#"files.edit("a", "x", "y"); files.copy("b/c", "b/d"); files.diff("e/f", "e/g"); files.diff("h", { version: 1 }); files.tree(); files.undo()"#,
            "
             files:write a @ 1:1
             ~files:write b @ 1:28
             ~files:read e @ 1:54
             files:read h @ 1:80
             files:read . @ 1:113
             files:write . @ 1:127",
        ),
        (
            r#"const { readText, write } = files; readText("a.txt"); write("b.txt", "")"#,
            "
             files:read a.txt @ 1:36
             files:write b.txt @ 1:55",
        ),
        (
            r#"files.append("log/x.txt", ""); files.writeJson("j.json", 1); files.remove("t", { recursive: true }); files.makeFolder("d"); files.stream("s.bin"); files.readJson("r.json")"#,
            "
             files:write log/x.txt @ 1:1
             files:write j.json @ 1:32
             files:write t @ 1:62
             files:write d @ 1:102
             files:read s.bin @ 1:125
             files:read r.json @ 1:148",
        ),
        (
            r#"await invoke("summarise", { a: 1 }); invoke(input.program)"#,
            "
             invoke:summarise @ 1:7
             ? invoke @ 1:38: the program's name comes from `input.program`",
        ),
        (
            r#"await secrets.get("API_KEY"); secrets.get(input.name); secrets.get("no such")"#,
            "
             secret:reveal API_KEY @ 1:7
             ? secret @ 1:31: the secret's name comes from `input.name`
             ? secret @ 1:56: `no such` cannot name a secret: use up to 128 ASCII letters, digits, `.`, `_` or `-`",
        ),
        (
            r#"Date.now(); new Date(); Date(); performance.now(); new Date(0); Date.parse("x"); setTimeout(() => {}, 1)"#,
            "clock @ 1:1 1:13 1:25 1:33",
        ),
        (
            "Math.random(); crypto.randomUUID(); crypto.getRandomValues(new Uint8Array(1)); Math.max(1, 2)",
            "random @ 1:1 1:16 1:37",
        ),
        (
            "const now = Date.now; now(); const { random } = Math; random(); xs.sort(Math.random); x instanceof Date",
            "
             clock @ 1:23
             random @ 1:55 1:73",
        ),
    ]);
}

#[test]
fn parts_of_the_language() {
    check(&[
        ("new WebAssembly.Module(input)", "builtin:WebAssembly @ 1:5"),
        ("const { instantiate } = WebAssembly; await instantiate(input)", "builtin:WebAssembly @ 1:25"),
        (
            "const a = new Int32Array(new SharedArrayBuffer(8)); Atomics.add(a, 0, 1)",
            "builtin:SharedArrayBuffer @ 1:30 1:53",
        ),
        // Whoever looks whether it is there can do without.
        ("return typeof SharedArrayBuffer", ""),
        ("return globalThis.WebAssembly?.validate(input)", ""),
        ("return typeof SharedArrayBuffer !== 'undefined' && input instanceof SharedArrayBuffer", ""),
        ("if (typeof SharedArrayBuffer === 'function') Atomics.load(new Int32Array(new SharedArrayBuffer(8)), 0)", ""),
        ("return 'WebAssembly' in globalThis ? WebAssembly.validate(input) : false", ""),
        ("const WebAssembly = { validate: () => 1 }; return WebAssembly.validate()", ""),
    ]);
}

#[test]
fn every_flavour_and_shape() {
    check(&[
        (
            r#"const url: string = "https://h.test/ts" as const; const r = await fetch(url!) satisfies Response; interface Api { fetch(): void }"#,
            "egress:GET https://h.test/ts @ 1:67",
        ),
        (
            r#"enum Api { Base = "https://h.test/e", Users = "/users" } fetch(Api.Base + Api.Users)"#,
            "egress:GET https://h.test/e/users @ 1:58",
        ),
        (
            r#"declare const tools: { search(q: string): Promise<string> }; declare function fetch(u: string): Promise<unknown>; type F = typeof fetch; tools.search("x"); fetch("https://h.test/d")"#,
            "
             tool:search @ 1:138
             egress:GET https://h.test/d @ 1:157",
        ),
        (
            r#"function get<T>(path: string): Promise<T> { return fetch(`https://h.test${path}`).then((r) => r.json() as T) } await get<string>("/typed")"#,
            "egress:GET https://h.test/typed @ 1:52",
        ),
        (
            "Here you go:

```ts
const id: number = 3;
await fetch(`https://h.test/items/${id}`);
```",
            "egress:GET https://h.test/items/3 @ 5:7",
        ),
        (
            r#"const KEY = "k";
export default async () => {
  return kv.cache.get(KEY);
};"#,
            "kv:read cache @ 3:10",
        ),
        ("async ({ url }) => fetch(url)", "? egress @ 1:20: the URL comes from `url`"),
        (
            r#"{ "a": 1, "fetch": "https://h.test/" }"#,
            "error: Expected a semicolon or an implicit semicolon after a statement, but found none [syntax]",
        ),
        (r#""https://h.test/""#, ""),
        ("fetch(", "error: Expected `)` but found the end of the program [syntax]"),
        (r#"import x from "y"; fetch("https://h.test/")"#, "error: `y` is not granted as a module [import.unknown]"),
        (
            r#"import type { T } from "y"; export default await fetch("https://h.test/m")"#,
            "egress:GET https://h.test/m @ 1:50",
        ),
        (
            r#"#!/usr/bin/env node
const é = "https://h.test/é"; fetch(é)"#,
            "egress:GET https://h.test/%C3%A9 @ 2:31",
        ),
        (r#""é😀"; fetch("https://h.test/a"); fetch("https://h.test/a")"#, "egress:GET https://h.test/a @ 1:7 1:34"),
    ]);
}
