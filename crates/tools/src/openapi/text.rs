//! The text of a description: JSON, or YAML that could be JSON.

use serde_json::Value;

/// Far more than any description has that we know of. What is written and what aliases repeat counts alike.
const NODES_MAX: usize = 2_000_000;
const SCALAR_BYTES_MAX: usize = 64 << 20;
/// Half as deep as JSON may be: the reader needs several times as much of the stack for a level.
const DEPTH_MAX: usize = 64;

/// Reads a description. Says what is wrong with it in a few words that go behind its name.
pub fn description(text: &[u8]) -> Result<Value, String> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
        return serde_json::from_slice(text).map_err(|error| format!("is not JSON: {error}"));
    }
    let text = std::str::from_utf8(text).map_err(|_| "is neither JSON nor YAML: it is not UTF-8".to_owned())?;
    match yaml(text)? {
        object @ Value::Object(_) => Ok(object),
        _ => Err("is no object, neither of JSON nor of YAML".into()),
    }
}

// THREAT[T-UPSTREAM-003]: aliases of aliases make gigabytes of a few lines. Everything is counted as it is after they are replaced.
fn yaml(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * NODES_MAX,
            max_nodes: NODES_MAX,
            max_total_scalar_bytes: SCALAR_BYTES_MAX,
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_documents: 1,
        },
        // `no` is Norway.
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| format!("is not YAML that is read here: {error}"))
}
