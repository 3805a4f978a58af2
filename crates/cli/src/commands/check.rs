//! What a program will reach for, told from its text.

use crate::Done;
use crate::args::Check;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::paint::{ERROR, GOOD, QUIET};
use crate::terminal::inert;
use crate::{grants, show, source};
use isolith_core::{Bindings, Digest, EngineChoice, Grant, Housing, Limits, Manifest, narrow};
use isolith_program::{Language, Needs, Place, needs};
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io::IsTerminal;

#[derive(Serialize)]
struct Findings {
    program: String,
    needs: Vec<Finding>,
    unknown: Vec<Open>,
    clock: Vec<Spot>,
    random: Vec<Spot>,
    manifest: serde_json::Value,
}

#[derive(Serialize)]
struct Finding {
    grant: String,
    exact: bool,
    granted: bool,
    places: Vec<Spot>,
}

#[derive(Serialize)]
struct Open {
    kind: &'static str,
    why: String,
    at: Spot,
}

#[derive(Serialize)]
struct Spot {
    line: u32,
    column: u32,
}

impl From<&Place> for Spot {
    fn from(place: &Place) -> Spot {
        Spot { line: place.line, column: place.column }
    }
}

pub(crate) fn check(args: &Check) -> Done {
    let source = source::program(&args.file, Limits::default().source_bytes)?;
    let options = &args.grants;
    let manifest = options.manifest.as_deref().map(grants::manifest).transpose()?;
    let mut given = grants::requested(options, manifest.as_ref())?;
    if let Some(policy) = options.policy.as_deref().map(grants::manifest).transpose()? {
        given = narrow(&policy.grants, &given).grants;
    }
    let needs = needs(&source.text, &source.name, Language::Auto).map_err(|error| Failure::program(error.render()))?;
    let lacking = needs.lacking(&given).len();
    if args.json {
        show::line(&show::to_json(&findings(&source.text, &needs, &given)));
    } else {
        print(&source.name, &needs, &given);
    }
    // Who only asks what is needed is not told that something is missing.
    Ok(if given.is_empty() || lacking == 0 { Exit::Ok } else { Exit::Denied })
}

fn findings(text: &str, needs: &Needs, given: &[Grant]) -> Findings {
    let lacking = needs.lacking(given);
    let spots = |places: &[Place]| places.iter().map(Spot::from).collect();
    Findings {
        program: Digest::of(text).to_string(),
        needs: needs
            .needs
            .iter()
            .map(|need| Finding {
                grant: need.power.to_string(),
                exact: need.exact,
                granted: !lacking.contains(&need),
                places: spots(&need.places),
            })
            .collect(),
        unknown: needs
            .unknown
            .iter()
            .map(|open| Open { kind: open.kind, why: open.why.clone(), at: Spot::from(&open.place) })
            .collect(),
        clock: spots(&needs.clock),
        random: spots(&needs.random),
        manifest: smallest(needs).to_value(),
    }
}

fn print(name: &str, needs: &Needs, given: &[Grant]) {
    let terminal = std::io::stdout().is_terminal();
    let line = |text: String| anstream::println!("{}", inert(&text, terminal));
    let places = |places: &[Place]| {
        let shown: Vec<String> = places.iter().take(5).map(|place| place.line.to_string()).collect();
        format!("line {}{}", shown.join(", "), if places.len() > 5 { ", …" } else { "" })
    };
    if needs.needs.is_empty() && needs.unknown.is_empty() {
        line(format!("{name} needs nothing"));
    } else {
        line(format!("{name} will reach for:"));
    }
    let lacking = needs.lacking(given);
    for need in &needs.needs {
        let mark = match (given.is_empty(), lacking.contains(&need)) {
            (true, _) => "·".style(QUIET).to_string(),
            (false, true) => "✗".style(ERROR).to_string(),
            (false, false) => "✓".style(GOOD).to_string(),
        };
        let grant = inert(&need.power.to_string(), terminal).into_owned();
        let more = if need.exact { "" } else { ", known in part" };
        anstream::println!("  {mark} {grant}  {}", format!("({}{more})", places(&need.places)).style(QUIET));
    }
    for open in &needs.unknown {
        let at = open.place.line;
        anstream::println!(
            "  {} {}: {}",
            "?".style(ERROR),
            open.kind,
            inert(&format!("{} (line {at})", open.why), terminal)
        );
    }
    for (what, at) in [("the clock", &needs.clock), ("randomness", &needs.random)] {
        if !at.is_empty() {
            anstream::println!(
                "  {} {what}  {}",
                "·".style(QUIET),
                format!("({}; live unless told otherwise)", places(at)).style(QUIET)
            );
        }
    }
    let Manifest { grants: smallest, housing, .. } = smallest(needs);
    if !smallest.is_empty() {
        line("\nthe smallest manifest that would do (isolith.toml):\n".into());
        housing.engine.iter().for_each(|engine| line(format!("engine = {}", toml_text(engine.name()))));
        line(format!(
            "grants = [\n{}]",
            smallest.iter().map(|grant| format!("  {},\n", toml_text(&grant.to_string()))).collect::<String>()
        ));
    }
}

/// What would do. Parts of the language are to be had on one engine only.
fn smallest(needs: &Needs) -> Manifest {
    let grants = needs.manifest();
    let engine = (!Bindings::of(&grants).builtins.is_empty()).then_some(EngineChoice::V8);
    Manifest { grants, housing: Housing { engine, ..Housing::default() }, ..Manifest::default() }
}

/// A text as TOML quotes it.
fn toml_text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
