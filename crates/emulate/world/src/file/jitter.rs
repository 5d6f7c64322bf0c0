//! The text format of jitter.

use std::{fmt, str::FromStr, time::Duration};

use link::{Order, Shape};

/// Jitter, written "5ms", "5ms normal" or "5ms pareto free".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter {
    /// The amount.
    pub spread: Duration,
    shape: Name,
    /// Whether packets may overtake each other.
    pub order: Order,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Uniform,
    Normal,
    Pareto,
}

impl FromStr for Jitter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let spread =
            units::duration::parse(words.next().unwrap_or_default()).map_err(|error| error.to_string())?;
        let (mut shape, mut order) = (Name::Uniform, Order::Kept);
        for word in words {
            match word {
                "uniform" => shape = Name::Uniform,
                "normal" => shape = Name::Normal,
                "pareto" => shape = Name::Pareto,
                "kept" => order = Order::Kept,
                "free" => order = Order::Free,
                _ => {
                    return Err(format!(
                        "\"{word}\" is not a kind of jitter; expected uniform, normal or pareto, and kept or free"
                    ));
                }
            }
        }
        Ok(Self { spread, shape, order })
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", units::duration::show(self.spread), self.shape(), self.order)
    }
}

impl Jitter {
    pub(crate) fn shape(self) -> Shape {
        match self.shape {
            Name::Uniform => Shape::Uniform,
            Name::Normal => Shape::Normal,
            Name::Pareto => Shape::Pareto,
        }
    }
}
