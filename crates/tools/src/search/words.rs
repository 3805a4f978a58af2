//! Words of a text, as they are compared.

/// The longest word that is told from others.
const WORD_CHARS_MAX: usize = 40;

/// Words that say nothing about a tool.
const FILLERS: [&str; 30] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in", "into", "is", "it",
    "me", "my", "of", "on", "or", "that", "the", "this", "to", "want", "with", "you",
];

/// The words of a text: those in `createIssue`, `create_issue` and `create issue` are the same two. What is written
/// together is found together as well: `createissue`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').filter(|run| !run.is_empty()) {
        let parts = parts(run);
        if parts.len() > 1 && parts.len() <= 6 {
            words.push(folded(&parts.concat()));
        }
        words.extend(parts.iter().map(|part| folded(part)));
    }
    words
}

/// Whether a word says nothing about a tool.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.iter().any(|filler| folded(filler) == word)
}

/// `getHTTPStatus2xx` is get, http, status, 2 and xx.
fn parts(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    let (mut parts, mut part) = (Vec::new(), String::new());
    for (place, c) in chars.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| chars.get(place));
        let after = chars.get(place + 1);
        let starts = before.is_some_and(|before| {
            let camel = c.is_uppercase() && (before.is_lowercase() || after.is_some_and(|after| after.is_lowercase()));
            camel || before.is_numeric() != c.is_numeric()
        });
        if (starts || !c.is_alphanumeric()) && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if c.is_alphanumeric() {
            part.extend(c.to_lowercase());
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// A word without its ending: `issues`, `deleting` and `deleted` are found by `issue` and `delete`. It is a rule of thumb;
/// what matters is that both sides are folded alike.
fn folded(word: &str) -> String {
    let mut word: String = word.chars().take(WORD_CHARS_MAX).collect();
    if !word.is_ascii() || word.len() < 3 {
        return word;
    }
    let stem = |word: &str, ending: &str, least: usize| {
        let stem = word.strip_suffix(ending)?;
        (stem.len() >= least && stem.contains(['a', 'e', 'i', 'o', 'u', 'y'])).then(|| stem.to_owned())
    };
    if let Some(stem) = stem(&word, "ies", 3) {
        return stem + "y";
    }
    let keeps = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if let Some(stem) = stem(&word, "s", 2).filter(|_| !keeps) {
        word = stem;
    }
    if let Some(stem) = stem(&word, "ing", 3).or_else(|| stem(&word, "ed", 3)) {
        word = stem;
    }
    if let Some(stem) = stem(&word, "e", 3) {
        word = stem;
    }
    // `adding` and `add`, `running` and `run`, `boxes` and `box`.
    let twice = word.as_bytes().last_chunk::<2>().is_some_and(|[a, b]| a == b && !b"aeiou".contains(a));
    if twice && word.len() > 2 {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (text, expected) in [
            ("list", &["list"][..]),
            ("send-mail now", &["sendmail", "send", "mail", "now"]),
            ("getHTTPStatus", &["gethttpstatus", "get", "http", "status"]),
            ("v2", &["v2", "v", "2"]),
            ("  --__  ", &[]),
            ("Größe_ändern", &["größeändern", "größe", "ändern"]),
            ("", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn endings_fold_alike() {
        for alike in [
            &["issue", "issues"][..],
            &["create", "creates", "created", "creating"],
            &["search", "searches", "searched", "searching"],
            &["query", "queries"],
            &["run", "runs", "running"],
            &["add", "adds", "adding", "added"],
            &["box", "boxes"],
            &["address", "addresses"],
            &["message", "messages", "messaging"],
            &["file", "files"],
        ] {
            let folded: Vec<String> = alike.iter().map(|word| folded(word)).collect();
            assert!(folded.iter().all(|word| *word == folded[0]), "{alike:?}: {folded:?}");
        }
        for (a, b) in [("string", "str"), ("status", "stat"), ("use", "us"), ("this", "thi")] {
            assert_ne!(folded(a), folded(b), "{a} {b}");
        }
    }
}
