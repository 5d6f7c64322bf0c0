//! Draws compared with closed forms, and messages for invalid distributions.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

const DRAWS: usize = 100_000;

fn draws(text: &str) -> Vec<f64> {
    let time: ServiceTime = text.parse().unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut draws: Vec<f64> = (0..DRAWS).map(|_| time.draw(&mut rng).as_secs_f64() * 1e3).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

/// The standard error of the result is at most 0.5 / sqrt(100 000) = 0.0016.
fn share_up_to(draws: &[f64], at: f64) -> f64 {
    draws.partition_point(|&draw| draw <= at) as f64 / draws.len() as f64
}

const FOUR_STANDARD_ERRORS: f64 = 0.0064;

#[test]
fn constant() {
    assert!(draws("5ms").iter().all(|&draw| draw == 5.0));
    assert!(draws("0ms").iter().all(|&draw| draw == 0.0));
}

#[test]
fn uniform_has_its_bounds_and_mean() {
    let draws = draws("uniform:1ms..9ms");
    assert!(draws[0] >= 1.0 && draws[DRAWS - 1] <= 9.0);
    // Mean 5; standard error (8 / sqrt 12) / sqrt(100 000) = 0.0073.
    assert!((mean(&draws) - 5.0).abs() < 4.0 * 0.0073, "{}", mean(&draws));
}

#[test]
fn exponential_has_its_mean_and_median() {
    let draws = draws("exp:5ms");
    // Standard error of the mean 5 / sqrt(100 000) = 0.0158.
    assert!((mean(&draws) - 5.0).abs() < 4.0 * 0.0158, "{}", mean(&draws));
    let at_median = share_up_to(&draws, 5.0 * 2f64.ln());
    assert!((at_median - 0.5).abs() < FOUR_STANDARD_ERRORS, "{at_median}");
}

#[test]
fn lognormal_has_its_median_and_spread() {
    let draws = draws("lognormal:5ms,0.5");
    let at_median = share_up_to(&draws, 5.0);
    assert!((at_median - 0.5).abs() < FOUR_STANDARD_ERRORS, "{at_median}");
    // The normal distribution has a share of 0.841345 below one sigma above the median.
    let at_one_sigma = share_up_to(&draws, 5.0 * 0.5f64.exp());
    assert!((at_one_sigma - 0.841_345).abs() < FOUR_STANDARD_ERRORS, "{at_one_sigma}");
}

#[test]
fn pareto_has_its_tail() {
    let draws = draws("pareto:1ms,1.5");
    assert!(draws[0] >= 1.0 - 1e-6);
    for at in [2.0, 4.0, 16.0] {
        // F(x) = 1 - (min / x)^shape.
        let expected = 1.0 - f64::powf(1.0 / at, 1.5);
        let found = share_up_to(&draws, at);
        assert!((found - expected).abs() < FOUR_STANDARD_ERRORS, "{at}: {found} {expected}");
    }
}

#[test]
fn the_heaviest_tail_is_cut_off() {
    assert_eq!(draws("pareto:1h,0.1").last(), Some(&3_600_000.0));
    assert_eq!(draws("lognormal:1h,10").last(), Some(&3_600_000.0));
}

#[test]
fn the_same_seed_makes_the_same_times() {
    assert_eq!(draws("lognormal:5ms,0.5"), draws("lognormal:5ms,0.5"));
}

#[test]
fn nonsense_says_what_was_expected() {
    let said = |text: &str| text.parse::<ServiceTime>().unwrap_err().to_string();
    assert!(said("unifrom:1ms..2ms").contains("did you mean \"uniform\"?"), "{}", said("unifrom:1ms..2ms"));
    assert!(said("uniform:9ms..1ms").contains("below"));
    assert!(said("uniform:9ms").contains("dots"));
    assert!(said("lognormal:5ms").contains("sigma"));
    assert!(said("lognormal:5ms,11").contains("between 0 and 10"));
    assert!(said("pareto:5ms,NaN").contains("between 0.1 and 100"));
    assert!(said("exp:2h").contains("an hour"));
    assert!(said("").contains("expected 5ms"));
    assert!(said("soon").contains("pareto:1ms,1.5"));
}
