//! Counts of segments and bytes.

use std::ops::{AddAssign, SubAssign};

/// Segments and the bytes that they occupy on the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Packets as a real link would carry them.
    pub segments: u64,
    /// Their bytes, headers and link overhead included.
    pub bytes: u64,
}

impl Amount {
    pub(crate) const MAX: Self = Self { segments: u64::MAX, bytes: u64::MAX };

    pub(crate) fn is_within(self, capacity: Self) -> bool {
        self.segments <= capacity.segments && self.bytes <= capacity.bytes
    }

    pub(crate) fn less(self, other: Self) -> Self {
        Self {
            segments: self.segments.saturating_sub(other.segments),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.segments += other.segments;
        self.bytes += other.bytes;
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        self.segments -= other.segments;
        self.bytes -= other.bytes;
    }
}
