//! The beta distribution: the position of the true share below an order statistic, and the true
//! share of a proportion.

use super::normal;

/// The share of Beta(a, b) below `x` (a, b > 0): the regularised incomplete beta function. Where a or b is
/// at most [`EXACT`], by its continued fraction (Numerical Recipes 6.4, Lentz's method), right to 1e-9
/// where a + b is 1e4 and to 1e-6 at 1e7, because of the logarithms of Gamma; else by Wilson and Hilferty's
/// cube roots (Abramowitz and Stegun 26.5.22), right to 2e-4.
pub(crate) fn share_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if a > EXACT && b > EXACT {
        return by_cube_roots(x, a, b);
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    let front = ln_front.exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        (front * fraction(x, a, b) / a).clamp(0.0, 1.0)
    } else {
        (1.0 - front * fraction(1.0 - x, b, a) / b).clamp(0.0, 1.0)
    }
}

/// A parameter of 0 puts all mass at its end.
pub(crate) fn quantile(share: f64, a: f64, b: f64) -> f64 {
    if a <= 0.0 || b <= 0.0 {
        return if a <= 0.0 { 0.0 } else { 1.0 };
    }
    bisect(0.0, 1.0, |x| share_below(x, a, b) < share)
}

pub(crate) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

fn by_cube_roots(x: f64, a: f64, b: f64) -> f64 {
    let (w1, w2) = ((b * x).cbrt(), (a * (1.0 - x)).cbrt());
    let z = 3.0 * (w1 * (1.0 - 1.0 / (9.0 * b)) - w2 * (1.0 - 1.0 / (9.0 * a)))
        / (w1 * w1 / b + w2 * w2 / a).sqrt();
    normal::share_below(z)
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / guard(1.0 + coefficient * d);
            c = guard(1.0 + coefficient / c);
            change = c * d;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    result
}

/// ln Gamma(x), x > 0: Stirling's series above 10, reached by multiplying up.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut shifted, mut product) = (x, 1.0);
    while shifted < 10.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let square = shifted * shifted;
    let series =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / shifted;
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(product)
}

/// Parameters up to here use the continued fraction.
const EXACT: f64 = 100.0;

const MOST_STEPS: u32 = 5000;

/// 2^-60 of an interval remains.
const BISECTIONS: u32 = 60;

const TINY: f64 = 1e-300;

#[cfg(test)]
mod tests {
    use super::*;

    fn at_least(k: u32, n: u32, share: f64) -> f64 {
        let mut chance = (1.0 - share).powf(f64::from(n));
        let mut below = 0.0;
        for j in 0..k {
            below += chance;
            chance *= f64::from(n - j) / f64::from(j + 1) * share / (1.0 - share);
        }
        1.0 - below
    }

    #[test]
    fn it_is_the_binomial_tail() {
        for (k, n, share) in [(1, 5, 0.2), (3, 10, 0.5), (17, 40, 0.3), (150, 400, 0.4), (300, 500, 0.62)] {
            let expected = at_least(k, n, share);
            let found = share_below(share, f64::from(k), f64::from(n - k + 1));
            let bound = if k > 100 { 1e-4 } else { 1e-10 };
            assert!((found - expected).abs() < bound, "{k} of {n}: {found} is not {expected}");
        }
        // I_p(n, 1) = p^n.
        assert!((share_below(0.9999, 1e4, 1.0) - 0.9999_f64.powi(10_000)).abs() < 1e-9);
        assert!((share_below(0.999_999_9, 1e7, 1.0) - (1e7 * (-1e-7_f64).ln_1p()).exp()).abs() < 1e-6);
    }

    #[test]
    fn both_methods_meet() {
        for x in [0.0030, 0.0033, 0.0036, 0.0040] {
            let (a, b) = (EXACT, 3e4);
            let (fraction, roots) = (share_below(x, a, b), by_cube_roots(x, a, b));
            assert!((fraction - roots).abs() < 2e-4, "{x}: {fraction}, {roots}");
        }
    }

    #[test]
    fn quantiles_invert() {
        // The rule of three: none of 100, 97.5 % sure: 1 - 0.025^(1/100).
        assert!((quantile(0.975, 1.0, 100.0) - (1.0 - 0.025_f64.powf(0.01))).abs() < 1e-12);
        assert_eq!((quantile(0.5, 0.0, 3.0), quantile(0.5, 3.0, 0.0)), (0.0, 1.0));
        let x = quantile(0.025, 40.5, 7.25);
        assert!((share_below(x, 40.5, 7.25) - 0.025).abs() < 1e-10);
    }
}
