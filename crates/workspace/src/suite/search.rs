//! Searching.

use super::desk::Desk;
use super::{Case, Make};
use serde_json::{Value, json};

pub(super) const CASES: &[Case] = &[
    Case { name: "globs find paths", needs: &[], run: globs_find_paths },
    Case { name: "ignore files are kept to", needs: &[], run: ignore_files_are_kept_to },
    Case { name: "lines are found", needs: &[], run: lines_are_found },
    Case { name: "searches have bounds", needs: &[], run: searches_have_bounds },
    Case {
        name: "places are found by what is known of them",
        needs: &[],
        run: places_are_found_by_what_is_known_of_them,
    },
    Case { name: "a tree has a picture", needs: &[], run: a_tree_has_a_picture },
];

fn globs_find_paths(make: Make<'_>) {
    let desk = Desk::new(make);
    for path in ["a.rs", "b.toml", "src/lib.rs", "src/deep/x.rs", "src/deep/y.txt", ".hidden", "[x].rs"] {
        desk.write(path, "");
    }
    let glob = |path: &str, pattern: &str| {
        desk.ask(json!({ "op": "glob", "path": path, "pattern": pattern }))["paths"].clone()
    };
    for (path, pattern, expected) in [
        (".", "*.rs", json!(["[x].rs", "a.rs"])),
        (".", "**/*.rs", json!(["[x].rs", "a.rs", "src/deep/x.rs", "src/lib.rs"])),
        ("src", "**/*.rs", json!(["src/deep/x.rs", "src/lib.rs"])),
        ("src", "*", json!(["src/deep", "src/lib.rs"])),
        (".", "*/", json!(["src"])),
        (".", "*.{rs,toml}", json!(["[x].rs", "a.rs", "b.toml"])),
        (".", "[[]x[]].rs", json!(["[x].rs"])),
        (".", ".*", json!([".hidden"])),
        ("", "src/deep/**", json!(["src/deep/x.rs", "src/deep/y.txt"])),
    ] {
        assert_eq!(glob(path, pattern), expected, "{path} {pattern}");
    }
    let some = desk.ask(json!({ "op": "glob", "pattern": "**", "limit": 3 }));
    assert_eq!((some["paths"].as_array().unwrap().len(), &some["more"]), (3, &json!(true)));
    let all = desk.ask(json!({ "op": "glob", "pattern": "**", "limit": 9 }));
    assert_eq!((all["paths"].as_array().unwrap().len(), &all["more"]), (9, &json!(false)));
    for (pattern, code) in [("/**", "denied"), ("../*", "denied"), ("[", "invalid"), ("", "invalid")] {
        assert_eq!(desk.ask(json!({ "op": "glob", "pattern": pattern })), format!("! files.{code}"), "{pattern}");
    }
    assert_eq!(desk.ask(json!({ "op": "glob", "path": "a.rs", "pattern": "*" })), "! files.not_a_folder");
    let bomb = desk.ask(json!({ "op": "glob", "pattern": format!("{}x", "**/".repeat(100)) }));
    assert_eq!(bomb["paths"], json!([]));
}

