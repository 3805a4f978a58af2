//! Which tools of a namespace are allowed, asked about or forbidden.

use isolith_core::Rule;

/// The lists of an operator. What forbids wins over what asks, and that over what allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
}

impl Rules {
    /// What the lists say of a tool by any of its names; nothing when they do not mention it.
    pub(crate) fn of(&self, names: &[&str]) -> Option<Rule> {
        let mentions = |list: &[String]| list.iter().any(|pattern| names.iter().any(|name| covers(pattern, name)));
        [(&self.deny, Rule::Deny), (&self.ask, Rule::Ask), (&self.allow, Rule::Allow)]
            .into_iter()
            .find_map(|(list, rule)| mentions(list).then_some(rule))
    }
}

/// A star at the end stands for whatever follows.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_wins() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let rules = Rules { allow: list(&["*"]), ask: list(&["create_*", "x"]), deny: list(&["create_user", "a-b"]) };
        for (name, rule) in [
            ("get", Rule::Allow),
            ("create_", Rule::Ask),
            ("create_issue", Rule::Ask),
            ("create_user", Rule::Deny),
            ("create_users", Rule::Ask),
            ("xx", Rule::Allow),
        ] {
            assert_eq!(rules.of(&[name]), Some(rule), "{name}");
        }
        // By the name that the server gives it, too.
        assert_eq!(rules.of(&["a_b", "a-b"]), Some(Rule::Deny));
        assert_eq!(Rules { deny: list(&["a"]), ..Rules::default() }.of(&["b"]), None);
    }
}
