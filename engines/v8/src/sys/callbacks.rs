//! What V8 calls: natives, rejections, stacks, imports and interrupts.

use super::library::{Functions, IsolatePtr, Local, Native, Rejection};
use super::scope::{Compile, Scope};
use super::v8::{Hook, Kept, State, state};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Frames that are told of a program that was stopped.
const FRAMES_MAX: c_int = 10;
/// `StackTrace::StackTraceOptions`: everything.
const FRAMES_DETAILED: c_int = 0x7f;

thread_local! {
    static MODULES: RefCell<BTreeMap<String, Kept>> = const { RefCell::new(BTreeMap::new()) };
    static SCRIPT: RefCell<Option<Compiled>> = const { RefCell::new(None) };
    static STACK_AT_STOP: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What was compiled, until it is run.
enum Compiled {
    Script(Kept),
    Module(Kept),
}

extern "C" fn native<const NUMBER: usize>(_: *const c_void) {
    if let Some(state) = state()
        && let Some(native) = state.natives.get(NUMBER)
    {
        native(&Scope::new(state));
    }
}

/// One entry for each native that there can be: V8 tells a function nothing that it could be known by.
pub(super) const NATIVES: [Native; 20] = [
    native::<0>,
    native::<1>,
    native::<2>,
    native::<3>,
    native::<4>,
    native::<5>,
    native::<6>,
    native::<7>,
    native::<8>,
    native::<9>,
    native::<10>,
    native::<11>,
    native::<12>,
    native::<13>,
    native::<14>,
    native::<15>,
    native::<16>,
    native::<17>,
    native::<18>,
    native::<19>,
];

pub(super) fn install(functions: &Functions, isolate: IsolatePtr) {
    // SAFETY: each function has the signature that V8 calls.
    unsafe {
        (functions.on_rejection)(isolate, on_rejection);
        (functions.on_stack_trace)(isolate, on_stack_trace);
        (functions.on_import)(isolate, on_import);
        // A program is one thread: nobody could wake it.
        (functions.allow_waiting)(isolate, false);
    }
}

fn hook(hook: Hook, arguments: impl FnOnce(&Scope, &State) -> Vec<Local>) -> Local {
    let (Some(state), Some(function)) = (state(), hook.function()) else { return null_mut() };
    let scope = Scope::new(state);
    let arguments = arguments(&scope, state);
    scope.call(function, &arguments).unwrap_or(null_mut())
}

extern "C" fn on_rejection(rejection: Rejection) {
    hook(Hook::Rejection, |scope, state| {
        // SAFETY: the isolate is this thread's own.
        let event = unsafe { (state.functions.new_number)(scope.isolate(), f64::from(rejection.event)) };
        vec![event, rejection.promise]
    });
}

extern "C" fn on_stack_trace(_: Local, error: Local, sites: Local) -> Local {
    hook(Hook::Stack, |_, _| vec![error, sites])
}

extern "C" fn on_import(_: Local, _: Local, importer: Local, specifier: Local, _: Local) -> Local {
    hook(Hook::Import, |_, _| vec![specifier, importer])
}

/// What a module imports.
pub(super) extern "C" fn on_resolve(_: Local, specifier: Local, _: Local, importer: Local) -> Local {
    let Some(state) = state() else { return null_mut() };
    let scope = Scope::new(state);
    let specifier = scope.read_text(specifier, usize::MAX).ok().flatten().unwrap_or_default();
    scope.module(&specifier, &scope.module_name(importer)).unwrap_or(null_mut())
}

pub(super) extern "C" fn on_interrupt(isolate: IsolatePtr, _: *mut c_void) {
    let Some(state) = state() else { return };
    let scope = Scope::new(state);
    let stack = frames(&scope, state);
    STACK_AT_STOP.with_borrow_mut(|kept| *kept = Some(stack));
    // SAFETY: V8 calls this on the isolate's own thread.
    unsafe { (state.functions.terminate)(isolate) };
}

pub(super) fn stack_at_stop() -> Option<String> {
    STACK_AT_STOP.with_borrow_mut(Option::take)
}

/// The frames of what runs now, as errors have them.
fn frames(scope: &Scope, state: &State) -> String {
    let functions = state.functions;
    let mut text = String::new();
    // SAFETY: an interrupt is handled where V8 can make handles; frames are asked for within their number.
    unsafe {
        let trace = (functions.stack_trace)(scope.isolate(), FRAMES_MAX, FRAMES_DETAILED);
        if trace.is_null() {
            return text;
        }
        for number in 0..(functions.frame_count)(trace) {
            let frame = (functions.frame)(trace, scope.isolate(), number as u32);
            let read = |name: Local| scope.read_text(name, usize::MAX).ok().flatten().filter(|text| !text.is_empty());
            let function = read((functions.frame_function)(frame)).unwrap_or_else(|| "<anonymous>".into());
            let script = read((functions.frame_script)(frame)).unwrap_or_else(|| "<input>".into());
            if script == state.name && function == "main" {
                break; // what is below is not the program's
            }
            if script == state.name {
                continue;
            }
            let place = (functions.frame_location)(frame);
            text.push_str(&format!("    at {function} ({script}:{}:{})\n", place.line + 1, place.column + 1));
        }
    }
    text
}

impl Scope {
    /// Compiles what is to be run next. Nothing to run when it threw.
    pub(crate) fn prepare_script(&self, name: &str, text: &str, first_line: i32, when: Compile) {
        let script = self.compile(name, text, first_line, when).map(|script| Compiled::Script(self.keep(script)));
        SCRIPT.with_borrow_mut(|kept| *kept = script);
    }

    /// The same for a module.
    pub(crate) fn prepare_module(&self, name: &str, text: &str) {
        let module = self.compile_module(name, text).map(|module| Compiled::Module(self.keep(module)));
        SCRIPT.with_borrow_mut(|kept| *kept = module);
    }

    /// Runs what was prepared; its value, or the promise of a module, is then in slot 0.
    pub(crate) fn run_prepared(&self) {
        let value = match SCRIPT.with_borrow_mut(Option::take) {
            Some(Compiled::Script(script)) => self.run(script.0),
            Some(Compiled::Module(module)) => self.evaluate_module(module.0),
            None => None,
        };
        if let Some(value) = value {
            self.put(0, value);
        }
    }

    /// Links and evaluates what `import()` names: the promise of its end is then in slot 0, its namespace in slot 1.
    pub(crate) fn import(&self, specifier: &str, importer: &str) {
        let Some(module) = self.module(specifier, importer) else { return };
        if let Some(promise) = self.evaluate_module(module) {
            self.put(0, promise);
            self.put(1, self.namespace(module));
        }
    }

    /// A module that came along, compiled once. Throws when there is none of the name.
    fn module(&self, specifier: &str, importer: &str) -> Option<Local> {
        let name = resolve(specifier, importer);
        if let Some(module) = MODULES.with_borrow(|modules| modules.get(&name).copied()) {
            return Some(module.0);
        }
        let Some(source) = self.source_of(&name) else {
            self.throw_type_error(&format!("module `{name}` is not granted"));
            return None;
        };
        let module = self.keep(self.compile_module(&name, &source)?);
        MODULES.with_borrow_mut(|modules| modules.insert(name, module));
        Some(module.0)
    }
}

/// A name as it is known, seen from the module that imports it: only `./` and `../` are relative.
fn resolve(specifier: &str, importer: &str) -> String {
    if !specifier.starts_with('.') {
        return specifier.to_owned();
    }
    let mut parts: Vec<&str> = importer.split('/').collect();
    parts.pop();
    let mut rest = specifier;
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(above) = rest.strip_prefix("../")
            && parts.last().is_some_and(|part| *part != "." && *part != "..")
        {
            parts.pop();
            rest = above;
        } else {
            break;
        }
    }
    parts.push(rest);
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn only_names_that_begin_with_a_dot_are_relative() {
        let rows = [
            ("x", "a/b.js", "x"),
            ("./x.js", "main.ts", "x.js"),
            ("./x.js", "a/b.js", "a/x.js"),
            ("../x.js", "a/b.js", "x.js"),
            ("../../x.js", "a/b.js", "../x.js"),
            ("./../x.js", "a/b/c.js", "a/x.js"),
        ];
        for (specifier, importer, name) in rows {
            assert_eq!(resolve(specifier, importer), name, "{specifier} from {importer}");
        }
    }
}
