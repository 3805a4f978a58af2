//! How a run ended, in the words of the cases.

use crate::support::Ran;
use serde_json::Value;

#[derive(Debug)]
pub(crate) enum Ended {
    Value(Value),
    Failed { kind: String, name: String, code: Option<String> },
}

impl Ended {
    /// Reads the outcome, and holds the exit code against it.
    pub(crate) fn of(ran: &Ran) -> Result<Ended, String> {
        let outcome: Value = serde_json::from_str(&ran.stdout).map_err(|error| format!("no outcome: {error}"))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let error = &outcome["error"];
        let (ended, exit) = match (outcome["status"].as_str(), text(&error["kind"])) {
            (Some("ok"), None) => (Ended::Value(outcome["value"].clone()), 0),
            (Some("error"), Some(kind)) => {
                let exit = match kind.as_str() {
                    "denied" => 126,
                    "timeout" | "cpu_limit" => 124,
                    "internal" => return Err(format!("a failure of ours: {error}")),
                    _ => 1,
                };
                (
                    Ended::Failed { kind, name: text(&error["name"]).unwrap_or_default(), code: text(&error["code"]) },
                    exit,
                )
            }
            other => return Err(format!("an outcome that makes no sense: {other:?}")),
        };
        if ran.code == exit { Ok(ended) } else { Err(format!("{ended:?} with exit code {}", ran.code)) }
    }

    /// Refused by policy, or not there at all; a connection that was tried and failed is neither.
    pub(crate) fn is_denied(&self) -> bool {
        match self {
            Ended::Value(value) => value == "absent" || value == "refused",
            Ended::Failed { kind, name, code } => match (kind.as_str(), code.as_deref()) {
                ("denied" | "syntax", _) => true,
                ("thrown", Some(code)) => code.ends_with(".denied"),
                // What the guest's own half refuses to ask for has no code.
                ("thrown", None) => ["ReferenceError", "TypeError", "SyntaxError"].contains(&name.as_str()),
                _ => false,
            },
        }
    }

    /// Whether a failure is of a class as the cases name them.
    pub(crate) fn is_of(&self, class: &str) -> bool {
        let Ended::Failed { kind, code, .. } = self else { return false };
        let code = code.as_deref().unwrap_or_default();
        match class {
            "denied" => self.is_denied(),
            "runtime" => kind == "thrown",
            "timeout" => matches!(kind.as_str(), "timeout" | "cpu_limit") || code == "egress.timeout",
            "memory" => kind == "memory_limit",
            "stack" => kind == "stack_overflow",
            "output" => kind == "output_limit",
            "tools" => kind == "call_limit",
            "unsettled" => kind == "stalled",
            "syntax" => kind == "syntax",
            "input" => kind == "thrown" && code.is_empty(),
            "limit" => kind == "call_limit" || ["egress.limit", "egress.response_too_large"].contains(&code),
            "network" => kind == "thrown" && code.starts_with("egress.") && !code.ends_with(".denied"),
            _ => false,
        }
    }
}
