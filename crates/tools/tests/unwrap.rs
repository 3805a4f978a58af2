//! What a guest gets of an answer.

use isolith_tools::{ToolFailure, unwrap_http, unwrap_mcp};
use serde_json::{Value, json};

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn results_of_mcp_are_values() {
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
    let resource = json!({ "type": "resource", "resource": { "uri": "a:b", "text": "t" } });
    let rows = [
        (json!({ "content": [text("hello")] }), json!("hello")),
        (json!({ "content": [text("a"), text("b")] }), json!("a\nb")),
        (json!({ "content": [text(" {\"a\": [1]}\n")] }), json!({ "a": [1] })),
        (json!({ "content": [text("[1,"), text("2]")] }), json!([1, 2])),
        (json!({ "content": [text("5")] }), json!("5")),
        (json!({ "content": [text("\"x\"")] }), json!("\"x\"")),
        (json!({ "content": [text("true")] }), json!("true")),
        (json!({ "content": [text("{not json}")] }), json!("{not json}")),
        (json!({ "content": [text("{}{}")] }), json!("{}{}")),
        (json!({ "content": [text("")] }), json!("")),
        (json!({ "content": [] }), json!(null)),
        (json!({}), json!(null)),
        (json!({ "content": [text("x")], "structuredContent": { "a": 1 } }), json!({ "a": 1 })),
        (json!({ "structuredContent": [1] }), json!([1])),
        (json!({ "content": [text("x")], "structuredContent": null }), json!("x")),
        (json!({ "content": [text("x")], "isError": false }), json!("x")),
        (json!({ "content": [text("x")], "isError": "true" }), json!("x")),
        (json!({ "content": [image] }), image.clone()),
        (json!({ "content": [link] }), link),
        (json!({ "content": [resource] }), resource),
        (json!({ "content": [{ "type": "audio", "data": "" }] }), json!({ "type": "audio", "data": "" })),
        (json!({ "content": [text("see"), image] }), json!([text("see"), image])),
        (json!({ "content": [image, image] }), json!([image, image])),
        (json!({ "content": [{ "type": "text" }] }), json!({ "type": "text" })),
        (json!({ "content": ["bare"] }), json!(["bare"])),
        (json!({ "content": [{ "text": "no type" }] }), json!({ "text": "no type" })),
        (json!({ "toolResult": { "old": true } }), json!({ "old": true })),
        (json!({ "toolResult": 5, "content": [text("new")] }), json!("new")),
    ];
    for (result, expected) in rows {
        assert_eq!(unwrap_mcp(&result), Ok(expected), "{result}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(unwrap_mcp(&json!({ "content": [text(&deep)] })), Ok(deep.into()));
}

#[test]
fn failures_of_mcp_are_exceptions() {
    let image = json!({ "type": "image", "data": "AAAA" });
    for (result, expected) in [
        (json!({ "isError": true, "content": [text("no such file")] }), "no such file"),
        (json!({ "isError": true, "content": [text("a"), image, text("b")] }), "a\nb"),
        (json!({ "isError": true, "content": [text("why")], "structuredContent": { "a": 1 } }), "why"),
        (json!({ "isError": true, "content": [], "structuredContent": { "code": 7 } }), "{\"code\":7}"),
        (json!({ "isError": true, "content": [text("  ")] }), "the tool failed and did not say why"),
        (json!({ "isError": true }), "the tool failed and did not say why"),
        (json!({ "isError": true, "content": [text("a\u{1b}[31mb\r\n")] }), "a\u{fffd}[31mb"),
        (json!(null), "the tool server answered with what is not the result of a call"),
        (json!([text("x")]), "the tool server answered with what is not the result of a call"),
        (json!({ "content": "x" }), "the tool server answered with content that is not a list"),
    ] {
        let failure = ToolFailure { message: expected.to_owned(), status: None };
        assert_eq!(unwrap_mcp(&result), Err(failure.clone()), "{result}");
        assert_eq!(failure.to_string(), expected);
    }
    let long = unwrap_mcp(&json!({ "isError": true, "content": [text(&"ä".repeat(10_000))] })).unwrap_err().message;
    assert_eq!(long, "ä".repeat(4_000) + "…");
}

#[test]
fn answers_over_http_are_values() {
    let json_type = Some("application/json; charset=utf-8");
    let binary = |kind: &str, text: &str| json!({ "contentType": kind, "base64": text });
    let rows: Vec<(u16, Option<&str>, &[u8], Value)> = vec![
        (200, json_type, b"{\"a\":1}", json!({ "a": 1 })),
        (200, Some("Application/Problem+JSON"), b"5", json!(5)),
        (200, Some("application/json"), b"\xef\xbb\xbf[1]", json!([1])),
        (200, json_type, b" \n", json!(null)),
        (204, None, b"", json!(null)),
        (200, Some("image/png"), b"", json!(null)),
        (201, Some("text/plain"), b"{\"a\":1}", json!("{\"a\":1}")),
        (200, Some("text/html; charset=\"ISO-8859-1\""), b"\xe4", json!("ä")),
        (200, Some("text/html; charset=iso-8859-1"), "ä".as_bytes(), json!("ä")),
        (200, Some("image/svg+xml"), b"<svg/>", json!("<svg/>")),
        (200, Some("application/x-ndjson"), b"{}\n{}", json!("{}\n{}")),
        (200, None, b"{\"a\":1}", json!({ "a": 1 })),
        (200, None, b"5", json!("5")),
        (200, Some("nonsense"), b"hello", json!("hello")),
        (200, None, b"\xff\xfe", binary("application/octet-stream", "//4=")),
        (200, None, b"a\0b", binary("application/octet-stream", "YQBi")),
        (200, Some("text/plain"), b"\xff", binary("text/plain", "/w==")),
        (200, Some("image/png"), b"\x89PNG", binary("image/png", "iVBORw==")),
        (299, Some("application/octet-stream"), b"abc", binary("application/octet-stream", "YWJj")),
    ];
    for (status, kind, body, expected) in rows {
        assert_eq!(unwrap_http(status, kind, body), Ok(expected), "{status} {kind:?} {body:?}");
    }
}

#[test]
fn failures_over_http_are_exceptions() {
    let html = format!("<p>{}", "x".repeat(5_000));
    let shown = format!("HTTP status 502: <p>{}…", "x".repeat(997));
    let rows: Vec<(u16, Option<&str>, &[u8], &str)> = vec![
        (404, Some("application/json"), b"{\"message\":\"gone\"}", "HTTP status 404: {\"message\":\"gone\"}"),
        (500, None, b"", "HTTP status 500"),
        (502, Some("text/html"), html.as_bytes(), &shown),
        (400, None, b"a\x1b]0;b\r\n\xff", "HTTP status 400: a\u{fffd}]0;b\n\u{fffd}"),
        (403, Some("image/png"), b"\x89PNG", "HTTP status 403"),
        (302, Some("text/plain"), b"over there", "HTTP status 302: over there"),
        (0, None, b"", "HTTP status 0"),
        (200, Some("application/json"), b"<html>", "the answer is said to be JSON, and is not: <html>"),
        (200, Some("application/json"), b"\xff", "the answer is said to be JSON, and is not: \u{fffd}"),
    ];
    for (status, kind, body, message) in rows {
        let failure = ToolFailure { message: message.to_owned(), status: Some(status) };
        assert_eq!(unwrap_http(status, kind, body), Err(failure), "{status}");
    }
    let large = vec![0xff; (4 << 20) + 1];
    let failure = unwrap_http(200, Some("image/png"), &large).unwrap_err().message;
    assert_eq!(failure, "the answer is neither JSON nor text, and has 4194305 bytes: at most 4194304 are passed on");
    assert!(unwrap_http(200, Some("image/png"), &large[1..]).is_ok());
}
