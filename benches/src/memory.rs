//! What a process holds. Shared with the peers in Rust.

use serde::{Deserialize, Serialize};

/// Memory of a process, or of one thing in it, in KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Pages that only this process has and that it wrote.
    pub private_kib: f64,
    /// Its share of all pages it has mapped: a page mapped in several places counts once.
    pub share_kib: f64,
    /// All pages it has mapped: a page mapped in several places counts in each.
    pub resident_kib: f64,
    /// The kernel's tables for all of these.
    pub tables_kib: f64,
}

impl Memory {
    /// This process, now.
    pub fn here() -> std::io::Result<Memory> {
        let rollup = std::fs::read_to_string("/proc/self/smaps_rollup")?;
        let status = std::fs::read_to_string("/proc/self/status")?;
        Ok(Memory {
            private_kib: field(&rollup, "Private_Dirty:"),
            share_kib: field(&rollup, "Pss:"),
            resident_kib: field(&rollup, "Rss:"),
            tables_kib: field(&status, "VmPTE:"),
        })
    }

    /// What one of `count` things holds that were made since `before`.
    pub fn each_since(&self, before: &Memory, count: u32) -> Memory {
        let each = |now: f64, then: f64| (now - then) / f64::from(count.max(1));
        Memory {
            private_kib: each(self.private_kib, before.private_kib),
            share_kib: each(self.share_kib, before.share_kib),
            resident_kib: each(self.resident_kib, before.resident_kib),
            tables_kib: each(self.tables_kib, before.tables_kib),
        }
    }
}

fn field(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "Rss:    10 kB\nPss:     7 kB\nPss_Dirty:   5 kB\nPrivate_Dirty:    5 kB\n";
        assert_eq!(field(text, "Pss:"), 7.0);
        assert_eq!(field(text, "Private_Dirty:"), 5.0);
        assert_eq!(field(text, "Swap:"), 0.0);
    }
}
