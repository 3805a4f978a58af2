//! The settings that shape generated code: the build script compiles with them, the engine loads with them.
//! This file is part of both.

use wasmtime::{Config, Inlining};

/// The whole 32-bit range is reserved for each guest, so that no access needs a bounds check.
const MEMORY_RESERVATION_BYTES: u64 = 4 << 30;
const MEMORY_GUARD_BYTES: u64 = 32 << 20;

/// What must be equal when the guest is compiled and when it is loaded.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .memory_reservation(MEMORY_RESERVATION_BYTES)
        .memory_guard_size(MEMORY_GUARD_BYTES)
        .memory_may_move(false)
        .memory_init_cow(true)
        .signals_based_traps(true)
        .concurrency_support(false)
        .generate_address_map(false)
        .wasm_backtrace_max_frames(None)
        .compiler_inlining(Inlining::No);
    config
}
