//! How often a side fails, and whether it fails more often than another: exact tests, because
//! shares may be tiny.
//!
//! The interval of a share is Clopper and Pearson's (Biometrika 26, 1934); one side against another
//! is Fisher's exact test.
//!
//! Both work on *effective* counts, because failures come in bursts (Korn and Graubard, Survey
//! Methodology 24, 1998): the numbers divided by how much more the failures of a stretch vary than
//! independent ones would.

use crate::{
    block_length::residual_block_length,
    distribution::as_f64,
    resample::beta::{self, ln_gamma},
};

/// What failed of how many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failing {
    /// Events that failed.
    pub failed: u64,
    /// All events; at least as many.
    pub all: u64,
    /// How many times more the failures vary than independent ones would; 1 if they are
    /// independent.
    pub clustering: f64,
}

impl Failing {
    /// Counts of independent events.
    pub fn independent(failed: u64, all: u64) -> Self {
        Self { failed, all, clustering: 1.0 }
    }

    /// Counts of events in the order of time, each failed or not. Few events, or events with one
    /// outcome, count as independent.
    pub fn in_time(failed: &[bool]) -> Self {
        let (n, count) = (failed.len(), failed.iter().filter(|failed| **failed).count());
        let independent = Self::independent(count as u64, n as u64);
        if count == 0 || count == n {
            return independent;
        }
        let share = as_f64(count) / as_f64(n);
        let series: Vec<f64> = failed.iter().map(|&failed| f64::from(u8::from(failed)) - share).collect();
        let length = residual_block_length(&series).min(n / 3).max(1);
        let mut sum: f64 = series[..length].iter().sum();
        let mut squares = 0.0;
        for start in 0..n {
            squares += sum * sum;
            sum += series[(start + length) % n] - series[start];
        }
        let variance = squares / as_f64(n);
        Self { clustering: (variance / (as_f64(length) * share * (1.0 - share))).max(1.0), ..independent }
    }

    /// The share that failed; 0 of nothing.
    pub fn share(&self) -> f64 {
        as_f64_of(self.failed) / as_f64_of(self.all.max(1))
    }

    /// The confidence interval of the share.
    pub fn interval(&self, level: f64) -> [f64; 2] {
        let (failed, all) = (as_f64_of(self.failed) / self.clustering, as_f64_of(self.all) / self.clustering);
        if self.all == 0 {
            return [0.0, 1.0];
        }
        let outside = (1.0 - level) / 2.0;
        [
            beta::quantile(outside, failed, all - failed + 1.0),
            beta::quantile(1.0 - outside, failed + 1.0, all - failed),
        ]
    }

    /// Fisher's exact test, one-sided: the probability of at least this many failures if both sides
    /// failed equally often.
    pub fn chance_of_more(&self, other: &Self) -> f64 {
        if self.share() <= other.share() {
            return 1.0;
        }
        let clustering = self.clustering.max(other.clustering);
        let effective = |side: &Self, round: fn(f64) -> f64| {
            let all = (as_f64_of(side.all) / clustering).round().max(1.0);
            (round(as_f64_of(side.failed) / clustering).min(all), all)
        };
        // Rounded towards each other, so that rounding proves nothing.
        let ((mine, all_mine), (theirs, all_theirs)) =
            (effective(self, f64::floor), effective(other, f64::ceil));
        at_least(mine, all_mine, theirs, all_theirs)
    }
}

/// The probability that `mine` or more of the failures are among the first `all_mine`.
fn at_least(mine: f64, all_mine: f64, theirs: f64, all_theirs: f64) -> f64 {
    let failed = mine + theirs;
    if mine * all_theirs <= theirs * all_mine {
        return 1.0;
    }
    let ln_choose = |n: f64, k: f64| ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let ln_first =
        ln_choose(all_mine, mine) + ln_choose(all_theirs, theirs) - ln_choose(all_mine + all_theirs, failed);
    let (mut term, mut sum, mut k) = (1.0, 1.0, mine);
    while k < failed.min(all_mine) && term > sum * 1e-17 {
        term *= (all_mine - k) * (failed - k) / ((k + 1.0) * (all_theirs - failed + k + 1.0));
        sum += term;
        k += 1.0;
    }
    (ln_first + sum.ln()).exp().min(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts of events stay below 2^53")]
fn as_f64_of(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fishers_tea_and_other_tables() {
        // Fisher's tea: 3 of 4 against 1 of 4: (16 + 1)/70.
        let of = |failed, all| Failing::independent(failed, all);
        assert!((of(3, 4).chance_of_more(&of(1, 4)) - 17.0 / 70.0).abs() < 1e-9);
        // 2 of 10 against 0 of 10: C(10, 2)/C(20, 2) = 45/190.
        assert!((of(2, 10).chance_of_more(&of(0, 10)) - 45.0 / 190.0).abs() < 1e-9);
        // scipy.stats.fisher_exact([[40, 960], [15, 985]], "greater"): 0.000487...; the normal limit with a
        // continuity correction gives z = 24/sqrt(55 x 0.97250) = 3.28, 0.00052.
        let found = of(40, 1000).chance_of_more(&of(15, 1000));
        assert!((0.0003..0.0007).contains(&found), "{found}");
        assert_eq!((of(1, 4).chance_of_more(&of(3, 4)), of(0, 9).chance_of_more(&of(0, 9))), (1.0, 1.0));
        assert!(of(8_000_000, 20_000_000).chance_of_more(&of(7_000_000, 20_000_000)) < 1e-300);
    }

    #[test]
    fn an_interval_of_none_is_the_rule_of_three() {
        let [low, high] = Failing::independent(0, 100).interval(0.95);
        // 1 - 0.025^(1/100) = 0.036217.
        assert!(low == 0.0 && (high - 0.036_217).abs() < 1e-6, "{high}");
        let [low, high] = Failing::independent(5, 10).interval(0.95);
        assert!((low - 0.1871).abs() < 1e-4 && (high - 0.8129).abs() < 1e-4, "{low} {high}");
        assert_eq!(Failing::independent(0, 0).interval(0.95), [0.0, 1.0]);
    }

    fn scattered(n: u32, share: f64) -> Vec<bool> {
        let hash = |i: u32| {
            let mut x = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (x >> 40) as f64 / f64::from(1 << 24)
        };
        (0..n).map(|i| hash(i) < share).collect()
    }

    #[test]
    fn an_outage_is_one_event() {
        // 40 failures in a row, among 2000: about as if one of 50 had failed.
        let outage: Vec<bool> = (0..2000).map(|i| (1000..1040).contains(&i)).collect();
        let found = Failing::in_time(&outage);
        assert!(found.clustering > 15.0, "{found:?}");
        let none = Failing::in_time(&[false; 2000]);
        assert!(found.chance_of_more(&none) > 0.4, "{}", found.chance_of_more(&none));
        let scattered = Failing::in_time(&scattered(2000, 0.02));
        assert!(scattered.clustering < 1.3, "{scattered:?}");
        assert!(scattered.chance_of_more(&none) < 1e-6);
    }

    #[test]
    fn two_of_one_kind_seldom_differ() {
        // 400 pairs of 500 events with a share of 4 %: Fisher's test at 2.5 % is conservative.
        let all = scattered(400_000, 0.04);
        let wrong = all.chunks(1000).filter(|pair| {
            let (first, second) = pair.split_at(500);
            Failing::in_time(first).chance_of_more(&Failing::in_time(second)) < 0.025
        });
        let wrong = wrong.count();
        assert!(wrong <= 20, "{wrong}");
    }
}
