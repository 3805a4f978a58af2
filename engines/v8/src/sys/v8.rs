//! Setting V8 up, running a program in it, and stopping one.

use super::library::{self, Functions, IsolatePtr, Local};
use super::scope::{Compile, Scope};
use super::{callbacks, helpers, memory};
use std::convert::Infallible;
use std::ffi::{CString, c_int, c_void};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Slots of the cell through which natives take and give everything.
const CELL_SLOTS: c_int = 8;
/// The type code of a string that the wheel's functions take.
const STRING: u8 = 5;
/// How often V8 is looked at while it is set up, and how long in between.
const SETUP_TRIES: u32 = 50_000;
const SETUP_PAUSE: Duration = Duration::from_micros(200);
/// The name that our function has for the moment in which a script calls it.
const BOOT_NAME: &str = "isolithBoot";

/// How often the guest half is warmed up before there are copies: what V8 learns of a function the second time is shared as well.
const WARM_UPS: u32 = 2;

const NOTIFY_GLOBAL: u64 = 1;
const NOTIFY_BOOT: u64 = 2;
const NOTIFY_OVER: u64 = 3;

static LOADED: OnceLock<&'static Functions> = OnceLock::new();
static BOOT: OnceLock<fn()> = OnceLock::new();
static GLOBAL: AtomicUsize = AtomicUsize::new(0);
static STATE: OnceLock<State> = OnceLock::new();
static HOOKS: OnceLock<[Kept; Hook::COUNT]> = OnceLock::new();

/// What every native needs.
pub(super) struct State {
    pub(super) functions: &'static Functions,
    pub(super) isolate: IsolatePtr,
    pub(super) cell: Kept,
    pub(super) undefined: Kept,
    pub(super) name: &'static str,
    pub(super) natives: &'static [fn(&Scope)],
    pub(super) modules: fn(&str) -> Option<String>,
}

/// A handle that lives as long as the process.
#[derive(Clone, Copy)]
pub(super) struct Kept(pub(super) Local);

// SAFETY: only the isolate's thread follows these pointers; the watcher's thread passes `isolate` to the one function that V8 has
// for other threads.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}
// SAFETY: as above.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

/// Functions of the guest half that are called from here, in the order in which it gives them.
#[derive(Clone, Copy)]
pub(crate) enum Hook {
    Main,
    Rejection,
    Stack,
    Import,
    WarmUp,
}

impl Hook {
    const COUNT: usize = 5;

    pub(super) fn function(self) -> Option<Local> {
        HOOKS.get().map(|hooks| hooks[self as usize].0)
    }
}

/// What a worker brings to V8.
pub(crate) struct Guest {
    /// The text of the guest half: a function of the natives, the cell, the prelude and the name.
    pub(crate) text: &'static str,
    /// The text of the prelude.
    pub(crate) prelude: String,
    /// The name that frames of both have.
    pub(crate) name: &'static str,
    /// In the order in which the guest half names them.
    pub(crate) natives: &'static [fn(&Scope)],
    /// The source of a module that came along with the program.
    pub(crate) modules: fn(&str) -> Option<String>,
}

/// Why V8 is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error("cannot load the library")]
    Load(#[from] libloading::Error),
    #[error("a path or a flag has a 0 in it")]
    Text(#[from] std::ffi::NulError),
    #[error("V8 does not answer, or was set up before")]
    Silent,
    #[error("V8 keeps the number of its threads elsewhere")]
    Helpers,
    #[error("the guest half {0}")]
    Guest(&'static str),
}

/// What is compiled before there are copies stays.
const FLAGS: &str = "--no-async-stack-traces --no-flush-bytecode";

/// Where V8 compiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compiling {
    /// On a thread beside the program's.
    Beside,
    /// Nowhere: it interprets.
    Never,
}

impl Compiling {
    fn flags(self) -> &'static str {
        match self {
            // The wheel starts no threads when it sees the first of these; V8 then hears that it may have one for compiling, and
            // only for that. The best of its compilers inlines somewhat longer functions than by default (460 bytes of bytecode),
            // and the quick one only short ones: what the best one has compiled is then called, and not compiled worse again.
            Compiling::Beside => {
                "--single-threaded --no-single-threaded --single-threaded-gc --no-memory-pool --no-concurrent-sparkplug \
                 --max-inlined-bytecode-size=600 --max-maglev-inlined-bytecode-size=100"
            }
            Compiling::Never => "--single-threaded --jitless",
        }
    }
}

/// Loads V8, makes an isolate, and calls `boot` on its thread, inside a function that a script has called. `alone` is called in
/// between, when every file has been read and there is one thread only.
///
/// Blocks for ever; `boot` is to end the process. A process can do this once.
pub(crate) fn run(
    library: &Path,
    data: &Path,
    compiling: Compiling,
    alone: impl FnOnce(),
    boot: fn(),
) -> Result<Infallible, SetupError> {
    let functions = library::load(library)?;
    let flags = CString::new(format!("{FLAGS} {}", compiling.flags()))?;
    let data = CString::new(data.as_os_str().as_encoded_bytes())?;
    if BOOT.set(boot).is_err() || LOADED.set(functions).is_err() {
        return Err(SetupError::Silent);
    }
    // SAFETY: these are the wheel's own functions, called as its own bindings call them: one set-up, one context, and a function
    // of ours as a property of its global object, which a script then calls. Texts are copied before the calls return.
    unsafe {
        let text =
            |context, text: &str| (functions.alloc_string)(context, text.as_ptr().cast(), text.len() as u64, STRING);
        (functions.init_v8)(flags.as_ptr(), data.as_ptr());
        if compiling == Compiling::Beside {
            helpers::announce(functions)?;
        }
        alone();
        let context = (functions.init_context)(notified);
        (functions.eval)(context, text(context, "globalThis"), NOTIFY_GLOBAL);
        let mut tries = 0;
        while GLOBAL.load(SeqCst) == 0 {
            tries += 1;
            if tries > SETUP_TRIES {
                return Err(SetupError::Silent);
            }
            std::thread::sleep(SETUP_PAUSE);
        }
        let function = (functions.make_callback)(context, NOTIFY_BOOT);
        (functions.set_item)(context, GLOBAL.load(SeqCst) as *mut c_void, text(context, BOOT_NAME), function);
        let script = format!("const b = {BOOT_NAME}; delete globalThis.{BOOT_NAME}; b()");
        (functions.eval)(context, text(context, &format!("{{ {script} }}")), NOTIFY_OVER);
    }
    loop {
        std::thread::park();
    }
}

