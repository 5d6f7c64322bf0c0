//! Delay that varies from slice to slice.

use std::time::Duration;

use crate::random::Random;

/// How much the delay varies, in which shape, and whether packets may overtake each other for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Jitter {
    /// Half the width of a uniform shape, the standard deviation of the others.
    pub spread: Duration,
    /// How the delays are distributed around the propagation time.
    pub shape: Shape,
    /// Whether what left first arrives first.
    pub order: Order,
}

/// A distribution of delays.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Shape {
    /// Every delay from propagation - spread to propagation + spread is as likely.
    #[default]
    Uniform,
    /// The bell, cut off at four standard deviations.
    Normal,
}

/// Whether packets may overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// A packet that is delayed holds up the ones behind it, as in one queue.
    #[default]
    Kept,
    /// Each comes when it comes, as over several paths.
    Free,
}

impl Jitter {
    /// A delay around `propagation`, never negative.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "nanoseconds of a few hours are exact in an f64, and `as` saturates"
    )]
    pub(crate) fn draw(&self, propagation: Duration, random: &mut Random) -> Duration {
        let offset = (self.shape.draw(random) * self.spread.as_nanos() as f64).round() as i64;
        let amount = Duration::from_nanos(offset.unsigned_abs());
        if offset < 0 { propagation.saturating_sub(amount) } else { propagation.saturating_add(amount) }
    }

    /// The shortest delay that [`Jitter::draw`] may give.
    pub(crate) fn least(&self, propagation: Duration) -> Duration {
        propagation.saturating_sub(self.spread.mul_f64(-self.shape.least()))
    }
}

impl Shape {
    /// A deviation from the mean, in spreads.
    fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Self::Uniform => 2.0 * random.uniform() - 1.0,
            Self::Normal => normal(random).clamp(-NORMAL_CUT, NORMAL_CUT),
        }
    }

    /// The least deviation.
    fn least(&self) -> f64 {
        match self {
            Self::Uniform => -1.0,
            Self::Normal => -NORMAL_CUT,
        }
    }
}

/// Box and Muller's transform of two uniform numbers.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * random.uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * random.uniform()).cos()
}

/// Beyond four standard deviations lie 6 of 100 000 draws; netem's tables end there too.
const NORMAL_CUT: f64 = 4.0;
