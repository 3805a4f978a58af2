//! Types, checked before a program runs, by the TypeScript compiler that is installed here. Optional: without it programs run as ever.

use crate::failure::Failure;
use isolith_core::{BoxFuture, Grant, Power, Rule};
use isolith_server::{Checker, Mistake};
use isolith_tools::{Namespace, typescript};
use isolith_upstream::Toolbox;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

const GUEST: &str = include_str!("types/guest.d.ts");
/// How long the compiler may take.
const CHECK_TIME: Duration = Duration::from_secs(60);
/// How many mistakes are told.
const MISTAKES_MAX: usize = 20;
/// Where the compiler is looked for besides the working folder and those above it, and `PATH`.
const PLACE: &str = "ISOLITH_TYPESCRIPT";
const HINT: &str =
    "`npm install typescript` installs one; ISOLITH_TYPESCRIPT names the folder that has its `node_modules`";
const OPTIONS: [&str; 16] = [
    "--noEmit",
    "--pretty",
    "false",
    "--strict",
    "--noImplicitAny",
    "false",
    "--useUnknownInCatchVariables",
    "false",
    "--target",
    "es2023",
    "--lib",
    "es2023,dom,dom.iterable",
    "--module",
    "esnext",
    "--moduleDetection",
    "force",
];

/// A compiler, and what programs have.
pub(crate) struct Types {
    compiler: PathBuf,
    grants: Arc<[Grant]>,
    tools: Option<Arc<Toolbox>>,
}

impl Types {
    pub(crate) fn new(grants: Arc<[Grant]>, tools: Option<Arc<Toolbox>>) -> Result<Types, Failure> {
        let compiler = compiler().ok_or_else(|| Failure::usage("there is no TypeScript compiler here", HINT))?;
        Ok(Types { compiler, grants, tools })
    }

    /// What a program has, as declarations.
    async fn declarations(&self) -> String {
        let mut own = String::new();
        for grant in self.grants.iter().filter(|grant| grant.rule != Rule::Deny) {
            let Power::Tool(tool) = &grant.power else { continue };
            let Some(name) = tool.name.exact().filter(|name| name.namespace().is_none()) else { continue };
            let of = |schema: &Option<isolith_core::Json>| {
                let schema = schema.as_ref().and_then(|schema| schema.parse().ok());
                schema.map_or_else(|| "any".to_owned(), |schema| typescript::type_of(&schema))
            };
            let optional = if tool.input.is_some() { "" } else { "?" };
            let declared = format!("  {name}(args{optional}: {}): Promise<{}>;\n", of(&tool.input), of(&tool.output));
            if !own.contains(&declared) {
                own.push_str(&declared);
            }
        }
        let namespaces: Vec<Namespace> = match &self.tools {
            Some(tools) => tools.catalogue().await.0.namespaces().to_vec(),
            None => Vec::new(),
        };
        let declared = typescript::catalogue(&namespaces);
        let others = declared.trim().trim_start_matches("declare const tools:").trim().trim_end_matches(';');
        let others = if namespaces.is_empty() { "{}" } else { others };
        let about = "search(query: string, limit?: number): Promise<{ path: string; description: string }[]>;\n  describe(path: string): Promise<string>;";
        format!("{GUEST}\ntype Namespaces = {others};\ndeclare const tools: Namespaces & {{\n{own}  {about}\n}};\n")
    }

    async fn mistakes(&self, source: &str) -> Result<Vec<Mistake>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("the TypeScript compiler could not be run: {error}");
        // A module stays as it is; everything else is the body of an async function.
        let starts =
            |line: &str| ["import ", "export ", "import{", "export{"].iter().any(|word| line.starts_with(word));
        let (text, shift) = match source.lines().any(|line| starts(line.trim_start())) {
            true => (source.to_owned(), 0),
            false => (format!("async function program() {{\n{source}\n}}\n"), 1),
        };
        let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
        let declarations = self.declarations().await;
        for (name, text) in [("program.ts", &text), ("guest.d.ts", &declarations)] {
            std::fs::write(folder.path().join(name), text).map_err(|error| failed(&error))?;
        }
        let mut command = tokio::process::Command::new(&self.compiler);
        command.args(OPTIONS).args(["--types", "", "program.ts", "guest.d.ts"]).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let output = tokio::time::timeout(CHECK_TIME, command.output()).await;
        let output = output.map_err(|_| failed(&"it takes too long"))?.map_err(|error| failed(&error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(said.lines().filter_map(|line| mistake(line, shift)).take(MISTAKES_MAX).collect())
    }
}

impl Checker for Types {
    fn check<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Vec<Mistake>, String>> {
        Box::pin(self.mistakes(source))
    }
}

/// `program.ts(2,39): error TS2322: Type 'string' is not assignable to type 'number'.`
fn mistake(line: &str, shift: u32) -> Option<Mistake> {
    let (place, rest) = line.strip_prefix("program.ts(")?.split_once("): error ")?;
    let (at, column) = place.split_once(',')?;
    let (code, message) = rest.split_once(": ")?;
    // What is not a program at all is told by whoever runs it, and better.
    if code.strip_prefix("TS1").is_some_and(|rest| rest.len() == 3) {
        return None;
    }
    let line = at.parse::<u32>().ok()?.saturating_sub(shift);
    Some(Mistake { line, column: column.parse().ok()?, code: code.to_owned(), message: message.to_owned() })
}

fn compiler() -> Option<PathBuf> {
    let named = std::env::var_os(PLACE).map(PathBuf::from);
    let here = std::env::current_dir().ok();
    let above = here.iter().flat_map(|here| here.ancestors().map(Path::to_path_buf));
    let installed = named.into_iter().chain(above).map(|folder| folder.join("node_modules/.bin/tsc"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join("tsc")).collect();
    installed.chain(on_path).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_compiler_is_read() {
        let read = mistake("program.ts(2,39): error TS2322: Type 'a' is not assignable: b.", 1).unwrap();
        assert_eq!((read.line, read.column, read.code.as_str()), (1, 39, "TS2322"));
        assert_eq!(read.message, "Type 'a' is not assignable: b.");
        for other in
            ["", "  more about it", "guest.d.ts(1,1): error TS2322: x", "program.ts(1,1): error TS1005: ';' expected."]
        {
            assert!(mistake(other, 1).is_none(), "{other}");
        }
    }
}
