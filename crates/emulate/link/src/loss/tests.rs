//! Loss models compared with closed forms.

use super::*;

fn bernoulli(share: f64) -> Loss {
    Loss::Bernoulli(Probability::new(share).unwrap())
}

fn gilbert(to_bad: f64, to_good: f64, in_bad: f64, in_good: f64) -> Loss {
    let chance = |share| Probability::new(share).unwrap();
    Loss::GilbertElliott {
        to_bad: chance(to_bad),
        to_good: chance(to_good),
        in_bad: chance(in_bad),
        in_good: chance(in_good),
    }
}

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
fn grouping_changes_nothing_in_bursts_and_recordings() {
    let trace = Loss::Trace(Arc::new(LossTrace::parse(b"0001 0110\n0").unwrap()));
    for model in [gilbert(0.01, 0.1, 0.7, 0.001), gilbert(1.0, 1.0, 0.001, 0.0), trace] {
        let alone = lost(model.clone(), 7, 100_000, 1);
        assert_eq!(alone, lost(model.clone(), 7, 100_000, 45));
        assert_eq!(alone, lost(model, 7, 100_000, 100_000));
        assert!(alone.len() > 20);
    }
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
    // A loss is followed immediately by another with probability p: 100 000 p = 10 000 +- 4 * 95.
    assert!((9_620..=10_380).contains(&adjacent), "{adjacent} adjacent");
}

#[test]
fn never_and_always() {
    assert!(lost(bernoulli(0.0), 1, 1_000_000, 45).is_empty());
    assert_eq!(lost(bernoulli(1.0), 1, 1000, 45).len(), 1000);
}

#[test]
fn bursts_have_their_share_and_length() {
    // p = 0.01, r = 0.1, all lost in the bad state: share p / (p + r) = 1/11, bursts of 1 / r = 10.
    let indices = lost(gilbert(0.01, 0.1, 1.0, 0.0), 7, 1_000_000, 45);
    // The autocorrelation is 1 - p - r = 0.89, so sd = sqrt(1e6 * 0.0826 * 1.89 / 0.11) = 1192;
    // four of them.
    assert!((86_141..=95_677).contains(&indices.len()), "{}", indices.len());
    let bursts = 1 + indices.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    // Geometric: sd sqrt(1 - r) / r = 9.5; of the mean of 9000 it is 0.1. Four of them.
    let length = indices.len() as f64 / bursts as f64;
    assert!((length - 10.0).abs() < 0.4, "{length}");
}

#[test]
fn both_states_lose_their_share() {
    // 10/11 of the segments at 0.02 and 1/11 at 0.5: 0.0182 + 0.0455 = 7/110.
    let n = lost(gilbert(0.01, 0.1, 0.5, 0.02), 9, 1_000_000, 45).len() as f64;
    // At most the deviation of the state's count above, 1192, times the difference of the chances, 0.48,
    // and the draws' own, sqrt(1e6 * 0.0636) = 252: together 625. Four of them.
    assert!((n - 1e6 * 7.0 / 110.0).abs() < 2500.0, "{n}");
}

#[test]
fn netems_short_form_of_gemodel_is_independent_loss() {
    let indices = lost(gilbert(0.1, 0.9, 1.0, 0.0), 5, 1_000_000, 1);
    let adjacent = indices.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    // n p = 100 000 +- 4 * 300, of which the share p is followed by another loss: 10 000 +- 4 * 95, as for
    // the independent losses above.
    assert!((98_800..=101_200).contains(&indices.len()), "{}", indices.len());
    assert!((9_620..=10_380).contains(&adjacent), "{adjacent} adjacent");
}

#[test]
fn a_chain_that_never_loses_is_asked_once() {
    for model in [gilbert(0.0, 0.0, 1.0, 0.0), gilbert(1.0, 1.0, 0.0, 0.0), gilbert(0.5, 0.0, 0.0, 0.0)] {
        assert!(lost(model, 1, 1_000_000, 1_000_000).is_empty());
    }
}

#[test]
fn a_recording_begins_again() {
    let trace = |text: &[u8]| Loss::Trace(Arc::new(LossTrace::parse(text).unwrap()));
    assert_eq!(lost(trace(b"0100\n1 # two of five"), 1, 12, 5), [1, 4, 6, 9, 11]);
    assert_eq!(lost(trace(b"1"), 1, 3, 3), [0, 1, 2]);
    assert!(lost(trace(b"000"), 1, 100, 7).is_empty());
}

#[test]
fn recordings_that_are_none_are_refused() {
    let said = |text: &[u8]| LossTrace::parse(text).unwrap_err().to_string();
    let expected = "expected 0 for a received segment and 1 for a lost segment";
    assert_eq!(said(b"\n \n"), format!("the file is empty; {expected}"));
    assert_eq!(said(b"0\n0021"), format!("line 2: found \"0021\"; {expected}"));
}

#[test]
fn a_loss_prints_what_parses_back() {
    for text in ["0%", "0.1%", "gemodel 1% 10% 70% 0.1%", "gemodel 1% 99% 100% 0%"] {
        assert_eq!(text.parse::<Loss>().unwrap().to_string(), text);
    }
    assert_eq!("gemodel 0.01".parse::<Loss>().unwrap(), gilbert(0.01, 0.99, 1.0, 0.0));
    let said = |text: &str| text.parse::<Loss>().unwrap_err().to_string();
    assert_eq!(said("gemodel"), "gemodel has 0 shares after it; expected 1 to 4: p, r, 1-h and 1-k");
    assert_eq!(
        said("gemodel 1% 1% 1% 1% 1%"),
        "gemodel has 5 shares after it; expected 1 to 4: p, r, 1-h and 1-k"
    );
    assert_eq!(said("gemodel 200%"), "\"200%\" is out of range: a share must be from 0% to 100%");
    assert!(said("often").starts_with("\"often\" does not start with a number"));
}
