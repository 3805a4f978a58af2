//! The system calls that a worker may make once it runs a program. Every other is refused.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter_all_threads,
};
use std::collections::BTreeMap;
use std::env::consts::ARCH;

/// What V8 needs while it runs: memory, waiting, the two descriptors that are open, and an end.
pub(crate) const RUNNING: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_pkey_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Lets only these calls through, and limits on oneself; on all threads of the process.
pub(crate) fn allow_only(calls: &[i64]) -> Result<(), String> {
    filter(calls).and_then(|program| apply_filter_all_threads(&program).map_err(|error| error.to_string()))
}

fn filter(calls: &[i64]) -> Result<BpfProgram, String> {
    let failed = |error: seccompiler::BackendError| error.to_string();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let own = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 0).map_err(failed)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![own]).map_err(failed)?]);
    let arch = ARCH.try_into().map_err(failed)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch).map_err(failed)?;
    filter.try_into().map_err(failed)
}
