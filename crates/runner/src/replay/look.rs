//! Looking at a program in the middle of its run.
//!
//! An engine can only run programs, so the one that looks is put in front of the program that is looked at, within the same function: it
//! sees the program's variables. It asks the host for something first and goes on when that is answered, which is when the replay
//! has stopped. Nothing that the program can see is different, but for columns of its first line.

use isolith_core::{BindingName, CallId, Grant, Output, Power, Program};
use serde::Serialize;

/// The probe's own call: the first of all.
pub(super) const PROBE_CALL: CallId = CallId(0);
/// What the probe may write besides what the program may.
pub(super) const SEEN_BYTES_MAX: u64 = 4 << 20;
/// What the probe writes before anything else.
const FIRST: &str = "isolith:seen";

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// A variable's name, or an expression.
    pub name: String,
    /// As the console shows it.
    pub value: String,
}

pub(super) struct Probe {
    tool: BindingName,
    program: Program,
}

impl Probe {
    /// Nothing where there is no name left for it.
    pub(super) fn new(program: &Program, grants: &[Grant], expressions: &[String]) -> Option<Probe> {
        let word = unused(program, grants, expressions);
        let tool = BindingName::new(&word).ok()?;
        let mut sees = String::new();
        for name in isolith_program::variables(&program.code) {
            sees.push_str(&see(&word, &name, &name));
        }
        for expression in expressions {
            sees.push_str(&see(&word, expression, &format!("(\n{expression}\n)")));
        }
        // `word` begins every name in here, so that none is the program's.
        let strict = if program.code.starts_with("\"use strict\"") { "\"use strict\";" } else { "" };
        let code = format!(
            "{strict}(({w}call,{w}log,{w}keys,{w}known)=>{{\
             for(const {w}name of {w}keys(globalThis)){w}known[{w}name]=1;\
             const {w}old=globalThis.tools,{w}new={{__proto__:null}};\
             for(const {w}name of {w}keys({w}old))if({w}name!==\"{w}\"){w}new[{w}name]={w}old[{w}name];\
             globalThis.Object.defineProperty(globalThis,\"tools\",{{value:globalThis.Object.freeze({w}new)}});\
             delete globalThis.external_{w};\
             {w}call().then(()=>{{{w}log(\"{FIRST}\");\
             if(globalThis.input!==undefined){{{w}log(\"input\");{w}log(\"%O\",globalThis.input)}}\
             {sees}\
             const {w}all={w}keys(globalThis);\
             for(let {w}i=0;{w}i<{w}all.length;{w}i++){{const {w}name={w}all[{w}i];\
             if(typeof {w}name===\"string\"&&!({w}name in {w}known)){{{w}log(\"%s\",{w}name);{w}log(\"%O\",globalThis[{w}name])}}}}\
             }})}})(external_{w},globalThis.console.log,globalThis.Reflect.ownKeys,{{__proto__:null}});",
            w = word
        );
        let program = Program { code: format!("{code}{}", program.code).into(), ..program.clone() };
        Some(Probe { tool, program })
    }

    pub(super) fn tool(&self) -> &BindingName {
        &self.tool
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }
}

/// Writes the name of something and what it is. A variable may have no value yet, and an expression may throw.
fn see(w: &str, name: &str, expression: &str) -> String {
    // JSON text is a JavaScript string.
    let name = serde_json::to_string(name).unwrap_or_default();
    format!(
        "{w}log(\"%s\",{name});try{{{w}log(\"%O\",{expression})}}catch({w}error){{try{{{w}log(\"%s\",\"(\"+{w}error.message+\")\")}}catch{{{w}log(\"(not to be shown)\")}}}}"
    )
}

/// A word that occurs nowhere in the program.
fn unused(program: &Program, grants: &[Grant], expressions: &[String]) -> String {
    let granted = |word: &str| {
        grants.iter().any(|grant| matches!(&grant.power, Power::Tool(tool) if tool.name.to_string() == word))
    };
    let taken = |word: &str| {
        program.code.contains(word) || granted(word) || expressions.iter().any(|expression| expression.contains(word))
    };
    (0u32..).map(|number| format!("isolith{number}x")).find(|word| !taken(word)).unwrap_or_default()
}

/// What a probe wrote, pair by pair.
pub(super) fn read(outputs: &[Output]) -> Option<Vec<Seen>> {
    let (first, rest) = outputs.split_first()?;
    let pairs = rest.chunks(2).map(|pair| match pair {
        [name, value] => Some(Seen { name: name.text.clone(), value: value.text.clone() }),
        _ => None,
    });
    if first.text == FIRST { pairs.collect() } else { None }
}
