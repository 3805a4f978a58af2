//! The system calls that workers may make once they run a program, by what lives inside.

use Call::{Among, Any, Without};

/// A system call, and with which arguments.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// With any.
    Any(i64),
    /// Only where the argument of this position is one of these.
    Among(i64, u8, &'static [u64]),
    /// Only where none of these bits is set in the arguments of these positions.
    Without(i64, &'static [(u8, u64)]),
}

impl Call {
    /// Its number. A list has each once.
    pub(super) fn number(&self) -> i64 {
        match *self {
            Any(number) | Among(number, ..) | Without(number, _) => number,
        }
    }
}

/// Memory that the kernel does not count against `RLIMIT_DATA`: what is shared, and what grows like a stack. The argument is the fourth.
const UNCOUNTED: (u8, u64) = (3, (libc::MAP_SHARED | libc::MAP_GROWSDOWN) as u64);
/// What could become code. The argument is the third.
const CODE: (u8, u64) = (2, libc::PROT_EXEC as u64);

/// Limits of oneself, and of no other.
const OWN_LIMITS: Call = Among(libc::SYS_prlimit64, 0, &[0]);

/// What V8 needs while it runs: memory, waiting, the two descriptors that are open, and an end.
///
/// It may take the right to write away from pages that it has written, and the kernel then counts them no more. So that count holds V8,
/// but not somebody who has taken its process over: that takes a control group around all of isolith.
pub const V8_CALLS: &[Call] = &[
    Any(libc::SYS_read),
    Any(libc::SYS_write),
    Any(libc::SYS_recvfrom),
    Any(libc::SYS_sendto),
    Any(libc::SYS_close),
    Without(libc::SYS_mmap, &[UNCOUNTED]),
    Any(libc::SYS_munmap),
    Any(libc::SYS_mremap),
    Any(libc::SYS_mprotect),
    Any(libc::SYS_pkey_mprotect),
    Any(libc::SYS_madvise),
    Any(libc::SYS_brk),
    Any(libc::SYS_futex),
    Any(libc::SYS_sched_yield),
    Any(libc::SYS_clock_gettime),
    Any(libc::SYS_clock_nanosleep),
    Any(libc::SYS_gettid),
    Any(libc::SYS_getpid),
    Any(libc::SYS_getrandom),
    Any(libc::SYS_getrusage),
    Any(libc::SYS_rt_sigprocmask),
    Any(libc::SYS_rt_sigreturn),
    Any(libc::SYS_sigaltstack),
    Any(libc::SYS_restart_syscall),
    Any(libc::SYS_exit),
    Any(libc::SYS_exit_group),
    OWN_LIMITS,
];

/// The same for code that was compiled before: nothing that could become code is ever asked for.
pub const WASM_CALLS: &[Call] = &[
    Any(libc::SYS_read),
    Any(libc::SYS_recvfrom),
    Any(libc::SYS_sendto),
    Without(libc::SYS_mmap, &[CODE, UNCOUNTED]),
    // Memory is taken into use and nothing else: what was written to and can no longer be is not counted either.
    Among(libc::SYS_mprotect, 2, &[(libc::PROT_READ | libc::PROT_WRITE) as u64]),
    Any(libc::SYS_munmap),
    Any(libc::SYS_mremap),
    Any(libc::SYS_madvise),
    Any(libc::SYS_brk),
    Any(libc::SYS_futex),
    Any(libc::SYS_clock_gettime),
    Any(libc::SYS_clock_nanosleep),
    Any(libc::SYS_getrandom),
    // A trap of compiled code is a signal; one that is none of its own puts the default back, so that the process ends.
    Any(libc::SYS_rt_sigreturn),
    Among(
        libc::SYS_rt_sigaction,
        0,
        &[libc::SIGSEGV as u64, libc::SIGBUS as u64, libc::SIGILL as u64, libc::SIGFPE as u64],
    ),
    Any(libc::SYS_restart_syscall),
    Any(libc::SYS_exit_group),
    OWN_LIMITS,
];
