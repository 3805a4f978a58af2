//! What programs fetch, told from their text: a source, and its needs as lines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

mod needs_support;

use needs_support::check;

#[test]
fn whole_urls_and_methods() {
    check(&[
        (
            r#"await fetch("https://api.github.test/repos/isolith/demo/releases?per_page=3#top")"#,
            "egress:GET https://api.github.test/repos/isolith/demo/releases @ 1:7",
        ),
        ("fetch('http://localhost:8080/health')", "egress:GET http://localhost:8080/health @ 1:1"),
        ("return fetch(`https://h.test`)", "egress:GET https://h.test @ 1:8"),
        (
            r#"fetch("https://h.test/a", { method: "POST", body: "x" }); fetch("https://h.test/a")"#,
            "
             egress:POST https://h.test/a @ 1:1
             egress:GET https://h.test/a @ 1:59",
        ),
        (r#"fetch("https://h.test/a", { method: "post" })"#, "egress:POST https://h.test/a @ 1:1"),
        (r#"const method = "PUT"; fetch("https://h.test/a", { method })"#, "egress:PUT https://h.test/a @ 1:23"),
        (r#"fetch("https://h.test/a", { method: input.method })"#, "~egress:https://h.test/a @ 1:1"),
        (r#"fetch("https://h.test/a", { headers: {}, ...input })"#, "~egress:https://h.test/a @ 1:1"),
        (
            r#"const post = { method: "POST" }; fetch("https://h.test/a", { ...post, body: "1" })"#,
            "egress:POST https://h.test/a @ 1:34",
        ),
        (r#"fetch("https://h.test/a", input)"#, "~egress:https://h.test/a @ 1:1"),
        (r#"fetch("https://h.test/a", { method: "TRACE" })"#, "? egress @ 1:1: the method TRACE is never sent"),
        (
            r#"fetch("https://h.test/a", { method: input.all ? "GET" : "HEAD" })"#,
            "
             egress:GET https://h.test/a @ 1:1
             egress:HEAD https://h.test/a @ 1:1",
        ),
        (r#"fetch("/users")"#, "? egress @ 1:1: `/users` is relative, and a program has no address of its own"),
        (r#"fetch("users?x=1")"#, "? egress @ 1:1: `users?x=1` is relative, and a program has no address of its own"),
        (
            r#"fetch("ftp://h.test/x")"#,
            "? egress @ 1:1: `ftp://h.test/x` cannot be fetched: `ftp:` is not `https:` or `http:`",
        ),
        (
            r#"fetch("https://user:pw@h.test/x")"#,
            "? egress @ 1:1: `https://user:pw@h.test/x` cannot be fetched: a URL may not hold a user or a password",
        ),
        (r#"fetch("")"#, "? egress @ 1:1: `` is relative, and a program has no address of its own"),
        ("fetch()", "? egress @ 1:1: the URL comes from `fetch()`"),
        (r#"fetch("https://h.test/a%2fb/c")"#, "egress:GET https://h.test @ 1:1"),
        (r#"fetch("https://H.Test:443/a/../b")"#, "egress:GET https://h.test/b @ 1:1"),
        (r#"fetch("https://[::1]:9000/x")"#, "egress:GET https://[::1]:9000/x @ 1:1"),
        (r#"fetch(new Request("https://h.test/r", { method: "DELETE" }))"#, "egress:DELETE https://h.test/r @ 1:1"),
        (
            r#"const r = new Request("https://h.test/r"); fetch(r); fetch(r, { method: "PUT" })"#,
            "
             egress:GET https://h.test/r @ 1:44
             egress:PUT https://h.test/r @ 1:54",
        ),
        (r#"fetch(new URL("https://h.test/u?x=1"))"#, "egress:GET https://h.test/u @ 1:1"),
        (r#"fetch(new URL("/v2/users", "https://h.test/v1/").href)"#, "egress:GET https://h.test/v2/users @ 1:1"),
        (
            r#"const u = new URL("items", "https://h.test/v1/"); u.searchParams.set("q", input.q); fetch(u.toString())"#,
            "egress:GET https://h.test/v1/items @ 1:85",
        ),
        (
            r#"const u = new URL("https://h.test/v1/a"); u.pathname = input.path; fetch(u)"#,
            "~egress:GET https://h.test @ 1:68",
        ),
        (
            r#"const u = new URL("https://h.test/v1/a"); u.host = input.host; fetch(u)"#,
            "? egress @ 1:64: the URL comes from `u`",
        ),
        (
            r#"const u = new URL("https://h.test/v1/a"); u.search = "?q=1"; fetch(u)"#,
            "egress:GET https://h.test/v1/a @ 1:62",
        ),
        (r#"fetch(new URL(`/v1/users/${input.id}`, "https://h.test"))"#, "~egress:GET https://h.test/v1/users/ @ 1:1"),
        (r#"fetch(new URL(input.path, "https://h.test/v1/"))"#, "~egress:GET https://h.test/v1/ @ 1:1"),
        (r#"fetch(new URL("/x", input.base))"#, "? egress @ 1:1: the URL comes from `input.base`"),
    ]);
}

#[test]
fn urls_with_holes() {
    check(&[
        ("fetch(`https://api.test/repos/${input.owner}/issues`)", "~egress:GET https://api.test/repos/ @ 1:1"),
        ("fetch(`https://api.test/repos/x-${input.owner}`)", "~egress:GET https://api.test/repos/ @ 1:1"),
        ("fetch(`https://api.test/search?q=${input.q}`)", "egress:GET https://api.test/search @ 1:1"),
        (r#"fetch("https://api.test/a/b" + "?page=" + input.page)"#, "egress:GET https://api.test/a/b @ 1:1"),
        (
            "fetch(`https://${input.region}.example.test/v1/${input.id}`)",
            "~egress:GET https://*.example.test/v1/ @ 1:1",
        ),
        ("fetch(`https://${input.region}.example.test`)", "~egress:GET https://*.example.test @ 1:1"),
        (
            "fetch(`https://eu-${input.region}.example.test:8443/v1?x=1`)",
            "~egress:GET https://*.example.test:8443/v1 @ 1:1",
        ),
        ("fetch(`https://${input.host}/v1`)", "? egress @ 1:1: the URL comes from `input.host`"),
        ("fetch(`https://${input.name}.test/v1`)", "? egress @ 1:1: the URL comes from `input.name`"),
        ("fetch(`https://api${input.suffix}/v1`)", "? egress @ 1:1: the URL comes from `input.suffix`"),
        ("fetch(`https://localhost:${input.port}/v1/x`)", "~egress:GET https://localhost:*/v1/x @ 1:1"),
        ("fetch(`https://api.example.test${input.path}`)", "~egress:GET https://api.example.test @ 1:1"),
        ("fetch(`https://api.${input.rest}`)", "? egress @ 1:1: the URL comes from `input.rest`"),
        ("fetch(`https://${input.user}@h.test/x`)", "? egress @ 1:1: the URL comes from `input.user`"),
        ("fetch(`${input.scheme}://h.test/x`)", "? egress @ 1:1: the URL comes from `input.scheme`"),
        ("fetch(`https://h.test/a/b/${input.x}/../../c`)", "~egress:GET https://h.test @ 1:1"),
        ("fetch(`https://h.test/a%2e%2e/${input.x}`)", "~egress:GET https://h.test/a../ @ 1:1"),
        (r#"fetch(`https://h.test/${"a"}/${1}/${true}`)"#, "egress:GET https://h.test/a/1/true @ 1:1"),
        ("fetch(input)", "? egress @ 1:1: the URL comes from `input`"),
        ("fetch(input.url)", "? egress @ 1:1: the URL comes from `input.url`"),
        ("const { url } = input; fetch(url)", "? egress @ 1:24: the URL comes from `url`"),
        (
            r#"const url = await kv.links.get("home"); await fetch(url)"#,
            r#"
             kv:read links @ 1:19
             ? egress @ 1:47: the URL comes from `kv.links.get("home")`"#,
        ),
        (
            "const id = encodeURIComponent(input.id); fetch(`https://h.test/v1/items/${id}/x`)",
            "~egress:GET https://h.test/v1/items/ @ 1:42",
        ),
        (r#"fetch("https://h.test/" + encodeURIComponent("plain-1"))"#, "egress:GET https://h.test/plain-1 @ 1:1"),
    ]);
}

#[test]
fn constants_are_followed() {
    check(&[
        (
            r#"const BASE = "https://h.test/v1"; fetch(BASE + "/a"); fetch(`${BASE}/b`)"#,
            "
             egress:GET https://h.test/v1/a @ 1:35
             egress:GET https://h.test/v1/b @ 1:55",
        ),
        (r#"let base = "https://h.test"; var path = "/p"; fetch(base + path)"#, "egress:GET https://h.test/p @ 1:47"),
        (
            r#"let url = "https://h.test/1"; while (url) { const r = await fetch(url); url = (await r.json()).next }"#,
            "
             egress:GET https://h.test/1 @ 1:61
             ? egress @ 1:61: the URL comes from `(await r.json()).next`",
        ),
        (
            r#"let url = "https://h.test/a"; if (input.b) url = "https://h.test/b"; fetch(url)"#,
            "
             egress:GET https://h.test/a @ 1:70
             egress:GET https://h.test/b @ 1:70",
        ),
        (
            r#"let url = "https://h.test/a/?x=1"; url += "&page=" + input.page; fetch(url)"#,
            "egress:GET https://h.test/a/ @ 1:66",
        ),
        (r#"let url = "https://h.test/a"; url += input.rest; fetch(url)"#, "~egress:GET https://h.test @ 1:50"),
        ("let n = 1; n++; fetch(`https://h.test/pages/${n}`)", "~egress:GET https://h.test/pages/ @ 1:17"),
        (
            "for (let page = 1; page <= 3; page++) await fetch(`https://h.test/items?page=${page}`)",
            "egress:GET https://h.test/items @ 1:45",
        ),
        (
            r#"const API = { base: "https://h.test", v: { one: "/v1" } }; fetch(API.base + API.v.one); fetch(API["base"])"#,
            "
             egress:GET https://h.test/v1 @ 1:60
             egress:GET https://h.test @ 1:89",
        ),
        (
            r#"const API = { base: "https://h.test/" }; API.base = input.base; fetch(API.base)"#,
            "? egress @ 1:65: the URL comes from `API.base`",
        ),
        (
            r#"const HOSTS = { eu: "https://eu.test/", us: "https://us.test/" }; fetch(HOSTS[input.region])"#,
            "
             egress:GET https://eu.test @ 1:67
             egress:GET https://us.test @ 1:67",
        ),
        (
            r#"const url = input.debug ? "http://localhost:1234/" : "https://h.test/"; fetch(url)"#,
            "
             egress:GET http://localhost:1234 @ 1:73
             egress:GET https://h.test @ 1:73",
        ),
        (
            r#"fetch(input.url ?? "https://h.test/x")"#,
            "
             egress:GET https://h.test/x @ 1:1
             ? egress @ 1:1: the URL comes from `input.url`",
        ),
        (
            r#"fetch(input.url || "https://h.test/x")"#,
            "
             egress:GET https://h.test/x @ 1:1
             ? egress @ 1:1: the URL comes from `input.url`",
        ),
        (
            r#"const { base, path = "/d" } = { base: "https://h.test" }; fetch(base + path)"#,
            "egress:GET https://h.test/d @ 1:59",
        ),
        (
            r#"const [a, , b] = ["https://h.test/a", 0, "https://h.test/b"]; fetch(a); fetch(b)"#,
            "
             egress:GET https://h.test/a @ 1:63
             egress:GET https://h.test/b @ 1:73",
        ),
        (r#"fetch(["https://h.test", "v1", input.id].join("/"))"#, "~egress:GET https://h.test/v1/ @ 1:1"),
        (r#"fetch("https://h.test/".concat("a/", input.x))"#, "~egress:GET https://h.test/a/ @ 1:1"),
        (r#"fetch(String("https://h.test/s"))"#, "egress:GET https://h.test/s @ 1:1"),
        (r#"const u = Object.freeze({ a: "https://h.test/f" }); fetch(u.a)"#, "egress:GET https://h.test/f @ 1:53"),
        (r#"const url = (0, "https://h.test/seq"); fetch(url)"#, "egress:GET https://h.test/seq @ 1:40"),
        (r#"const a = a + "x"; fetch(a)"#, "? egress @ 1:20: the URL comes from `a`"),
        (
            "fetch(String.raw`https://h.test/raw`)",
            "? egress @ 1:1: the URL comes from `String.raw`https://h.test/raw``",
        ),
    ]);
}
