//! The programs that this user keeps, as the tools of the namespace `snippets`, beside the tools of others.

use crate::failure::Failure;
use crate::job;
use isolith_core::{
    BindingName, BoxFuture, CallError, Grant, Json, Power, Rule, ToolGrant, ToolName, ToolPattern, admit,
};
use isolith_gate::{Gate, Programs, ToolProgram, Upstreams};
use isolith_runner::{ProgramFiles, Runner};
use isolith_store::{Snippet, SnippetEntry, StoreError};
use isolith_tools::{Catalogue, Namespace, Tool};
use isolith_upstream::Toolbox;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The namespace of saved programs.
pub(crate) const NAMESPACE: &str = "snippets";
/// What the namespace is for.
const ABOUT: &str = "Programs that were saved here before.";

/// Whether a grant is about a tool.
type Granted<'a> = &'a (dyn Fn(&ToolName) -> bool + Sync);

/// Saved programs, and the tools of others where there are any.
pub(crate) struct Snippets {
    store: isolith_store::Snippets,
    programs: Arc<dyn Programs>,
    others: Option<Arc<Toolbox>>,
}

/// The name of the namespace.
fn namespace() -> Result<BindingName, Failure> {
    BindingName::new(NAMESPACE).map_err(|error| Failure::internal("naming the snippets", &error))
}

/// What `--allow-snippets` stands for.
pub(crate) fn all() -> Result<Grant, Failure> {
    Ok(Power::Tool(ToolGrant::new(ToolPattern::all_of(namespace()?))).into())
}

/// Whether any saved program is granted.
fn granted(grants: &[Grant]) -> bool {
    let is_one = |grant: &Grant| matches!(&grant.power, Power::Tool(tool) if tool.name.namespace() == Some(NAMESPACE));
    grants.iter().any(|grant| grant.rule != Rule::Deny && is_one(grant))
}

/// The tools of others with the saved programs, where any of these are granted. Nothing is opened otherwise.
pub(crate) fn beside(
    others: Option<Arc<Toolbox>>,
    grants: &[Grant],
    runner: impl FnOnce() -> Result<Runner, Failure>,
    folder: PathBuf,
) -> Result<Option<Arc<dyn Upstreams>>, Failure> {
    // An operator may have called a server like this: it is theirs that was granted then.
    let taken = others.as_ref().is_some_and(|others| others.namespaces().any(|name| name.as_str() == NAMESPACE));
    if taken || !granted(grants) {
        return Ok(others.map(|others| others as _));
    }
    let store = job::data_folder()?.snippets().map_err(job::store)?;
    let programs = Arc::new(ProgramFiles::new(runner()?, folder));
    Ok(Some(Arc::new(Snippets { store, programs, others })))
}

/// A catalogue with the saved programs in it, where any of them are granted.
pub(crate) fn listed_with(others: Arc<Catalogue>, grants: &[Grant]) -> Result<Arc<Catalogue>, Failure> {
    let taken = others.namespaces().iter().any(|namespace| namespace.name.as_str() == NAMESPACE);
    if taken || !granted(grants) {
        return Ok(others);
    }
    let own = job::data_folder()?.snippets().and_then(|store| store.list()).map_err(job::store)?;
    let mut all = others.namespaces().to_vec();
    all.push(tools(&own)?);
    Ok(Arc::new(Catalogue::new(all)))
}

/// Saved programs as tools with types.
fn tools(entries: &[SnippetEntry]) -> Result<Namespace, Failure> {
    Ok(Namespace { name: namespace()?, description: ABOUT.into(), tools: entries.iter().map(tool).collect() })
}

/// One of them.
pub(crate) fn tool(entry: &SnippetEntry) -> Tool {
    let schema = |json: &Json| json.parse::<Value>().ok();
    Tool {
        name: entry.name.clone(),
        upstream: entry.name.to_string(),
        description: entry.description.clone(),
        input: entry.input.as_ref().and_then(schema).unwrap_or(Value::Bool(true)),
        output: entry.output.as_ref().and_then(schema),
        rule: if entry.agreed { Rule::Allow } else { Rule::Deny },
    }
}

fn is_own(name: &ToolName) -> bool {
    name.namespace() == Some(NAMESPACE)
}

fn error(code: &str, name: &str, message: String) -> CallError {
    CallError { name: name.into(), message, code: Some(code.into()) }
}

fn unreadable(problem: &StoreError) -> CallError {
    error("tool.unavailable", "Error", format!("the snippets cannot be read: {problem}"))
}

fn not_agreed(snippet: &Snippet) -> String {
    let SnippetEntry { name, version, .. } = &snippet.entry;
    format!(
        "not agreed to: its version {version} may do more than the one before, and `isolith snippet agree {name}` says yes to that"
    )
}

impl Snippets {
    /// What a call of this name would run.
    fn find(&self, name: &ToolName) -> Result<Option<Snippet>, CallError> {
        let Ok(own) = BindingName::new(name.function()) else { return Ok(None) };
        self.store.find(&own, None).map_err(|problem| unreadable(&problem))
    }

    /// Why nothing is run, with the nearest of what is granted.
    fn unknown(&self, name: &ToolName, granted: Granted<'_>) -> CallError {
        let exists = |path: &str| exists(path, granted);
        let message = match self.catalogue() {
            Ok(catalogue) => match catalogue.only(&exists).find(name.as_str()) {
                Err(unknown) => unknown.to_string(),
                Ok(_) => format!("there was no tool `{name}`"),
            },
            Err(problem) => return problem,
        };
        error("tool.unknown", "TypeError", message)
    }

