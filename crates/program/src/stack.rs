use crate::fault::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Stack that one level of nesting may take in any step: twice what was measured for the worst kind of level, a type
/// `[[[[…]]]]` with 1,820 bytes a level.
const LEVEL_BYTES: usize = 4 << 10;

/// Stack that every caller is expected to have left.
const OWN_STACK_BYTES: usize = 512 << 10;

/// Stack of the thread for what nests deeper. Only what is touched takes memory, so there is room for
/// [`TYPED_NESTING_MAX`](crate::nesting::TYPED_NESTING_MAX) levels, and more.
const ROOMY_STACK_BYTES: usize = 256 << 20;

const _: () = assert!(ROOMY_STACK_BYTES / LEVEL_BYTES > crate::nesting::TYPED_NESTING_MAX as usize);

/// Levels that need no thread of their own.
const OWN_LEVELS_MAX: u32 = (OWN_STACK_BYTES / LEVEL_BYTES) as u32;

/// Does `work`, whose recursion is at most `levels` deep, on a stack that is large enough.
///
/// THREAT[T-PROGRAM-001]: a stack overflow cannot be caught; it ends the process. The levels are bounded by the scan
/// before, so the stack here is chosen and never hoped for. A panic in `work` becomes a fault of this program.
pub(crate) fn with_stack<T: Send>(levels: u32, work: impl FnOnce() -> Result<T, Fault> + Send) -> Result<T, Fault> {
    let ended = if levels <= OWN_LEVELS_MAX {
        catch_unwind(AssertUnwindSafe(work))
    } else {
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("isolith-program".into()).stack_size(ROOMY_STACK_BYTES);
            match thread.spawn_scoped(scope, work) {
                Ok(thread) => thread.join(),
                Err(_) => Ok(Err(Fault::internal("there is no room to parse a program as deep as this one"))),
            }
        })
    };
    ended.unwrap_or_else(|_| Err(Fault::internal("the parser failed on this program")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_fault() {
        for levels in [0, 1_000] {
            let fault = with_stack::<()>(levels, || panic!("on purpose")).unwrap_err();
            assert_eq!(fault.code, "internal");
        }
    }

    #[test]
    fn deep_work_has_room() {
        fn sum(n: u64, padding: [u64; 64]) -> u64 {
            if n == 0 { padding[0] } else { sum(n - 1, std::hint::black_box(padding)) + 1 }
        }
        assert_eq!(with_stack(5_000, || Ok(sum(100_000, [0; 64]))), Ok(100_000));
    }
}
