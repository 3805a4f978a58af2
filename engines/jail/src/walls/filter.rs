//! Every system call but those of a list is refused.

use super::calls::Call;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter_all_threads,
};
use std::collections::BTreeMap;
use std::env::consts::ARCH;

/// A list of calls as the kernel takes it. Made once for all copies: to make it takes longer than to apply it.
pub(crate) struct Filter(Result<BpfProgram, String>);

impl Filter {
    pub(crate) fn new(calls: &[Call]) -> Filter {
        Filter(filter(calls))
    }

    /// Lets only these calls through, on all threads of the process.
    pub(crate) fn apply(&self) -> Result<(), String> {
        let filter = self.0.as_ref().map_err(Clone::clone)?;
        apply_filter_all_threads(filter).map_err(|error| error.to_string())
    }
}

fn filter(calls: &[Call]) -> Result<BpfProgram, String> {
    let mut all = BTreeMap::new();
    for call in calls {
        let rules = rules(call).map_err(|error| error.to_string())?;
        // Another entry would take the place of the first, and what that one refuses would be let through.
        if all.insert(call.number(), rules).is_some() {
            return Err(format!("call {} is listed twice", call.number()));
        }
    }
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let compile = || -> Result<BpfProgram, BackendError> {
        SeccompFilter::new(all, refuse, SeccompAction::Allow, ARCH.try_into()?)?.try_into()
    };
    compile().map_err(|error| error.to_string())
}

/// Any one of the rules is enough; none at all means that every argument will do.
fn rules(call: &Call) -> Result<Vec<SeccompRule>, BackendError> {
    let condition =
        |argument, operator, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value);
    match *call {
        Call::Any(_) => Ok(Vec::new()),
        Call::Among(_, argument, values) => {
            let rule = |value: &u64| SeccompRule::new(vec![condition(argument, SeccompCmpOp::Eq, *value)?]);
            values.iter().map(rule).collect()
        }
        // All conditions of one rule have to hold.
        Call::Without(_, arguments) => {
            let clear = |(argument, bits): &(u8, u64)| condition(*argument, SeccompCmpOp::MaskedEq(*bits), 0);
            Ok(vec![SeccompRule::new(arguments.iter().map(clear).collect::<Result<_, _>>()?)?])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::{V8_CALLS, WASM_CALLS};

    #[test]
    fn a_call_that_is_listed_twice_makes_no_filter() {
        assert!(filter(V8_CALLS).is_ok() && filter(WASM_CALLS).is_ok());
        let twice = [Call::Without(libc::SYS_mmap, &[(2, 4)]), Call::Any(libc::SYS_mmap)];
        assert_eq!(filter(&twice).map(|_| ()), Err(format!("call {} is listed twice", libc::SYS_mmap)));
    }
}
