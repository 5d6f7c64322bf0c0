//! The standard error of a mean over pages that may resemble their neighbours.

use crate::distribution::{as_f64, floor};

/// The standard error of the mean of deviations (from that mean) in the order of time: Newey and West's variance with
/// Bartlett's weights 1 - l/(L + 1), L = floor(P^(1/3)), which is never negative, times P/(P - 1). At least two.
pub(super) fn standard_error(deviations: &[f64]) -> f64 {
    let pages = deviations.len();
    let lags = floor(as_f64(pages).cbrt() + 1e-9).min(pages - 1);
    let product = |lag: usize| -> f64 {
        deviations[lag..].iter().zip(deviations).map(|(later, earlier)| later * earlier).sum()
    };
    let weighted = |lag: usize| 2.0 * (1.0 - as_f64(lag) / as_f64(lags + 1)) * product(lag);
    let total = product(0) + (1..=lags).map(weighted).sum::<f64>();
    (total.max(0.0) / (as_f64(pages) * as_f64(pages - 1))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_resemble_each_other_count_less() {
        // 27 pages, 3 lags with weights 3/4, 2/4, 1/4. Alternating +1, -1 (and 0 at the end): the sum of squares is
        // 26, neighbours multiply to -1 (25 times), the next to +1 (24 times), then -1 (23 times):
        // 26 + 2 (-25 x 3/4 + 24/2 - 23/4) = 1.
        let mut deviations: Vec<f64> = (0..26).map(|i| f64::from(1 - 2 * (i % 2))).collect();
        deviations.push(0.0);
        assert!((standard_error(&deviations) - (1.0 / (27.0 * 26.0_f64)).sqrt()).abs() < 1e-15);
        // Two pages: one lag with weight 1/2: 1 + 1 - 1.
        assert!((standard_error(&[1.0, -1.0]) - 0.5_f64.sqrt()).abs() < 1e-15);
    }
}
