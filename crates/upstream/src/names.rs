//! Names for a program, made of what a server calls its tools.

use isolith_core::BindingName;
use std::collections::{HashMap, HashSet};

/// The longest name.
const NAME_CHARS_MAX: usize = 64;
/// Properties by which JavaScript takes an object for something else than it is, or calls it unasked.
const TROUBLE: [&str; 8] =
    ["__proto__", "constructor", "hasOwnProperty", "prototype", "then", "toJSON", "toString", "valueOf"];

/// An identifier for each name, all of them distinct: `create_issue` for `create-issue`, and `create_issue_2` when there is one.
///
/// Names that are identifiers stay what they are, whatever the others are called.
pub(crate) fn identifiers(upstream: &[String]) -> Vec<Option<BindingName>> {
    let wished: Vec<String> = upstream.iter().map(|name| identifier(name)).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut names: Vec<Option<String>> = vec![None; upstream.len()];
    for (place, (own, wish)) in upstream.iter().zip(&wished).enumerate() {
        if own == wish && taken.insert(wish.clone()) {
            names[place] = Some(wish.clone());
        }
    }
    // Counted on from the last time, or thousands of one name would take their square of steps.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (place, wish) in wished.iter().enumerate() {
        if names[place].is_some() {
            continue;
        }
        let mut name = wish.clone();
        while !taken.insert(name.clone()) {
            let number = numbers.entry(wish).or_insert(1);
            *number += 1;
            let end = format!("_{number}");
            let start: String = wish.chars().take(NAME_CHARS_MAX - end.len()).collect();
            name = start + &end;
        }
        names[place] = Some(name);
    }
    names.into_iter().map(|name| BindingName::new(name?).ok()).collect()
}

fn identifier(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' };
    let mut name: String = text.chars().map(plain).take(NAME_CHARS_MAX).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
        name.truncate(NAME_CHARS_MAX);
    }
    if TROUBLE.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        let owned: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        identifiers(&owned).into_iter().map(|name| name.unwrap().to_string()).collect()
    }

    #[test]
    fn names_become_identifiers() {
        assert_eq!(
            named(&["create-issue", "get.user", "2fa", "größe", "then", "__proto__", "", "a/b c"]),
            ["create_issue", "get_user", "_2fa", "gr__e", "then_", "__proto___", "_", "a_b_c"]
        );
        assert_eq!(named(&["9".repeat(80).as_str()]), [format!("_{}", "9".repeat(63))]);
    }

    #[test]
    fn two_tools_never_have_one_name() {
        assert_eq!(named(&["a-b", "a.b", "a_b", "a_b_2"]), ["a_b_3", "a_b_4", "a_b", "a_b_2"]);
        let long = "x".repeat(64);
        assert_eq!(named(&[&long, &format!("{long}y")]), [long.clone(), format!("{}_2", "x".repeat(62))]);
        let many = vec!["a-b"; 5_000];
        assert_eq!(named(&many).into_iter().collect::<HashSet<_>>().len(), 5_000);
    }
}
