//! A catalogue as someone sees it for whom not all of it exists.

use crate::search::{Found, LIMIT_MAX};
use crate::typescript::Declarations;
use crate::typescript::text::line;
use crate::{Catalogue, Namespace, Tool, Unknown};
use isolith_core::nearest;

/// How much [`View::describe`] says.
const DESCRIPTION_BYTES_MAX: usize = 64 << 10;

/// How many paths are named instead of an unknown one.
const NEAR_MAX: usize = 3;

/// How much of an unknown path is repeated. The longest right one has 129 characters.
const ASKED_CHARS_MAX: usize = 129;

/// Some tools of a catalogue. What is not among them is not found, not counted and not proposed.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) catalogue: &'a Catalogue,
    /// Whether a path exists.
    pub(crate) exists: &'a (dyn Fn(&str) -> bool + Sync),
}

impl<'a> View<'a> {
    /// The tool at `<namespace>.<tool>`.
    pub fn find(&self, path: &str) -> Result<(&'a Namespace, &'a Tool), Unknown> {
        let found = path.split_once('.').and_then(|(namespace, tool)| {
            let namespace = self.catalogue.namespace(namespace)?;
            Some((namespace, self.tool_in(namespace, tool)?))
        });
        found.ok_or_else(|| self.unknown(path))
    }

    /// The tools that go best with some words, the best first. No words: the first tools there are.
    ///
    /// At most 100, whatever the limit.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Found> {
        self.catalogue.index().search(query, limit.min(LIMIT_MAX), self.exists)
    }

    /// The TypeScript declaration of what is at a path, a tool or a whole namespace.
    pub fn describe(&self, path: &str) -> Result<String, Unknown> {
        let mut declarations = Declarations::new(DESCRIPTION_BYTES_MAX);
        match self.namespace(path) {
            Some(namespace) => {
                let tools: Vec<Tool> = self.tools(namespace).cloned().collect();
                declarations.namespace(namespace, &tools);
            }
            None => {
                let (namespace, tool) = self.find(path)?;
                declarations.namespace(namespace, std::slice::from_ref(tool));
            }
        }
        Ok(declarations.finish())
    }

    fn tools(&self, namespace: &'a Namespace) -> impl Iterator<Item = &'a Tool> {
        namespace.tools.iter().filter(|tool| (self.exists)(&format!("{}.{}", namespace.name, tool.name)))
    }

    fn namespace(&self, name: &str) -> Option<&'a Namespace> {
        self.catalogue.namespace(name).filter(|namespace| self.tools(namespace).next().is_some())
    }

    fn tool_in(&self, namespace: &'a Namespace, name: &str) -> Option<&'a Tool> {
        let place = namespace.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
        namespace.tools.get(place).filter(|tool| (self.exists)(&format!("{}.{}", namespace.name, tool.name)))
    }

    fn unknown(&self, asked: &str) -> Unknown {
        let asked = line(asked, ASKED_CHARS_MAX);
        let near = self.near(&asked);
        Unknown { asked, near }
    }

    /// What may have been meant. Names are compared one by one, not whole paths: that is quicker, and a tool in the right
    /// place is nearer than one that looks alike in another.
    fn near(&self, asked: &str) -> Vec<String> {
        let all = self.catalogue.namespaces();
        let namespaces =
            || all.iter().map(|namespace| namespace.name.as_str()).filter(|name| self.namespace(name).is_some());
        let Some((place, name)) = asked.split_once('.') else {
            let namespace = nearest(asked, namespaces()).map(str::to_owned);
            return if namespace.is_some() { namespace.into_iter().collect() } else { self.elsewhere(asked) };
        };
        let namespace = match self.namespace(place) {
            Some(namespace) => Some(namespace),
            None => nearest(place, namespaces()).and_then(|near| self.namespace(near)),
        };
        let tool = namespace.and_then(|namespace| {
            let near = nearest(name, self.tools(namespace).map(|tool| tool.name.as_str()));
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
        let same = self.catalogue.namespaces().iter().filter(|namespace| self.tool_in(namespace, name).is_some());
        let same: Vec<String> = same.take(NEAR_MAX).map(|namespace| format!("{}.{name}", namespace.name)).collect();
        if !same.is_empty() || name.is_empty() {
            return same;
        }
        self.search(asked, NEAR_MAX).into_iter().map(|found| found.path).collect()
    }
}
