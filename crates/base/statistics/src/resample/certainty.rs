//! The word for how sure a difference is. There is only this rule, so that word and percentage always agree.

/// How sure it is which of two sides is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The interval of the difference excludes 0, and another seed would not change that.
    Sure,
    /// As close to the boundary of sure as the number of resamples can resolve: another seed may decide otherwise.
    Borderline,
    /// At least [`LIKELY`], but not sure.
    Likely,
    /// The samples do not decide.
    Undecided,
}

impl Certainty {
    /// The word for a difference that is sure by `sure` (0.5..=1). `enough` is the requirement of an interval
    /// of the level in use, (1 + level)/2, and `noise` is the standard error that the number of resamples
    /// leaves in `sure`; 0 for exact results.
    pub(crate) fn new(sure: f64, enough: f64, noise: f64) -> Self {
        // Three standard errors: one seed in 370 crosses from one clear word to the other.
        if noise > 0.0 && (sure - enough).abs() <= 3.0 * noise {
            Self::Borderline
        } else if sure > enough {
            Self::Sure
        } else if sure >= LIKELY {
            Self::Likely
        } else {
            Self::Undecided
        }
    }
}

/// At this certainty a difference is likely: by chance, one comparison in five of a side with itself gets there.
pub const LIKELY: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_the_share_and_its_noise() {
        let word = |sure, noise| Certainty::new(sure, 0.975, noise);
        assert_eq!(
            [0.976, 0.975, 0.9, 0.899, 0.5].map(|sure| word(sure, 0.0)),
            [
                Certainty::Sure,
                Certainty::Likely,
                Certainty::Likely,
                Certainty::Undecided,
                Certainty::Undecided
            ]
        );
        // Three standard errors of 0.002.
        assert_eq!(
            [0.982, 0.980, 0.970, 0.968].map(|sure| word(sure, 0.002)),
            [Certainty::Sure, Certainty::Borderline, Certainty::Borderline, Certainty::Likely]
        );
    }
}
