//! The chosen agent in full, or the log.

use super::super::agent::{Agent, State};
use super::super::board::Board;
use super::super::look::{Column, Look, Shows};
use super::super::words::{fit, number, time, wrap};
use super::{Focus, titled};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, board: &Board, look: &Look, now_ms: u64) {
    let room = usize::from(area.width);
    let agent = if look.shows == Shows::Log { None } else { board.agent(look.place(board)) };
    let (title, lines) = match agent {
        Some(agent) => (agent.label.as_str(), of_agent(agent, room, look, board.clock(now_ms))),
        None => ("log", of_log(board, room)),
    };
    let deepest = lines.len().saturating_sub(area.height.saturating_sub(1).into());
    look.deepest.set(deepest);
    let first = look.scroll.min(deepest);
    let more = if first < deepest { format!(" ↓{}", deepest - first) } else { String::new() };
    // The rule takes three cells of its own, and the title a space on each side.
    let title = fit(title, room.saturating_sub(5 + more.chars().count()));
    let focus = Focus::when(look.column == Column::Detail);
    let area = titled(frame, area, &format!("{}{more}", title.trim_end()), focus);
    for (row, line) in area.rows().zip(lines.into_iter().skip(first)) {
        frame.render_widget(line, row);
    }
}

fn of_agent(agent: &Agent, room: usize, look: &Look, clock_ms: u64) -> Vec<Line<'static>> {
    let mut facts = vec![agent.state.word().to_owned()];
    facts.extend(agent.model.clone());
    if agent.output_tokens + agent.input_tokens > 0 {
        facts.push(format!("{} out, {} in", number(agent.output_tokens), number(agent.input_tokens)));
    }
    facts.extend(agent.worked_ms(clock_ms).map(time));
    let mut lines = vec![Line::styled(fit(&facts.join(" · "), room), look.paint.of_state(agent.state))];
    let (heading, colour) = match agent.state {
        State::Failed => ("Error", Color::Red),
        State::Queued | State::Working => ("So far", Color::Reset),
        State::Done | State::Cached => ("Output", Color::Reset),
    };
    for (heading, text, colour) in [("Prompt", &agent.prompt, Color::Reset), (heading, &agent.output, colour)] {
        if text.is_empty() {
            continue;
        }
        lines.push(Line::raw(""));
        lines.push(Line::styled(heading, Style::new().add_modifier(Modifier::BOLD)));
        lines.extend(wrap(text, room).into_iter().map(|line| Line::styled(line, look.paint.of(colour))));
    }
    lines
}

/// The log, newest first: what is new is seen without scrolling.
fn of_log(board: &Board, room: usize) -> Vec<Line<'static>> {
    board.logs.iter().flat_map(|line| wrap(line, room)).map(Line::raw).collect()
}
