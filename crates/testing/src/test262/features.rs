use super::front_matter::{Flag, FrontMatter};

/// What programs here do not have, and why. Tests that need one of these are not run; they are counted with the reason.
const ABSENT: &[(&str, &str)] = &[
    ("Atomics", ONE_THREAD),
    ("Atomics.pause", ONE_THREAD),
    ("Atomics.waitAsync", ONE_THREAD),
    ("SharedArrayBuffer", ONE_THREAD),
    ("CannotSuspendMainAgent", ONE_THREAD),
    ("json-modules", JAVASCRIPT_MODULES),
    ("import-text", JAVASCRIPT_MODULES),
    ("import-bytes", JAVASCRIPT_MODULES),
    ("source-phase-imports", NOT_IN_QUICKJS),
    ("source-phase-imports-module-source", NOT_IN_QUICKJS),
    ("import-defer", NOT_IN_QUICKJS),
    ("Temporal", NOT_IN_QUICKJS),
    ("canonical-tz", NOT_IN_QUICKJS),
    ("ShadowRealm", NOT_IN_QUICKJS),
    ("decorators", NOT_IN_QUICKJS),
    ("tail-call-optimization", NOT_IN_QUICKJS),
    ("legacy-regexp", NOT_IN_QUICKJS),
    ("FinalizationRegistry.prototype.cleanupSome", NOT_IN_QUICKJS),
];

const ONE_THREAD: &str = "a program is one thread and shares no memory";
const JAVASCRIPT_MODULES: &str = "modules are JavaScript";
const NOT_IN_QUICKJS: &str = "QuickJS does not have it";
const INTL: &str = "of Intl only the basics are there";

/// Why a test is not run, if it is not. `name` is its path below `test/`.
pub(crate) fn why_skipped(name: &str, matter: &FrontMatter) -> Option<String> {
    if name.starts_with("intl402/") || matter.features.iter().any(|feature| feature.starts_with("Intl")) {
        return Some(format!("Intl: {INTL}"));
    }
    if matter.is(Flag::CanBlockIsTrue) {
        return Some(format!("CanBlockIsTrue: {ONE_THREAD}"));
    }
    let absent = |feature: &String| ABSENT.iter().find(|(absent, _)| absent == feature);
    matter.features.iter().find_map(absent).map(|(feature, reason)| format!("{feature}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_absent_is_skipped() {
        let matter = |features: &[&str], flags: &[Flag]| FrontMatter {
            features: features.iter().map(|feature| (*feature).to_owned()).collect(),
            flags: flags.to_vec(),
            ..FrontMatter::default()
        };
        let rows = [
            ("a.js", matter(&["BigInt"], &[Flag::CanBlockIsFalse]), None),
            (
                "a.js",
                matter(&["BigInt", "Atomics"], &[]),
                Some("Atomics: a program is one thread and shares no memory"),
            ),
            (
                "a.js",
                matter(&[], &[Flag::CanBlockIsTrue]),
                Some("CanBlockIsTrue: a program is one thread and shares no memory"),
            ),
            ("a.js", matter(&["Intl.Locale"], &[]), Some("Intl: of Intl only the basics are there")),
            ("intl402/a.js", matter(&[], &[]), Some("Intl: of Intl only the basics are there")),
        ];
        for (name, matter, expected) in rows {
            assert_eq!(why_skipped(name, &matter).as_deref(), expected);
        }
    }
}
