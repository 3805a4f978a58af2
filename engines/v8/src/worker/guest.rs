//! V8 as what lives inside a worker.

use super::natives;
use super::settings::Settings;
use crate::sys::{self, Compiling, Guest, Stop};
use isolith_jail::worker::{Inside, Line, fail, gather};
use isolith_jail::{EndKind, V8_CALLS, frame};
use serde::Deserialize;
use std::convert::Infallible;

/// The guest half of the engine, one text in three files.
pub(crate) const GUEST: &str = concat!(
    include_str!("../../js/10-world.js"),
    include_str!("../../js/15-builtins.js"),
    include_str!("../../js/20-run.js")
);

/// V8 with the prelude.
pub const V8_INSIDE: Inside =
    Inside { set_up, start_threads: sys::start_helpers, stop: sys::stop, run, calls: V8_CALLS };

fn set_up(settings: &serde_json::Value, alone: fn(), boot: fn()) -> Result<Infallible, String> {
    let settings = Settings::deserialize(settings).map_err(|error| error.to_string())?;
    BOOT.set(boot).map_err(|_| "a zygote is set up once")?;
    let compiling = if settings.jitless { Compiling::Never } else { Compiling::Beside };
    sys::run(&settings.library, &settings.data, compiling, alone, on_isolate).map_err(|error| chain(&error))
}

static BOOT: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// On the isolate's thread, before there are copies.
fn on_isolate() {
    let guest = Guest {
        text: GUEST,
        prelude: isolith_prelude::source(),
        name: isolith_prelude::FILE_NAME,
        natives: natives::NATIVES,
        modules: natives::module,
    };
    match (sys::set_up(&guest), BOOT.get()) {
        (Ok(()), Some(boot)) => {
            gather();
            boot();
        }
        (Err(error), _) => fail(&chain(&error)),
        (Ok(()), None) => fail("nobody said what to do then"),
    }
}

/// In a copy: one program from its start to its end.
fn run(line: Line) {
    natives::begin(line);
    let stop = sys::enter();
    let (exceeded, _) = sys::memory_used();
    match stop {
        Stop::Returned => {}
        _ if exceeded => natives::end_with(EndKind::Memory, |_| ()),
        Stop::Terminated => {
            let stack = sys::stopped_at();
            natives::end_with(EndKind::Interrupted, |out| {
                for text in [None, None, stack.as_deref(), None] {
                    frame::put_optional(out, text);
                }
            });
        }
        Stop::Threw => natives::end_with(EndKind::Failed, |_| ()),
    }
}
