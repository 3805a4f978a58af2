//! A worker by itself: what `isolith` is when a supervisor calls it by its hidden verb.

fn main() -> std::process::ExitCode {
    isolith_jail::worker::main(isolith_quickjs::process::QUICKJS_INSIDE)
}
