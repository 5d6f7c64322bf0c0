//! The uncertainty of a mean over pages that may resemble their neighbours.

use super::FEWEST_PAGES;
use crate::{
    distribution::{as_f64, floor},
    resample::{beta, normal},
};

/// Half the width of the 95 % interval of a mean, from at least two deviations from it in the order
/// of time.
///
/// Newey and West's variance with Bartlett's weights for L = floor(P^(1/3)) lags; none below
/// [`FEWEST_PAGES`] pages. Student's t has 1.5 P/(L + 1) degrees of freedom (Priestley, 1981), at
/// most P - 1.
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

/// The 97.5 % quantile of Student's t.
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
        // 12.8 and 14.4 for the weighted sums of products, over 64 (64 - 5); t with 19.2 degrees of
        // freedom.
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
        assert!((margin(&[1.0, -1.0]) - 12.7062).abs() < 1e-4);
    }
}
