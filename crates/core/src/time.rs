use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A moment as the guest sees it: microseconds since the Unix epoch.
///
/// Time stands still while a guest computes and moves between steps, so a run is a function of what it was given. (A guest
/// that keeps looking sees it move a little, by a fixed amount for so many looks, so that waiting in a loop ends.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Timestamp {
    micros: u64,
}

impl Timestamp {
    /// The moment `micros` microseconds after the Unix epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Timestamp { micros }
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> u64 {
        self.micros
    }

    /// How long after `earlier` this is; nothing when it is not later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.micros.saturating_sub(earlier.micros))
    }

    /// The moment `later` after this one.
    pub fn after(self, later: Duration) -> Timestamp {
        Timestamp { micros: self.micros.saturating_add(u64::try_from(later.as_micros()).unwrap_or(u64::MAX)) }
    }
}
