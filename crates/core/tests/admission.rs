//! What grants mean, row by row.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{
    Access, BindingName, Grant, GuestPath, Json, Method, Power, Refusal, SecretName, Target, ToolName, admit,
};

/// One row of a table, with the grants above it.
struct Row {
    line: usize,
    grants: Vec<Grant>,
    verdict: String,
    words: String,
}

fn rows(table: &str) -> Vec<Row> {
    let (mut rows, mut grants, mut open) = (Vec::new(), Vec::new(), false);
    for (line, text) in table.lines().enumerate().filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        if text.starts_with('=') {
            (grants, open) = (Vec::new(), true);
        } else if let Some(grant) = text.strip_prefix("+ ") {
            assert!(open, "line {}: a grant after the rows of others", line + 1);
            grants.push(grant_of(grant).unwrap_or_else(|error| panic!("line {}: {error}", line + 1)));
        } else {
            open = false;
            let (verdict, words) = text.split_once(' ').unwrap();
            rows.push(Row { line: line + 1, grants: grants.clone(), verdict: verdict.into(), words: words.into() });
        }
    }
    rows
}

fn grant_of(text: &str) -> Result<Grant, String> {
    if text.starts_with('{') {
        return Grant::from_value(&serde_json::from_str(text).unwrap(), "").map_err(|error| error.to_string());
    }
    text.parse().map_err(|error: isolith_core::GrantError| error.to_string())
}

/// Undoes the escapes of a table.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let ahead: String = rest.clone().take(1).collect();
        let replaced = match (c, ahead.as_str()) {
            ('\\', "t") => '\t',
            ('\\', "n") => '\n',
            ('\\', "r") => '\r',
            ('\\', "0") => '\0',
            ('\\', "s") => ' ',
            ('\\', "\\") => '\\',
            ('\\', "u") if rest.as_str().starts_with("u{") => {
                let code: String = rest.by_ref().skip(2).take_while(|c| *c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
                continue;
            }
            _ => {
                out.push(c);
                continue;
            }
        };
        rest.next();
        out.push(replaced);
    }
    out
}

fn verdict(decision: Result<isolith_core::Admitted<'_>, Refusal>) -> &'static str {
    match decision {
        Ok(admitted) => {
            assert_eq!(admitted.ask, admitted.asks.is_some());
            if admitted.ask { "ask" } else { "allow" }
        }
        Err(_) => "deny",
    }
}

/// Runs a table and shows all rows that are wrong, not only the first.
fn check(table: &str, least: usize, judge: impl Fn(&Row) -> &'static str) {
    let rows = rows(table);
    let wrong: Vec<String> = rows
        .iter()
        .map(|row| (row, judge(row)))
        .filter(|(row, found)| row.verdict != *found)
        .map(|(row, found)| format!("line {}: {} {} but is {found}", row.line, row.verdict, row.words))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= least, "only {} rows", rows.len());
}

#[test]
fn requests_are_admitted_as_the_table_says() {
    check(include_str!("admission/egress.txt"), 220, |row| {
        let (method, url) = row.words.split_once(' ').unwrap();
        let (Ok(method), Ok(target)) = (Method::new(&plain(method)), Target::parse(&plain(url))) else {
            return "invalid";
        };
        let decision = admit::egress(&row.grants, &method, &target);
        if let Err(refusal) = &decision {
            smallest_grant_would_do(refusal, &method, &target);
        }
        verdict(decision)
    });
}

/// What a refusal names really is a grant, and really would have allowed the request.
fn smallest_grant_would_do(refusal: &Refusal, method: &Method, target: &Target) {
    let wanted: Grant = refusal.wanted.to_string().parse().unwrap();
    assert_eq!(wanted.power, refusal.wanted, "{}", refusal.wanted);
    assert_eq!(verdict(admit::egress(&[wanted], method, target)), "allow", "{}", refusal.wanted);
}

#[test]
fn addresses_are_admitted_as_the_table_says() {
    check(include_str!("admission/address.txt"), 70, |row| {
        let (url, address) = row.words.split_once(' ').unwrap();
        let (method, target, address) = (Method::new("GET").unwrap(), Target::parse(url).unwrap(), address.parse());
        match admit::address(&row.grants, &method, &target, address.unwrap()) {
            Ok(()) => "allow",
            Err(refusal) => {
                assert!(matches!(refusal.wanted, Power::Egress(_)), "{refusal}");
                "deny"
            }
        }
    });
}

#[test]
fn other_calls_are_admitted_as_the_table_says() {
    check(include_str!("admission/others.txt"), 140, |row| {
        let mut words = row.words.splitn(3, ' ');
        let (what, name, args) = (words.next().unwrap(), plain(words.next().unwrap()), words.next());
        let args = args.map(|text| Json::from_text(plain(text)).unwrap());
        let access = if what.ends_with("read") { Access::Read } else { Access::Write };
        let binding = || BindingName::new(name.clone()).unwrap();
        match what {
            "kv.read" | "kv.write" => verdict(admit::kv(&row.grants, &binding(), access)),
            "files.read" | "files.write" => match GuestPath::new(&name) {
                Ok(path) => verdict(admit::files(&row.grants, &path, access)),
                Err(_) => "invalid",
            },
            "tool" => match ToolName::new(name.clone()) {
                Ok(name) => {
                    let decision = admit::tool(&row.grants, &name, args.as_ref());
                    if let Err(refusal) = &decision
                        && refusal.why.starts_with("not granted")
                        && !name.is_reserved()
                    {
                        let wanted: Grant = refusal.wanted.to_string().parse().unwrap();
                        assert_eq!(
                            verdict(admit::tool(&[wanted], &name, args.as_ref())),
                            "allow",
                            "{}",
                            refusal.wanted
                        );
                    }
                    verdict(decision)
                }
                Err(_) => "invalid",
            },
            "invoke" => verdict(admit::invoke(&row.grants, &binding(), args.as_ref())),
            "reveal" => verdict(admit::reveal(&row.grants, &SecretName::new(&name).unwrap())),
            other => panic!("line {}: {other}", row.line),
        }
    });
}

