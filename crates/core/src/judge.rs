//! A decision about a call as the guest makes it, before anything about it is known that only acting can tell.

use crate::admit::{self, Admitted, Refusal};
use crate::{FilesOp, Grant, GuestPath, HostCall, Method, Target};

/// Whether a call is within these grants; nothing for a call that no grant has a say about.
///
/// This is what the gate decides first. What it decides later is not in here: the address that a name turns out to have, where a
/// redirect leads, how much of a budget is left.
pub fn judge<'a>(grants: &'a [Grant], call: &HostCall) -> Option<Result<Admitted<'a>, Refusal>> {
    match call {
        HostCall::Tool { name, args } => Some(admit::tool(grants, name, args.as_ref())),
        HostCall::Invoke { name, args } => Some(admit::invoke(grants, name, args.as_ref())),
        HostCall::Fetch(fetch) => judge_request(grants, &fetch.method, &fetch.url),
        HostCall::Kv { space, op } => Some(admit::kv(grants, space, op.access())),
        HostCall::Files { op, .. } => judge_files(grants, op),
        HostCall::Reveal { name } => Some(admit::reveal(grants, name)),
        HostCall::WriteBody { .. } | HostCall::Drop { .. } | HostCall::Sleep { .. } | HostCall::ReadBody { .. } => None,
    }
}

/// The same for one request; nothing for one that is never sent, whatever is granted.
pub fn judge_request<'a>(grants: &'a [Grant], method: &str, url: &str) -> Option<Result<Admitted<'a>, Refusal>> {
    let (method, target) = (Method::new(method).ok()?, Target::parse(url).ok()?);
    Some(admit::egress(grants, &method, &target))
}

#[expect(clippy::result_large_err, reason = "as in `admit`")]
fn judge_files<'a>(grants: &'a [Grant], op: &FilesOp) -> Option<Result<Admitted<'a>, Refusal>> {
    let decision = admit::files(grants, &GuestPath::new(op.path()).ok()?, op.access());
    let Some(to) = op.to() else { return Some(decision) };
    let there = admit::files(grants, &GuestPath::new(to).ok()?, op.access());
    // Both places have to be allowed; the first one is what is counted.
    Some(decision.and_then(|here| there.map(|_| here)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BindingName, FetchCall, KvOp, RequestId, Timestamp};

    fn said(grants: &[&str], call: &HostCall) -> String {
        let grants: Vec<Grant> = grants.iter().map(|text| text.parse().unwrap()).collect();
        match judge(&grants, call) {
            None => "no say".into(),
            Some(Ok(admitted)) if admitted.ask => format!("asks by {}", admitted.grant),
            Some(Ok(admitted)) => format!("by {}", admitted.grant),
            Some(Err(refusal)) => refusal.why,
        }
    }

    #[test]
    fn every_kind_of_call_has_its_decision() {
        let get = |url: &str| HostCall::Fetch(Box::new(FetchCall::get(RequestId(1), url)));
        let kv = HostCall::Kv { space: BindingName::new("notes").unwrap(), op: KvOp::Get { keys: vec!["a".into()] } };
        let rename = |to: &str| HostCall::Files {
            op: FilesOp::Rename { path: "out/a".into(), to: to.into() },
            bytes: Vec::new(),
        };
        let rows = [
            (&["egress:a.example"][..], get("https://a.example/x"), "by egress:https://a.example"),
            (&["ask egress:a.example"], get("https://a.example/x"), "asks by ask egress:https://a.example"),
            (&[], get("ftp://a.example"), "no say"),
            (&["kv:notes"], kv.clone(), "by kv:notes"),
            (&["deny kv:notes"], kv, "forbidden by `deny kv:notes`"),
            (&["files:write out"], rename("out/b"), "by files:write out"),
            (&["files:write out"], rename("b"), "not granted: `files:write b` would allow it"),
            (&[], HostCall::Sleep { until: Timestamp::from_micros(1) }, "no say"),
        ];
        for (grants, call, expected) in rows {
            assert_eq!(said(grants, &call), expected, "{call:?}");
        }
    }
}
