//! The states of an origin in a zone.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Up,
    /// Health checks failed, or in a report the last request.
    Down,
    Ejected,
}

/// A change of a member's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) state: State,
    pub(super) reason: String,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Ejected => "ejected",
        }
    }
}
