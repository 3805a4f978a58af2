use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

const SECRET: &str = "s3cr3t/+&key=\"ü\"-41";

fn redactor(secrets: &[(&str, &str)]) -> Arc<Redactor> {
    let redactor = Redactor::new();
    secrets.iter().for_each(|(name, value)| redactor.add(name, value));
    Arc::new(redactor)
}

/// The text cut at every position and at every pair of positions, and byte by byte, gives what it gives whole.
fn same_however_cut(redactor: &Arc<Redactor>, text: &[u8]) -> Vec<u8> {
    let whole = redactor.bytes(text).into_owned();
    let through = |pieces: &[&[u8]]| {
        let mut stream = redactor.stream();
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece)).collect();
        out.extend(stream.finish());
        out
    };
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for i in 0..=text.len() {
        for j in i..=text.len() {
            let cut = through(&[&text[..i], &text[i..j], &text[j..]]);
            assert_eq!(shown(&cut), shown(&whole), "cut at {i} and {j}");
        }
    }
    assert_eq!(shown(&through(&text.chunks(1).collect::<Vec<_>>())), shown(&whole));
    whole
}

#[test]
fn every_form_is_found_however_it_is_cut() {
    let redactor = redactor(&[("KEY", SECRET)]);
    let percent = "s3cr3t%2F%2B%26key%3D%22%C3%BC%22-41";
    let hex: String = SECRET.bytes().map(|b| format!("{b:02x}")).collect();
    for form in [
        SECRET.to_owned(),
        percent.to_owned(),
        percent.to_lowercase(),
        percent.replace('-', "%2D"),
        SECRET.bytes().map(|b| format!("%{b:02X}")).collect(),
        hex.to_uppercase(),
        hex,
        STANDARD.encode(SECRET),
        URL_SAFE.encode(SECRET),
        serde_json::to_string(SECRET).unwrap().trim_matches('"').to_owned(),
        "s3cr3t\\/+&key=\\\"\\u00fc\\\"-41".to_owned(),
        "s3cr3t/\\u002b\\u0026key\\u003d\\\"\\u00fc\\\"-41".to_owned(),
        "s3cr3t/+&amp;key=&quot;ü&quot;-41".to_owned(),
    ] {
        let text = format!("a s3cr{form}s3c{form}");
        let out = String::from_utf8(same_however_cut(&redactor, text.as_bytes())).unwrap();
        assert!(!out.contains(&form), "{form} in {out}");
        assert_eq!(out.matches("[redacted KEY]").count(), 2, "{form} in {out}");
        assert!(out.starts_with("a s3cr[redacted KEY]"), "{out}");
    }
}

#[test]
fn base64_is_found_at_every_offset() {
    let redactor = redactor(&[("KEY", SECRET)]);
    for before in 0..6 {
        for after in 0..4 {
            let clear = format!("{}{SECRET}{}", "x".repeat(before), "y".repeat(after));
            for engine in [STANDARD, URL_SAFE] {
                let out = redactor.text(&engine.encode(&clear)).into_owned();
                assert!(out.contains("[redacted KEY]"), "{before} {after}: {out}");
                // Nothing but neighbours, and the characters that are shared with them.
                let left = out.len() - "[redacted KEY]".len();
                assert!(left <= (before * 8).div_ceil(6) + (after * 8).div_ceil(6) + 4, "{before} {after}: {out}");
            }
        }
    }
}

#[test]
fn overlapping_secrets_are_found_however_they_are_cut() {
    let redactor = redactor(&[("A", "abcabc"), ("B", "abcabcabcx"), ("C", "bcabcq"), ("D", "x")]);
    for text in ["abcabcabcabcx", "abcabcabcq", "zabcabcabcx", "abcabbcabcqx", "abcabcabcabcabc", "xxabcabx"] {
        same_however_cut(&redactor, text.as_bytes());
    }
    assert_eq!(redactor.text("zabcabcabcx"), "z[redacted B]");
    assert_eq!(redactor.text("abcabcabcq"), "[redacted A]abcq");
}

#[test]
fn only_what_may_be_a_secret_is_held_back() {
    let redactor = redactor(&[("KEY", "hunter2!")]);
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"data: 1\n\n"), b"data: 1\n\n");
    assert_eq!(stream.push(b"data: hunt"), b"data: ");
    assert_eq!(stream.push(b"ing\n"), b"hunting\n");
    assert_eq!(stream.push(b"hunter2"), b"");
    assert_eq!(stream.push(b"!"), b"[redacted KEY]");
    assert_eq!(stream.finish(), b"");
}

#[test]
fn short_empty_and_late_secrets() {
    let redactor = redactor(&[("EMPTY", "")]);
    assert!(redactor.is_empty());
    assert_eq!(redactor.text("abc"), "abc");
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"to"), b"to");
    redactor.add("PIN", "k7");
    redactor.add("PIN", "k7");
    assert!(!redactor.is_empty());
    assert_eq!(redactor.text("k7 6b37 azc="), "[redacted PIN] 6b37 azc=");
    redactor.add("TOKEN", "token");
    assert_eq!(stream.push(b"a token, a k7, a tok"), b"a [redacted TOKEN], a [redacted PIN], a ");
    assert_eq!(stream.finish(), b"tok");
}

#[test]
fn long_secrets_are_found_piece_by_piece() {
    let long: String = (0..3000).map(|i| format!("{i:x}ü")).collect();
    let redactor = redactor(&[("LONG", &long)]);
    let out = redactor.text(&format!("<{long}>")).into_owned();
    assert_eq!(out.replace("[redacted LONG]", ""), "<>");
    let hex: String = long.bytes().map(|b| format!("{b:02x}")).collect();
    assert_eq!(redactor.text(&hex).replace("[redacted LONG]", ""), "");
}
