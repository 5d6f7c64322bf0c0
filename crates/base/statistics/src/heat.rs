//! The whole distribution over time: how many samples fell into each interval and each class of
//! latency.
//!
//! Latency is cut at Renard's preferred numbers (ISO 3), ten, twenty or forty to a decade: each
//! class is about 26, 12 or 6 % wide.

use crate::{
    Error,
    distribution::{as_f64, floor},
    fitting_interval_s,
    inputs::{check_values, time_range},
    whole_intervals::whole_intervals,
};

/// Counts by time and latency.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The length of an interval, seconds: 1, 2 or 5 times a power of ten.
    pub interval_s: f64,
    /// When the first interval starts, seconds since the start of the measurement. Earlier samples
    /// are left out.
    pub start_s: f64,
    /// The edges of the classes, ms, ascending; one more than there are classes, which are at most
    /// [`MOST_CLASSES`]. Class i contains latencies from edge i (inclusive) to edge i + 1 (exclusive). The
    /// first edge is 0 if there are samples below 1 us.
    pub edges_ms: Vec<f64>,
    /// Samples, interval after interval (at most 120), and within an interval class after class. A
    /// count saturates at `u32::MAX`.
    pub counts: Vec<u32>,
    /// Samples in a partial first or last interval: they are in no count. A recording that fills no
    /// interval is shown whole.
    pub left_out: usize,
}

impl Heat {
    /// The number of classes of latency; at least 1.
    pub fn classes(&self) -> usize {
        self.edges_ms.len() - 1
    }

    /// The number of intervals, empty ones included; at least 1.
    pub fn intervals(&self) -> usize {
        self.counts.len() / self.classes()
    }

    /// The counts of one interval, by class; empty if there is no such interval.
    pub fn interval(&self, index: usize) -> &[u32] {
        self.counts.chunks(self.classes()).nth(index).unwrap_or_default()
    }
}

/// Counts samples by start time and latency. The samples may be in any order.
///
/// # Errors
/// Unequal lengths, no samples, or invalid times or values.
pub fn heat(started_s: &[f64], values_ms: &[f64]) -> Result<Heat, Error> {
    let (earliest, latest) = time_range(started_s, values_ms.len())?;
    check_values(values_ms)?;
    let (interval_s, first, intervals) = cut(started_s.len(), earliest, latest);
    let edges_ms = edges(values_ms);
    let classes = edges_ms.len() - 1;
    let mut counts = vec![0_u32; intervals * classes];
    let mut left_out = 0;
    for (&started, &value) in started_s.iter().zip(values_ms) {
        let number = (started / interval_s).floor() - first;
        if number < 0.0 || number >= as_f64(intervals) {
            left_out += 1;
            continue;
        }
        let interval = floor(number);
        let class = edges_ms[1..classes].partition_point(|&edge| edge <= value);
        let count = &mut counts[interval * classes + class];
        *count = count.saturating_add(1);
    }
    Ok(Heat { interval_s, start_s: first * interval_s, edges_ms, counts, left_out })
}

/// The interval, the index of the first whole interval, and the number of whole intervals; all intervals
/// if no interval is whole.
fn cut(samples: usize, earliest: f64, latest: f64) -> (f64, f64, usize) {
    let mut interval_s = fitting_interval_s(samples, latest - earliest);
    // The first interval starts before the first sample; if that makes one too many, the interval
    // gets longer.
    if latest / interval_s - (earliest / interval_s).floor() >= MOST_COLUMNS {
        interval_s = fitting_interval_s(samples, interval_s * MOST_COLUMNS);
    }
    let whole = whole_intervals(earliest, latest, samples, interval_s);
    if whole.is_empty() {
        let first = (earliest / interval_s).floor();
        return (interval_s, first, floor((latest / interval_s).floor() - first) + 1);
    }
    (interval_s, whole.start, floor(whole.end - whole.start))
}

/// The finest of [`STEPS`] that makes at most [`MOST_CLASSES`] classes; coarser for few samples.
fn edges(values_ms: &[f64]) -> Vec<f64> {
    let least = values_ms.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values_ms.iter().copied().fold(LEAST_EDGE_MS, f64::max);
    let tiny = least < LEAST_EDGE_MS;
    let coarse = if values_ms.len() > FEW { 0 } else { FINE };
    let mut edges = Vec::new();
    for &(mantissas, decades) in &STEPS[coarse..] {
        edges.clear();
        edges.extend(tiny.then_some(0.0));
        edges.extend(between(mantissas, decades, least.max(LEAST_EDGE_MS), largest));
        if edges.len() <= MOST_CLASSES + 1 {
            break;
        }
    }
    edges
}

/// From the last edge that is at most `least` to the first above `largest`.
fn between(mantissas: &[i32], decades: i32, least: f64, largest: f64) -> impl Iterator<Item = f64> {
    let exponents = (-6..=120).step_by(usize::try_from(decades).unwrap_or(1));
    let all = exponents.flat_map(|exponent| mantissas.iter().map(move |&mantissa| round(mantissa, exponent)));
    let mut edges: Vec<f64> = all.collect();
    let first = edges.partition_point(|&edge| edge <= least).saturating_sub(1);
    let last = edges.partition_point(|&edge| edge <= largest).min(edges.len() - 1);
    edges.truncate(last + 1);
    edges.into_iter().skip(first)
}

