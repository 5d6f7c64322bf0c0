//! A write to two stores at once: acknowledged when one of them has it durably, with a note beside it that the other one may not.
//!
//! The note is part of what the first one makes durable, so that it is there whatever is killed next. It is taken back when the other one
//! has the write too.

use crate::Side;

/// One write.
#[derive(Debug, Clone, Copy, Default)]
pub struct Write {
    durable_at: Option<Side>,
    failed_at: Option<Side>,
}

/// What follows from what a store said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledgement {
    /// The other one may still take it.
    Wait,
    /// The writer is told that it is done.
    Acknowledge,
    /// The writer was told, and both stores have it: the note goes from this one.
    Settled {
        /// The one with the note.
        noted_at: Side,
    },
    /// The writer was told, and the note stays until the other store is repaired.
    Noted {
        /// The one that has to be repaired.
        behind: Side,
    },
    /// The writer is told that it failed.
    Refuse,
}

impl Write {
    /// A store has it durably.
    pub fn durable(&mut self, side: Side) -> Acknowledgement {
        match self.durable_at {
            None => {
                self.durable_at = Some(side);
                Acknowledgement::Acknowledge
            }
            Some(noted_at) => Acknowledgement::Settled { noted_at },
        }
    }

    /// A store does not take it.
    pub fn failed(&mut self, side: Side) -> Acknowledgement {
        match (self.durable_at, self.failed_at.replace(side)) {
            (Some(_), _) => Acknowledgement::Noted { behind: side },
            (None, None) => Acknowledgement::Wait,
            (None, Some(_)) => Acknowledgement::Refuse,
        }
    }

    /// Who has to be repaired, if the writer was told that it is done and the other store failed first.
    pub fn behind(&self) -> Option<Side> {
        self.durable_at.and(self.failed_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_acknowledged_once_one_store_has_it() {
        let mut write = Write::default();
        assert_eq!(write.durable(Side::Right), Acknowledgement::Acknowledge);
        assert_eq!(write.durable(Side::Left), Acknowledgement::Settled { noted_at: Side::Right });
        assert_eq!(write.behind(), None);
        let mut write = Write::default();
        assert_eq!(write.durable(Side::Right), Acknowledgement::Acknowledge);
        assert_eq!(write.failed(Side::Left), Acknowledgement::Noted { behind: Side::Left });
        let mut write = Write::default();
        assert_eq!(write.failed(Side::Left), Acknowledgement::Wait);
        assert_eq!(write.durable(Side::Right), Acknowledgement::Acknowledge);
        assert_eq!(write.behind(), Some(Side::Left));
        let mut write = Write::default();
        assert_eq!(
            (write.failed(Side::Left), write.failed(Side::Right)),
            (Acknowledgement::Wait, Acknowledgement::Refuse)
        );
        assert_eq!(write.behind(), None);
    }
}
