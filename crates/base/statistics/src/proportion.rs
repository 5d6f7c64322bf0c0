//! A measured share, and the interval of the true share.

/// Wilson's 95 % confidence interval (1927) of a share, if `of` of `all` independent events were
/// counted.
#[expect(clippy::cast_precision_loss, reason = "nobody counts 2^53 of anything")]
pub fn share_interval(of: u64, all: u64) -> (f64, f64) {
    let (n, z2) = (all.max(1) as f64, Z * Z);
    let share = of as f64 / n;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let low = if of == 0 { 0.0 } else { middle - half };
    let high = if of == all { 1.0 } else { middle + half };
    (low, high)
}

/// 97.5 % of a normal distribution are below.
const Z: f64 = 1.959_963_984_540_054;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_share() {
        // scipy: binomtest(3, 100).proportion_ci(method="wilson"), and so on.
        for (of, all, expected) in
            [(3, 100, (0.010_254_4, 0.084_519_6)), (0, 20, (0.0, 0.161_125_2)), (20, 20, (0.838_874_8, 1.0))]
        {
            let (low, high) = share_interval(of, all);
            assert!((low - expected.0).abs() < 1e-6 && (high - expected.1).abs() < 1e-6, "{low} {high}");
        }
    }
}