    fn catalogue(&self) -> Result<Catalogue, CallError> {
        let entries = self.store.list().map_err(|problem| unreadable(&problem))?;
        let problem = || error("tool.unavailable", "Error", "the snippets cannot be read".into());
        Ok(Catalogue::new(vec![tools(&entries).map_err(|_| problem())?]))
    }

    fn search_own(&self, query: &str, limit: usize, granted: Granted<'_>) -> Vec<Value> {
        let exists = |path: &str| exists(path, granted);
        match self.catalogue() {
            Ok(catalogue) => {
                let found = catalogue.only(&exists).search(query, limit).into_iter();
                found.map(|found| json!({ "path": found.path, "description": found.summary })).collect()
            }
            Err(problem) => vec![json!({ "path": NAMESPACE, "description": problem.message, "error": problem.code })],
        }
    }
}

/// Whether a path is there for someone.
fn exists(path: &str, granted: Granted<'_>) -> bool {
    ToolName::new(path).is_ok_and(|name| granted(&name))
}

/// One of each in turn, so that neither crowds out the other.
fn in_turn(own: Vec<Value>, others: Vec<Value>, limit: usize) -> Vec<Value> {
    let (mut own, mut others) = (own.into_iter(), others.into_iter());
    let mut both = Vec::new();
    while both.len() < limit {
        let next = [own.next(), others.next()];
        if next.iter().all(Option::is_none) {
            break;
        }
        both.extend(next.into_iter().flatten());
    }
    both.truncate(limit);
    both
}

impl Upstreams for Snippets {
    fn call<'a>(
        &'a self,
        gate: &'a Gate,
        name: &'a ToolName,
        args: Option<Json>,
    ) -> BoxFuture<'a, Result<Option<Json>, CallError>> {
        Box::pin(async move {
            match &self.others {
                Some(others) => others.call(gate, name, args).await,
                None => Err(error("tool.missing", "Error", format!("nobody brings the tool `{name}`"))),
            }
        })
    }

    fn rule<'a>(&'a self, name: &'a ToolName) -> BoxFuture<'a, Rule> {
        Box::pin(async move {
            match &self.others {
                // Calling it says what is wrong, if there is no such program.
                _ if is_own(name) => match self.find(name) {
                    Ok(Some(found)) => tool(&found.entry).rule,
                    Ok(None) | Err(_) => Rule::Allow,
                },
                Some(others) => others.rule(name).await,
                None => Rule::Allow,
            }
        })
    }

    fn why_not(&self, name: &ToolName) -> String {
        match &self.others {
            _ if is_own(name) => match self.find(name) {
                Ok(Some(found)) => not_agreed(&found),
                Ok(None) => "not there any more".into(),
                Err(problem) => problem.message,
            },
            Some(others) => others.why_not(name),
            None => "forbidden by who brings it".into(),
        }
    }

    // THREAT[T-SNIPPET-001]: what was agreed to a moment ago may be another version by now. The one that runs is looked at itself.
    fn program(&self, gate: &Gate, name: &ToolName) -> Result<Option<ToolProgram>, CallError> {
        if !is_own(name) {
            return Ok(None);
        }
        let grants = gate.grants();
        let granted = |tool: &ToolName| admit::knows_tool(&grants, tool);
        let found = self.find(name)?.ok_or_else(|| self.unknown(name, &granted))?;
        if !found.entry.agreed {
            let message = format!("the tool `{name}` is {}", not_agreed(&found));
            return Err(error("tool.denied", "DeniedError", message));
        }
        let Snippet { entry, source, manifest, .. } = found;
        let (grants, limits, ambient) = (manifest.grants, manifest.limits, manifest.ambient);
        let (input, output, programs) = (entry.input, entry.output, Arc::clone(&self.programs));
        Ok(Some(ToolProgram { source, grants, limits, ambient, input, output, programs }))
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize, granted: Granted<'a>) -> BoxFuture<'a, Json> {
        Box::pin(async move {
            let own = self.search_own(query, limit, granted);
            let others = match &self.others {
                Some(others) => others.search(query, limit, granted).await.parse().unwrap_or_default(),
                None => Vec::new(),
            };
            Json::of(&in_turn(own, others, limit)).unwrap_or_else(|_| Json::null())
        })
    }

    fn describe<'a>(&'a self, path: &'a str, granted: Granted<'a>) -> BoxFuture<'a, Result<String, CallError>> {
        Box::pin(async move {
            let own = path.split('.').next() == Some(NAMESPACE);
            match &self.others {
                Some(others) if !own => others.describe(path, granted).await,
                _ => {
                    let exists = |path: &str| exists(path, granted);
                    let described = self.catalogue()?.only(&exists).describe(path);
                    described.map_err(|unknown| error("tool.unknown", "TypeError", unknown.to_string()))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_programs_and_found_tools_take_turns() {
        let all = |names: &[&str]| names.iter().map(|name| json!(name)).collect::<Vec<_>>();
        for (own, others, limit, both) in [
            (&["a", "b", "c"][..], &["x"][..], 10, &["a", "x", "b", "c"][..]),
            (&["a", "b"], &["x", "y"], 3, &["a", "x", "b"]),
            (&[], &["x", "y"], 3, &["x", "y"]),
            (&[], &[], 3, &[]),
        ] {
            assert_eq!(in_turn(all(own), all(others), limit), all(both));
        }
    }
}
