//! What a run did, for after the view is closed.

use super::agent::{Agent, State};
use super::board::Board;
use super::words::{cells, fit, number, time};

/// Up to this many agents have a row each; of more, those that succeeded share one for each phase.
const ROWS_MAX: usize = 40;
/// The widest that a name is shown.
const NAME_CELLS_MAX: usize = 32;

type Row = [String; 5];

/// A table of the agents and their sums. It ends with a line break.
pub(crate) fn report(board: &Board) -> String {
    let now_ms = board.clock(board.heard_at);
    let mut rows: Vec<Row> = vec![["phase", "agent", "state", "tokens", "time"].map(str::to_owned)];
    rows.extend(if board.totals().agents <= ROWS_MAX { each(board, now_ms) } else { folded(board, now_ms) });
    let wide = |column: usize| rows.iter().map(|row| cells(&row[column])).max().unwrap_or(0);
    let (phase, agent) = (wide(0).min(NAME_CELLS_MAX), wide(1).min(NAME_CELLS_MAX));
    let (state, tokens, worked) = (wide(2), wide(3), wide(4));
    let mut text = String::new();
    for row in rows.iter().filter(|_| rows.len() > 1) {
        let [in_phase, called, word, spent, took] = row;
        let (in_phase, called) = (fit(in_phase, phase), fit(called, agent));
        text.push_str(&format!("{in_phase}  {called}  {word:<state$}  {spent:>tokens$}  {took:>worked$}\n"));
    }
    text.push_str(&summary(board, now_ms));
    text.push('\n');
    text
}

/// Sums in one line.
pub(super) fn summary(board: &Board, now_ms: u64) -> String {
    let sum = board.totals();
    // What matters least comes last, where a narrow terminal cuts.
    let mut parts = vec![time(board.elapsed_ms(now_ms)), format!("agents {}/{}", sum.over, sum.agents)];
    if sum.failed > 0 {
        parts.push(format!("{} failed", sum.failed));
    }
    let of = board.budget.map(|budget| format!(" of {}", number(budget))).unwrap_or_default();
    parts.push(format!("tokens {}{of} out, {} in", number(sum.output_tokens), number(sum.input_tokens)));
    parts.join(" · ")
}

fn each(board: &Board, now_ms: u64) -> Vec<Row> {
    let of_phase = |(name, agents): (&String, &Vec<Agent>)| -> Vec<Row> {
        agents.iter().map(|agent| row(name, agent, board, now_ms)).collect()
    };
    board.phases.iter().map(|phase| (&phase.name, &phase.agents)).flat_map(of_phase).collect()
}

/// Those that went well in one row for each phase, and others, which someone will want to look at, in rows of their own.
fn folded(board: &Board, now_ms: u64) -> Vec<Row> {
    let (mut rows, mut left) = (Vec::new(), 0);
    for phase in &board.phases {
        let (well, other): (Vec<&Agent>, Vec<&Agent>) =
            phase.agents.iter().partition(|agent| matches!(agent.state, State::Done | State::Cached));
        if !well.is_empty() {
            let tokens = well.iter().map(|agent| agent.output_tokens).fold(0, u64::saturating_add);
            let name = format!("{} agents", well.len());
            rows.push([phase.name.clone(), name, "done".into(), number(tokens), span(&well)]);
        }
        let room = ROWS_MAX.saturating_sub(rows.len()).min(other.len());
        left += other.len() - room;
        rows.extend(other.into_iter().take(room).map(|agent| row(&phase.name, agent, board, now_ms)));
    }
    if left > 0 {
        rows.push(["…".into(), format!("{left} more, not done"), String::new(), String::new(), String::new()]);
    }
    rows
}

fn row(phase: &str, agent: &Agent, board: &Board, now_ms: u64) -> Row {
    let state = match agent.state {
        State::Queued | State::Working if board.ended.is_some() => "unfinished",
        state => state.word(),
    };
    let worked = agent.worked_ms(now_ms).map(time).unwrap_or_default();
    [phase.to_owned(), agent.label.clone(), state.to_owned(), number(agent.output_tokens), worked]
}

/// From when the first began until the last was done.
fn span(agents: &[&Agent]) -> String {
    let first = agents.iter().filter_map(|agent| agent.started_at).min();
    let last = agents.iter().filter(|agent| agent.started_at.is_some()).filter_map(|agent| agent.finished_at).max();
    first.zip(last).map(|(first, last)| time(last.saturating_sub(first))).unwrap_or_default()
}
