//! Counters of a link, by the fate of segments.

use crate::{Treatment, amount::Amount};

/// `offered + duplicated = delivered + lost + overflowed + managed + backlog`, always.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Arrived at the link.
    pub offered: Amount,
    /// Delivered, or scheduled for delivery, including copies.
    pub delivered: Amount,
    /// Lost in transit.
    pub lost: Amount,
    /// Dropped because the queue was full.
    pub overflowed: Amount,
    /// Dropped by the queue discipline although there was room.
    pub managed: Amount,
    /// Copies made in transit.
    pub duplicated: Amount,
    /// Delivered segments with a congestion mark set by this link.
    pub marked: Amount,
    /// Delivered segments with a bit error.
    pub corrupted: Amount,
}

impl Counters {
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
