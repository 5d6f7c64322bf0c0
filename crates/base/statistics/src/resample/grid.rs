//! The percentiles and latencies at which resamples are evaluated.

use crate::{Distribution, distribution::as_f64, page::percentile_to_watch};

#[derive(Debug)]
pub(crate) struct Grid {
    /// Ascending.
    pub(crate) shares: Vec<f64>,
    /// Latencies, ms, ascending.
    pub(crate) cuts: Vec<f64>,
}

impl Grid {
    pub(crate) fn new(sides: &[&Distribution], requests: u32) -> Self {
        let most = sides.iter().map(|side| side.n()).max().unwrap_or(1);
        Self { shares: shares(most, requests), cuts: cuts(sides, requests) }
    }
}

/// 60 shares evenly up to 90 %, 100 by the number of nines up to where the largest side has a
/// sample beyond; and the usual percentiles of requests and pages.
fn shares(most: usize, requests: u32) -> Vec<f64> {
    let nines = as_f64(most).log10();
    let body = (1..=60).map(|step| f64::from(step) * 0.015);
    let tail = (1..=100).map(|step| 1.0 - 10_f64.powf(-(1.0 + (nines - 1.0) * f64::from(step) / 100.0)));
    let people = PERCENTILES.map(|share| percentile_to_watch(requests, share));
    let mut shares: Vec<f64> =
        body.chain(tail.filter(|&share| share > 0.9)).chain(PERCENTILES).chain(people).collect();
    shares.sort_unstable_by(f64::total_cmp);
    shares.dedup();
    shares
}

fn cuts(sides: &[&Distribution], requests: u32) -> Vec<f64> {
    let steps = (CUTS / 2 / sides.len().max(1)).max(32);
    let mut cuts = Vec::new();
    for side in sides {
        for step in 0..steps {
            let share = (as_f64(step) + 0.5) / as_f64(steps);
            cuts.extend([side.quantile(share), side.quantile(percentile_to_watch(requests, share))]);
        }
    }
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    cuts
}

/// The percentiles that a report names.
const PERCENTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

const CUTS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_ascend_to_the_last_sample() {
        let shares = shares(1_000_000, 90);
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((160..=174).contains(&shares.len()), "{}", shares.len());
        for share in PERCENTILES {
            assert!(shares.contains(&share) && shares.contains(&share.powf(1.0 / 90.0)));
        }
        // 99.99 % of people: 0.9999^(1/90) = 1 - 1.11e-6; the grid itself goes to 1 - 1e-6.
        assert!((shares[shares.len() - 1] - (1.0 - 1e-6)).abs() < 1e-12);
    }

    #[test]
    fn cuts_lie_where_requests_and_pages_are() {
        let side = Distribution::new((0..10_000).map(f64::from).collect()).unwrap();
        let cuts = cuts(&[&side, &side], 90);
        // 256 for requests and 256 for pages, all above 0.002^(1/90) = 93 %.
        assert_eq!(cuts.len(), 512);
        assert!((cuts.iter().filter(|&&cut| cut < 9000.0).count() as f64 - 0.9 * 256.0).abs() <= 1.0);
    }
}
