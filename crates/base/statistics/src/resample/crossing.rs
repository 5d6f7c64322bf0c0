//! The interval of a crossover.
//!
//! The shares around the found crossover at which the interval of the difference contains 0 are an
//! interval for the crossing, of the same level.

use super::{ConfidenceInterval, Difference};
use crate::{Crossover, Faster};

/// A crossover and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedCrossover {
    /// Where the samples cross.
    pub crossover: Crossover,
    /// The interval of its share of requests. An end is `None` where there is no clear leader
    /// beyond.
    pub share: ConfidenceInterval,
}

/// A percentile with the difference of the two sides there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferencePoint {
    /// Share of requests, 0..=1.
    pub share: f64,
    /// The estimate of second minus first.
    pub difference: Difference,
}

pub(super) fn placed(crossover: Crossover, band: &[DifferencePoint]) -> PlacedCrossover {
    let (below, above) = band.split_at(band.partition_point(|point| point.share < crossover.share));
    let low = edge(below.iter().rev(), other(crossover.faster_above)).map(|share| share.min(crossover.share));
    let high = edge(above.iter(), crossover.faster_above).map(|share| share.max(crossover.share));
    PlacedCrossover { crossover, share: ConfidenceInterval { low, high } }
}

/// Walks outwards; interpolated.
fn edge<'b>(points: impl Iterator<Item = &'b DifferencePoint>, leader: Faster) -> Option<f64> {
    let mut before: Option<(f64, f64)> = None;
    for point in points {
        let interval = point.difference.interval;
        let lead = match leader {
            Faster::First => interval.low,
            Faster::Second => interval.high.map(|high| -high),
        };
        match (before, lead) {
            (Some((share, behind)), Some(lead)) if lead > 0.0 => {
                return Some(share + (point.share - share) * behind / (behind - lead));
            }
            (None, Some(lead)) if lead > 0.0 => return Some(point.share),
            _ => before = lead.map(|lead| (point.share, lead)),
        }
    }
    None
}

fn other(side: Faster) -> Faster {
    match side {
        Faster::First => Faster::Second,
        Faster::Second => Faster::First,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::{Certainty, Difference};

    fn band(points: &[(f64, Option<f64>, Option<f64>)]) -> Vec<DifferencePoint> {
        let point = |&(share, low, high): &(f64, Option<f64>, Option<f64>)| {
            let interval = ConfidenceInterval { low, high };
            let difference = Difference {
                difference_ms: 0.0,
                interval,
                sure: 0.5,
                certainty: Certainty::Undecided,
                samples_needed: None,
                surest: 0.5,
            };
            DifferencePoint { share, difference }
        };
        points.iter().map(point).collect()
    }

    #[test]
    fn from_the_last_clear_lead_to_the_next() {
        let crossover = Crossover { share: 0.5, latency_ms: 1.0, faster_above: Faster::First };
        let mut points = [
            (0.2, Some(-5.0), Some(-3.0)),
            (0.4, Some(-2.0), Some(1.0)),
            (0.6, Some(-1.0), Some(2.0)),
            (0.8, Some(3.0), Some(9.0)),
        ];
        let found = placed(crossover, &band(&points)).share;
        assert!((found.low.unwrap() - 0.35).abs() < 1e-12 && (found.high.unwrap() - 0.65).abs() < 1e-12);
        points[3].1 = None;
        assert_eq!(placed(crossover, &band(&points)).share.high, None);
    }
}
