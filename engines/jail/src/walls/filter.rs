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
        Filter(filter(calls).map_err(|error| error.to_string()))
    }

    /// Lets only these calls through, on all threads of the process.
    pub(crate) fn apply(&self) -> Result<(), String> {
        let filter = self.0.as_ref().map_err(Clone::clone)?;
        apply_filter_all_threads(filter).map_err(|error| error.to_string())
    }
}

fn filter(calls: &[Call]) -> Result<BpfProgram, BackendError> {
    let rules = calls.iter().map(rules).collect::<Result<BTreeMap<i64, Vec<SeccompRule>>, _>>()?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, ARCH.try_into()?)?.try_into()
}

/// Any one of the rules is enough; none at all means that every argument will do.
fn rules(call: &Call) -> Result<(i64, Vec<SeccompRule>), BackendError> {
    let rule = |argument, operator, value| {
        SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?])
    };
    Ok(match *call {
        Call::Any(number) => (number, Vec::new()),
        Call::Among(number, argument, values) => {
            let rules = values.iter().map(|value| rule(argument, SeccompCmpOp::Eq, *value));
            (number, rules.collect::<Result<_, _>>()?)
        }
        Call::Without(number, argument, bits) => (number, vec![rule(argument, SeccompCmpOp::MaskedEq(bits), 0)?]),
    })
}
