//! What the program keeps in memory: V8's heap, and the buffers beside it, which V8's own limits do not count.

use super::buffers;
use super::library::{Functions, IsolatePtr};
use super::v8::state;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// `GCType`: every kind of collection, and the one after which only what is alive is left.
const COLLECTIONS: c_int = 0xff;
/// Numbers in `v8::HeapStatistics`, with room to spare, and which of them are the bytes in use and those beside the heap.
const STATISTICS: usize = 64;
const USED_HEAP: usize = 4;
const OUTSIDE: usize = 7;
/// What the heap may grow by while a program that has exceeded its limit is being stopped.
const UNWINDING_BYTES: usize = 32 << 20;
/// What V8 asks the system for at one time, beside its heap.
const LITTLE_BYTES: usize = 1 << 20;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static EXCEEDED: AtomicBool = AtomicBool::new(false);
static LOOKING: AtomicBool = AtomicBool::new(false);
/// The heap when it was last looked at.
static HEAP: AtomicUsize = AtomicUsize::new(0);
/// The length of a buffer that was refused, while none of that length was given since; 0 is none.
static REFUSED: AtomicUsize = AtomicUsize::new(0);
static ON_FATAL: OnceLock<fn(Exceeded)> = OnceLock::new();

/// Whether a limit on memory was what ended a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    Memory,
    /// V8 gave up for a reason of its own.
    Other,
}

/// From here on the heap and its buffers may have this many bytes. `fatal` is called when V8 gives up; it must end the process.
pub(crate) fn limit_memory(bytes: usize, fatal: fn(Exceeded)) {
    LIMIT.store(bytes, Relaxed);
    let _ = ON_FATAL.set(fatal);
    if let Some(state) = state() {
        let (functions, isolate) = (state.functions, state.isolate);
        // SAFETY: the isolate is this thread's own. Taking a function away is V8's way to say what the limit is from then on.
        unsafe {
            (functions.add_heap_limit)(isolate, on_heap_limit, std::ptr::null_mut());
            (functions.remove_heap_limit)(isolate, on_heap_limit, bytes);
            (functions.add_heap_limit)(isolate, on_heap_limit, std::ptr::null_mut());
        }
    }
}

/// Whether the limit was exceeded, and the most that was seen in use. A buffer that was refused for good counts, also where the program
/// has not come to the place yet at which it is stopped for that.
pub(crate) fn memory_used() -> (bool, usize) {
    if let Some(state) = state()
        && look(state.functions, state.isolate) > LIMIT.load(Relaxed)
        && !EXCEEDED.load(Relaxed)
    {
        on_full(state.isolate, std::ptr::null_mut());
    }
    (EXCEEDED.load(Relaxed) || REFUSED.load(Relaxed) > 0, PEAK.load(Relaxed))
}

pub(super) fn install(functions: &'static Functions, isolate: IsolatePtr) {
    // SAFETY: the functions have the signatures that V8 calls.
    unsafe {
        (functions.on_collected)(isolate, on_collected, COLLECTIONS);
        (functions.on_out_of_memory)(isolate, on_out_of_memory);
        (functions.on_fatal)(isolate, on_fatal);
    }
    notice_traps();
    buffers::install(functions, isolate);
}

/// Bytes in use, dead or alive.
fn look(functions: &Functions, isolate: IsolatePtr) -> usize {
    let mut statistics = [0usize; STATISTICS];
    // SAFETY: there is room for more numbers than the statistics have.
    unsafe { (functions.heap_statistics)(isolate, statistics.as_mut_ptr()) };
    let heap = statistics[USED_HEAP];
    HEAP.store(heap, Relaxed);
    // Buffers that can grow and memory of WebAssembly do not come from the allocator, but V8 counts them.
    let used = heap + buffers::bytes_used().max(statistics[OUTSIDE]);
    PEAK.fetch_max(used.min(LIMIT.load(Relaxed)), Relaxed);
    used
}

extern "C" fn on_collected(isolate: IsolatePtr, _: c_int, _: c_int) {
    let Some(state) = state() else { return };
    let used = look(state.functions, isolate);
    buffers::make_room(state.functions, isolate);
    if used > LIMIT.load(Relaxed) && !LOOKING.swap(true, Relaxed) {
        // Some of it may be dead: a small collection leaves that. Nothing can be collected from in here.
        // SAFETY: the isolate is this thread's own.
        unsafe { (state.functions.request_interrupt)(isolate, on_full, std::ptr::null_mut()) };
    }
}

