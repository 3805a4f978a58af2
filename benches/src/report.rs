use crate::machine::Machine;
use crate::options::Mode;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Everything that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of isolith.
    pub version: String,
    /// The image of the engine.
    pub image: String,
    /// How long was taken.
    pub mode: Mode,
    /// On what.
    pub machine: Machine,
    /// The measurements.
    pub rows: Vec<Row>,
    /// What was not measured.
    pub skipped: Vec<Skipped>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Stable: `start.engine`. What stands before the dot is the group.
    pub id: String,
    /// For people.
    pub what: String,
    /// The median; of CPU time where the unit is one of time and `wall` is there.
    pub value: f64,
    /// Of the value, the wall time and the goal.
    pub unit: String,
    /// The same by the wall clock, where both were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<f64>,
    /// What the value should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Measures this row once more.
    pub command: String,
}

/// What a value should be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

/// Something that could not be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The group.
    pub group: String,
    /// Why.
    pub why: String,
}

impl Row {
    pub(crate) fn new(id: impl Into<String>, what: impl Into<String>, value: f64, unit: &str) -> Row {
        Row {
            id: id.into(),
            what: what.into(),
            value: rounded(value),
            unit: unit.into(),
            wall: None,
            goal: None,
            command: String::new(),
        }
    }

    /// A row of CPU time and wall time.
    pub(crate) fn time(id: impl Into<String>, what: impl Into<String>, samples: &crate::stopwatch::Samples) -> Row {
        let wall = Some(rounded(samples.wall_us()));
        Row { wall, ..Row::new(id, what, samples.cpu_us(), "µs") }
    }

    /// The same in milliseconds.
    pub(crate) fn in_ms(self) -> Row {
        let wall = self.wall.map(|wall| rounded(wall / 1e3));
        Row { value: rounded(self.value / 1e3), wall, unit: "ms".into(), ..self }
    }

    /// One row of several measurements of the same.
    pub(crate) fn median(rounds: Vec<Row>) -> Option<Row> {
        let middle = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        let value = middle(rounds.iter().map(|row| row.value).collect())?;
        let wall = middle(rounds.iter().filter_map(|row| row.wall).collect());
        rounds.into_iter().next().map(|row| Row { value, wall, ..row })
    }

    pub(crate) fn goal(self, goal: Goal) -> Row {
        Row { goal: Some(goal), ..self }
    }

    /// Whether the goal is met, where there is one.
    pub fn met(&self) -> Option<bool> {
        self.goal.map(|goal| match goal {
            Goal::AtMost(most) => self.value <= most,
            Goal::AtLeast(least) => self.value >= least,
        })
    }

    pub(crate) fn group(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }
}

impl Report {
    /// The report as plain text in columns.
    pub fn table(&self) -> String {
        let mode = self.mode.pick("quick", "full");
        let mut out = format!("isolith {} on {} ({mode})\n", self.version, self.machine);
        let show = |n: f64, unit: &str| format!("{} {unit}", number(n));
        let lines: Vec<[String; 5]> = self
            .rows
            .iter()
            .map(|row| {
                let goal = row.goal.map(|goal| match goal {
                    Goal::AtMost(n) => format!("≤ {}", show(n, &row.unit)),
                    Goal::AtLeast(n) => format!("≥ {}", show(n, &row.unit)),
                });
                let met = row.met().map_or("", |met| if met { "met" } else { "MISSED" });
                let wall = row.wall.map(|n| show(n, &row.unit)).unwrap_or_default();
                [format!("  {}", row.what), show(row.value, &row.unit), wall, goal.unwrap_or_default(), met.into()]
            })
            .collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).max(5);
        let groups = self.rows.iter().map(|row| row.group().len()).max().unwrap_or(0);
        let widths = [width(0).max(groups), width(1), width(2), width(3)];
        let mut group = "";
        for (row, line) in self.rows.iter().zip(&lines) {
            if row.group() != group {
                group = row.group();
                let [what, value, wall, goal] = widths;
                let (cpu, on_wall) = if row.wall.is_some() { ("cpu", "wall") } else { ("", "") };
                let _ = writeln!(out, "\n{group:<what$}  {cpu:>value$}  {on_wall:>wall$}  {:>goal$}", "goal");
            }
            let [what, value, wall, goal, met] = line;
            let [a, b, c, d] = widths;
            let text = format!("{what:<a$}  {value:>b$}  {wall:>c$}  {goal:>d$}  {met}");
            let _ = writeln!(out, "{}", text.trim_end());
        }
        if !self.skipped.is_empty() {
            let _ = writeln!(out, "\nnot measured");
            self.skipped.iter().for_each(|s| {
                let _ = writeln!(out, "  {}: {}", s.group, s.why);
            });
        }
        out
    }
}

