//! Segment loss.
//!
//! One draw determines how many segments survive until the next loss, so the outcome does not
//! depend on how segments are grouped.

mod trace;

use std::{fmt, str::FromStr, sync::Arc};

use units::Probability;

use crate::random::Random;
pub use trace::LossTrace;

/// A loss model, written "0.1%", or in netem's syntax "gemodel 1% 10% 70% 0.1%".
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// The same probability for each segment, independently.
    Bernoulli(Probability),
    /// Burst losses (Gilbert 1960, Elliott 1963): netem's `loss gemodel p r 1-h 1-k`.
    GilbertElliott {
        /// Probability of the transition from good to bad: netem's p.
        to_bad: Probability,
        /// Probability of the transition from bad to good: netem's r.
        to_good: Probability,
        /// Probability of loss in the bad state: netem's 1-h.
        in_bad: Probability,
        /// Probability of loss in the good state: netem's 1-k.
        in_good: Probability,
    },
    /// Recorded losses, from the start of the recording.
    Trace(Arc<LossTrace>),
}

impl Default for Loss {
    fn default() -> Self {
        Self::Bernoulli(Probability::ZERO)
    }
}

impl Loss {
    /// The Gilbert-Elliott model with one to four shares in netem's order: p, r, 1-h, 1-k. Missing shares
    /// have netem's defaults: r = 1-p, all segments lost in the bad state, no loss in the good state.
    /// `None` for any other number of shares.
    pub fn gilbert_elliott(shares: &[Probability]) -> Option<Self> {
        let (to_bad, rest) = shares.split_first()?;
        let defaults = [Probability::new(1.0 - to_bad.get())?, Probability::ONE, Probability::ZERO];
        let or_default = |index: usize| rest.get(index).copied().unwrap_or(defaults[index]);
        (rest.len() <= defaults.len()).then(|| Self::GilbertElliott {
            to_bad: *to_bad,
            to_good: or_default(0),
            in_bad: or_default(1),
            in_good: or_default(2),
        })
    }
}

/// A text that is not a valid loss.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LossError {
    /// A share is invalid.
    #[error(transparent)]
    Share(#[from] units::Error),
    /// Too few or too many shares.
    #[error("gemodel has {found} shares after it; expected 1 to 4: p, r, 1-h and 1-k")]
    Shares {
        /// The number of shares found.
        found: usize,
    },
}

impl FromStr for Loss {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Self, LossError> {
        let Some(shares) = text.trim().strip_prefix("gemodel") else {
            return Ok(Self::Bernoulli(text.parse()?));
        };
        let shares = shares.split_whitespace().map(str::parse).collect::<Result<Vec<_>, _>>()?;
        Self::gilbert_elliott(&shares).ok_or(LossError::Shares { found: shares.len() })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bernoulli(chance) => chance.fmt(f),
            Self::GilbertElliott { to_bad, to_good, in_bad, in_good } => {
                write!(f, "gemodel {to_bad} {to_good} {in_bad} {in_good}")
            }
            Self::Trace(_) => f.write_str("recorded"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Occurrences {
    model: Loss,
    random: Random,
    place: Place,
    clear: u64,
    /// The segment after them is affected; otherwise the model must be evaluated again there.
    happens: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    is_bad: bool,
    /// Gilbert-Elliott: segments until the state changes; 0 if not drawn yet.
    left: u64,
    losses: usize,
}

enum Next {
    After(u64),
    Clear(u64),
}

impl Occurrences {
    pub(crate) fn new(model: Loss, random: Random) -> Self {
        let mut occurrences = Self { model, random, place: Place::default(), clear: 0, happens: false };
        occurrences.look_ahead();
        occurrences
    }

    /// A new model starts from its initial state.
    pub(crate) fn set(&mut self, model: &Loss) {
        if self.model != *model {
            self.model = model.clone();
            self.place = Place::default();
            self.look_ahead();
        }
    }

    pub(crate) fn clear(&self) -> u64 {
        self.clear
    }

    pub(crate) fn pass(&mut self, segments: u32) {
        match self.clear {
            u64::MAX => return,
            0 => self.happens = false,
            _ => self.clear = self.clear.saturating_sub(segments.into()),
        }
        if self.clear == 0 && !self.happens {
            self.look_ahead();
        }
    }

    fn look_ahead(&mut self) {
        (self.clear, self.happens) = (0, false);
        while self.clear < LOOK_AHEAD && !self.happens {
            let (clear, happens) = match self.next() {
                Next::After(segments) => (segments, true),
                Next::Clear(segments) => (segments, false),
            };
            self.clear = self.clear.saturating_add(clear);
            self.happens = happens;
        }
    }

    fn next(&mut self) -> Next {
        match &self.model {
            Loss::Bernoulli(chance) => Next::After(self.random.failures(*chance)),
            Loss::GilbertElliott { to_bad, to_good, in_bad, in_good } => {
                let (leave, lose) = if self.place.is_bad { (*to_good, *in_bad) } else { (*to_bad, *in_good) };
                self.place.within(leave, lose, &mut self.random)
            }
            Loss::Trace(trace) => {
                self.place.losses += 1;
                trace.gap_before(self.place.losses - 1).map_or(Next::Clear(u64::MAX), Next::After)
            }
        }
    }
}

impl Place {
    fn within(&mut self, leave: Probability, lose: Probability, random: &mut Random) -> Next {
        if self.left == 0 {
            self.left = random.failures(leave).saturating_add(1);
        }
        let passing = random.failures(lose);
        let (next, used) = if passing < self.left {
            (Next::After(passing), passing + 1)
        } else {
            (Next::Clear(self.left), self.left)
        };
        self.left -= used;
        self.is_bad ^= self.left == 0;
        next
    }
}

/// Bounds the search for the next loss; large enough that slices are not cut needlessly.
const LOOK_AHEAD: u64 = 65_536;

#[cfg(test)]
mod tests;
