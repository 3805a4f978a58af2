//! Needs against grants, and the grants that needs make.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is how a test fails")]

use isolith_core::Grant;
use isolith_program::{Language, needs};

fn grants(lines: &str) -> Vec<Grant> {
    lines.split(';').map(str::trim).filter(|line| !line.is_empty()).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn manifests_are_as_short_as_they_can_be() {
    for (source, expected) in [
        ("", ""),
        ("files.read('a/b'); files.write('a/b', '')", "files:write a/b"),
        ("files.read('a/b'); files.list('a'); files.write('a/c', '')", "files:read a; files:write a/c"),
        ("files.write('a/c', ''); files.makeFolder('a'); files.read('a/b')", "files:write a"),
        ("kv.c.get('x'); kv.c.put('x', 1); kv.d.get('x')", "kv:c; kv:read d"),
        ("tools.a(); external_a(); tools.b()", "tool:a; tool:b"),
        ("tools.search('x')", "tool:search"),
        ("tools.search('x'); tools.describe('g.a'); tools.g.a(); external_g_a()", "tool:g.a"),
        ("tools.g['a' + input](); tools.g.ab()", "tool:g.a*"),
        (
            "fetch('https://h.test/a'); fetch('https://h.test/a', { method: 'POST' }); fetch('https://h.test/b')",
            "egress:GET,POST https://h.test/a; egress:GET https://h.test/b",
        ),
        ("fetch('https://h.test/a/b'); fetch('https://h.test/a')", "egress:GET https://h.test/a"),
        ("fetch('https://h.test/a/b'); fetch(`https://h.test/a/${input}`)", "egress:GET https://h.test/a/"),
        ("fetch('https://h.test/a'); fetch('https://h.test/a', input)", "egress:https://h.test/a"),
        (
            "fetch('https://h.test/a'); fetch('http://h.test/a')",
            "egress:GET https://h.test/a; egress:GET http://h.test/a",
        ),
        (
            "fetch('https://a.h.test/'); fetch(`https://${input}.h.test/x`); fetch(`https://${input}.h.test/`)",
            "egress:GET https://*.h.test",
        ),
        ("invoke('p'); secrets.get('S'); invoke('p')", "invoke:p; secret:reveal S"),
        ("fetch(input.url)", ""),
    ] {
        let found = needs(source, "main.js", Language::Auto).unwrap();
        let manifest = found.manifest();
        assert_eq!(manifest, grants(expected), "{source}");
        assert_eq!(found.lacking(&manifest), Vec::<&isolith_program::Need>::new(), "{source}");
    }
}

#[test]
fn lacking_is_what_no_grant_admits() {
    for (source, given, lacking) in [
        ("fetch('https://h.test/a/b')", "", 1),
        ("fetch('https://h.test/a/b')", "egress:h.test", 0),
        ("fetch('https://h.test/a/b')", "egress:GET https://h.test/a", 0),
        ("fetch('https://h.test/a/b')", "egress:POST https://h.test/a", 1),
        ("fetch('https://h.test/a/b')", "egress:GET https://h.test/b", 1),
        ("fetch('https://h.test/a/b')", "egress:http://h.test", 1),
        ("fetch('https://h.test/a/b')", "egress:http(s)://h.test:443", 0),
        ("fetch('https://h.test/a/b')", "egress:https://h.test:8443", 1),
        ("fetch('https://h.test:8443/a/b')", "egress:h.test", 1),
        ("fetch('https://h.test:8443/a/b')", "egress:https://h.test:*", 0),
        ("fetch('https://x.h.test/a/b')", "egress:*.h.test", 0),
        ("fetch('https://h.test/')", "egress:*.h.test", 1),
        ("fetch(`https://${input}.h.test/`)", "egress:x.h.test", 1),
        ("fetch(`https://${input}.h.test/`)", "egress:*.h.test", 0),
        ("fetch(`https://${input}.h.test/`)", "egress:*", 0),
        ("fetch('http://10.1.2.3/x')", "egress:http://[10.0.0.0/8]", 0),
        ("fetch('https://h.test/a')", "egress:h.test; deny egress:h.test", 1),
        ("fetch('https://h.test/a')", "egress:h.test; deny egress:https://h.test/b", 0),
        ("fetch('https://h.test/a')", "ask egress:h.test", 0),
        ("fetch('https://h.test/a', input)", "egress:GET https://h.test/a", 1),
        ("fetch('https://h.test/')", "egress:https://h.test/a", 1),
        ("kv.c.get('x')", "kv:read c", 0),
        ("kv.c.put('x', 1)", "kv:read c", 1),
        ("kv.c.get('x')", "kv:d", 1),
        ("kv.get('x')", "kv:anything", 0),
        ("kv.get('x')", "kv:a; kv:b", 1),
        ("kv.put('x', 1)", "kv:read a", 1),
        ("files.read('a/b')", "files:read a", 0),
        ("files.read('a/b')", "files:write .", 0),
        ("files.write('a/b', '')", "files:read a", 1),
        ("files.read('a/b')", "files:read a; deny files:read a/b", 1),
        ("tools.a()", "tool:a", 0),
        ("tools.a(); tools.b()", "tool:a", 1),
        ("tools.a()", "tool:a; deny tool:a", 1),
        ("tools.g.a()", "tool:g.a", 0),
        ("tools.g.a()", "tool:g.*", 0),
        ("tools.g.a()", "ask tool:g.a*", 0),
        ("tools.g.a()", "tool:g.b; tool:g; tool:a", 1),
        ("tools.g.a()", "tool:g.*; deny tool:g.a", 1),
        ("tools.g['a' + input]()", "tool:g.ab", 1),
        ("tools.search('x'); tools.describe('g')", "tool:g.*", 0),
        ("tools.search('x'); tools.describe('g')", "tool:search", 1),
        ("later(tools.g); external_g_a()", "tool:g.a", 0),
        ("external_g_a()", "tool:g.*", 1),
        ("secrets.get('S')", "secret:S", 1),
        ("secrets.get('S')", "secret:reveal S", 0),
        ("invoke('p')", "invoke:p", 0),
        ("invoke('p')", "tool:p", 1),
    ] {
        let found = needs(source, "main.js", Language::Auto).unwrap();
        assert_eq!(found.lacking(&grants(given)).len(), lacking, "{source} with {given}");
    }
}
