//! What goes through loops and functions, told from the text: a source, and its needs as lines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

mod needs_support;

use needs_support::check;

#[test]
fn items_are_told_apart() {
    check(&[
        (
            r#"const urls = ["https://h.test/a", "https://h.test/b"]; for (const u of urls) await fetch(u)"#,
            "
             egress:GET https://h.test/a @ 1:84
             egress:GET https://h.test/b @ 1:84",
        ),
        (
            r#"const urls = ["https://h.test/a", "https://h.test/b"]; await Promise.all(urls.map(async (u) => (await fetch(u)).json()))"#,
            "
             egress:GET https://h.test/a @ 1:103
             egress:GET https://h.test/b @ 1:103",
        ),
        (
            r#"await Promise.all(["/a", "/b"].map((p) => fetch("https://h.test" + p, { method: "HEAD" })))"#,
            "
             egress:HEAD https://h.test/a @ 1:43
             egress:HEAD https://h.test/b @ 1:43",
        ),
        (
            r#"for (const [method, path] of [["GET", "/a"], ["POST", "/b"]]) await fetch("https://h.test" + path, { method })"#,
            "
             egress:GET https://h.test/a @ 1:69
             egress:POST https://h.test/b @ 1:69",
        ),
        (
            r#"[{ p: "/a", m: "GET" }, { p: "/b", m: "PUT" }].forEach(({ p, m }) => fetch(`https://h.test${p}`, { method: m }))"#,
            "
             egress:GET https://h.test/a @ 1:70
             egress:PUT https://h.test/b @ 1:70",
        ),
        (
            r#"["https://h.test/a", "https://h.test/b"].map(fetch)"#,
            "
             egress:GET https://h.test/a @ 1:1
             egress:GET https://h.test/b @ 1:1",
        ),
        (
            r#"const urls = []; urls.push("https://h.test/a"); urls.push(`https://h.test/b/${input}`); for (const u of urls) fetch(u)"#,
            "
             egress:GET https://h.test/a @ 1:111
             ~egress:GET https://h.test/b/ @ 1:111",
        ),
        ("for (const u of input.urls) fetch(u)", "? egress @ 1:29: the URL comes from `input.urls`"),
        ("for (const id of input.ids) fetch(`https://h.test/items/${id}`)", "~egress:GET https://h.test/items/ @ 1:29"),
        (
            "const urls = input.ids.map((id) => `https://h.test/items/${id}`); for (const u of urls) await fetch(u)",
            "~egress:GET https://h.test/items/ @ 1:95",
        ),
        (
            r#"const SITES = { a: "https://a.test/", b: "https://b.test/" }; for (const [name, url] of Object.entries(SITES)) console.log(name, await fetch(url))"#,
            "
             egress:GET https://a.test @ 1:136
             egress:GET https://b.test @ 1:136",
        ),
        (
            r#"for (const url of Object.values({ a: "https://a.test/x", ...input })) fetch(url)"#,
            "
             egress:GET https://a.test/x @ 1:71
             ? egress @ 1:71: the URL comes from `...input`",
        ),
        ("for (const k in { a: 1 }) fetch(`https://h.test/${k}`)", "~egress:GET https://h.test @ 1:27"),
    ]);
}

