//! The lines above and below: what runs, how it stands, and what keys do.

use super::super::board::Board;
use super::super::look::{Asked, Look};
use super::super::report::summary;
use super::super::words::fit;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// From this width on there is room for the keys that are used less.
const COLUMNS_FOR_ALL_KEYS: u16 = 70;

pub(super) fn too_small(frame: &mut Frame<'_>, area: Rect, (columns, rows): (u16, u16)) {
    let text = format!("too small: {columns}×{rows} needed, q leaves");
    let row = Rect { height: area.height.min(1), ..area };
    frame.render_widget(Line::raw(fit(&text, row.width.into()).trim_end().to_owned()), row);
}

pub(super) fn head(frame: &mut Frame<'_>, area: Rect, board: &Board, look: &Look) {
    let (word, colour) = match (&board.ended, look.asked) {
        (Some(ended), _) if ended.failure.is_some() => ("failed", Color::Red),
        (Some(_), _) => ("finished", Color::Green),
        (None, Asked::Stop) => ("stopping", Color::Yellow),
        (None, Asked::Pause) => ("paused", Color::Yellow),
        (None, Asked::Nothing) => ("runs", Color::Reset),
    };
    let name = if board.name.is_empty() { "workflow" } else { &board.name };
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let dim = Style::new().add_modifier(Modifier::DIM);
    let room = usize::from(area.width);
    let spans = vec![
        Span::styled(fit(name, room / 2).trim_end().to_owned(), bold),
        Span::styled(format!("  {word}"), look.paint.of(colour)),
        Span::styled(format!("  {}", board.run), dim),
    ];
    frame.render_widget(Line::from(spans), area);
}

pub(super) fn foot(frame: &mut Frame<'_>, area: Rect, board: &Board, look: &Look, now_ms: u64) {
    let [notice, sums, keys] = Layout::vertical([Constraint::Length(1); 3]).areas(area);
    let room = usize::from(area.width);
    let (text, colour) = news(board);
    frame.render_widget(Line::styled(fit(&text, room), look.paint.of(colour)), notice);
    frame.render_widget(Line::raw(fit(&summary(board, now_ms), room)), sums);
    let text = key_help(board, look, area.width);
    frame.render_widget(Line::styled(text, Style::new().add_modifier(Modifier::DIM)), keys);
}

/// What a person should know first: why it failed, what is asked, the last word of the log.
fn news(board: &Board) -> (String, Color) {
    if let Some(failure) = board.ended.as_ref().and_then(|ended| ended.failure.as_ref()) {
        return (format!("✗ {failure}"), Color::Red);
    }
    if let Some(question) = board.questions.first() {
        let more = board.questions.len() - 1;
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        return (format!("? {} ({}{more})", question.text, question.key), Color::Yellow);
    }
    (board.logs.front().cloned().unwrap_or_default(), Color::Reset)
}

fn key_help(board: &Board, look: &Look, width: u16) -> String {
    let all = width >= COLUMNS_FOR_ALL_KEYS;
    let going = board.ended.is_none();
    let pause = if look.asked == Asked::Pause { "p resume" } else { "p pause" };
    let keys = [
        ("↑↓ move", true),
        ("tab column", true),
        ("enter detail", true),
        ("l log", all),
        ("g/G ends", all && !going),
        (pause, going && look.asked != Asked::Stop),
        ("x stop", going && look.asked != Asked::Stop),
        ("q leave", true),
    ];
    keys.iter().filter(|(_, shown)| *shown).map(|(text, _)| *text).collect::<Vec<_>>().join("  ")
}
