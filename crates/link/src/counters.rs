//! What went through a link, by its fate.

/// Bytes on the wire and segments. `offered = delivered + lost + overflowed`, always.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// What arrived at the link.
    pub offered: Amount,
    /// What will come out, or has.
    pub delivered: Amount,
    /// What was lost on the wire.
    pub lost: Amount,
    /// What found the queue full.
    pub overflowed: Amount,
}

/// Segments and the bytes they occupy on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Packets as a real wire would carry them.
    pub segments: u64,
    /// Their bytes, headers and link overhead included.
    pub bytes: u64,
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.segments += other.segments;
        self.bytes += other.bytes;
    }
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.offered += other.offered;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.overflowed += other.overflowed;
    }
}
