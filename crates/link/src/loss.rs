//! Which segments are lost.
//!
//! Instead of one draw per segment, one draw determines how many segments survive until the next loss, so a lossless gigabit
//! costs nothing and the outcome does not depend on how segments are grouped.

mod trace;

use std::{fmt, str::FromStr, sync::Arc};

use units::Probability;

use crate::random::Random;
pub use trace::LossTrace;

/// How segments are lost. Written "0.1%", or in netem's words "gemodel 1% 10% 70% 0.1%", of which all but
/// the first may be left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// Each with the same chance, independently.
    Bernoulli(Probability),
    /// In bursts: the link is in a good or in a bad state, and may change it after each segment (Gilbert 1960,
    /// Elliott 1963). In the long run the share `to_bad / (to_bad + to_good)` of the segments meets the bad state,
    /// for `1 / to_good` segments at a time. netem writes it `loss gemodel p r 1-h 1-k`.
    GilbertElliott {
        /// Chance that the good state becomes bad: netem's p.
        to_bad: Probability,
        /// Chance that the bad state becomes good: netem's r.
        to_good: Probability,
        /// Chance of loss in the bad state: netem's 1-h.
        in_bad: Probability,
        /// Chance of loss in the good state: netem's 1-k.
        in_good: Probability,
    },
    /// As recorded, from the beginning.
    Trace(Arc<LossTrace>),
}

impl Default for Loss {
    /// None is lost.
    fn default() -> Self {
        Self::Bernoulli(Probability::ZERO)
    }
}

impl Loss {
    /// Gilbert and Elliott's model with up to four shares in netem's order: p, r, 1-h, 1-k. What is left out has
    /// netem's defaults: a bad state that ends with the chance 1-p, in which all are lost, and a good one in which
    /// none is. `None` for no share, or more than four.
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

/// A loss that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LossError {
    /// A share that is none.
    #[error(transparent)]
    Share(#[from] units::Error),
    /// Too few or too many shares.
    #[error("gemodel has {found} shares after it; expected 1 to 4: p, r, 1-h and 1-k")]
    Shares {
        /// How many were written.
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
    /// As it is parsed; a recording has no such form and is shown as "recorded".
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

/// Something that happens to some of the segments, one after the other.
#[derive(Debug)]
pub(crate) struct Occurrences {
    model: Loss,
    random: Random,
    place: Place,
    /// How many segments certainly pass from here.
    clear: u64,
    /// Whether it happens to the one after them; else the model must be asked again there.
    happens: bool,
}

/// Where in its model a process is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// Gilbert-Elliott: whether the link is in the bad state.
    is_bad: bool,
    /// Gilbert-Elliott: how many segments meet this state before it changes; 0 if that must be drawn.
    left: u64,
    /// Trace: how many losses have passed.
    losses: usize,
}

/// The model's prediction for the next segments.
enum Next {
    /// This many pass, and the next one is affected.
    After(u64),
    /// This many pass, and then the model must be asked again.
    Clear(u64),
}

impl Occurrences {
    pub(crate) fn new(model: Loss, random: Random) -> Self {
        let mut occurrences = Self { model, random, place: Place::default(), clear: 0, happens: false };
        occurrences.look_ahead();
        occurrences
    }

    /// Changes the model from here on; a new one begins at its beginning.
    pub(crate) fn set(&mut self, model: &Loss) {
        if self.model != *model {
            self.model = model.clone();
            self.place = Place::default();
            self.look_ahead();
        }
    }

    /// How many segments certainly pass from here; 0 if it happens to the next one.
    pub(crate) fn clear(&self) -> u64 {
        self.clear
    }

    /// Goes on by `segments`: by as many as are clear or fewer, or by the one that it happens to.
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
    /// The prediction in a state that each segment ends with the chance `leave`, and in which each is lost with
    /// `lose`.
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

/// How far to look ahead for a loss: far enough that slices are not cut for nothing, and no further than the
/// segments can pay for.
const LOOK_AHEAD: u64 = 65_536;

#[cfg(test)]
mod tests;