fn ignore_files_are_kept_to(make: Make<'_>) {
    let desk = Desk::new(make);
    for (path, text) in [
        (".gitignore", "target/\n*.log\n!keep.log\n/only_top\n\\\n"),
        ("target/x", "x"),
        ("a.log", "x"),
        ("keep.log", "x"),
        ("only_top", "x"),
        ("src/only_top", "x"),
        ("src/.gitignore", "gen.rs\n!b.log\n"),
        ("src/gen.rs", "x"),
        ("src/b.log", "x"),
        ("src/deep/gen.rs", "x"),
        ("src/deep/.ignore", "!gen.rs\n*.tmp"),
        ("src/deep/a.tmp", "x"),
        (".git/config", "x"),
        ("sub/.git/config", "x"),
        ("gen.rs", "x"),
    ] {
        desk.write(path, text);
    }
    let files = |path: &str, ignore: bool| {
        let found = desk.ask(json!({ "op": "grep", "path": path, "pattern": "^x$", "ignore": ignore, "limit": 100 }));
        found["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(files(".", true), ["gen.rs", "keep.log", "src/b.log", "src/deep/gen.rs", "src/only_top"]);
    assert_eq!(files("src/deep", true), ["src/deep/gen.rs"], "the rules of the folders around hold too");
    assert_eq!(files(".", false).len(), 12);
    let glob = desk.ask(json!({ "op": "glob", "pattern": "**/*.{log,rs}", "ignore": true }));
    assert_eq!(glob["paths"], json!(["gen.rs", "keep.log", "src/b.log", "src/deep/gen.rs"]));
    desk.write("src/.gitignore", &"x\n".repeat(600_000));
    assert_eq!(desk.ask(json!({ "op": "glob", "pattern": "**", "ignore": true })), "! files.limit");
}

fn lines_are_found(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a.rs", "fn one() {}\n\nfn two() {\n  one();\n}\n");
    desk.write("src/b.txt", "One more\r\nlast one");
    let grep = |mut op: Value| {
        op["op"] = json!("grep");
        let found = desk.ask(op);
        let told = |found: &Value| {
            format!("{}:{}:{}", found["path"].as_str().unwrap(), found["line"], found["text"].as_str().unwrap())
        };
        match found["matches"].as_array() {
            Some(matches) => matches.iter().map(told).collect::<Vec<_>>(),
            None => vec![found.to_string()],
        }
    };
    assert_eq!(grep(json!({ "pattern": "one" })), ["a.rs:1:fn one() {}", "a.rs:4:  one();", "src/b.txt:2:last one"]);
    assert_eq!(grep(json!({ "pattern": "^one", "ignore_case": true })), ["src/b.txt:1:One more"]);
    assert_eq!(grep(json!({ "pattern": "more$" })), ["src/b.txt:1:One more"], "lines end before their line end");
    assert_eq!(grep(json!({ "pattern": "one()", "literal": true })), ["a.rs:1:fn one() {}", "a.rs:4:  one();"]);
    assert_eq!(grep(json!({ "pattern": "one()" })).len(), 3, "as a pattern, it is an empty group");
    assert_eq!(grep(json!({ "pattern": "one", "include": ["*.txt"] })), ["src/b.txt:2:last one"]);
    assert_eq!(grep(json!({ "pattern": "one", "path": "src" })), ["src/b.txt:2:last one"]);
    assert_eq!(grep(json!({ "pattern": "one", "path": "src/b.txt" })), ["src/b.txt:2:last one"]);
    let near = desk.ask(json!({ "op": "grep", "pattern": "fn|one", "path": "a.rs", "context": 1 }));
    assert_eq!(
        near["matches"][1],
        json!({ "path": "a.rs", "line": 3, "text": "fn two() {", "before": [""], "after": ["  one();"] })
    );
    assert_eq!(near["matches"][2]["before"], json!(["fn two() {"]));
    assert_eq!(near["matches"][2]["after"], json!(["}"]));
    for (pattern, code) in
        [("(", "invalid"), ("", "invalid"), ("a\nb", "invalid"), ("(?=x)", "invalid"), ("(a)\\1", "invalid")]
    {
        assert_eq!(desk.ask(json!({ "op": "grep", "pattern": pattern })), format!("! files.{code}"), "{pattern}");
    }
    assert_eq!(desk.ask(json!({ "op": "grep", "pattern": "x", "path": "none" })), "! files.not_found");
}

fn searches_have_bounds(make: Make<'_>) {
    let desk = Desk::new(make);
    let grep = |pattern: &str| desk.ask(json!({ "op": "grep", "pattern": pattern }));
    desk.write("lines", &"a match\n".repeat(500));
    let found = grep("match");
    assert_eq!((found["matches"].as_array().unwrap().len(), &found["more"]), (200, &json!(true)));
    let found = desk.ask(json!({ "op": "grep", "pattern": "match", "limit": 500 }));
    assert_eq!((found["matches"].as_array().unwrap().len(), &found["more"]), (500, &json!(false)));
    desk.ask(json!({ "op": "remove", "path": "lines" }));
    desk.ask_with(json!({ "op": "write", "path": "binary" }), b"match\nmatch\0\nmatch");
    desk.ask_with(json!({ "op": "write", "path": "large" }), &vec![b'x'; (10 << 20) + 1]);
    desk.ask_with(json!({ "op": "write", "path": "latin" }), b"caf\xe9 match");
    let found = grep("match");
    assert_eq!(found["skipped"], json!([{ "path": "binary", "why": "binary" }, { "path": "large", "why": "large" }]));
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["matches"][0]["text"], "caf\u{fffd} match");
    desk.write("wide", &format!("{}match", "w".repeat(5000)));
    assert_eq!(grep("wmatch")["matches"][0]["text"].as_str().unwrap().chars().count(), 2000);
    desk.write("wider", &format!("{}\n", "match ".repeat(300)).repeat(2000));
    let found = desk.ask(json!({ "op": "grep", "pattern": "match", "path": "wider", "limit": 2000, "context": 10 }));
    assert!(found.to_string().len() < 2 << 20 && found["more"] == true, "an answer stays an answer");
    desk.write("slow", &format!("{}!", "a".repeat(50_000)));
    assert_eq!(desk.ask(json!({ "op": "grep", "pattern": "^(a+)+$", "path": "slow" }))["matches"], json!([]));
    for pattern in ["(x{1000}){1000}".to_owned(), "(".repeat(500) + &")".repeat(500), "\\w{500}{500}".into()] {
        assert_eq!(grep(&pattern), "! files.invalid", "{pattern:.20}");
    }
    assert_eq!(grep(&"x".repeat(5000)), "! files.limit");
}

fn places_are_found_by_what_is_known_of_them(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("a.txt", "12345");
    desk.write("d/b.txt", "1");
    desk.write("d/c", "123");
    desk.ask(json!({ "op": "set", "path": "a.txt", "modified": 1000 }));
    let find = |mut op: Value| {
        op["op"] = json!("find");
        let found = desk.ask(op);
        found["entries"]
            .as_array()
            .map(|all| all.iter().map(|e| e["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
            .unwrap_or_else(|| vec![found.to_string()])
    };
    assert_eq!(find(json!({})), ["a.txt", "d", "d/b.txt", "d/c"]);
    assert_eq!(find(json!({ "name": "*.txt" })), ["a.txt", "d/b.txt"]);
    assert_eq!(find(json!({ "kind": "folder" })), ["d"]);
    assert_eq!(find(json!({ "at_least": 3 })), ["a.txt", "d/c"]);
    assert_eq!(find(json!({ "since": 1_000_000, "kind": "file" })), ["d/b.txt", "d/c"]);
    assert_eq!(find(json!({ "path": "d", "name": "?" })), ["d/c"]);
    assert_eq!(find(json!({ "name": "a/b" })), ["\"! files.invalid\""]);
    let one = desk.ask(json!({ "op": "find", "limit": 1 }));
    assert_eq!(
        one,
        json!({ "entries": [{ "path": "a.txt", "kind": "file", "size": 5, "modified": 1000 }], "more": true })
    );
}

fn a_tree_has_a_picture(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("b/c/d/e", "12");
    desk.write("a", "123");
    let tree = |path: &str, depth: Option<u32>| desk.ask(json!({ "op": "tree", "path": path, "depth": depth }));
    let expected =
        json!({ "text": "./\n  a\n  b/\n    c/\n      d/\n", "files": 2, "folders": 3, "bytes": 5, "more": true });
    assert_eq!(tree(".", None), expected);
    assert_eq!(
        tree("b/c", Some(9)),
        json!({ "text": "b/c/\n  d/\n    e\n", "files": 1, "folders": 1, "bytes": 2, "more": false })
    );
    for number in 0..1100 {
        desk.write(&format!("many/{number}"), "");
    }
    let many = tree("many", None);
    assert_eq!(
        (many["text"].as_str().unwrap().lines().count(), &many["files"], &many["more"]),
        (1001, &json!(1100), &json!(true))
    );
}
