//! The uncertainty of a mean over pages that may resemble their neighbours.

use super::FEWEST_PAGES;
use crate::{
    distribution::{as_f64, floor},
    resample::{beta, normal},
};

/// How far the 95 % interval of a mean reaches to either side, from the deviations from that mean in the
/// order of time: Student's t times the standard error. At least two.
///
/// The standard error is the root of Newey and West's variance with Bartlett's weights 1 - l/(L + 1) for
/// L = floor(P^(1/3)), which is never negative. Below [`FEWEST_PAGES`] pages L is 0. Deviations from their
/// own mean are too small and repel each other: of P independent ones with variance 1, products at lag l
/// sum to -(P - l)/P on average, and the weighted sum of all to P - 1 - L (except for terms of L^2/P). So
/// it is divided by that instead of P. And it varies as a mean of 1.5 P/(L + 1) squares does: relative
/// variance 4/3 (L + 1)/P (Priestley, 1981), so these are the degrees of freedom, P - 1 at most.
pub(super) fn margin(deviations: &[f64]) -> f64 {
    let pages = as_f64(deviations.len());
    let lags = if deviations.len() < FEWEST_PAGES { 0 } else { floor(pages.cbrt() + 1e-9) };
    let product = |lag: usize| -> f64 {
        deviations[lag..].iter().zip(deviations).map(|(later, earlier)| later * earlier).sum()
    };
    let bandwidth = as_f64(lags + 1);
    let weighted = |lag: usize| 2.0 * (1.0 - as_f64(lag) / bandwidth) * product(lag);
    let total = product(0) + (1..=lags).map(weighted).sum::<f64>();
    student((1.5 * pages / bandwidth).min(pages - 1.0))
        * (total.max(0.0) / (pages * (pages - bandwidth))).sqrt()
}

/// The 97.5 % quantile of Student's t: |t| exceeds it where Beta(v/2, 1/2) is below v/(v + t^2).
fn student(freedom: f64) -> f64 {
    if freedom > 30.0 {
        return normal::student(normal::quantile(0.975), freedom);
    }
    let below = beta::quantile(0.05, freedom / 2.0, 0.5);
    (freedom * (1.0 - below) / below).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_values() {
        for (freedom, expected) in
            [(1.0, 12.7062), (2.0, 4.3027), (4.0, 2.7764), (9.0, 2.2622), (30.0, 2.0423), (60.0, 2.0003)]
        {
            assert!((student(freedom) - expected).abs() < 1e-4, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn neighbours_that_resemble_each_other_count_less() {
        // 64 pages, 4 lags with weights 4/5, 3/5, 2/5, 1/5. Alternating +1, -1: the sum of squares is 64,
        // neighbours multiply to -1 (63 times), the next to +1 (62 times), then -1 (61), +1 (60): 64 + 2
        // (-63 x 4/5 + 62 x 3/5 - 61 x 2/5 + 60/5) = 12.8. In pairs, + + - -: 63 neighbours multiply to +1
        // 32 times and to -1 31 times, the next to -1 (62 times), then to +1 30 and -1 31 times, then to +1
        // (60 times): 64 + 2 (4/5 - 62 x 3/5 - 2/5 + 12) = 14.4. All over 64 (64 - 5), and t with 1.5 x
        // 64/5 = 19.2 degrees of freedom, between 2.0930 and 2.0860.
        let of = |period: u32| {
            margin(&(0..64).map(|i| 1.0 - 2.0 * f64::from(i / period % 2)).collect::<Vec<f64>>())
        };
        for (period, total) in [(1, 12.8), (2, 14.4_f64)] {
            let t = of(period) / (total / (64.0 * 59.0)).sqrt();
            assert!((2.0860..2.0930).contains(&t), "{t}");
        }
    }

    #[test]
    fn few_pages_know_little() {
        // Two: their standard error is sqrt(2/(2 x 1)), t with one degree of freedom 12.7062.
        assert!((margin(&[1.0, -1.0]) - 12.7062).abs() < 1e-4);
    }
}
