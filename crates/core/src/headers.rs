//! Which headers a request may carry.

/// Headers that say how the connection is used, or who is asking: not a guest's to set.
const FORBIDDEN: [&str; 14] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "keep-alive",
    "http2-settings",
    "via",
    "forwarded",
    "x-real-ip",
    "accept-encoding",
];
/// The same, by how they start.
const FORBIDDEN_STARTS: [&str; 3] = ["proxy-", "sec-", "x-forwarded-"];
/// Headers by which some servers take a request for another than it is: another method, or another path.
const OVERRIDES: [&str; 6] = [
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
    "x-original-uri",
];

/// The most headers a request may have, and the most bytes in all of them.
const COUNT_MAX: usize = 100;
const BYTES_MAX: usize = 64 << 10;

/// Refuses headers that would confuse a server about the request. Names are in lower case.
pub fn check(headers: &[(String, String)]) -> Result<(), String> {
    if headers.len() > COUNT_MAX {
        return Err(format!("a request may have {COUNT_MAX} headers"));
    }
    if headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > BYTES_MAX {
        return Err(format!("the headers of a request may have {BYTES_MAX} bytes in all"));
    }
    headers.iter().try_for_each(|(name, value)| {
        check_name(name)?;
        if OVERRIDES.contains(&dashed(name).as_str()) {
            return Err(format!("the header `{name}` would make another request of this one"));
        }
        // Bytes above 0x7f come as the characters of those numbers.
        let sound = |c: char| c == '\t' || (c >= ' ' && c != '\u{7f}' && c <= '\u{ff}');
        if value.chars().all(sound) {
            Ok(())
        } else {
            Err(format!("the header `{name}` has a control character in its value"))
        }
    })
}

/// Refuses names that are not a guest's to set.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let token = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("`{}` is not the name of a header", name.escape_debug()));
    }
    let plain = dashed(name);
    if FORBIDDEN.contains(&&*plain) || FORBIDDEN_STARTS.iter().any(|start| plain.starts_with(start)) {
        return Err(format!("the header `{name}` is not the program's to set"));
    }
    Ok(())
}

/// Many servers cannot tell `_` from `-` in a name.
fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn confusing_headers_are_refused() {
        let check = |name: &str, value: &str| super::check(&[(name.to_owned(), value.to_owned())]);
        for (name, value) in
            [("x-a", "1"), ("authorization", "Bearer x"), ("cookie", "a=b"), ("x-a", "\u{e9}\t"), ("x-a", "")]
        {
            assert_eq!(check(name, value), Ok(()), "{name}");
        }
        for (name, value) in [
            ("host", "x"),
            ("proxy-authorization", "x"),
            ("sec-fetch-site", "x"),
            ("transfer-encoding", "chunked"),
            ("x-a", "1\r\nX: 2"),
            ("x-a", "1\nX: 2"),
            ("x-a", "1\0"),
            ("x-a", "\u{100}"),
            ("x a", "1"),
            ("authorization ", "1"),
            ("", "1"),
            ("x-http-method-override", "DELETE"),
            ("x_http_method_override", "DELETE"),
            ("x-original-url", "/admin"),
            ("content_length", "4"),
            ("transfer_encoding", "chunked"),
            ("x_forwarded_for", "127.0.0.1"),
            ("x-real-ip", "127.0.0.1"),
        ] {
            assert!(check(name, value).is_err(), "{name:?}: {value:?}");
        }
        assert!(super::check(&vec![("x-a".to_owned(), "1".to_owned()); 101]).is_err());
        assert!(super::check(&[("x-a".to_owned(), "1".repeat(65 << 10))]).is_err());
    }
}
