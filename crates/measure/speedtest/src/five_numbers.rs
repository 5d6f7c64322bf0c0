//! The five-number summary of a box plot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistics::Distribution;

/// Minimum, quartiles and maximum of some figures, in their unit. Quantiles are of type 7, as in numpy and
/// R.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Number of figures.
    pub n: usize,
    /// Minimum.
    pub min: f64,
    /// First quartile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// Third quartile.
    pub p75: f64,
    /// Maximum.
    pub max: f64,
}

impl Spread {
    /// The summary of finite, non-negative figures; `None` if empty.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let all = Distribution::new(figures.to_vec()).ok()?;
        let [p25, p50, p75] = [0.25, 0.5, 0.75].map(|share| all.quantile(share));
        Some(Self { n: all.n(), min: all.min(), p25, p50, p75, max: all.max() })
    }
}

/// Type 7; `None` if empty.
pub(crate) fn quantile(figures: &[f64], share: f64) -> Option<f64> {
    Distribution::new(figures.to_vec()).ok().map(|all| all.quantile(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([10, 20, 30, 40, 50, 60], [.25, .5, .75, .9])
        let figures = [60.0, 10.0, 50.0, 20.0, 40.0, 30.0];
        let spread = Spread::of(&figures).unwrap();
        assert_eq!(spread, Spread { n: 6, min: 10.0, p25: 22.5, p50: 35.0, p75: 47.5, max: 60.0 });
        assert_eq!(quantile(&figures, 0.9), Some(55.0));
        assert_eq!((Spread::of(&[]), quantile(&[], 0.5)), (None, None));
    }
}
