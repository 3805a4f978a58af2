//! What a copy of the zygote gives up before it takes a program.

use super::filter::Filter;
use super::wall::{Jail, Wall};
use crate::os;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus,
    Scope,
};
use libc::c_int;

/// Descriptors that a worker may have at one time: those it has.
const FILES_MAX: u64 = 4;
/// The most that the stack of its first thread may grow to. It is not counted where the rest of its memory is.
const STACK_BYTES_MAX: u64 = 8 << 20;
/// The newest Landlock that is asked for; older kernels do what they can.
const LANDLOCK: ABI = ABI::V6;
/// The oldest that has what the wall promises: no file and no port. What came later is for devices, which are files, and for sockets and
/// signals, which other walls take away.
const LANDLOCK_WHOLE: ABI = ABI::V4;

/// What is shut before threads of the worker start, and what behind them.
pub(crate) enum Shut<'a> {
    /// What a thread hands down to those that it starts.
    Before,
    /// What holds for all threads at once; with the system calls that are left.
    Behind(&'a Filter),
}

/// The namespaces that a copy can have to itself.
pub(crate) fn namespaces_of_a_copy() -> [(c_int, &'static [Wall]); 3] {
    let (user, pid) = (libc::CLONE_NEWUSER, libc::CLONE_NEWPID);
    [
        (user | pid, &[Wall::UserNamespace, Wall::PidNamespace]),
        (pid, &[Wall::PidNamespace]),
        (user, &[Wall::UserNamespace]),
    ]
}

/// Gives up what a running program does not need. Descriptors must have been closed.
pub(crate) fn shut_in(jail: &mut Jail, part: Shut<'_>) {
    match part {
        Shut::Before => {
            jail.note(Wall::ParentDeath, os::die_with_parent());
            jail.note(Wall::Capabilities, os::drop_capabilities());
            jail.note(Wall::Landlock, restrict());
        }
        Shut::Behind(filter) => {
            jail.note(Wall::Limits, limit());
            jail.note(Wall::SystemCalls, filter.apply());
        }
    }
}

fn limit() -> std::io::Result<()> {
    os::not_dumpable()?;
    os::limit(libc::RLIMIT_CORE, 0)?;
    os::limit(libc::RLIMIT_NPROC, 0)?;
    os::limit(libc::RLIMIT_STACK, STACK_BYTES_MAX)?;
    os::limit(libc::RLIMIT_NOFILE, FILES_MAX)?;
    os::limit(libc::RLIMIT_FSIZE, 0)
}

/// No file, no port, no socket or process of others.
fn restrict() -> Result<(), String> {
    let rules = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .restrict_self()
    };
    let status = rules().map_err(|error| error.to_string())?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => Err("the kernel has no Landlock".into()),
        (RulesetStatus::FullyEnforced, _) => Ok(()),
        (_, LandlockStatus::Available { effective_abi, .. }) if effective_abi >= LANDLOCK_WHOLE => Ok(()),
        (RulesetStatus::PartiallyEnforced, _) => Err("only in part".into()),
    }
}
