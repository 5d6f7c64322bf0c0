//! Match result for a request that an origin may interpret in several ways.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchResult {
    No,
    Maybe,
    Yes,
}

impl MatchResult {
    pub(super) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }

    /// The origin may use any occurrence. No occurrence is [`Self::No`].
    pub(super) fn of_all(occurrences: impl Iterator<Item = bool>) -> Self {
        let (mut some, mut all) = (false, true);
        for fits in occurrences {
            some |= fits;
            all &= fits;
        }
        match (some, all) {
            (false, _) => Self::No,
            (true, false) => Self::Maybe,
            (true, true) => Self::Yes,
        }
    }
}
