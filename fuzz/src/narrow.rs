//! Bytes become two policies and requests; narrowing never widens.

use crate::admission::Case;
use crate::pick::count;
use crate::policy::{Rule, method, url};
use arbitrary::Unstructured;
use isolith_core::{Grant, narrow};

/// The target.
pub fn check(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut side = || -> Vec<Rule> { (0..1 + count(&mut bytes, 3)).map(|_| Rule::pick(&mut bytes)).collect() };
    let (operator, requested) = (side(), side());
    let grants = |rules: &[Rule]| -> Vec<Grant> { rules.iter().map(Rule::to_grant).collect() };
    let narrowed = narrow(&grants(&operator), &grants(&requested));
    let both: Vec<Rule> = operator.iter().chain(&requested).cloned().collect();
    for _ in 0..4 {
        let case = Case { rules: Vec::new(), method: method(&mut bytes), url: url(&mut bytes, &both) };
        let [by_operator, by_request, left] =
            [&grants(&operator), &grants(&requested), &narrowed.grants].map(|grants| strictness(grants, &case));
        assert_eq!(left, by_operator.max(by_request), "{case:?}\n{operator:#?}\n{requested:#?}\n{narrowed:#?}");
        if narrowed.report.is_empty() {
            assert_eq!(left, by_request, "{case:?}\n{operator:#?}\n{requested:#?}\n{narrowed:#?}");
        }
    }
}

fn strictness(grants: &[Grant], case: &Case) -> u8 {
    let (Ok(method), Ok(target)) = (isolith_core::Method::new(case.method), isolith_core::Target::parse(&case.url))
    else {
        return 3;
    };
    match isolith_core::admit::egress(grants, &method, &target) {
        Ok(admitted) => u8::from(admitted.ask),
        Err(_) => 2,
    }
}
