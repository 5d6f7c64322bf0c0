//! Which segments are lost.
//!
//! Instead of one draw a segment, one draw says how many segments survive until the next loss, so a lossless gigabit
//! costs nothing and the outcome does not depend on how segments are grouped.

use units::Probability;

use crate::random::Random;

/// How segments are lost on the wire.
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// Each with the same chance, independently.
    Bernoulli(Probability),
}

impl Default for Loss {
    /// None is lost.
    fn default() -> Self {
        Self::Bernoulli(Probability::ZERO)
    }
}

/// Something that happens to some of the segments, one after the other.
#[derive(Debug)]
pub(crate) struct Occurrences {
    model: Loss,
    random: Random,
    /// How many segments pass before it happens.
    clear: u64,
}

impl Occurrences {
    pub(crate) fn new(model: Loss, random: Random) -> Self {
        let mut occurrences = Self { model, random, clear: 0 };
        occurrences.draw();
        occurrences
    }

    /// Changes the model from here on.
    pub(crate) fn set(&mut self, model: &Loss) {
        if self.model != *model {
            self.model = model.clone();
            self.draw();
        }
    }

    /// How many segments certainly pass from here; 0 if it happens to the next one.
    pub(crate) fn clear(&self) -> u64 {
        self.clear
    }

    /// Goes on by `segments`: either as many as are clear, or fewer, or the one that it happens to.
    pub(crate) fn pass(&mut self, segments: u32) {
        match self.clear {
            0 => self.draw(),
            u64::MAX => {}
            _ => self.clear -= u64::from(segments),
        }
    }

    fn draw(&mut self) {
        self.clear = match &self.model {
            Loss::Bernoulli(chance) => self.random.failures(*chance),
        };
    }
}

#[cfg(test)]
mod tests;
