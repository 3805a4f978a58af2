use serde::{Deserialize, Serialize};

/// Where a run's time or its randomness comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The real one.
    #[default]
    Live,
    /// A made-up one that can be repeated: a clock that starts where it is told, a generator with a fixed seed.
    Virtual,
    /// None: looking throws `SandboxViolation`.
    Banned,
}

/// What a program knows of the world without asking: both are live unless someone says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ambient {
    /// The clock: `Date`, `performance.now`.
    pub time: Source,
    /// Chance: `Math.random`, `crypto`.
    pub random: Source,
}

impl Ambient {
    /// The stricter of both, each.
    pub fn and(self, other: Ambient) -> Ambient {
        Ambient { time: self.time.max(other.time), random: self.random.max(other.random) }
    }
}
