//! Which data centres are reachable, as seen by one of them.

use crate::{DataCentreId, Renumbering};

/// A bit per data centre; initially all are up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    down: Vec<u64>,
}

/// Whether a data centre is reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The data centre responds.
    Up,
    /// The data centre does not respond.
    Down,
}

impl Health {
    /// Records the state of a data centre.
    pub fn set(&mut self, centre: DataCentreId, state: State) {
        let (word, bit) = place(centre);
        if word >= self.down.len() {
            if state == State::Up {
                return;
            }
            self.down.resize(word + 1, 0);
        }
        match state {
            State::Up => self.down[word] &= !bit,
            State::Down => self.down[word] |= bit,
        }
    }

    /// The same state with the numbers of another network.
    #[must_use]
    pub fn renumbered(&self, to: &Renumbering) -> Self {
        let mut new = Self::default();
        let all = (0..=u16::MAX).take(self.down.len() * 64).map(DataCentreId);
        for id in all.filter(|id| !self.is_up(*id)).filter_map(|id| to.of(id)) {
            new.set(id, State::Down);
        }
        new
    }

    /// Whether a data centre is up.
    pub fn is_up(&self, centre: DataCentreId) -> bool {
        let (word, bit) = place(centre);
        self.down.get(word).is_none_or(|word| word & bit == 0)
    }
}

fn place(centre: DataCentreId) -> (usize, u64) {
    (usize::from(centre.0) / 64, 1 << (centre.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_down_is_up() {
        let mut health = Health::default();
        health.set(DataCentreId(299), State::Down);
        assert!(!health.is_up(DataCentreId(299)));
        assert!(
            health.is_up(DataCentreId(298))
                && health.is_up(DataCentreId(64))
                && health.is_up(DataCentreId(65_535))
        );
        health.set(DataCentreId(299), State::Up);
        assert!(health.is_up(DataCentreId(299)));
    }
}
