use serde::{Deserialize, Serialize};

/// What a grant says about a call it covers. Where several cover one call, deny wins over ask and ask over allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It may be done.
    #[default]
    Allow,
    /// Someone has to be asked first.
    Ask,
    /// It may not be done, whatever else is granted.
    Deny,
}

/// How often something may be done in one run. Grants that were narrowed from one share its budget.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// What the calls are counted under.
    pub of: String,
    /// How many there may be.
    pub calls: u32,
}
