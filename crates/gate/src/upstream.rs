//! Tools of other servers, by namespace: who performs them, and what a guest is told about them.

use crate::Schemas;
use crate::book::Entry;
use crate::gate::Gate;
use crate::means::{Code, Invocation, Invoked, Programs};
use isolith_core::{
    Admitted, Ambient, Answer, BindingName, BoxFuture, CallError, Digest, Grant, HostReply, Json, Limits, Power,
    Refusal, Rule, ToolGrant, ToolName, admit, narrow_limits,
};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// How many tools a search finds unless it is asked for fewer or more.
const SEARCH_LIMIT: usize = 10;
/// How many it finds at most.
const SEARCH_LIMIT_MAX: usize = 50;
/// How long the words may be that are searched for, and the path of what is described.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// Tools of other servers, by namespace.
pub trait Upstreams: Send + Sync {
    /// Performs a tool whose call was admitted.
    fn call<'a>(
        &'a self,
        gate: &'a Gate,
        name: &'a ToolName,
        args: Option<Json>,
    ) -> BoxFuture<'a, Result<Option<Json>, CallError>>;

    /// What its owner says about this tool: the stricter of this and the grant's rule holds.
    fn rule<'a>(&'a self, name: &'a ToolName) -> BoxFuture<'a, Rule>;

    /// Why it is refused where the rule forbids it, as the end of a sentence.
    fn why_not(&self, name: &ToolName) -> String {
        format!("forbidden by who brings it: see `deny` of `[tools.{}]`", name.namespace().unwrap_or_default())
    }

    /// The program that does the work of a tool, if it is one: it is run below its caller, and the tool is not performed otherwise.
    fn program(&self, _gate: &Gate, _name: &ToolName) -> Result<Option<ToolProgram>, CallError> {
        Ok(None)
    }

    /// Tools that go with some words, of those for which `granted` says yes: `[{"path", "description"}, …]`.
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Json>;

    /// The TypeScript declaration at a path, a tool or a namespace, or an error that names the nearest.
    fn describe<'a>(
        &'a self,
        path: &'a str,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Result<String, CallError>>;
}

/// A tool that is a program.
pub struct ToolProgram {
    /// Its source.
    pub source: String,
    /// What it may do, as far as its caller may.
    pub grants: Vec<Grant>,
    /// What it may use, as far as its caller may.
    pub limits: Limits,
    /// What it may know of the world.
    pub ambient: Ambient,
    /// The JSON Schema of its input.
    pub input: Option<Json>,
    /// The JSON Schema of its value.
    pub output: Option<Json>,
    /// Who runs it.
    pub programs: Arc<dyn Programs>,
}

/// What the owner of a tool adds to a decision about it.
pub(crate) enum Owner {
    /// Nothing.
    Agrees,
    // THREAT[T-TOOL-008]: who agreed to one tool of a namespace did not agree to another.
    /// Someone has to be asked about this tool: a question of its own, whatever else of its namespace was agreed to.
    Asks(Grant),
    Forbids(Refusal),
}

