//! Arguments become requests.

use super::{BASE, api, issues, tool};
use isolith_tools::OpenApiError;
use serde_json::{Value, json};

/// What one parameter becomes: the URL after its base, and the headers.
fn sent(parameter: &Value, value: &Value) -> String {
    let path = if parameter["in"] == "path" { "/x/{p}/y" } else { "/x" };
    let api = api(json!({ path: { "get": { "operationId": "op", "parameters": [parameter] } } }));
    let operation = match api.operation("op") {
        Ok(operation) => operation,
        Err(_) => return format!("note: {}", api.notes().join("; ")),
    };
    match operation.request(BASE, &json!({ "p": value })) {
        Err(error) => format!("error: {error}"),
        Ok(request) => {
            let headers = request.headers.iter().map(|(name, value)| format!(" {name}: {value}"));
            format!("{}{}", request.url.strip_prefix(BASE).unwrap(), headers.collect::<String>())
        }
    }
}

#[test]
fn parameters_are_written_as_their_style_says() {
    let list = json!(["a", "b,c", 3]);
    let object = json!({ "k": "v w", "l": 1 });
    let dots = "error: `p` is empty or only dots, which would lead to another path";
    let header = "error: `p` has a character that no header can hold";
    let rows: Vec<(Value, Value, &str)> = vec![
        // In the path.
        (json!({ "in": "path" }), json!("a"), "/x/a/y"),
        (json!({ "in": "path" }), json!("a/b?c#d&e=f;g"), "/x/a%2Fb%3Fc%23d%26e%3Df%3Bg/y"),
        (json!({ "in": "path" }), json!("ä b+"), "/x/%C3%A4%20b%2B/y"),
        (json!({ "in": "path" }), json!("~a-b_c.d"), "/x/~a-b_c.d/y"),
        (json!({ "in": "path" }), json!(7), "/x/7/y"),
        (json!({ "in": "path" }), json!(2.0), "/x/2/y"),
        (json!({ "in": "path" }), json!(2.5), "/x/2.5/y"),
        (json!({ "in": "path" }), json!(true), "/x/true/y"),
        (json!({ "in": "path" }), json!("\r\n\0"), "/x/%0D%0A%00/y"),
        (json!({ "in": "path" }), json!("a\\b"), "/x/a%5Cb/y"),
        (json!({ "in": "path" }), list.clone(), "/x/a,b%2Cc,3/y"),
        (json!({ "in": "path" }), object.clone(), "/x/k,v%20w,l,1/y"),
        (json!({ "in": "path", "explode": true }), object.clone(), "/x/k=v%20w,l=1/y"),
        (json!({ "in": "path" }), json!(".."), dots),
        (json!({ "in": "path" }), json!("."), dots),
        (json!({ "in": "path" }), json!(""), dots),
        (json!({ "in": "path" }), json!([]), dots),
        (json!({ "in": "path" }), json!([".."]), dots),
        (json!({ "in": "path" }), json!("..."), "/x/.../y"),
        (json!({ "in": "path" }), json!("%2e%2e"), "/x/%252e%252e/y"),
        (json!({ "in": "path" }), json!("../z"), "/x/..%2Fz/y"),
        (json!({ "in": "path" }), json!(null), "error: `p` is missing"),
        (json!({ "in": "path" }), json!([["a"]]), "error: `p[0]` nests too deep to be sent here"),
        (
            json!({ "in": "path", "style": "matrix" }),
            json!("a"),
            "note: GET /x/{p}/y is left out: `parameters.0`: its style `matrix` is not supported here",
        ),
        // In the query.
        (json!({ "in": "query" }), json!("a b&c=d+e%"), "/x?p=a%20b%26c%3Dd%2Be%25"),
        (json!({ "in": "query" }), json!(""), "/x?p="),
        (json!({ "in": "query" }), json!(false), "/x?p=false"),
        (json!({ "in": "query" }), json!(null), "/x"),
        (json!({ "in": "query" }), list.clone(), "/x?p=a&p=b%2Cc&p=3"),
        (json!({ "in": "query" }), json!([]), "/x"),
        (json!({ "in": "query", "explode": false }), list.clone(), "/x?p=a,b%2Cc,3"),
        (json!({ "in": "query", "explode": false }), json!([]), "/x"),
        (json!({ "in": "query" }), object.clone(), "/x?k=v%20w&l=1"),
        (json!({ "in": "query", "explode": false }), object.clone(), "/x?p=k,v%20w,l,1"),
        (json!({ "in": "query", "style": "spaceDelimited" }), list.clone(), "/x?p=a%20b%2Cc%203"),
        (json!({ "in": "query", "style": "pipeDelimited" }), list.clone(), "/x?p=a%7Cb%2Cc%7C3"),
        (json!({ "in": "query", "style": "pipeDelimited", "explode": true }), list.clone(), "/x?p=a&p=b%2Cc&p=3"),
        (json!({ "in": "query", "style": "spaceDelimited" }), object.clone(), "/x?p=k%20v%20w%20l%201"),
        (json!({ "in": "query", "style": "deepObject" }), object.clone(), "/x?p%5Bk%5D=v%20w&p%5Bl%5D=1"),
        (
            json!({ "in": "query", "style": "deepObject", "explode": true }),
            json!({ "a": { "b": [1, { "c": 2 }] } }),
            "/x?p%5Ba%5D%5Bb%5D%5B0%5D=1&p%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=2",
        ),
        (json!({ "in": "query", "style": "deepObject" }), json!(["a"]), "/x?p%5B0%5D=a"),
        (
            json!({ "in": "query", "style": "deepObject" }),
            json!({ "a]b": 1 }),
            "error: `p.a]b` has a bracket in its name",
        ),
        (
            json!({ "in": "query", "style": "deepObject" }),
            json!([[[[[[[[[1]]]]]]]]]),
            "error: `p[0][0][0][0][0][0][0][0]` nests too deep to be sent",
        ),
        (json!({ "in": "query" }), json!([null]), "error: `p[0]` is null, which cannot be sent here"),
        (json!({ "in": "query" }), json!({ "a": {} }), "error: `p.a` nests too deep to be sent here"),
        (json!({ "in": "query", "allowReserved": true }), json!("a/b:c?d@e"), "/x?p=a/b:c?d@e"),
        (json!({ "in": "query", "allowReserved": true }), json!("a&b#c+d;e[f]%"), "/x?p=a%26b%23c%2Bd%3Be%5Bf%5D%25"),
        (json!({ "in": "query", "allowReserved": true, "explode": false }), json!(["a/b", "c,d"]), "/x?p=a/b,c%2Cd"),
        (
            json!({ "in": "query", "content": { "application/json": {} } }),
            json!({ "a": [1, "&"] }),
            "/x?p=%7B%22a%22%3A%5B1%2C%22%26%22%5D%7D",
        ),
        // In headers.
        (json!({ "in": "header" }), json!("a, b=c"), "/x p: a, b=c"),
        (json!({ "in": "header" }), list.clone(), "/x p: a,b,c,3"),
        (json!({ "in": "header" }), object.clone(), "/x p: k,v w,l,1"),
        (json!({ "in": "header", "explode": true }), object.clone(), "/x p: k=v w,l=1"),
        (json!({ "in": "header" }), json!("é"), "/x p: é"),
        (json!({ "in": "header" }), json!("a\r\nHost: evil"), header),
        (json!({ "in": "header" }), json!("a\nb"), header),
        (json!({ "in": "header" }), json!("a\u{0}"), header),
        (json!({ "in": "header" }), json!(["a", "b\u{7f}"]), header),
        (json!({ "in": "header" }), json!("→"), header),
        // In cookies.
        (json!({ "in": "cookie" }), json!("a; b=c"), "/x cookie: p=a%3B%20b%3Dc"),
        (json!({ "in": "cookie", "explode": false }), list, "/x cookie: p=a,b%2Cc,3"),
        (json!({ "in": "cookie" }), object, "/x cookie: k=v%20w; l=1"),
        (json!({ "in": "cookie" }), json!({ "a b": 1 }), "error: `p.a b` cannot be the name of a cookie"),
        (json!({ "in": "cookie" }), json!("a\r\nb"), "/x cookie: p=a%0D%0Ab"),
    ];
    for (mut parameter, value, expected) in rows {
        parameter["name"] = "p".into();
        parameter["required"] = (parameter["in"] == "path").into();
        assert_eq!(sent(&parameter, &value), expected, "{parameter} {value}");
    }
}

