//! All tools there are.

use crate::search::{Found, Index};
use crate::{Namespace, Tool, View};
use std::collections::BTreeMap;

/// Tools by name and by words. It does not change: what differs is another catalogue.
#[derive(Clone, Debug)]
pub struct Catalogue {
    namespaces: Vec<Namespace>,
    index: Index,
}

/// A path that leads to no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {} `{asked}`{}", self.what(), self.hint())]
pub struct Unknown {
    /// What was asked for.
    pub asked: String,
    /// What may have been meant: paths that lead somewhere, the likeliest first.
    pub near: Vec<String>,
}

impl Catalogue {
    /// Sorts namespaces and their tools by name, and reads what they can be found by.
    ///
    /// Namespaces of one name become one. Of tools with one name in it, the first stays.
    pub fn new(namespaces: Vec<Namespace>) -> Catalogue {
        let mut sorted: BTreeMap<String, Namespace> = BTreeMap::new();
        for mut namespace in namespaces {
            match sorted.get_mut(namespace.name.as_str()) {
                Some(known) => known.tools.append(&mut namespace.tools),
                None => {
                    sorted.insert(namespace.name.to_string(), namespace);
                }
            }
        }
        let mut namespaces: Vec<Namespace> = sorted.into_values().collect();
        for namespace in &mut namespaces {
            namespace.tools.sort_by(|a, b| a.name.cmp(&b.name));
            namespace.tools.dedup_by(|next, kept| next.name == kept.name);
        }
        let index = Index::new(&namespaces);
        Catalogue { namespaces, index }
    }

    /// The namespaces in the order of their names.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// The tool at `<namespace>.<tool>`.
    pub fn find(&self, path: &str) -> Result<(&Namespace, &Tool), Unknown> {
        self.only(&|_| true).find(path)
    }

    /// The tools that go best with some words, the best first. No words: the first tools there are.
    ///
    /// At most 100, whatever the limit.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Found> {
        self.only(&|_| true).search(query, limit)
    }

    /// The TypeScript declaration of what is at a path, a tool or a whole namespace.
    pub fn describe(&self, path: &str) -> Result<String, Unknown> {
        self.only(&|_| true).describe(path)
    }

    /// The catalogue as someone sees it for whom only some paths exist.
    pub fn only<'a>(&'a self, exists: &'a (dyn Fn(&str) -> bool + Sync)) -> View<'a> {
        View { catalogue: self, exists }
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    pub(crate) fn namespace(&self, name: &str) -> Option<&Namespace> {
        let place = self.namespaces.binary_search_by(|namespace| namespace.name.as_str().cmp(name)).ok()?;
        self.namespaces.get(place)
    }
}

impl Unknown {
    fn what(&self) -> &'static str {
        if self.asked.contains('.') { "tool" } else { "namespace" }
    }

    fn hint(&self) -> String {
        let quoted: Vec<String> = self.near.iter().map(|path| format!("`{path}`")).collect();
        match quoted.split_last() {
            None => String::new(),
            Some((one, [])) => format!(": did you mean {one}?"),
            Some((last, others)) => format!(": did you mean {} or {last}?", others.join(", ")),
        }
    }
}