/// Three digits that mean something, or all digits before the point.
fn rounded(value: f64) -> f64 {
    let by = if value.abs() < 100.0 { 100.0 } else { 10.0 };
    (value * by).round() / by
}

fn number(value: f64) -> String {
    match value {
        v if v.fract() == 0.0 && v.abs() < 1_000.0 => format!("{v}"),
        v if v.abs() < 10.0 => format!("{v:.2}"),
        v if v.abs() < 1_000.0 => format!("{v:.1}"),
        v => thousands(v.round() as i64),
    }
}

pub(crate) fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::from(if value < 0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: Vec<Row>) -> Report {
        let machine = Machine { cores: 2, cpu: "a processor".into(), kernel: "Linux 6.1".into(), load: 0.5 };
        let skipped = vec![Skipped { group: "cold".into(), why: "no binary was named".into() }];
        Report { version: "0.1.0".into(), image: "00".into(), mode: Mode::Quick, machine, rows, skipped }
    }

    #[test]
    fn columns_are_aligned_and_goals_judged() {
        let timed = Row { wall: Some(30.5), ..Row::new("start.engine", "fresh", 20.04, "µs") };
        let rows = vec![
            timed.goal(Goal::AtMost(25.0)),
            Row::new("throughput.1", "runs", 12_345.6, "runs/s").goal(Goal::AtLeast(20_000.0)),
        ];
        assert_eq!(
            report(rows).table(),
            "isolith 0.1.0 on 2 cores of a processor, Linux 6.1, load 0.5 (quick)\n\
             \n\
             start                 cpu     wall             goal\n\
             \x20 fresh           20.0 µs  30.5 µs          ≤ 25 µs  met\n\
             \n\
             throughput                                     goal\n\
             \x20 runs      12,346 runs/s           ≥ 20,000 runs/s  MISSED\n\
             \n\
             not measured\n\
             \x20 cold: no binary was named\n"
        );
    }

    #[test]
    fn a_disturbed_round_does_not_count() {
        let round = |value, wall| Row { wall: Some(wall), ..Row::new("a.b", "c", value, "µs") };
        let row = Row::median(vec![round(2.0, 90.0), round(80.0, 4.0), round(1.0, 3.0)]);
        assert_eq!(row, Some(round(2.0, 4.0)));
        assert_eq!(Row::median(Vec::new()), None);
    }

    #[test]
    fn numbers_keep_what_matters() {
        for (value, text) in [
            (4.567, "4.57"),
            (25.0, "25"),
            (25.04, "25.0"),
            (999.9, "999.9"),
            (1e3, "1,000"),
            (1_234_567.8, "1,234,568"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_report_survives_json() -> serde_json::Result<()> {
        let whole = report(vec![Row::new("a.b", "c", 1.0, "µs").goal(Goal::AtMost(2.0))]);
        let text = serde_json::to_string(&whole)?;
        assert_eq!(serde_json::from_str::<Report>(&text)?, whole);
        Ok(())
    }
}