#[test]
fn bodies_are_written_as_their_content_says() {
    let body = |content: Value, value: Value| {
        let post = json!({ "operationId": "op", "requestBody": { "content": content } });
        let api = api(json!({ "/x": { "post": post } }));
        let Ok(operation) = api.operation("op") else { return api.notes().join("; ") };
        match operation.request(BASE, &json!({ "body": value })) {
            Err(error) => format!("error: {error}"),
            Ok(request) => {
                let content_type = request.content_type().unwrap_or("none").to_owned();
                format!("{content_type}: {}", String::from_utf8(request.body.unwrap_or_default()).unwrap())
            }
        }
    };
    let form = "application/x-www-form-urlencoded";
    let encoding = json!({
        "s": { "style": "spaceDelimited" }, "d": { "style": "deepObject" }, "e": { "style": "form" }, "f": { "contentType": "x/y" }
    });
    for (content, value, expected) in [
        (json!({ "application/json": {} }), json!({ "a": 1 }), "application/json: {\"a\":1}"),
        (json!({ "application/json; charset=utf-8": {} }), json!([1]), "application/json: [1]"),
        (json!({ "application/json": {} }), json!(null), "none: "),
        (json!({ "*/*": {} }), json!("a"), "application/json: \"a\""),
        (
            json!({ "text/plain": {}, "application/vnd.a+json": {}, "multipart/form-data": {} }),
            json!({}),
            "application/vnd.a+json: {}",
        ),
        (json!({ "text/plain": {} }), json!("a\nb"), "text/plain; charset=utf-8: a\nb"),
        (json!({ "text/plain": {} }), json!([1]), "error: `body` nests too deep to be sent here"),
        (
            json!({ form: {} }),
            json!({ "a": "b c&d", "l": [1, 2], "n": null, "o": { "k": 1 } }),
            "application/x-www-form-urlencoded: a=b%20c%26d&l=1&l=2&o=%7B%22k%22%3A1%7D",
        ),
        (json!({ form: {} }), json!({ "l": [{ "a": 1 }] }), "application/x-www-form-urlencoded: l=%7B%22a%22%3A1%7D"),
        (
            json!({ form: { "encoding": encoding } }),
            json!({ "s": ["a", "b"], "d": { "k": 1 }, "e": { "x": 1 }, "f": "y" }),
            "application/x-www-form-urlencoded: d%5Bk%5D=1&x=1&f=y&s=a%20b",
        ),
        (
            json!({ form: { "encoding": encoding } }),
            json!({ "a": 1, "e": { "a": 2 } }),
            "error: `body.e.a` would be taken for another field",
        ),
        (json!({ form: {} }), json!("a"), "error: `body` is sent as a form, and has to be an object"),
        (
            json!({ "multipart/form-data": {} }),
            json!({}),
            "POST /x is left out: `requestBody`: `multipart/form-data` cannot be sent: JSON, forms and plain text can",
        ),
        (
            json!({ "application/evil\r\nx: +json": {} }),
            json!({}),
            "POST /x is left out: `requestBody`: `application/evil\r\nx: +json` cannot be sent: JSON, forms and plain text can",
        ),
        (json!({}), json!({}), "POST /x is left out: `requestBody`: it has no `content`"),
    ] {
        assert_eq!(body(content.clone(), value.clone()), expected, "{content} {value}");
    }
}

