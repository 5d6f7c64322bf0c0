//! What went through a link, by its fate.

use crate::{Treatment, amount::Amount};

/// Segments and bytes on the link. `offered + duplicated = delivered + lost + overflowed + managed + backlog`,
/// always, where the backlog is [`Link::backlog`](crate::Link::backlog).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// What arrived at the link.
    pub offered: Amount,
    /// What will come out, or has, copies included.
    pub delivered: Amount,
    /// Lost in transit.
    pub lost: Amount,
    /// What found the queue full, or had to leave it for what did.
    pub overflowed: Amount,
    /// What the queue's discipline dropped although there was room.
    pub managed: Amount,
    /// Copies made in transit.
    pub duplicated: Amount,
    /// Delivered segments that this link has marked for congestion.
    pub marked: Amount,
    /// Delivered segments that are damaged.
    pub corrupted: Amount,
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
