//! The columns of phases and of agents.

use super::super::agent::{Agent, State};
use super::super::board::{Board, Phase};
use super::super::look::{Column, Look};
use super::super::words::{fit, number, time};
use super::{Focus, titled};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::ops::Range;

/// Cells for tokens and for time, each with a space before it.
const TOKENS_CELLS: usize = 7;
const TIME_CELLS: usize = 8;

pub(super) fn phases(frame: &mut Frame<'_>, area: Rect, board: &Board, look: &Look) {
    let focus = Focus::when(look.column == Column::Phases);
    let area = titled(frame, area, "phases", focus);
    let chosen = look.place(board).phase;
    for (row, number) in window(board.phases.len(), chosen, area.height).enumerate() {
        let Some(phase) = board.phases.get(number) else { continue };
        let line = phase_line(phase, area.width.into(), look);
        frame.render_widget(marked(line, number == chosen, focus), nth(area, row));
    }
}

pub(super) fn agents(frame: &mut Frame<'_>, area: Rect, board: &Board, look: &Look, now_ms: u64) {
    let focus = Focus::when(look.column == Column::Agents);
    let place = look.place(board);
    let agents = board.phases.get(place.phase).map_or(&[][..], |phase| &phase.agents);
    let at = (place.agent + 1).min(agents.len());
    let area = titled(frame, area, &format!("agents {at}/{}", agents.len()), focus);
    if agents.is_empty() {
        let none = Line::styled("none yet", Style::new().add_modifier(Modifier::DIM));
        return frame.render_widget(none, nth(area, 0));
    }
    for (row, number) in window(agents.len(), place.agent, area.height).enumerate() {
        let Some(agent) = agents.get(number) else { continue };
        let line = agent_line(agent, area.width.into(), look, board.clock(now_ms));
        frame.render_widget(marked(line, number == place.agent, focus), nth(area, row));
    }
}

fn phase_line(phase: &Phase, room: usize, look: &Look) -> Vec<Span<'static>> {
    let sum = phase.totals();
    let count = format!(" {}/{}", sum.over, sum.agents);
    let name = fit(&phase.name, room.saturating_sub(3 + count.len()));
    vec![sign(sum.state(), look), Span::raw(format!(" {name}{count}"))]
}

fn agent_line(agent: &Agent, room: usize, look: &Look, clock_ms: u64) -> Vec<Span<'static>> {
    let tokens = if agent.output_tokens > 0 { number(agent.output_tokens) } else { String::new() };
    let worked = match agent.state {
        State::Cached => "cached".into(),
        _ => agent.worked_ms(clock_ms).map(time).unwrap_or_default(),
    };
    let label = fit(&agent.label, room.saturating_sub(3 + TOKENS_CELLS + TIME_CELLS));
    vec![
        sign(agent.state, look),
        Span::raw(format!(" {label}")),
        Span::styled(format!("{tokens:>TOKENS_CELLS$}{worked:>TIME_CELLS$}"), Style::new().add_modifier(Modifier::DIM)),
    ]
}

fn sign(state: State, look: &Look) -> Span<'static> {
    Span::styled(state.sign(), look.paint.of_state(state))
}

/// A row with the sign that it is chosen. The sign is there without any colour too.
fn marked(mut spans: Vec<Span<'static>>, chosen: bool, focus: Focus) -> Line<'static> {
    spans.insert(0, Span::raw(if chosen { "▸" } else { " " }));
    let style = match (chosen, focus) {
        (true, Focus::Here) => Style::new().add_modifier(Modifier::REVERSED),
        (true, Focus::Elsewhere) => Style::new().add_modifier(Modifier::BOLD),
        (false, _) => Style::new(),
    };
    Line::from(spans).style(style)
}

/// Which of `count` rows are shown: the chosen one in the middle, as far as the ends allow.
fn window(count: usize, chosen: usize, height: u16) -> Range<usize> {
    let height = usize::from(height);
    let first = chosen.saturating_sub(height / 2).min(count.saturating_sub(height));
    first..(first + height).min(count)
}

fn nth(area: Rect, row: usize) -> Rect {
    let row = u16::try_from(row).unwrap_or(u16::MAX);
    Rect { y: area.y.saturating_add(row), height: 1, ..area }.intersection(area)
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn the_chosen_row_is_always_shown() {
        assert_eq!(window(3, 0, 10), 0..3);
        assert_eq!(window(0, 0, 10), 0..0);
        for chosen in 0..50 {
            let shown = window(50, chosen, 7);
            assert!(shown.contains(&chosen) && shown.len() == 7, "{chosen}: {shown:?}");
        }
    }
}
