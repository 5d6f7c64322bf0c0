//! The word for how sure a difference is.

/// How sure it is which of two sides is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The interval of the difference excludes 0, and another seed would not change that.
    Sure,
    /// Too close to the boundary of sure for this number of resamples: another seed may decide
    /// otherwise.
    Borderline,
    /// At least [`LIKELY`], but not sure.
    Likely,
    /// The samples do not decide.
    Undecided,
}

impl Certainty {
    /// `enough` is (1 + level)/2; `noise` is the standard error of `sure` (0.5..=1) from the number
    /// of resamples.
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

/// At this certainty a difference is likely: one comparison in five of a side with itself gets
/// there by chance.
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
        assert_eq!(
            [0.982, 0.980, 0.970, 0.968].map(|sure| word(sure, 0.002)),
            [Certainty::Sure, Certainty::Borderline, Certainty::Borderline, Certainty::Likely]
        );
    }
}
