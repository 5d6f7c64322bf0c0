//! Whether a condition holds for a request that its origin may read in several ways.

/// Whether a rule is for a request, if its origin may read the request in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// In no way.
    No,
    /// In some ways, and not in others.
    Perhaps,
    /// In each.
    Yes,
}

impl Fit {
    pub(super) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Of occurrences of which the origin may take any; without one it is `No`.
    pub(super) fn of_all(occurrences: impl Iterator<Item = bool>) -> Self {
        let (mut some, mut all) = (false, true);
        for fits in occurrences {
            some |= fits;
            all &= fits;
        }
        match (some, all) {
            (false, _) => Self::No,
            (true, false) => Self::Perhaps,
            (true, true) => Self::Yes,
        }
    }
}
