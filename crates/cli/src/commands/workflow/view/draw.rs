//! A run, drawn.

mod detail;
mod edges;
mod lists;

use super::board::Board;
use super::look::{Look, Size};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Borders};

/// The least room that a view makes sense in.
const COLUMNS_MIN: u16 = 60;
const ROWS_MIN: u16 = 15;
/// From this width on, the detail stands beside the lists and not below them.
const COLUMNS_WIDE: u16 = 100;

/// Draws the run as it stands at `now_ms`, in milliseconds since 1970.
pub(crate) fn draw(frame: &mut Frame<'_>, board: &Board, look: &Look, now_ms: u64) {
    let area = frame.area();
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return edges::too_small(frame, area, (COLUMNS_MIN, ROWS_MIN));
    }
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(3)]).areas(area);
    edges::head(frame, head, board, look);
    match look.size {
        Size::Whole => detail::draw(frame, body, board, look, now_ms),
        Size::Pane => {
            let [phases, agents, aside] = panes(body);
            lists::phases(frame, phases, board, look);
            lists::agents(frame, agents, board, look, now_ms);
            detail::draw(frame, aside, board, look, now_ms);
        }
    }
    edges::foot(frame, foot, board, look, now_ms);
}

/// Where phases, agents and the detail go.
fn panes(body: Rect) -> [Rect; 3] {
    if body.width < COLUMNS_WIDE {
        let [lists, detail] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(body);
        let wide = [Constraint::Length(body.width * 3 / 10), Constraint::Fill(1)];
        let [phases, agents] = Layout::horizontal(wide).spacing(1).areas(lists);
        return [phases, agents, detail];
    }
    let phases = Constraint::Length((body.width / 5).clamp(20, 30));
    let agents = Constraint::Length((body.width * 2 / 5).clamp(38, 60));
    Layout::horizontal([phases, agents, Constraint::Fill(1)]).spacing(1).areas(body)
}

/// Draws the rule above a column with its title, and returns what is left below.
fn titled(frame: &mut Frame<'_>, area: Rect, title: &str, focus: Focus) -> Rect {
    let style = Style::new().add_modifier(match focus {
        Focus::Here => Modifier::BOLD,
        Focus::Elsewhere => Modifier::DIM,
    });
    let block = Block::new().borders(Borders::TOP).border_style(style).title(format!(" {title} ")).title_style(style);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Whether keys move here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Focus {
    Here,
    Elsewhere,
}

impl Focus {
    fn when(here: bool) -> Focus {
        if here { Focus::Here } else { Focus::Elsewhere }
    }
}
