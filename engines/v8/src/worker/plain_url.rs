//! URLs in which a parser would change nothing, so that none is needed for most.

/// Where the path of a plain URL begins, or 0: `http(s)://host[:port]/path[?query]`.
pub(crate) fn plain_url(text: &str) -> usize {
    path_of(text.as_bytes()).unwrap_or(0)
}

fn path_of(text: &[u8]) -> Option<usize> {
    let (rest, usual_port) = match text.strip_prefix(b"https://") {
        Some(rest) => (rest, 443),
        None => (text.strip_prefix(b"http://")?, 80),
    };
    let host_end = rest.iter().position(|byte| matches!(byte, b':' | b'/'))?;
    let (host, mut rest) = rest.split_at(host_end);
    if !is_plain_host(host) {
        return None;
    }
    if let Some(after) = rest.strip_prefix(b":") {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let port = number(&after[..digits], 65_535)?;
        if port == usual_port {
            return None;
        }
        rest = &after[digits..];
    }
    if rest.first() != Some(&b'/') {
        return None;
    }
    let path_at = text.len() - rest.len();
    let query_at = rest.iter().position(|byte| *byte == b'?').unwrap_or(rest.len());
    let (path, query) = rest.split_at(query_at);
    let has_dots = path.windows(2).any(|pair| pair == b"/.")
        || path.windows(4).any(|four| four[..3] == *b"/%2" && four[3].eq_ignore_ascii_case(&b'e'));
    let is_plain = path.iter().all(|byte| in_path(*byte)) && query.iter().all(|byte| in_query(*byte));
    (is_plain && !has_dots).then_some(path_at)
}

/// What stays as it is in paths and in queries: printable ASCII that neither of them encodes.
fn in_both(byte: u8) -> bool {
    (0x21..0x7f).contains(&byte) && !matches!(byte, b'"' | b'#' | b'<' | b'>')
}

fn in_path(byte: u8) -> bool {
    in_both(byte) && !matches!(byte, b'?' | b'^' | b'`' | b'{' | b'}' | b'\\')
}

fn in_query(byte: u8) -> bool {
    in_both(byte) && byte != b'\''
}

/// A decimal number as it would be written, at most `most`.
fn number(digits: &[u8], most: u32) -> Option<u32> {
    if digits.is_empty() || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|number| *number <= most)
}

/// A name in lower case that no mapping touches, or an IPv4 address.
fn is_plain_host(host: &[u8]) -> bool {
    let known = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    if !host.iter().all(known) || host.windows(4).any(|four| four == b"xn--") {
        return false;
    }
    let labels: Vec<&[u8]> = host.split(|byte| *byte == b'.').collect();
    match labels.last() {
        None | Some([]) => false,
        // What ends in a number is an address, or nothing.
        Some([first, ..]) if first.is_ascii_digit() => {
            labels.len() == 4 && labels.iter().all(|label| number(label, 255).is_some())
        }
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::plain_url;

    #[test]
    fn only_what_a_parser_leaves_alone_is_plain() {
        let plain = ["http://a/", "https://a.example.com/x?y=z", "http://127.0.0.1:8080/a/b", "https://a:80/%20"];
        for url in plain {
            assert!(plain_url(url) > 0, "{url}");
        }
        let other = [
            "http://a",
            "http:///",
            "ftp://a/",
            "http://A/",
            "http://a:80/",
            "https://a:443/",
            "http://a:080/",
            "http://a:/",
            "http://a/./b",
            "http://a/../b",
            "http://a/%2e/b",
            "http://a/%2E",
            "http://1.2.3/",
            "http://1.2.3.256/",
            "http://xn--a/",
            "http://a./",
            "http://a/b c",
            "http://a/#x",
            "http://a/é",
            "http://u@a/",
            "http://a/^",
            "http://a/?'",
        ];
        for url in other {
            assert_eq!(plain_url(url), 0, "{url}");
        }
        assert_eq!(plain_url("http://a.b:81/x"), 13);
    }
}
