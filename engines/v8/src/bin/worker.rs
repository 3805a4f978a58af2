//! A worker by itself: what `isolith` is when a supervisor calls it by its hidden verb.

fn main() -> std::process::ExitCode {
    isolith_v8::worker::main(isolith_v8::worker::V8_INSIDE)
}
