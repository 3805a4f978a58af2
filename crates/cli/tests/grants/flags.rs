//! What is asked wrongly is said before anything runs.

use crate::scene;

#[test]
fn bad_flags_are_one_line_and_a_hint() {
    let scene = scene();
    let rows: &[(&[&str], &str)] = &[
        (&["--allow-net", "ftp://a.test"], "`ftp` is no scheme that can be granted"),
        (&["--allow-net", "https://a.test:99999"], "`99999` is no port"),
        (&["--allow-net", "https://user@a.test"], "a grant names no user"),
        (&["--allow-net", "https://a b.test/ c"], "a"),
        (&["--allow-net", "https://*.*.test"], "*"),
        (&["--allow-net", ""], ""),
        (&["--allow-kv", "no spaces please"], "no spaces please"),
        (&["--allow-read", "../up"], "../up"),
        (&["--tool", "nocommand"], "`--tool nocommand` is not `NAME=…`"),
        (&["--tool", "1x=cat"], "1x"),
        (&["--program", "x="], "`--program x=` is not `NAME=…`"),
        (&["--secret", "X"], "`--secret X` is not `NAME=…`"),
        (&["--secret", "X=nowhere:Y"], "nowhere"),
        (&["--secret", "a b=env:X"], "cannot name a secret"),
        (&["--credential", "a.test"], "write `TARGET: Header: value with ${SECRET}`"),
        (&["--credential", "a.test: Host: ${X}"], "ost"),
        (&["--credential", "a.test: nonsense"], "--credential"),
        (&["--reveal", "a b"], "cannot name a secret"),
        (&["--grant", "egres:a.test"], "did you mean `egress`?"),
        (&["--grant", "nothing"], "is no grant"),
        (&["--grant", "deny files:docs"], "write `files:read docs` or `files:write docs`"),
        (&["--manifest", "gone.toml"], "gone.toml"),
        (&["--policy", "gone.toml"], "gone.toml"),
        (&["--allow-net", "a.test", "--ca", "gone.pem"], "gone.pem"),
        (&["--alow-net", "a.test"], "unexpected argument '--alow-net' found"),
    ];
    for (flags, message) in rows {
        let ran = scene.place.isolith(&[&["eval", "console.log('ran')"], *flags].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{flags:?}: {}", ran.stderr);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(lines[0].starts_with("error: ") && lines[0].contains(message), "{flags:?}: {}", ran.stderr);
        assert!(lines.last().is_some_and(|line| line.starts_with("hint: ")), "{flags:?}: {}", ran.stderr);
    }
}

#[test]
fn a_key_that_is_nearly_right_is_named() {
    let scene = scene();
    let rows = [
        ("granst = []", "did you mean `grants`?"),
        ("[limits]\ntimout = \"1s\"", "`limits.timout`: there is no such key: did you mean `timeout`?"),
        ("[[grants]]\nkind = \"egress\"\nhots = \"a.test\"", "grants[0]"),
        ("[[grants]]\nkind = \"egres\"\nhost = \"a.test\"", "did you mean `egress`?"),
        ("[[grants]]\nkind = \"egress\"\nhost = \"a.test\"\nmethods = [\"GET\"]", "did you mean `method`?"),
        ("[[grants]]\nkind = \"kv\"\nname = \"a\"\nquotas = 1", "did you mean `quota`?"),
        ("grants = [\"egress:a.test\", \"kv\"]", "grants[1]"),
        ("[[grants]]\nkind = \"egress\"\nhost = \"a.test\"\ncredential = { baerer = \"X\" }", "grants[0].credential"),
    ];
    for (manifest, message) in rows {
        scene.place.write("m.toml", manifest);
        for args in [&["eval", "1", "--manifest", "m.toml"][..], &["manifest", "check", "m.toml"]] {
            let ran = scene.place.isolith(args);
            assert_eq!(ran.code, 2, "{manifest}: {}", ran.stdout);
            assert!(ran.stderr.contains(message), "{manifest}: {}", ran.stderr);
        }
    }
}
