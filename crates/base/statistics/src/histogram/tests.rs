//! A histogram answers as the samples it counts, one by one, would.

use proptest::prelude::*;

use super::*;

fn bucket(value_ms: f64, count: u64) -> Bucket {
    Bucket::exact(value_ms, count)
}

fn counted(buckets: &[(f64, u64)]) -> Distribution {
    let buckets = buckets.iter().map(|&(value, count)| bucket(value, count)).collect();
    Distribution::from_counts(buckets, 0.001).unwrap()
}

fn expanded(buckets: &[(f64, u64)]) -> Distribution {
    let samples = buckets
        .iter()
        .flat_map(|&(value, count)| std::iter::repeat_n(value, usize::try_from(count).unwrap()));
    Distribution::new(samples.collect()).unwrap()
}

#[test]
fn order_equal_values_and_empty_buckets_do_not_matter() {
    let side = counted(&[(5.0, 1), (1.0, 2), (9.0, 0), (5.0, 3), (0.0, 0)]);
    assert_eq!((side.n(), side.min(), side.max()), (6, 1.0, 5.0));
    assert_eq!(side, counted(&[(1.0, 2), (5.0, 4)]));
    // Ranks 0..=5 are 1, 1, 5, 5, 5, 5; larger ranks mean the last.
    assert_eq!([0, 1, 2, 5, 99].map(|rank| side.at_rank(rank)), [1.0, 1.0, 5.0, 5.0, 5.0]);
    // Position 5 x 0.3 = 1.5, between 1 and 5. (2 x 1 + 4 x 5)/6. At most 4: two of six.
    assert_eq!((side.quantile(0.3), side.mean(), side.cdf(4.0)), (3.0, 22.0 / 6.0, 2.0 / 6.0));
    // Mean square (2 + 100)/6 = 17 less (11/3)^2 = 121/9: 32/9.
    assert!((side.standard_deviation() - (32.0_f64 / 9.0).sqrt()).abs() < 1e-15);
    assert_eq!(side.relative_error(), Some(0.001));
    assert_eq!(expanded(&[(1.0, 2)]).relative_error(), None);
}

#[test]
fn counts_beyond_memory() {
    // 2^53 samples, a quarter of them 4 and the others 0: mean 1, and the 75th percentile is the first 4
    // within a rank.
    let side = counted(&[(4.0, 1 << 51), (0.0, 3 << 51)]);
    assert_eq!((side.n(), side.mean()), (1 << 53, 1.0));
    assert_eq!((side.quantile(0.749_999), side.quantile(0.750_001)), (0.0, 4.0));
    // A page of 2: both miss the 4 with 0.75^2, so 4 (1 - 9/16) = 1.75.
    assert!((side.expected_experienced(2) - 1.75).abs() < 1e-14);
}

#[test]
fn nonsense_says_what_was_expected() {
    let said = |buckets: Vec<Bucket>, error| Distribution::from_counts(buckets, error).unwrap_err();
    assert_eq!(said(vec![bucket(1.0, 0)], 0.0), Error::Empty);
    assert_eq!(said(vec![bucket(1.0, 1), bucket(-1.0, 1)], 0.0), Error::Negative { index: 1, value: -1.0 });
    let most = MOST_SAMPLES;
    assert_eq!(said(vec![bucket(1.0, most), bucket(2.0, 1)], 0.0), Error::TooMany { count: most + 1 });
    assert_eq!(said(vec![bucket(1.0, u64::MAX), bucket(2.0, 1)], 0.0), Error::TooMany { count: u64::MAX });
    assert_eq!(said(vec![bucket(1.0, 1)], 1.0), Error::RelativeError { relative_error: 1.0 });
    assert!(matches!(said(vec![bucket(1.0, 1)], f64::NAN), Error::RelativeError { .. }));
    assert_eq!(Distribution::merge(&[]), Err(Error::Empty));
}

proptest! {
    #[test]
    fn counts_answer_as_the_samples_do(
        buckets in prop::collection::vec((0.0..1e4_f64, 0_u64..40), 1..60),
        share in 0.0..=1.0_f64,
        requests in 1_u32..500,
    ) {
        prop_assume!(buckets.iter().any(|bucket| bucket.1 > 0));
        let (counts, samples) = (counted(&buckets), expanded(&buckets));
        prop_assert_eq!(counts.n(), samples.n());
        prop_assert_eq!(counts.quantile(share), samples.quantile(share));
        prop_assert_eq!(counts.cdf(buckets[0].0), samples.cdf(buckets[0].0));
        for rank in 0..counts.n() {
            prop_assert_eq!(counts.at_rank(rank), samples.at_rank(rank));
        }
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b;
        prop_assert!(close(counts.mean(), samples.mean()));
        prop_assert!((counts.standard_deviation() - samples.standard_deviation()).abs() <= 1e-11 * samples.max());
        prop_assert!(close(counts.expected_experienced(requests), samples.expected_experienced(requests)));
        let (all, expected) = (counts.expected_experienced_up_to(requests), samples.expected_experienced(requests));
        prop_assert!(close(all[all.len() - 1], expected));
    }

    #[test]
    fn merged_parts_are_the_whole(
        buckets in prop::collection::vec((0.0..50.0_f64, 1_u64..5), 3..60),
        cut in 0_usize..60,
        share in 0.0..=1.0_f64,
    ) {
        let buckets: Vec<(f64, u64)> = buckets.into_iter().map(|(value, count)| (value.floor(), count)).collect();
        let cut = 1 + cut % (buckets.len() - 1);
        let (low, high) = buckets.split_at(cut);
        let (exact, counts) = (expanded(&buckets), counted(&buckets));
        prop_assert_eq!(&Distribution::merge(&[&expanded(low), &expanded(high)]).unwrap(), &exact);
        prop_assert_eq!(&Distribution::merge(&[&counted(low), &counted(high)]).unwrap(), &counts);
        let mixed = Distribution::merge(&[&expanded(low), &counted(high)]).unwrap();
        prop_assert_eq!(&mixed, &counts);
        prop_assert_eq!(mixed.quantile(share), exact.quantile(share));
    }
}
