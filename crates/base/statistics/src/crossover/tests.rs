//! Crossovers where the theory puts them, and none where there is only noise.

use super::*;

fn of(samples: impl IntoIterator<Item = f64>) -> Distribution {
    Distribution::new(samples.into_iter().collect()).unwrap()
}

/// The quantile function `latency`, sampled at n midpoints.
fn sampled(n: u32, latency: impl Fn(f64) -> f64) -> Distribution {
    of((0..n).map(|i| latency((f64::from(i) + 0.5) / f64::from(n))))
}

/// SplitMix64, 0..1.
fn random(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    })
}

#[test]
fn the_swift_side_with_the_long_tail() {
    // 50 + 100 p against 10 - 50 ln(1 - p): at 0.9, 140 > 125.1; at 0.95, 145 < 159.8; by bisection at
    // 0.93013.
    let (steady, swift) =
        (sampled(90_000, |p| 50.0 + 100.0 * p), sampled(80_000, |p| 10.0 - 50.0 * (1.0 - p).ln()));
    let found = crossovers(&steady, &swift);
    assert_eq!(found.len(), 1, "{found:?}");
    let at = found[0].share;
    assert!((50.0 + 100.0 * at - (10.0 - 50.0 * (1.0 - at).ln())).abs() < 0.05, "{found:?}");
    assert!((at - 0.930).abs() < 0.001, "{found:?}");
    assert_eq!(found[0].faster_above, Faster::First);
    assert!((found[0].latency_ms - (50.0 + 100.0 * at)).abs() < 0.05);
    let mirrored = crossovers(&swift, &steady);
    assert_eq!(mirrored[0].faster_above, Faster::Second);
    assert!((mirrored[0].share - at).abs() < 1e-9);
}

#[test]
fn there_and_back() {
    // sin(2 pi p) crosses 0 in the middle; sin(4 pi p) at 1/4, 1/2, 3/4.
    let level = sampled(20_000, |p| 1000.0 * p);
    let wave = sampled(20_000, |p| 1000.0 * p + 50.0 * (4.0 * std::f64::consts::PI * p).sin());
    let shares: Vec<f64> = crossovers(&level, &wave).iter().map(|crossover| crossover.share).collect();
    assert_eq!(shares.len(), 3, "{shares:?}");
    for (found, expected) in shares.into_iter().zip([0.25, 0.5, 0.75]) {
        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
    }
}

#[test]
fn ties_do_not_cross() {
    let quantised =
        |shift: f64| sampled(10_000, move |p| (10.0 * p).floor() + if p > 0.5 { shift } else { 0.0 });
    assert_eq!(crossovers(&quantised(0.0), &quantised(0.0)), []);
    assert_eq!(crossovers(&quantised(0.0), &quantised(1.0)), []);
}

#[test]
fn two_samples_of_the_same_thing_do_not_cross() {
    // Chance makes a clear lead in about 2 of 100 comparisons, and a crossover requires two.
    for seed in 0..200 {
        let mut random = random(seed);
        let mut side = || of(random.by_ref().take(5000).map(|u| 100.0 - 50.0 * u.ln()));
        assert_eq!(crossovers(&side(), &side()), [], "seed {seed}");
    }
}

#[test]
fn few_samples_decide_nothing() {
    assert_eq!(crossovers(&of([1.0, 2.0, 9.0]), &of([3.0, 4.0, 5.0])), []);
    assert_eq!(crossovers(&of([1.0]), &of([3.0])), []);
}

#[test]
fn noise_around_a_true_crossing_is_one_crossing() {
    for seed in 0..20 {
        let mut random = random(1000 + seed);
        let mut normal = |spread: f64| {
            let draw = |random: &mut dyn Iterator<Item = f64>| random.take(12).sum::<f64>() - 6.0;
            of((0..20_000).map(|_| 200.0 + spread * draw(&mut random)))
        };
        let found = crossovers(&normal(10.0), &normal(20.0));
        assert_eq!(found.len(), 1, "seed {seed}: {found:?}");
        // The medians differ by up to 3 standard errors, 3 x sqrt(10^2 + 20^2) x 1.2533/sqrt(20000) = 0.6
        // ms; the difference of the quantiles grows by 10 ms a unit of z, so |z| < 0.06, a share within
        // 0.024.
        assert!((found[0].share - 0.5).abs() < 0.024, "seed {seed}: {found:?}");
        assert_eq!(found[0].faster_above, Faster::First);
    }
}
