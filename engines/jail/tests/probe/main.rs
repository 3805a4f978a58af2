//! A worker that has no engine in it, but tries everything that a program that has broken out of one would try.
//!
//! It is called with the name of an engine, whose system calls it has.

#![allow(unsafe_code, reason = "what is tried has no safe form")]

mod attempts;

use isolith_jail::worker::{Inside, Line};
use isolith_jail::{EndKind, V8_CALLS, WASM_CALLS};
use std::convert::Infallible;
use std::process::ExitCode;

fn main() -> ExitCode {
    let calls = if std::env::args().nth(1).as_deref() == Some("v8") { V8_CALLS } else { WASM_CALLS };
    isolith_jail::worker::main(Inside { set_up, start_threads: || (), stop: || (), run, calls })
}

fn set_up(_: &serde_json::Value, alone: fn(), boot: fn()) -> Result<Infallible, String> {
    alone();
    boot();
    Err("nobody wants a worker".into())
}

/// The program is JSON: what there is to be reached.
fn run(mut line: Line) {
    let Ok((_, told)) = line.ready().and_then(|()| line.hear()) else { return };
    let Ok(host) = serde_json::from_slice(&told) else { return };
    let found: Vec<String> =
        attempts::all(&host).iter().map(|(name, reached)| format!("\"{name}\":{reached}")).collect();
    let _ = line.end(EndKind::Value, 0, |out| out.extend(format!("{{{}}}", found.join(",")).as_bytes()));
}
