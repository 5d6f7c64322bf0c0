//! The functions of the normal distribution and Student's t that intervals need.

use std::f64::consts::TAU;

/// Marsaglia's series ("Evaluating the normal distribution", 2004), right to about 1e-15.
pub(crate) fn share_below(z: f64) -> f64 {
    if z.abs() > 9.0 {
        return if z > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut before, mut odd) = (z, z, f64::NAN, 1.0);
    // At most about 150 terms. A NaN is returned as NaN.
    while sum != before && !sum.is_nan() {
        before = sum;
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    (0.5 + sum * density(z)).clamp(0.0, 1.0)
}

/// Clamped to 1e-15..=1 - 1e-15. Newton's steps from the middle outwards never overshoot.
pub(crate) fn quantile(share: f64) -> f64 {
    let share = share.clamp(1e-15, 1.0 - 1e-15);
    let mut z = 0.0_f64;
    for _ in 0..100 {
        let step = (share - share_below(z)) / density(z);
        z += step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    z
}

/// Cornish and Fisher's expansion, Abramowitz and Stegun 26.7.5. Fewer than 3 degrees of `freedom`
/// count as 3.
pub(crate) fn student(z: f64, freedom: f64) -> f64 {
    let v = freedom.max(3.0);
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + (first + (second + third / v) / v) / v
}

fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_values() {
        assert!((share_below(1.0) - 0.841_344_746_068_543).abs() < 1e-14);
        assert!((share_below(-2.0) - 0.022_750_131_948_179).abs() < 1e-14);
        assert_eq!((share_below(0.0), share_below(40.0), share_below(-40.0)), (0.5, 1.0, 0.0));
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-10);
        assert!((quantile(0.005) + 2.575_829_303_548_901).abs() < 1e-10);
        for share in [1e-9, 0.001, 0.3, 0.5, 0.999_999] {
            assert!((share_below(quantile(share)) - share).abs() < 1e-12);
        }
    }

    #[test]
    fn student_has_wider_tails() {
        let z = quantile(0.975);
        assert!((student(z, 10.0) - 2.2281).abs() < 1e-3);
        assert!((student(z, 4.0) - 2.7764).abs() < 0.02);
        assert!((student(z, 1000.0) - 1.9623).abs() < 1e-4);
        assert_eq!(student(-z, 10.0), -student(z, 10.0));
    }
}