extern "C" fn notified(what: u64, value: *mut c_void) {
    match (what, BOOT.get()) {
        (NOTIFY_GLOBAL, _) => GLOBAL.store(value as usize, SeqCst),
        (NOTIFY_BOOT, Some(boot)) => boot(),
        _ => {}
    }
}

pub(super) fn state() -> Option<&'static State> {
    STATE.get()
}

pub(super) fn functions() -> Option<&'static Functions> {
    LOADED.get().copied()
}

/// Sets the guest half up: for the isolate's own thread, in `boot`, once.
pub(crate) fn set_up(guest: &Guest) -> Result<(), SetupError> {
    let functions = functions().ok_or(SetupError::Silent)?;
    // SAFETY: `boot` runs inside a function that a script called, so there are an isolate, a context and a scope for handles, and
    // all stay for as long as it does not return. Handles that outlive this function are made global ones.
    unsafe {
        let isolate = (functions.current_isolate)();
        let context = (functions.current_context)(isolate);
        let keep = |local: Local| Kept((functions.globalize)(isolate, *local.cast::<usize>()));
        let cell = keep((functions.new_array)(isolate, CELL_SLOTS));
        let undefined = keep((functions.get)(cell.0, context, 0));
        let natives = (functions.new_array)(isolate, 0);
        for (number, native) in callbacks::NATIVES.iter().enumerate().take(guest.natives.len()) {
            let function = (functions.new_function)(context, *native, null_mut(), 0, 0, 0);
            (functions.set)(natives, context, number as u32, function);
        }
        let state = State {
            functions,
            isolate,
            cell,
            undefined,
            name: guest.name,
            natives: guest.natives,
            modules: guest.modules,
        };
        let scope = Scope::new(STATE.get_or_init(|| state));
        let script = scope
            .compile(guest.name, guest.text, 0, Compile::AllAtOnce)
            .ok_or(SetupError::Guest("does not compile"))?;
        let make = scope.run(script).ok_or(SetupError::Guest("does not run"))?;
        let arguments = [natives, cell.0, scope.string(&guest.prelude), scope.string(guest.name)];
        let made = scope.call(make, &arguments).ok_or(SetupError::Guest("throws"))?;
        let hook = |hook: Hook| keep((functions.get)(made, context, hook as u32));
        let hooks = [Hook::Main, Hook::Rejection, Hook::Stack, Hook::Import, Hook::WarmUp].map(hook);
        HOOKS.set(hooks).map_err(|_| SetupError::Guest("is set up twice"))?;
        callbacks::install(functions, isolate);
        memory::install(functions, isolate);
        // The guest half learns how frames are read from the first stack that is made.
        let first = scope.compile(guest.name, "new Error('x').stack", 0, Compile::Lazily);
        let first = first.and_then(|script| scope.run(script));
        first.ok_or(SetupError::Guest("cannot format stacks"))?;
        for _ in 0..WARM_UPS {
            Hook::WarmUp
                .function()
                .and_then(|warm_up| scope.call(warm_up, &[]))
                .ok_or(SetupError::Guest("cannot be warmed up"))?;
        }
        Ok(())
    }
}

/// How the program was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The main function returned.
    Returned,
    /// It was stopped from outside.
    Terminated,
    /// It threw, which it must not.
    Threw,
}

/// Calls the main function of the guest half, on the isolate's own thread.
pub(crate) fn enter() -> Stop {
    let (Some(state), Some(main)) = (STATE.get(), Hook::Main.function()) else { return Stop::Threw };
    let scope = Scope::new(state);
    match scope.call(main, &[]) {
        Some(_) => Stop::Returned,
        // SAFETY: the isolate is this thread's own.
        None if unsafe { (state.functions.is_terminating)(state.isolate) } => Stop::Terminated,
        None => Stop::Threw,
    }
}

/// How deep calls may nest from here on, in bytes of this thread's stack.
pub(crate) fn bound_stack(bytes: usize) {
    let here = 0u8;
    if let Some(state) = STATE.get() {
        // SAFETY: the limit lies within this thread's stack, which is larger than any limit that is given.
        unsafe { (state.functions.set_stack_limit)(state.isolate, (&raw const here as usize).saturating_sub(bytes)) };
    }
}

/// Has the program stopped where it is. For any thread.
pub(crate) fn stop() {
    if let Some(state) = STATE.get() {
        // SAFETY: V8 allows this function on any thread, and the isolate lives as long as the process.
        unsafe { (state.functions.request_interrupt)(state.isolate, callbacks::on_interrupt, null_mut()) };
    }
}

/// The frames of the program when it was stopped.
pub(crate) fn stopped_at() -> Option<String> {
    callbacks::stack_at_stop()
}
