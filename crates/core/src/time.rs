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

    /// The moment in UTC, to the millisecond: `2026-02-28T12:36:00.250Z`.
    pub fn iso(self) -> String {
        let ([year, month, day], [hour, minute, second]) = self.civil();
        let millis = self.micros / 1_000 % 1_000;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }

    /// Year, month and day, and hour, minute and second, in UTC.
    pub fn civil(self) -> ([u64; 3], [u64; 3]) {
        let seconds = self.micros / 1_000_000;
        (date(seconds / 86_400), [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60])
    }
}

/// Year, month and day of the `days`th day after 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn date(days: u64) -> [u64; 3] {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    [year_of_era + era * 400 + u64::from(month <= 2), month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!([0, 59, 11_016, 20_512].map(date), [[1970, 1, 1], [1970, 3, 1], [2000, 2, 29], [2026, 2, 28]]);
        assert_eq!(Timestamp::from_micros(1_440_938_160_250_999).iso(), "2015-08-30T12:36:00.250Z");
    }
}
