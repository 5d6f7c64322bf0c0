//! Compares generated round-trip times with measured ones.

use std::{fmt, time::Duration};

use serde::Serialize;
use units::show;

/// The measured round-trip times of a world compared with the generated ones. Shares are of the
/// measured values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distance {
    /// Pairs of cities with a measurement.
    pub measured: usize,
    /// All pairs of the world's cities.
    pub pairs: usize,
    /// Median of the absolute relative error.
    pub median: f64,
    /// 90th percentile of the absolute relative error.
    pub p90: f64,
    /// Mean relative error; negative if the generated times are too short.
    pub bias: f64,
    /// The pair with the largest error.
    pub worst: Worst,
}

/// The pair with the largest error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worst {
    /// Its cities.
    pub between: [String; 2],
    /// The measured round-trip time.
    #[serde(with = "units::duration")]
    pub measured: Duration,
    /// The generated round-trip time.
    #[serde(with = "units::duration")]
    pub generated: Duration,
}

impl Distance {
    pub(crate) fn new(measured: &[Worst], pairs: usize) -> Option<Self> {
        let error = |pair: &Worst| pair.generated.as_secs_f64() / pair.measured.as_secs_f64() - 1.0;
        let mut sorted: Vec<_> = measured.iter().map(|pair| (error(pair), pair)).collect();
        sorted.sort_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
        let (_, worst) = sorted.last()?;
        // Nearest rank: the smallest value that is not exceeded by this number of tenths of all
        // values.
        let tenths = |tenths: usize| sorted[(sorted.len() * tenths).div_ceil(10) - 1].0.abs();
        #[expect(clippy::cast_precision_loss, reason = "as many pairs as the cities of a file have")]
        let bias = sorted.iter().map(|(error, _)| error).sum::<f64>() / sorted.len() as f64;
        Some(Self {
            measured: sorted.len(),
            pairs,
            median: tenths(5),
            p90: tenths(9),
            bias,
            worst: (*worst).clone(),
        })
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |time: Duration| show::time(time.as_secs_f64());
        let Worst { between: [a, b], measured, generated } = &self.worst;
        write!(
            f,
            "{} of {} pairs of cities have a measured round trip. The map's are off by {} at the median and {} at p90, and too \
             {} by {} on the mean; most between {a} and {b}: {} measured, {} by the map",
            self.measured,
            self.pairs,
            show::relative(self.median),
            show::relative(self.p90),
            if self.bias < 0.0 { "short" } else { "long" },
            show::relative(self.bias.abs()),
            time(*measured),
            time(*generated),
        )
    }
}
