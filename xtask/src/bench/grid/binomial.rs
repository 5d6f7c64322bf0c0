//! Two-sided binomial test of a loss count.

/// Probability of a count at least as far from the mean as `lost` of `sent`, in either direction, if each
/// packet is lost with probability `p`: twice the smaller tail of the binomial distribution, summed exactly.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn two_sided(lost: u64, sent: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return if lost == 0 { 1.0 } else { 0.0 };
    }
    let n = sent as f64;
    // P(0), then P(k + 1) = P(k) (n - k) / (k + 1) p / (1 - p). In logarithms, because P(0) may be tiny.
    let mut log = n * (-p).ln_1p();
    let (mut below, mut at) = (0.0, log.exp());
    for k in 0..lost {
        below += at;
        let k = k as f64;
        log += ((n - k) / (k + 1.0) * p / (1.0 - p)).ln();
        at = log.exp();
    }
    (2.0 * (below + at).min(1.0 - below)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_thrown_four_times() {
        // P(0) = 1/16, P(1) = 4/16: P(at most one) = 5/16, and the same in the other tail.
        assert!((two_sided(1, 4, 0.5) - 10.0 / 16.0).abs() < 1e-12);
        assert!((two_sided(4, 4, 0.5) - 2.0 / 16.0).abs() < 1e-12);
        assert!((two_sided(2, 4, 0.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_may_be_lost_where_nothing_is_lost() {
        assert_eq!((two_sided(0, 9, 0.0), two_sided(1, 9, 0.0)), (1.0, 0.0));
    }

    #[test]
    fn a_tail_of_many_packets_is_that_of_the_normal_distribution() {
        // 15 000 at 1 %: mean 150, standard deviation 12.2.
        let chance = two_sided(113, 15_000, 0.01);
        assert!((0.001..0.0027).contains(&chance), "{chance}");
    }
}
