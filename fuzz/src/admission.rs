//! Bytes become a policy, a method and a URL; core and the oracle have to agree.

use crate::oracle::{self, Answer};
use crate::policy::{Rule, method, url};
use arbitrary::Unstructured;
use isolith_core::{Grant, Method, Target, admit};

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The policy.
    pub rules: Vec<Rule>,
    /// The method.
    pub method: &'static str,
    /// The URL.
    pub url: String,
}

impl Case {
    /// The case that bytes stand for.
    pub fn pick(data: &[u8]) -> Case {
        let mut bytes = Unstructured::new(data);
        let rules: Vec<Rule> = (0..1 + crate::pick::count(&mut bytes, 4)).map(|_| Rule::pick(&mut bytes)).collect();
        let (method, url) = (method(&mut bytes), url(&mut bytes, &rules));
        Case { rules, method, url }
    }

    /// What core says.
    pub fn decided(&self) -> Answer {
        let grants: Vec<Grant> = self.rules.iter().map(Rule::to_grant).collect();
        let (Ok(method), Ok(target)) = (Method::new(self.method), Target::parse(&self.url)) else {
            return Answer::Invalid;
        };
        // What is sent is what was checked: reading the URL of a target again changes nothing.
        let again = Target::parse(target.url().as_str());
        assert_eq!(again.as_ref(), Ok(&target), "{self:?}");
        match admit::egress(&grants, &method, &target) {
            Ok(admitted) if admitted.ask => Answer::Ask,
            Ok(_) => Answer::Allow,
            Err(refusal) => {
                let wanted = Grant::allow(refusal.wanted.clone());
                assert_eq!(wanted.to_string().parse().as_ref(), Ok(&wanted), "{self:?}");
                assert!(admit::egress(&[wanted], &method, &target).is_ok(), "{self:?}: {}", refusal.wanted);
                Answer::Deny
            }
        }
    }
}

/// Panics where core and the oracle disagree. Says whether the oracle could tell.
pub fn compare(data: &[u8]) -> bool {
    let case = Case::pick(data);
    let decided = case.decided();
    match oracle::judge(&case.rules, case.method, &case.url) {
        Answer::Unsure(_) => false,
        expected => {
            assert!(decided == expected, "core says {decided:?}, the oracle {expected:?}: {case:#?}");
            true
        }
    }
}

/// The target.
pub fn check(data: &[u8]) {
    compare(data);
}
