//! Quantiles equal numpy's (`method="linear"`), as samples and as counts. `numpy/generate.py` wrote
//! the cases.

use statistics::{Bucket, Distribution};

fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|number| number.parse().expect("a number, as Python writes it")).collect()
}

fn samples(line: &str) -> Vec<f64> {
    let Some(n) = line.strip_prefix('@') else { return numbers(line) };
    let mut state = 1_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 1000.0
    };
    (0..n.parse::<u32>().expect("a count")).map(next).collect()
}

#[test]
fn quantiles_are_numpys() {
    let lines: Vec<&str> = include_str!("numpy/cases.txt").lines().collect();
    let mut cases = 0;
    for case in lines.chunks(4) {
        let [name, values, shares, expected] = case else { panic!("a case is four lines: {case:?}") };
        let values = samples(values);
        let buckets = values.iter().map(|&value_ms| Bucket::exact(value_ms, 1)).collect();
        let exact = Distribution::new(values).unwrap();
        let counted = Distribution::from_counts(buckets, 0.0).unwrap();
        for (share, expected) in numbers(shares).into_iter().zip(numbers(expected)) {
            for side in [&exact, &counted] {
                let found = side.quantile(share);
                // A denormal does not have nine digits: there it is the last bit.
                let bound = (1e-9 * expected).max(5e-324);
                assert!(
                    (found - expected).abs() <= bound,
                    "{name} at {share}: {found:e} is not {expected:e}"
                );
            }
        }
        cases += 1;
    }
    assert_eq!(cases, 15);
}