#[test]
fn arguments_that_share_a_name_are_told_apart() {
    let parameters = json!([
        { "name": "id", "in": "cookie", "schema": { "type": "string" } },
        { "name": "id", "in": "query", "schema": { "type": "string" } },
        { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
        { "name": "id_cookie", "in": "query", "schema": { "type": "string" } },
        { "name": "body", "in": "query", "schema": { "type": "string" } },
    ]);
    let body = json!({ "required": true, "content": { "application/json": { "schema": { "type": "object" } } } });
    let with = json!({ "operationId": "with", "parameters": parameters, "requestBody": body });
    let without = json!({ "operationId": "without", "parameters": [{ "name": "body", "in": "query" }] });
    let api = api(json!({ "/a/{id}": { "post": with }, "/b": { "get": without } }));
    let args = json!({ "id": "1", "id_query": "2", "id_cookie": "3", "id_cookie_": "4", "body_query": "5", "body": { "x": 6 } });
    let request = api.operation("with").unwrap().request(BASE, &args).unwrap();
    assert_eq!(request.url, format!("{BASE}/a/1?id=2&id_cookie=3&body=5"));
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(request.headers, [header("cookie", "id=4"), header("content-type", "application/json")]);
    assert_eq!(request.body.unwrap(), b"{\"x\":6}");
    assert_eq!(tool(&api, "with").input["required"], json!(["id", "body"]));
    let request = api.operation("without").unwrap().request(BASE, &json!({ "body": "5" })).unwrap();
    assert_eq!((request.url, request.body), (format!("{BASE}/b?body=5"), None));
}

#[test]
fn an_object_cannot_set_another_parameter() {
    let parameters = json!([
        { "name": "owner", "in": "query", "schema": { "type": "string" } },
        { "name": "filter", "in": "query", "schema": { "type": "object" } },
    ]);
    let api = api(json!({ "/a": { "get": { "operationId": "op", "parameters": parameters } } }));
    let operation = api.operation("op").unwrap();
    for key in ["owner", "OWNER", "owner[]"] {
        let error = operation.request(BASE, &json!({ "owner": "me", "filter": { key: "you" } })).unwrap_err();
        assert_eq!(error.to_string(), format!("`filter.{key}` would be taken for another parameter"));
    }
    assert_eq!(operation.request(BASE, &json!({ "filter": { "a": 1 } })).unwrap().url, format!("{BASE}/a?a=1"));
}

#[test]
fn headers_of_the_host_are_not_parameters() {
    for name in [
        "Authorization",
        "Host",
        "Connection",
        "Content-Length",
        "Transfer-Encoding",
        "Cookie",
        "Content-Type",
        "Accept",
        "Proxy-Authorization",
        "proxy-x",
        "content_length",
        "X-HTTP-Method-Override",
        "X-Forwarded-For",
        "a b",
        "a:b",
    ] {
        let parameter = json!({ "name": name, "in": "header", "required": true, "schema": { "type": "string" } });
        let api = api(json!({ "/a": { "get": { "operationId": "op", "parameters": [parameter] } } }));
        assert_eq!(tool(&api, "op").input["properties"], json!({}), "{name}");
        assert!(api.notes()[0].starts_with(&format!("GET /a: the header parameter `{name}` is left out:")), "{name}");
        let error = api.operation("op").unwrap().request(BASE, &json!({ name: "x" })).unwrap_err();
        assert_eq!(error.argument(), Some(name));
    }
}

#[test]
fn wrong_arguments_are_told_with_their_place() {
    let api = issues();
    for (name, args, expected) in [
        ("issuesList", json!({}), "`project` is missing"),
        ("issuesList", json!(null), "`project` is missing"),
        ("issuesList", json!({ "project": null }), "`project` is missing"),
        ("issuesList", json!([]), "`args` has to be an object, and is a list"),
        ("issuesList", json!({ "project": 5 }), "`project` has to be text, and is a number"),
        ("issuesList", json!({ "project": "a", "page": "1" }), "`page` has to be an integer, and is text"),
        ("issuesList", json!({ "project": "a", "page": 1.5 }), "`page` has to be an integer, and is a number"),
        ("issuesList", json!({ "project": "a", "labels": "x" }), "`labels` has to be a list, and is text"),
        (
            "issuesList",
            json!({ "project": "a", "labels": ["x", true] }),
            "`labels[1]` has to be text, and is a boolean",
        ),
        (
            "issuesList",
            json!({ "project": "a", "created": { "to": 5 } }),
            "`created.to` has to be text, and is a number",
        ),
        ("issuesList", json!({ "project": "a", "state": 1 }), "`state` has to be text, and is a number"),
        ("issuesList", json!({ "projct": "a" }), "there is no argument `projct`: did you mean `project`?"),
        ("issuesList", json!({ "project": "a", "zebra": 1 }), "there is no argument `zebra`"),
        ("issuesList", json!({ "project": "a", "Authorization": "x" }), "there is no argument `Authorization`"),
        ("createIssue", json!({ "project": "a" }), "`body` is missing"),
        (
            "createIssue",
            json!({ "project": "a", "body": { "title": 5 } }),
            "`body.title` has to be text, and is a number",
        ),
        (
            "createIssue",
            json!({ "project": "a", "body": { "text": 5 } }),
            "`body.text` has to be text or null, and is a number",
        ),
        (
            "getIssue",
            json!({ "project": "..", "number": 1 }),
            "`project` is empty or only dots, which would lead to another path",
        ),
    ] {
        let error = api.operation(name).unwrap().request(BASE, &args).unwrap_err();
        assert_eq!(error.to_string(), expected, "{args}");
        assert!(error.argument().is_some(), "{args}");
    }
    let error = api.operation("getIsue").unwrap_err();
    assert_eq!(error.to_string(), "there is no operation `getIsue`: did you mean `getIssue`?");
}

#[test]
fn a_url_begins_with_a_server() {
    let api = issues();
    let request =
        |base: &str| api.operation("getIssue").unwrap().request(base, &json!({ "project": "a", "number": 1 }));
    for base in ["https://h", "https://h/", "http://127.0.0.1:8080/v1//", "HTTPS://h/a/b"] {
        let url = format!("{}/projects/a/issues/1", base.trim_end_matches('/'));
        assert_eq!(request(base).unwrap().url, url);
    }
    for base in [
        "",
        "/v1",
        "h",
        "ftp://h",
        "https://",
        "https:///a",
        "https://h?x",
        "https://h/#",
        "https://h/a b",
        "https://{r}/",
    ] {
        assert!(matches!(request(base), Err(OpenApiError::BaseUrl { .. })), "{base}");
    }
}
