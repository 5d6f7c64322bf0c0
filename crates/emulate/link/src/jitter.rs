//! Delay that varies from slice to slice.

mod table;

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use crate::{NameError, random::Random};
pub use table::Table;

/// Amount and distribution of the delay variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Jitter {
    /// Half the width of the uniform distribution, else the standard deviation.
    pub spread: Duration,
    /// The distribution of delays around the propagation time.
    pub shape: Shape,
    /// Whether packets keep their order.
    pub order: Order,
}

/// A distribution of delays.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Shape {
    /// Uniform from propagation - spread to propagation + spread.
    #[default]
    Uniform,
    /// Normal distribution, truncated at four standard deviations.
    Normal,
    /// Pareto distribution with exponent 3: most delays are slightly below the mean.
    Pareto,
    /// A measured distribution.
    Table(Arc<Table>),
}

/// Whether packets may overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// A delayed packet also delays its successors, as in a single queue.
    #[default]
    Kept,
    /// Each packet has an independent delay, as over several paths.
    Free,
}

impl Jitter {
    /// Never negative.
    pub(crate) fn draw(&self, propagation: Duration, random: &mut Random) -> Duration {
        self.delay(propagation, self.shape.draw(random))
    }

    pub(crate) fn least(&self, propagation: Duration) -> Duration {
        self.delay(propagation, self.shape.least())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "nanoseconds of a few hours are exact in an f64, and `as` saturates"
    )]
    fn delay(&self, propagation: Duration, deviation: f64) -> Duration {
        let offset = (deviation * self.spread.as_nanos() as f64).round() as i64;
        let amount = Duration::from_nanos(offset.unsigned_abs());
        if offset < 0 { propagation.saturating_sub(amount) } else { propagation.saturating_add(amount) }
    }
}

impl Shape {
    fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Self::Uniform => 2.0 * random.uniform() - 1.0,
            Self::Normal => normal(random).clamp(-NORMAL_CUT, NORMAL_CUT),
            Self::Pareto => (random.uniform().powf(-1.0 / 3.0) - PARETO_MEAN) / PARETO_DEVIATION,
            Self::Table(table) => table.draw(random),
        }
    }

    fn least(&self) -> f64 {
        match self {
            Self::Uniform => -1.0,
            Self::Normal => -NORMAL_CUT,
            Self::Pareto => (1.0 - PARETO_MEAN) / PARETO_DEVIATION,
            Self::Table(table) => table.least(),
        }
    }
}

impl FromStr for Shape {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text {
            "uniform" => Ok(Self::Uniform),
            "normal" => Ok(Self::Normal),
            "pareto" => Ok(Self::Pareto),
            _ => Err(NameError::new("shape of jitter", text, "uniform, normal or pareto")),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Normal => "normal",
            Self::Pareto => "pareto",
            Self::Table(_) => "table",
        })
    }
}

impl FromStr for Order {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text {
            "kept" => Ok(Self::Kept),
            "free" => Ok(Self::Free),
            _ => Err(NameError::new("order", text, "kept or free")),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Free => "free",
        })
    }
}

fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * random.uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * random.uniform()).cos()
}

/// 6 of 100 000 draws exceed four standard deviations; netem's tables are truncated there too.
const NORMAL_CUT: f64 = 4.0;

const PARETO_MEAN: f64 = 1.5;
/// The root of a / (a - 2), over a - 1: for a = 3, sqrt(3) / 2.
const PARETO_DEVIATION: f64 = 0.866_025_403_784_438_6;

#[cfg(test)]
mod tests;
