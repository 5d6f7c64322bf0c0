//! What went through a link, by its fate.

use crate::Treatment;

/// Segments and bytes on the wire. `offered + duplicated = delivered + lost + overflowed + managed + backlog`,
/// always, where the backlog is what [`Link::backlog`](crate::Link::backlog) says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// What arrived at the link.
    pub offered: Amount,
    /// What will come out, or has, copies included.
    pub delivered: Amount,
    /// What was lost on the wire.
    pub lost: Amount,
    /// What found the queue full, or had to leave it for what did.
    pub overflowed: Amount,
    /// What the queue's discipline dropped although there was room.
    pub managed: Amount,
    /// Copies that the wire made.
    pub duplicated: Amount,
    /// What of the delivered carries a mark of congestion from this link.
    pub marked: Amount,
    /// What of the delivered is damaged.
    pub corrupted: Amount,
}

/// Segments and the bytes they occupy on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Packets as a real wire would carry them.
    pub segments: u64,
    /// Their bytes, headers and link overhead included.
    pub bytes: u64,
}

impl Counters {
    /// Counts what arrives.
    pub(crate) fn deliver(&mut self, amount: Amount, treatment: Treatment) {
        self.delivered += amount;
        if treatment.mark {
            self.marked += amount;
        }
        if treatment.corrupt.is_some() {
            self.corrupted += amount;
        }
    }
}

impl Amount {
    /// More than any queue holds.
    pub(crate) const MAX: Self = Self { segments: u64::MAX, bytes: u64::MAX };

    /// Whether a room of `capacity` holds it.
    pub(crate) fn is_within(self, capacity: Self) -> bool {
        self.segments <= capacity.segments && self.bytes <= capacity.bytes
    }

    /// What remains of a room when `other` is in it.
    pub(crate) fn less(self, other: Self) -> Self {
        Self {
            segments: self.segments.saturating_sub(other.segments),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.segments += other.segments;
        self.bytes += other.bytes;
    }
}

impl std::ops::SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        self.segments -= other.segments;
        self.bytes -= other.bytes;
    }
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.offered += other.offered;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.overflowed += other.overflowed;
        self.managed += other.managed;
        self.duplicated += other.duplicated;
        self.marked += other.marked;
        self.corrupted += other.corrupted;
    }
}