impl Owner {
    /// The stricter of what the grants say and what the owner says.
    pub(crate) fn narrows<'a>(&'a self, decision: Result<Admitted<'a>, Refusal>) -> Result<Admitted<'a>, Refusal> {
        let admitted = decision?;
        match self {
            Owner::Agrees => Ok(admitted),
            Owner::Forbids(refusal) => Err(refusal.clone()),
            // A grant that asks already is asked about as ever.
            Owner::Asks(_) if admitted.ask => Ok(admitted),
            Owner::Asks(asks) => Ok(Admitted { ask: true, asks: Some(asks), ..admitted }),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Describe {
    path: String,
}

impl Gate {
    /// What the owner of a tool says about it. Asked only once its call is granted.
    pub(crate) async fn owner_of(&self, name: &ToolName) -> Owner {
        let Some(upstreams) = &self.means.upstreams else { return Owner::Agrees };
        let wanted = || Power::Tool(ToolGrant::new(name.clone()));
        match upstreams.rule(name).await {
            Rule::Allow => Owner::Agrees,
            Rule::Ask => Owner::Asks(Grant { power: wanted(), rule: Rule::Ask, budgets: Vec::new() }),
            Rule::Deny => Owner::Forbids(Refusal {
                what: format!("the tool `{name}`"),
                why: upstreams.why_not(name),
                wanted: wanted(),
            }),
        }
    }

    /// Performs a tool of a namespace, which was admitted.
    pub(crate) async fn upstream(&self, name: &ToolName, args: Option<Json>) -> Invoked {
        let alone = |result| Invoked { result, acts: Vec::new() };
        let Some(upstreams) = &self.means.upstreams else {
            let message = format!("nobody brings the tool `{name}`: there are no namespaces here");
            return alone(Err(error("Error", "tool.missing", message)));
        };
        match upstreams.program(self, name) {
            Ok(None) => alone(upstreams.call(self, name, args).await),
            Ok(Some(program)) => {
                // On its own: few calls run a program, and every call would make room for it.
                let ran = Box::pin(self.run_tool(name, program, args)).await;
                ran.unwrap_or_else(|error| alone(Err(error)))
            }
            Err(error) => alone(Err(error)),
        }
    }

    /// Runs a tool that is a program: with its own grants as far as this run has them, and what it did in this run's receipt.
    async fn run_tool(&self, name: &ToolName, program: ToolProgram, args: Option<Json>) -> Result<Invoked, CallError> {
        let ToolProgram { source, grants, limits, ambient, input, output, programs } = program;
        let unusable = |problem: String| error("Error", "tool.failed", problem);
        let schemas = Schemas::of_one(name, input.as_ref(), output.as_ref()).map_err(unusable)?;
        schemas.check_input(name, args.as_ref())?;
        let limits = narrow_limits(&self.limits, &limits);
        // By what it is and not by its name: an answer that holds for exactly this program holds for no later one of that name.
        let gate = self.descend(&grants, limits, &Digest::of(&source).to_string())?;
        let called = BindingName::new(name.function()).map_err(|problem| unusable(problem.to_string()))?;
        let code = Some(Code::Text(source));
        let invocation = Invocation { name: called, program: code, input: args, limits, ambient, gate };
        let Invoked { result, acts } = programs.invoke(invocation).await;
        let checked = |json: Option<Json>| schemas.check_output(name, json.as_ref()).map(|()| json);
        Ok(Invoked { result: result.and_then(checked), acts })
    }

    /// `tools.search` and `tools.describe`: granted with any namespace, and silent about what is not granted.
    pub(crate) async fn about_tools(&self, name: &ToolName, args: Option<Json>) -> Answer {
        let label = format!("tool:{name}");
        let sent = args.as_ref().map_or(0, |args| args.text().len());
        let mut entry = self.book.entry(label.clone(), name.to_string()).sent(sent as u64).begun();
        let told = self.tell(name, args).await;
        entry.over();
        let reply = match told {
            Ok(json) => HostReply::Value { json: Some(json) },
            Err(error) => {
                entry.failed(&error);
                HostReply::Failed { error }
            }
        };
        entry.bytes_in = reply.bytes() as u64;
        Answer { reply, acts: vec![Entry::act(&entry)] }
    }

    async fn tell(&self, name: &ToolName, args: Option<Json>) -> Result<Json, CallError> {
        let namespaced = |grant: &Grant| {
            grant.rule != Rule::Deny && matches!(&grant.power, Power::Tool(tool) if tool.name.namespace().is_some())
        };
        if !self.grants.iter().any(namespaced) {
            let message = format!("`{name}` is not granted: it comes with any namespace of tools, and none is");
            return Err(error("DeniedError", "tool.denied", message));
        }
        let Some(upstreams) = &self.means.upstreams else {
            return Err(error("Error", "tool.missing", "there are no namespaces of tools here".into()));
        };
        let granted = |tool: &ToolName| admit::knows_tool(&self.grants, tool);
        let wrong = |takes: &str| error("TypeError", "tool.invalid_input", format!("`{name}` takes {takes}"));
        let args = args.unwrap_or_else(Json::null);
        if name.function() == "search" {
            let takes = "words to look for and a number: `tools.search(\"create issue\", 5)`";
            let Search { query, limit } = args.parse().map_err(|_| wrong(takes))?;
            let limit = limit.map_or(SEARCH_LIMIT, |limit| limit.clamp(1.0, SEARCH_LIMIT_MAX as f64) as usize);
            let found = upstreams.search(cut(&query), limit, &granted).await;
            return Ok(only_granted(found, granted));
        }
        let Describe { path } = args.parse().map_err(|_| wrong("a path: `tools.describe(\"github.create_issue\")`"))?;
        let declaration = upstreams.describe(cut(&path), &granted).await?;
        Json::of(&declaration).map_err(|problem| error("Error", "tool.failed", problem.to_string()))
    }
}

// THREAT[T-TOOL-007]: a search tells of tools that are not granted.
/// What was found, without anything that is not granted, whoever found it.
fn only_granted(found: Json, granted: impl Fn(&ToolName) -> bool) -> Json {
    let Ok(Value::Array(mut tools)) = found.parse::<Value>() else { return empty() };
    let before = tools.len();
    let path = |tool: &Value| ToolName::new(tool.get("path")?.as_str()?).ok();
    tools.retain(|tool| path(tool).is_some_and(|name| granted(&name)));
    if tools.len() == before { found } else { Json::of(&tools).unwrap_or_else(|_| empty()) }
}

fn empty() -> Json {
    Json::of::<[(); 0]>(&[]).unwrap_or_else(|_| Json::null())
}

/// As much of a text as is looked at.
fn cut(text: &str) -> &str {
    let end = (0..=TEXT_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

fn error(name: &str, code: &str, message: String) -> CallError {
    CallError { name: name.into(), message, code: Some(code.into()) }
}
