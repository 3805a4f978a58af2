//! The globals a guest sees beyond plain ECMAScript, as JavaScript source that every engine evaluates.
//!
//! The fragments under `js/` share one function scope and are read in the order of their numbers. Nothing here knows an
//! engine: what the prelude needs from one arrives in its `native` argument, and what an engine needs from the prelude
//! is in the object that the function returns.

/// The fragments, in the order in which they are evaluated.
const FRAGMENTS: &[&str] = &[
    include_str!("../js/00-primordials.js"),
    include_str!("../js/10-inspect.js"),
    include_str!("../js/11-inspect-kinds.js"),
    include_str!("../js/12-inspect-text.js"),
    include_str!("../js/15-console.js"),
    include_str!("../js/20-timers.js"),
    include_str!("../js/21-performance.js"),
    include_str!("../js/25-dom-exception.js"),
    include_str!("../js/26-events.js"),
    include_str!("../js/27-abort.js"),
    include_str!("../js/30-encoding.js"),
    include_str!("../js/31-base64.js"),
    include_str!("../js/40-url-host.js"),
    include_str!("../js/41-url-parser.js"),
    include_str!("../js/42-url-search-params.js"),
    include_str!("../js/43-url.js"),
    include_str!("../js/50-structured-clone.js"),
    include_str!("../js/51-headers.js"),
    include_str!("../js/52-blob.js"),
    include_str!("../js/53-form-data.js"),
    include_str!("../js/60-host-body.js"),
    include_str!("../js/61-body.js"),
    include_str!("../js/62-response.js"),
    include_str!("../js/63-request.js"),
    include_str!("../js/64-fetch.js"),
    include_str!("../js/65-crypto.js"),
    include_str!("../js/70-intl-locale.js"),
    include_str!("../js/71-intl-decimal.js"),
    include_str!("../js/72-intl-number.js"),
    include_str!("../js/73-intl-plural.js"),
    include_str!("../js/74-intl-date-data.js"),
    include_str!("../js/75-intl-date.js"),
    include_str!("../js/76-intl-collator.js"),
    include_str!("../js/79-intl.js"),
    include_str!("../js/81-kv.js"),
    include_str!("../js/82-files.js"),
    include_str!("../js/83-invoke.js"),
    include_str!("../js/84-namespaces.js"),
    include_str!("../js/90-bindings.js"),
];

/// The source of one function expression, `(function (native) { ... return hooks; })`.
///
/// An engine evaluates it once while it builds its image, calls the function with its `native` object and keeps the
/// `hooks`: `configure`, `makeBody`, `makeError`, `reportRejection`, and what a grant gives a name to: `bindings`,
/// `spaceMethods`, `spacesMethods`, `makeNamespace`, `aboutTools`. Loading reads no clock and no randomness. Evaluate it under the
/// file name [`FILE_NAME`], so that the prelude's own frames are left out of the stacks that a guest prints.
pub fn source() -> String {
    format!("(function (native) {{ 'use strict';\n{}; return hooks; }})", FRAGMENTS.concat())
}

/// The file name that engines give the source.
pub const FILE_NAME: &str = "isolith:prelude";

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn every_fragment_is_listed_in_order() -> std::io::Result<()> {
        let mut on_disk =
            fs::read_dir("js")?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
        on_disk.sort();
        let on_disk = on_disk.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
        assert_eq!(on_disk, super::FRAGMENTS);
        Ok(())
    }

    #[test]
    fn source_is_one_function_expression() {
        let source = super::source();
        assert!(source.starts_with("(function (native) { 'use strict';\n"));
        assert!(source.ends_with("; return hooks; })"));
    }
}
