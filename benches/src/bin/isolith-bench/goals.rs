//! How one peer is to stand to another.

use crate::results::digits;
use serde::Serialize;
use std::fmt::Write as _;

/// What one peer may take of what another takes, if that is promised.
pub(crate) struct Goal {
    /// How the ids of the rows begin that it is about.
    rows: &'static str,
    pub(crate) of: &'static str,
    pub(crate) to: &'static str,
    most: Option<f64>,
    /// Both are measured in turns of milliseconds in one process.
    pub(crate) in_one_process: bool,
}

impl Goal {
    const fn new(rows: &'static str, of: &'static str, to: &'static str) -> Goal {
        Goal { rows, of, to, most: None, in_one_process: false }
    }

    const fn at_most(self, most: f64) -> Goal {
        Goal { most: Some(most), ..self }
    }

    const fn in_one_process(self) -> Goal {
        Goal { in_one_process: true, ..self }
    }
}

/// What is promised of isolith's engines.
pub(crate) const ENGINES: &[Goal] = &[
    Goal::new("fresh", "isolith v8", "isolated-vm").at_most(1.0),
    Goal::new("long.", "isolith v8", "node").at_most(1.15),
    Goal::new("long.", "isolith auto", "isolith v8").at_most(1.3),
    // No promise: what comes before a change takes 50 ms, which is more than three tenths of anything under 167.
    Goal::new("heavy.", "isolith auto", "isolith v8"),
    Goal::new("fresh", "isolith auto", "isolith quickjs").at_most(1.05).in_one_process(),
    Goal::new("call.", "isolith auto", "isolith quickjs").at_most(1.05).in_one_process(),
];

/// How a peer stands to another in a row.
///
/// Two peers are held against each other turn by turn: what slows the machine down for some seconds falls on both, and so hardly on
/// their ratio, while it moves the medians of both by as much as it happens to hit either.
#[derive(Debug, Serialize)]
pub(crate) struct Standing {
    what: String,
    of: &'static str,
    to: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<f64>,
    in_one_process: bool,
    /// The median over all turns, and what half of them lie between.
    median: f64,
    half_between: [f64; 2],
    turns: usize,
}

impl Goal {
    pub(crate) fn is_about(&self, row: &str) -> bool {
        row.starts_with(self.rows)
    }

    /// Of the ratio in each turn. Nothing when there was none.
    pub(crate) fn standing(&self, what: &str, ratios: &[f64]) -> Option<Standing> {
        let mut sorted: Vec<f64> = ratios.iter().map(|ratio| (ratio * 1_000.0).round() / 1_000.0).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |quarter: usize| sorted.get(sorted.len() * quarter / 4).copied();
        Some(Standing {
            what: what.into(),
            of: self.of,
            to: self.to,
            most: self.most,
            in_one_process: self.in_one_process,
            median: at(2)?,
            half_between: [at(1)?, at(3)?],
            turns: ratios.len(),
        })
    }
}

/// All of them, as a Markdown table.
pub(crate) fn table(standings: &[Standing]) -> String {
    let mut out = String::from(
        "\n| how many times what another takes, turn by turn | median | half of the turns | turns | goal | |\n\
         |---|---:|---:|---:|---:|---|\n",
    );
    for standing in standings {
        let Standing { what, of, to, most, median, half_between: [low, high], turns, .. } = standing;
        let (goal, met) = match most {
            Some(most) if median <= most => (digits(*most), "met"),
            Some(most) => (digits(*most), "missed"),
            None => ("–".into(), ""),
        };
        let _ = writeln!(out, "| {of} / {to}, {what} | {median:.3} | {low:.3}–{high:.3} | {turns} | {goal} | {met} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_by_the_median_of_the_turns() {
        let goal = Goal::new("long.", "a", "b").at_most(1.15);
        assert!(goal.is_about("long.fib") && !goal.is_about("heavy.fib"));
        let shown = |ratios: &[f64]| table(&goal.standing("fib", ratios).into_iter().collect::<Vec<_>>());
        let met = shown(&[9.0, 1.1, 1.15, 1.0, 1.15]);
        assert!(met.ends_with("| a / b, fib | 1.150 | 1.100–1.150 | 5 | 1.15 | met |\n"), "{met}");
        assert!(shown(&[1.0, 1.151, 1.151]).ends_with("missed |\n"));
        assert!(goal.standing("fib", &[]).is_none());
        let told = Goal::new("long.", "a", "b").standing("fib", &[2.0]).into_iter().collect::<Vec<_>>();
        assert!(table(&told).ends_with("| 1 | – |  |\n"));
    }
}
