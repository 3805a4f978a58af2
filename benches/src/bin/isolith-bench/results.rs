use crate::goals::{self, Standing};
use isolith_bench::{Machine, Mode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A whole comparison.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    /// Compares once more.
    pub(crate) command: String,
    pub(crate) mode: Mode,
    /// How often each peer had its turn.
    pub(crate) rounds: u32,
    pub(crate) machine: Machine,
    pub(crate) peers: Vec<Participant>,
    pub(crate) rows: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) standings: Vec<Standing>,
    /// What did not work.
    pub(crate) failures: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Participant {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) settings: String,
}

/// One thing, measured for all peers.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) unit: String,
    /// By the name of the peer.
    pub(crate) entries: BTreeMap<String, Entry>,
}

/// One turn's value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) value: f64,
    pub(crate) wall: Option<f64>,
    pub(crate) resident: Option<f64>,
}

/// All turns of one thing and one peer.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// The median by the wall clock, where the value is CPU time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wall: Option<f64>,
    /// The median of resident memory, where the value is memory: pages mapped twice count twice in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resident: Option<f64>,
}

impl Value {
    pub(crate) fn of(cpu: f64, wall: f64) -> Value {
        Value { value: cpu, wall: Some(wall), resident: None }
    }
}

impl Entry {
    pub(crate) fn of<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> Entry {
        let sorted = |of: fn(&Value) -> Option<f64>| {
            let mut numbers: Vec<f64> = values.clone().filter_map(of).map(|n| (n * 100.0).round() / 100.0).collect();
            numbers.sort_by(f64::total_cmp);
            numbers
        };
        let middle = |numbers: Vec<f64>| numbers.get(numbers.len() / 2).copied();
        let all = sorted(|v| Some(v.value));
        Entry {
            least: all.first().copied().unwrap_or(f64::NAN),
            most: all.last().copied().unwrap_or(f64::NAN),
            median: middle(all).unwrap_or(f64::NAN),
            wall: middle(sorted(|v| v.wall)),
            resident: middle(sorted(|v| v.resident)),
        }
    }
}

impl Results {
    /// The name of the peer that all others are compared with.
    pub(crate) fn first(&self) -> &str {
        self.peers.first().map_or("", |peer| &peer.name)
    }

    /// The comparison as a Markdown table that also reads well as it is.
    pub(crate) fn table(&self) -> String {
        let mut lines = vec![self.heading()];
        lines.extend(self.rows.iter().map(|row| self.line(row)));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.peers.len()).map(width).collect();
        let mut out = String::new();
        for (number, line) in lines.iter().enumerate() {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (text, &width))| match column {
                0 => format!("| {text:<width$} |"),
                _ => format!(" {text:>width$} |"),
            });
            let _ = writeln!(out, "{}", cells.collect::<String>());
            if number == 0 {
                let rule = widths.iter().enumerate().map(|(column, &width)| match column {
                    0 => format!("|{}|", "-".repeat(width + 2)),
                    _ => format!("{}:|", "-".repeat(width + 1)),
                });
                let _ = writeln!(out, "{}", rule.collect::<String>());
            }
        }
        let _ = writeln!(
            out,
            "\n`{}`: medians of {} rounds in turns on {}. In brackets: how many times isolith's value; above 1 it is the \
             other that needs more.",
            self.command, self.rounds, self.machine
        );
        if !self.standings.is_empty() {
            out.push_str(&goals::table(&self.standings));
        }
        self.failures.iter().for_each(|failure| {
            let _ = writeln!(out, "\nFailed: {failure}.");
        });
        out
    }

    fn heading(&self) -> Vec<String> {
        let names = self.peers.iter().map(|peer| format!("{} {}", peer.name, peer.version));
        std::iter::once(String::new()).chain(names).collect()
    }

    fn line(&self, row: &Row) -> Vec<String> {
        let own = row.entries.get(self.first()).map(|entry| entry.median);
        let cells = self.peers.iter().map(|peer| match (row.entries.get(&peer.name), own) {
            (None, _) => "".into(),
            (Some(entry), Some(own)) if peer.name != self.first() => {
                format!("{} {} ({}×)", digits(entry.median), row.unit, digits(entry.median / own))
            }
            (Some(entry), _) => format!("{} {}", digits(entry.median), row.unit),
        });
        std::iter::once(row.what.clone()).chain(cells).collect()
    }
}

/// Three digits, or all before the point, with a comma after the thousands.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v.abs() < 10.0 => format!("{v:.2}"),
        v if v.abs() < 100.0 => format!("{v:.1}"),
        v if v.abs() < 1_000.0 => format!("{v:.0}"),
        v => {
            let whole = v.round() as u64;
            format!("{},{:03}", whole / 1_000, whole % 1_000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_multiples_of_the_first() {
        let peer = |name: &str| Participant { name: name.into(), version: "1".into(), settings: String::new() };
        let entry = |n: f64| Entry::of([Value::of(n, n), Value::of(n * 2.0, n), Value::of(n / 2.0, n)].iter());
        let results = Results {
            command: "benches/run".into(),
            mode: Mode::Quick,
            rounds: 3,
            machine: Machine { cores: 2, cpu: "a processor".into(), kernel: "Linux 6.1".into(), load: 0.5 },
            peers: vec![peer("isolith"), peer("other")],
            rows: vec![
                Row {
                    id: "fresh".into(),
                    what: "fresh".into(),
                    unit: "µs".into(),
                    entries: [("isolith".into(), entry(20.0)), ("other".into(), entry(2_345.0))].into(),
                },
                Row { id: "x".into(), what: "x".into(), unit: "ms".into(), entries: BTreeMap::new() },
            ],
            standings: Vec::new(),
            failures: vec!["other: x did not work".into()],
        };
        assert_eq!(
            results.table(),
            "|       | isolith 1 |         other 1 |\n\
             |-------|----------:|----------------:|\n\
             | fresh |   20.0 µs | 2,345 µs (117×) |\n\
             | x     |           |                 |\n\
             \n\
             `benches/run`: medians of 3 rounds in turns on 2 cores of a processor, Linux 6.1, load 0.5. In brackets: how \
             many times isolith's value; above 1 it is the other that needs more.\n\
             \n\
             Failed: other: x did not work.\n"
        );
    }
}