/// `mantissa` hundredths times 10^`exponent`: the double nearest to the decimal.
fn round(mantissa: i32, exponent: i32) -> f64 {
    let written = format!("{mantissa}e{}", exponent - 2);
    written.parse().expect("digits, an e and an exponent are a number")
}

/// The most classes of latency.
pub const MOST_CLASSES: usize = 64;

const LEAST_EDGE_MS: f64 = 1e-3;

/// As many intervals as [`fitting_interval_s`] makes.
const MOST_COLUMNS: f64 = 120.0;

const FEW: usize = 1000;

/// The leading entries of [`STEPS`] that need more samples than [`FEW`].
const FINE: usize = 2;

/// Hundredths, and how many decades apart they repeat: forty, twenty, ten, five, three and one edge
/// a decade, and one in two decades.
const STEPS: [(&[i32], i32); 7] = [
    (
        &[
            100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280,
            300, 315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850,
            900, 950,
        ],
        1,
    ),
    (
        &[100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900],
        1,
    ),
    (&[100, 125, 160, 200, 250, 315, 400, 500, 630, 800], 1),
    (&[100, 160, 250, 400, 630], 1),
    (&[100, 200, 500], 1),
    (&[100], 1),
    (&[100], 2),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_lie_where_they_belong() {
        // Three samples, 2 s: fitting_interval_s finds no interval that leaves 100 in each, so a single one
        // of 5 s contains all. 4 ms begins the class 4..5; 10 is in 10..12.5, above which no edge is needed.
        let one = heat(&[0.0, 1.0, 2.0], &[4.0, 4.9, 10.0]).unwrap();
        assert_eq!((one.interval_s, one.start_s), (5.0, 0.0));
        assert_eq!(one.edges_ms, [4.0, 5.0, 6.3, 8.0, 10.0, 12.5]);
        assert_eq!(one.counts, [2, 0, 0, 0, 1]);
    }

    #[test]
    fn time_begins_where_samples_do() {
        // 1000 samples from 1000 s to 1009.99 s: ten intervals of 100, the shortest of which is 1 s (9.99 <
        // 10).
        let started: Vec<f64> = (0..1000).map(|i| 1000.0 + f64::from(i) / 100.0).collect();
        let values: Vec<f64> = started.iter().map(|&time| if time < 1005.0 { 1.0 } else { 3.0 }).collect();
        let heat = heat(&started, &values).unwrap();
        assert_eq!((heat.interval_s, heat.start_s, heat.intervals()), (1.0, 1000.0, 10));
        assert_eq!(heat.edges_ms, [1.0, 1.25, 1.6, 2.0, 2.5, 3.15]);
        assert_eq!(heat.interval(4), [100, 0, 0, 0, 0]);
        assert_eq!(heat.interval(5), [0, 0, 0, 0, 100]);
        assert!(heat.interval(10).is_empty());
    }

    #[test]
    fn narrow_ranges_of_many_samples_have_narrower_classes() {
        let values: Vec<f64> = (0..2000).map(|i| 100.0 + f64::from(i) / 20.0).collect();
        let edges = heat(&vec![0.0; 2000], &values).unwrap().edges_ms;
        assert_eq!((edges.len(), edges[1], edges[12]), (13, 106.0, 200.0));
    }

    #[test]
    fn wide_ranges_have_wider_classes() {
        let classes = |values: &[f64]| heat(&vec![0.0; values.len()], values).unwrap().edges_ms;
        assert_eq!(classes(&[0.01, 1e4]).len(), 62);
        assert_eq!(classes(&[0.01, 1e5]).len(), 37);
        // 0 and the largest: even powers of ten around 10^-3 and 10^100 are 10^-4 and 10^102: 53 classes,
        // and one from 0.
        let all = classes(&[0.0, 1e100]);
        assert_eq!((all.len(), all[0], all[1], all[54]), (55, 0.0, 1e-4, 1e102));
        assert_eq!(classes(&[0.0]), [0.0, 1e-3, 1.25e-3]);
        assert!(classes(&[0.001, 1.0]).contains(&0.0315));
    }

    proptest! {
        #[test]
        fn no_sample_is_lost(
            samples in prop::collection::vec((0.0..1e5, -5.0..9.0), 1..500),
            from in 0.0..1e6,
        ) {
            let (started, values): (Vec<f64>, Vec<f64>) =
                samples.into_iter().map(|(time, power): (f64, f64)| (from + time, 10_f64.powf(power))).unzip();
            let heat = heat(&started, &values).unwrap();
            prop_assert!(heat.classes() <= MOST_CLASSES && heat.intervals() <= 120);
            prop_assert_eq!(heat.counts.iter().sum::<u32>() as usize + heat.left_out, values.len());
            prop_assert!(heat.edges_ms.windows(2).all(|pair| pair[0] < pair[1]));
            let end_s = heat.start_s + heat.interval_s * heat.intervals() as f64;
            for (class, edge) in heat.edges_ms.windows(2).enumerate() {
                let shown = started.iter().zip(&values).filter(|(time, _)| (heat.start_s..end_s).contains(*time));
                let inside = shown.filter(|(_, value)| edge[0] <= **value && **value < edge[1]).count();
                let counted: u32 = (0..heat.intervals()).map(|interval| heat.interval(interval)[class]).sum();
                prop_assert_eq!(counted as usize, inside);
            }
        }
    }
}