/// Collects everything, and stops the program if what is left is still too much.
extern "C" fn on_full(isolate: IsolatePtr, _: *mut c_void) {
    let Some(state) = state() else { return };
    // SAFETY: V8 calls this on the isolate's own thread, where it can collect.
    unsafe { (state.functions.collect)(isolate) };
    LOOKING.store(false, Relaxed);
    if look(state.functions, isolate) > LIMIT.load(Relaxed) {
        exceed(state.functions, isolate);
    }
}

/// V8 has collected what it can. It gets some more, so that it can unwind what runs.
extern "C" fn on_heap_limit(_: *mut c_void, current: usize, _: usize) -> usize {
    if let Some(state) = state() {
        exceed(state.functions, state.isolate);
    }
    current + UNWINDING_BYTES
}

fn exceed(functions: &Functions, isolate: IsolatePtr) {
    EXCEEDED.store(true, Relaxed);
    // SAFETY: V8 allows this on any thread.
    unsafe { (functions.terminate)(isolate) };
}

/// What the program may have beside what it has.
pub(super) fn bytes_left() -> usize {
    LIMIT.load(Relaxed).saturating_sub(HEAP.load(Relaxed)).saturating_sub(buffers::bytes_used())
}

/// Whether there is room for a buffer.
pub(super) fn has_room(len: usize) -> bool {
    let used = buffers::bytes_used().saturating_add(len).saturating_add(HEAP.load(Relaxed));
    state().is_none() || used <= LIMIT.load(Relaxed)
}

/// A buffer was given. What was refused before is settled if it was no larger: then it was V8 who asked again.
pub(super) fn given(len: usize) {
    if len >= REFUSED.load(Relaxed) {
        REFUSED.store(0, Relaxed);
    }
}

// THREAT[T-LIMIT-001]: a program catches what V8 throws for a buffer that it did not get, and goes on with smaller ones.
/// A buffer was refused. V8 collects and asks for the same again, more than once. Only when it has given up is the program stopped: it
/// must not catch that and go on.
pub(super) fn refused(len: usize) {
    let Some(state) = state() else { return };
    if REFUSED.fetch_max(len.max(1), Relaxed) == 0 {
        // SAFETY: V8 allows this on any thread.
        unsafe { (state.functions.request_interrupt)(state.isolate, on_refused, std::ptr::null_mut()) };
    }
}

extern "C" fn on_refused(isolate: IsolatePtr, _: *mut c_void) {
    if let Some(state) = state()
        && REFUSED.load(Relaxed) > 0
    {
        exceed(state.functions, isolate);
    }
}

extern "C" fn on_out_of_memory(_: *const c_char, _: *const c_void) {
    if let Some(fatal) = ON_FATAL.get() {
        fatal(Exceeded::Memory);
    }
}

/// Beside its heap, V8 has an allocator that ends the process on the spot when the system gives it no more, without a word to anyone.
fn notice_traps() {
    let handler: extern "C" fn(c_int) = on_trap;
    // SAFETY: the handler has the signature of one, and is put in the place of the default. It is used once.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
        libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut());
    }
}

/// On the thread that was refused memory, behind the refusal. Where that was not it, the trap comes again, and is the end.
extern "C" fn on_trap(_: c_int) {
    let refused = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM) || is_exhausted();
    if let Some(fatal) = ON_FATAL.get().filter(|_| refused) {
        fatal(Exceeded::Memory);
    }
    std::process::abort();
}

/// Whether the system refuses even a little memory. V8 says what it gave up for before it does, which leaves the error of saying it.
fn is_exhausted() -> bool {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping at a place of the system's choice, which nobody ever uses. The process is about to end.
    unsafe { libc::mmap(std::ptr::null_mut(), LITTLE_BYTES, access, kind, -1, 0) == libc::MAP_FAILED }
}

extern "C" fn on_fatal(_: *const c_char, _: *const c_char) {
    if let Some(fatal) = ON_FATAL.get() {
        fatal(Exceeded::Other);
    }
}
