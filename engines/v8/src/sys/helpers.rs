//! The thread on which V8 compiles beside the program.
//!
//! A process with more than one thread cannot be copied whole, so the zygote has no such thread: it only says that there will be
//! one, and each copy starts its own. It is not only for the time that compiling takes: what V8 compiles on the program's own
//! thread is slower code, in which `Math.sqrt` stays a call and its result an object.

use super::library::{Functions, Task, TaskTable};
use super::v8::{SetupError, functions};
use std::ffi::c_int;
use std::sync::Barrier;

/// One is enough for one program; each has a stack and an allocator of its own.
const HELPERS: usize = 1;
/// Where a platform keeps their number. The wheel makes one without any, and V8 has no function that changes it.
const COUNT_OFFSET: usize = 16;
/// `v8::TaskPriority`: somebody waits for it.
const URGENT: c_int = 2;

/// Where all helpers meet whoever started them.
static AT_WORK: Barrier = Barrier::new(HELPERS + 1);
static MEET: TaskTable = TaskTable { leave: keep, free: keep, run: meet };
static MEETING: Task = Task { table: &MEET };

extern "C" fn keep(_: *const Task) {}

extern "C" fn meet(_: *const Task) {
    AT_WORK.wait();
}

/// In the zygote, before there is an isolate: says how many helpers there will be. Until they are there V8 must not need one.
pub(super) fn announce(functions: &Functions) -> Result<(), SetupError> {
    // SAFETY: the platform lives as long as the process, and no other thread has it yet. The number lies where the pinned library
    // keeps it, which is looked at before and after.
    unsafe {
        let platform = (functions.current_platform)();
        let count = platform.byte_add(COUNT_OFFSET).cast::<c_int>();
        if (functions.helper_count)(platform) != 0 || count.read() != 0 {
            return Err(SetupError::Helpers);
        }
        count.write(HELPERS as c_int);
        if (functions.helper_count)(platform) == HELPERS as c_int { Ok(()) } else { Err(SetupError::Helpers) }
    }
}

/// In a copy, once: starts what was announced, and waits until each helper is at work.
pub(crate) fn start_helpers() {
    let Some(functions) = functions() else { return };
    // SAFETY: the platform has no helpers, since no zygote starts them. The task is never freed: its own functions do nothing for that.
    unsafe {
        let platform = (functions.current_platform)();
        if (functions.helper_count)(platform) == 0 {
            return;
        }
        (functions.start_helpers)(platform);
        for _ in 0..HELPERS {
            (functions.give_to_helper)(platform, URGENT, &MEETING, &[0; 3]);
        }
    }
    AT_WORK.wait();
}