#[test]
fn functions_are_looked_into() {
    check(&[
        (
            r#"const BASE = "https://h.test"; const get = (path) => fetch(BASE + path); await get("/a"); await get("/b")"#,
            "
             egress:GET https://h.test/a @ 1:54
             egress:GET https://h.test/b @ 1:54",
        ),
        (
            r#"const BASE = "https://h.test"; async function api(path, init) { return (await fetch(`${BASE}${path}`, init)).json() } await api("/a"); await api("/b", { method: "POST" })"#,
            "
             egress:GET https://h.test/a @ 1:79
             egress:POST https://h.test/b @ 1:79",
        ),
        (
            r#"const BASE = "https://h.test"; const api = (path, init = {}) => fetch(`${BASE}${path}`, { ...init, headers: {} }); api("/a"); api("/b", { method: "PUT" })"#,
            "
             egress:GET https://h.test/a @ 1:65
             egress:PUT https://h.test/b @ 1:65",
        ),
        (
            r#"const get = (path) => fetch("https://h.test/v1/" + path); get(input.path)"#,
            "~egress:GET https://h.test/v1/ @ 1:23",
        ),
        (
            r#"const get = (path) => fetch("https://h.test" + path); get("/a"); console.log(get)"#,
            "
             egress:GET https://h.test/a @ 1:23
             ~egress:GET https://h.test @ 1:23",
        ),
        (
            r#"function url(path) { return "https://h.test" + path } fetch(url("/x")); fetch(url("/y/" + input.id))"#,
            "
             egress:GET https://h.test/x @ 1:55
             ~egress:GET https://h.test/y/ @ 1:73",
        ),
        (
            r#"const url = (p, q) => { if (q) return `https://h.test/q/${p}`; return `https://h.test/p/${p}` }; fetch(url("a"))"#,
            "
             egress:GET https://h.test/q/a @ 1:98
             egress:GET https://h.test/p/a @ 1:98",
        ),
        (
            r#"async function page(cursor) { const r = await (await fetch(`https://h.test/list?c=${cursor}`)).json(); return r.next ? page(r.next) : r } return page("")"#,
            "egress:GET https://h.test/list @ 1:54",
        ),
        (
            r#"async function walk(path) { await fetch("https://h.test/" + path); await walk(path + "/x") } walk("a")"#,
            "
             ~egress:GET https://h.test @ 1:35
             egress:GET https://h.test/a @ 1:35",
        ),
        (
            r#"const client = (base) => (path) => fetch(base + path); const gh = client("https://h.test/v1/"); gh("x")"#,
            "~egress:GET https://h.test/v1/ @ 1:36",
        ),
        (
            r#"const client = { base: "https://h.test", get(path) { return fetch("https://h.test" + path) }, put: (p) => fetch("https://h.test" + p, { method: "PUT" }) }; client.get("/a"); client.put("/b")"#,
            "
             egress:GET https://h.test/a @ 1:61
             egress:PUT https://h.test/b @ 1:107",
        ),
        (
            r#"class Client { constructor(base) { this.base = base } get(p) { return fetch(this.base + p) } } new Client("https://h.test").get("/x")"#,
            "? egress @ 1:71: the URL comes from `this.base`",
        ),
        (r#"(async (base) => { await fetch(base + "/x") })("https://h.test")"#, "egress:GET https://h.test/x @ 1:26"),
        ("function unused(url) { fetch(url) }", "? egress @ 1:24: the URL comes from `input`"),
        (r#"const twice = (f) => f("https://h.test/a"); twice(fetch)"#, "egress:GET https://h.test/a @ 1:22"),
        (
            r#"["/a", "/b"].map(get); function get(p) { return fetch("https://h.test" + p) }"#,
            "
             egress:GET https://h.test/a @ 1:49
             egress:GET https://h.test/b @ 1:49",
        ),
        (
            r#"const get = (...args) => fetch(...args); get("https://h.test/a")"#,
            "? egress @ 1:26: the URL comes from `...args`",
        ),
        (
            r#"fetch.call(null, "https://h.test/c"); fetch.apply(null, ["https://h.test/d"]); fetch.bind(globalThis)("https://h.test/e")"#,
            r#"
             egress:GET https://h.test/c @ 1:1
             egress:GET https://h.test/e @ 1:80
             ? egress @ 1:39: the URL comes from `["https://h.test/d"]`"#,
        ),
        (
            "export default async function main(input) { return fetch(`https://h.test/${input.id}`) }",
            "~egress:GET https://h.test @ 1:52",
        ),
    ]);
}
