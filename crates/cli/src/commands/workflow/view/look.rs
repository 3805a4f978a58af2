//! What of a run is looked at, and what its keys do.

use super::board::{Board, Place};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::cell::Cell;

/// How far a page goes.
const PAGE: isize = 10;

/// What a person wants of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// No further agent is to begin.
    Pause,
    /// Agents may begin again.
    Resume,
    /// The run is to stop.
    Stop,
    /// The view was left; the run goes on.
    Leave,
}

/// The column that keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Column {
    Phases,
    #[default]
    Agents,
    Detail,
}

/// What the detail shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shows {
    #[default]
    Agent,
    Log,
}

/// How large the detail is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Size {
    #[default]
    Pane,
    Whole,
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    #[default]
    Coloured,
    Plain,
}

/// What was asked of the run, which no event tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    #[default]
    Nothing,
    Pause,
    Stop,
}

/// What is looked at.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(super) column: Column,
    pub(super) shows: Shows,
    pub(super) size: Size,
    pub(super) paint: Paint,
    pub(super) asked: Asked,
    /// Lines of the detail above its first shown one.
    pub(super) scroll: usize,
    /// The furthest that the detail can be scrolled. Only drawing knows the width that lines are wrapped at, and only
    /// keys may change where we are: so the one leaves this for the other.
    pub(super) deepest: Cell<usize>,
    /// What a person chose; without it, what happens now is looked at.
    chosen: Option<Place>,
}

impl Look {
    /// A look at what happens now.
    pub(crate) fn new(paint: Paint) -> Look {
        Look { paint, ..Look::default() }
    }

    /// The phase and agent that are looked at.
    pub(super) fn place(&self, board: &Board) -> Place {
        self.chosen.unwrap_or(board.latest)
    }

    /// Does what a key says, and returns what is wished of the run.
    pub(crate) fn key(&mut self, key: KeyEvent, board: &Board) -> Option<Wish> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        match key.code {
            KeyCode::Char('q') => return Some(Wish::Leave),
            KeyCode::Char('p') if board.ended.is_none() => return self.pause(),
            KeyCode::Char('x') if board.ended.is_none() => {
                self.asked = Asked::Stop;
                return Some(Wish::Stop);
            }
            KeyCode::Up | KeyCode::Char('k') => self.go(-1, board),
            KeyCode::Down | KeyCode::Char('j') => self.go(1, board),
            KeyCode::PageUp => self.go(-PAGE, board),
            KeyCode::PageDown => self.go(PAGE, board),
            KeyCode::Home | KeyCode::Char('g') => self.go(isize::MIN, board),
            KeyCode::End | KeyCode::Char('G') => self.go(isize::MAX, board),
            KeyCode::Left | KeyCode::BackTab => self.turn_to(self.column.before()),
            KeyCode::Right => self.turn_to(self.column.after()),
            KeyCode::Tab if self.column == Column::Detail => self.turn_to(Column::Phases),
            KeyCode::Tab => self.turn_to(self.column.after()),
            KeyCode::Char('l') => self.turn_log(),
            KeyCode::Enter => {
                self.chosen = Some(self.place(board));
                (self.column, self.size) = (Column::Detail, Size::Whole);
            }
            KeyCode::Esc => self.back(),
            _ => {}
        }
        None
    }

    fn pause(&mut self) -> Option<Wish> {
        let (asked, wish) = match self.asked {
            Asked::Nothing => (Asked::Pause, Wish::Pause),
            Asked::Pause => (Asked::Nothing, Wish::Resume),
            Asked::Stop => return None,
        };
        self.asked = asked;
        Some(wish)
    }

    fn go(&mut self, by: isize, board: &Board) {
        let Place { phase, agent } = self.place(board);
        let last = |count: usize| count.saturating_sub(1);
        match self.column {
            Column::Phases => {
                let to = moved(phase, by, last(board.phases.len()));
                if to != phase {
                    self.choose(Place { phase: to, agent: 0 });
                }
            }
            Column::Agents => {
                let count = board.phases.get(phase).map_or(0, |phase| phase.agents.len());
                self.choose(Place { phase, agent: moved(agent, by, last(count)) });
            }
            Column::Detail => {
                // Whoever reads does not want the page turned by what happens meanwhile.
                self.chosen = Some(Place { phase, agent });
                self.scroll = moved(self.scroll.min(self.deepest.get()), by, self.deepest.get());
            }
        }
    }

    fn choose(&mut self, place: Place) {
        (self.chosen, self.scroll, self.shows) = (Some(place), 0, Shows::Agent);
    }

    fn turn_to(&mut self, column: Column) {
        if column != Column::Detail {
            self.size = Size::Pane;
        }
        self.column = column;
    }

    fn turn_log(&mut self) {
        self.scroll = 0;
        self.shows = if self.shows == Shows::Log { Shows::Agent } else { Shows::Log };
    }

    /// One step back: from the whole detail, from the log, and at last from what was chosen to what happens now.
    fn back(&mut self) {
        match (self.size, self.shows) {
            (Size::Whole, _) => (self.size, self.column) = (Size::Pane, Column::Agents),
            (Size::Pane, Shows::Log) => self.turn_log(),
            (Size::Pane, Shows::Agent) => {
                (self.chosen, self.scroll, self.column) = (None, 0, Column::Agents);
            }
        }
    }
}

impl Column {
    fn before(self) -> Column {
        match self {
            Column::Phases | Column::Agents => Column::Phases,
            Column::Detail => Column::Agents,
        }
    }

    fn after(self) -> Column {
        match self {
            Column::Phases => Column::Agents,
            Column::Agents | Column::Detail => Column::Detail,
        }
    }
}

fn moved(from: usize, by: isize, last: usize) -> usize {
    from.saturating_add_signed(by).min(last)
}
