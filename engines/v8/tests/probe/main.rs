//! A worker that has no V8 in it, but tries everything that a program that has broken out of V8 would try.

#![allow(unsafe_code, reason = "what is tried has no safe form")]

mod attempts;

use isolith_v8::worker::{Inside, Line, Settings};
use std::convert::Infallible;
use std::process::ExitCode;

fn main() -> ExitCode {
    isolith_v8::worker::main(Inside { set_up, stop: || (), run })
}

fn set_up(_: &Settings, alone: fn(), boot: fn()) -> Result<Infallible, String> {
    alone();
    boot();
    Err("nobody wants a worker".into())
}

/// The program is JSON: what there is to be reached.
fn run(mut line: Line) {
    let Ok(code) = line.ready().and_then(|()| line.program()) else { return };
    let Ok(host) = serde_json::from_str(&code) else { return };
    let found: Vec<String> =
        attempts::all(&host).iter().map(|(name, reached)| format!("\"{name}\":{reached}")).collect();
    let _ = line.end(&format!("{{{}}}", found.join(",")));
}