#[test]
fn hosts_match_as_measured_elsewhere_but_for_what_differs_on_purpose() {
    let table = include_str!("admission/hosts.txt");
    let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 20);
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [pattern, host, _theirs, ours] = cells[..] else { panic!("{row}") };
        let found = match format!("egress:{}", plain(pattern)).parse::<Grant>() {
            Err(_) => "invalid",
            Ok(grant) => {
                let target = Target::parse(&format!("https://{host}/")).unwrap();
                match admit::egress(&[grant], &Method::new("GET").unwrap(), &target) {
                    Ok(_) => "yes",
                    Err(_) => "no",
                }
            }
        };
        assert_eq!(found, ours, "{row}");
    }
}

#[test]
fn the_narrowest_grant_brings_its_credential() {
    let grant = |url: &str, rule: &str, secret: &str| {
        let value = serde_json::json!({"kind": "egress", "url": url, "rule": rule, "credential": {"bearer": secret}});
        Grant::from_value(&value, "").unwrap()
    };
    let grants = [
        grant("http(s)://*:*", "allow", "ANY"),
        grant("https://*.example.com", "allow", "BELOW"),
        grant("https://*.b.example.com", "allow", "DEEPER"),
        grant("http(s)://api.example.com:*", "allow", "HOST_WIDE"),
        grant("https://api.example.com", "allow", "HOST"),
        grant("GET https://api.example.com", "allow", "METHOD"),
        grant("https://api.example.com/v1", "allow", "PATH"),
        grant("https://api.example.com/v1/deep,/v9", "allow", "LONGER"),
        grant("https://*.asked.example.com", "ask", "ASKED"),
        grant("https://x.asked.example.com", "allow", "NOT_ASKED"),
    ];
    for (method, url, secret) in [
        ("POST", "https://elsewhere.com/", "ANY"),
        ("POST", "https://a.example.com/", "BELOW"),
        ("POST", "https://a.b.example.com/", "DEEPER"),
        ("POST", "https://api.example.com/", "HOST"),
        ("POST", "http://api.example.com/", "HOST_WIDE"),
        ("POST", "https://api.example.com:444/", "HOST_WIDE"),
        ("GET", "https://api.example.com/", "METHOD"),
        ("GET", "https://api.example.com/v1", "PATH"),
        ("GET", "https://api.example.com/v1/deep/er", "LONGER"),
        ("GET", "https://api.example.com/v9", "LONGER"),
        ("GET", "https://api.example.com/v1/..%2fdeep", "METHOD"),
        ("GET", "https://x.asked.example.com/", "ASKED"),
    ] {
        // The order in which they stand plays no part.
        for turn in 0..grants.len() {
            let mut turned = grants.to_vec();
            turned.rotate_left(turn);
            let (method, target) = (Method::new(method).unwrap(), Target::parse(url).unwrap());
            let admitted = admit::egress(&turned, &method, &target).unwrap();
            let Power::Egress(egress) = &admitted.grant.power else { panic!("{admitted:?}") };
            let used = egress.credential.as_ref().unwrap().secrets()[0].as_str();
            assert_eq!((used, &turned[admitted.index]), (secret, admitted.grant), "{method} {url}");
        }
    }
}

#[test]
fn a_say_about_a_secret_is_a_say_about_what_carries_it() {
    let target = Target::parse("https://api.example.com/").unwrap();
    let carrier = serde_json::json!({"kind": "egress", "host": "api.example.com", "credential": {"bearer": "TOKEN"}});
    for (about, expected) in [
        ("secret:TOKEN", "allow"),
        ("ask secret:TOKEN", "ask"),
        ("deny secret:TOKEN", "deny"),
        ("deny secret:OTHER", "allow"),
        ("ask secret:OTHER", "allow"),
    ] {
        let grants = [Grant::from_value(&carrier, "").unwrap(), about.parse().unwrap()];
        let decision = admit::egress(&grants, &Method::new("GET").unwrap(), &target);
        assert_eq!(verdict(decision), expected, "{about}");
    }
}

#[test]
fn the_narrowest_grant_of_a_tool_is_used_and_every_count_holds() {
    let grant = |name: &str, rule: &str, calls: u32| {
        let value = serde_json::json!({"kind": "tool", "name": name, "rule": rule, "calls": calls});
        Grant::from_value(&value, "").unwrap()
    };
    let grants = [
        grant("g.*", "allow", 1),
        grant("g.create_*", "allow", 2),
        grant("g.create_issue", "allow", 3),
        grant("g.delete_*", "ask", 4),
        grant("g.delete_it", "allow", 5),
    ];
    for (name, used, counts) in [
        ("g.list", "tool:g.*", vec![1]),
        ("g.create_pull", "tool:g.create_*", vec![1, 2]),
        ("g.create_issue", "tool:g.create_issue", vec![1, 2, 3]),
        ("g.delete_it", "ask tool:g.delete_*", vec![1, 4, 5]),
    ] {
        for turn in 0..grants.len() {
            let mut turned = grants.to_vec();
            turned.rotate_left(turn);
            let admitted = admit::tool(&turned, &ToolName::new(name).unwrap(), None).unwrap();
            let mut counted: Vec<u32> = admitted.budgets.iter().map(|budget| budget.calls).collect();
            counted.sort_unstable();
            assert_eq!((admitted.grant.to_string().as_str(), counted), (used, counts.clone()), "{name}");
        }
    }
}
