//! All tools there are.

use crate::search::{Found, Index, LIMIT_MAX};
use crate::typescript::Declarations;
use crate::typescript::text::line;
use crate::{Namespace, Tool};
use isolith_core::nearest;
use std::collections::BTreeMap;

/// How much [`Catalogue::describe`] says.
const DESCRIPTION_BYTES_MAX: usize = 64 << 10;

/// How many paths are named instead of an unknown one.
const NEAR_MAX: usize = 3;

/// How much of an unknown path is repeated. The longest right one has 129 characters.
const ASKED_CHARS_MAX: usize = 129;

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
        let found = path.split_once('.').and_then(|(namespace, tool)| {
            let namespace = self.namespace(namespace)?;
            Some((namespace, tool_in(namespace, tool)?))
        });
        found.ok_or_else(|| self.unknown(path))
    }

    /// The tools that go best with some words, the best first. No words: the first tools there are.
    ///
    /// At most 100, whatever the limit.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Found> {
        self.index.search(query, limit.min(LIMIT_MAX))
    }

    /// The TypeScript declaration of what is at a path, a tool or a whole namespace.
    pub fn describe(&self, path: &str) -> Result<String, Unknown> {
        let mut declarations = Declarations::new(DESCRIPTION_BYTES_MAX);
        match self.namespace(path) {
            Some(namespace) => declarations.namespace(namespace, &namespace.tools),
            None => {
                let (namespace, tool) = self.find(path)?;
                declarations.namespace(namespace, std::slice::from_ref(tool));
            }
        }
        Ok(declarations.finish())
    }

    fn namespace(&self, name: &str) -> Option<&Namespace> {
        let place = self.namespaces.binary_search_by(|namespace| namespace.name.as_str().cmp(name)).ok()?;
        self.namespaces.get(place)
    }

    fn unknown(&self, asked: &str) -> Unknown {
        let asked = line(asked, ASKED_CHARS_MAX);
        let near = self.near(&asked);
        Unknown { asked, near }
    }

    /// What may have been meant. Names are compared one by one, not whole paths: that is quicker, and a tool in the right
    /// place is nearer than one that looks alike in another.
    fn near(&self, asked: &str) -> Vec<String> {
        let namespaces = || self.namespaces.iter().map(|namespace| namespace.name.as_str());
        let Some((place, name)) = asked.split_once('.') else {
            let namespace = nearest(asked, namespaces()).map(str::to_owned);
            return if namespace.is_some() { namespace.into_iter().collect() } else { self.elsewhere(asked) };
        };
        let namespace = match self.namespace(place) {
            Some(namespace) => Some(namespace),
            None => nearest(place, namespaces()).and_then(|near| self.namespace(near)),
        };
        let tool = namespace.and_then(|namespace| {
            let near = nearest(name, namespace.tools.iter().map(|tool| tool.name.as_str()));
            near.map(|near| format!("{}.{near}", namespace.name))
        });
        match tool {
            Some(path) => vec![path],
            None => self.elsewhere(asked),
        }
    }

    /// Tools of that very name in other places, or else those that the words of the path lead to.
    fn elsewhere(&self, asked: &str) -> Vec<String> {
        let name = asked.rsplit('.').next().unwrap_or_default();
        let same = self.namespaces.iter().filter(|namespace| tool_in(namespace, name).is_some());
        let same: Vec<String> = same.take(NEAR_MAX).map(|namespace| format!("{}.{name}", namespace.name)).collect();
        if !same.is_empty() || name.is_empty() {
            return same;
        }
        self.search(asked, NEAR_MAX).into_iter().map(|found| found.path).collect()
    }
}

fn tool_in<'a>(namespace: &'a Namespace, name: &str) -> Option<&'a Tool> {
    let place = namespace.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
    namespace.tools.get(place)
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
