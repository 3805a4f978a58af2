//! Colours, used sparingly: what they say is said by signs and words too.

use super::agent::State;
use super::look::Paint;
use ratatui::style::{Color, Modifier, Style};

impl Paint {
    /// A colour, unless there are to be none.
    pub(super) fn of(self, colour: Color) -> Style {
        match self {
            Paint::Coloured if colour != Color::Reset => Style::new().fg(colour),
            Paint::Coloured | Paint::Plain => Style::new(),
        }
    }

    pub(super) fn of_state(self, state: State) -> Style {
        match state {
            State::Queued | State::Cached => Style::new().add_modifier(Modifier::DIM),
            State::Working => self.of(Color::Yellow),
            State::Done => self.of(Color::Green),
            State::Failed => self.of(Color::Red),
        }
    }
}
