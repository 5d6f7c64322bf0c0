//! Losses against their closed forms.

use super::*;

fn bernoulli(share: f64) -> Loss {
    Loss::Bernoulli(Probability::new(share).unwrap())
}

/// The indices of the segments lost among `total`, offered in groups of `group`.
fn lost(model: Loss, seed: u64, total: u32, group: u32) -> Vec<u32> {
    let mut loss = Occurrences::new(model, Random::new(seed, [0; 8]));
    let mut indices = Vec::new();
    for first in (0..total).step_by(group as usize) {
        let mut from = first;
        let end = (first + group).min(total);
        while from < end {
            match u32::try_from(loss.clear()).unwrap_or(u32::MAX).min(end - from) {
                0 => {
                    indices.push(from);
                    loss.pass(1);
                    from += 1;
                }
                clear => {
                    loss.pass(clear);
                    from += clear;
                }
            }
        }
    }
    indices
}

#[test]
fn grouping_changes_nothing() {
    let alone = lost(bernoulli(0.01), 7, 100_000, 1);
    assert_eq!(alone, lost(bernoulli(0.01), 7, 100_000, 45));
    assert_eq!(alone, lost(bernoulli(0.01), 7, 100_000, 100_000));
}

#[test]
fn the_share_is_the_chance() {
    // Binomial: n p = 10 000, standard deviation sqrt(n p (1 - p)) = 99.5; four of them are 398.
    let n = lost(bernoulli(0.01), 3, 1_000_000, 45).len();
    assert!((9_602..=10_398).contains(&n), "{n} lost");
}

#[test]
fn gaps_are_geometric() {
    let indices = lost(bernoulli(0.1), 5, 1_000_000, 1);
    let adjacent = indices.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    // A loss follows at once with chance p: 100 000 p = 10 000 +- 4 * 95.
    assert!((9_620..=10_380).contains(&adjacent), "{adjacent} adjacent");
}

#[test]
fn never_and_always() {
    assert!(lost(bernoulli(0.0), 1, 1_000_000, 45).is_empty());
    assert_eq!(lost(bernoulli(1.0), 1, 1000, 45).len(), 1000);
}
