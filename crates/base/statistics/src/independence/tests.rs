//! Data for which the independent model holds, and for which it does not.

use proptest::prelude::*;

use super::*;
use crate::{distribution::floor, synthetic::Synthetic};

fn of(pages: &[Vec<f64>], required: f64) -> Independence {
    let numbers: Vec<u32> = (0..).zip(pages).flat_map(|(page, samples)| vec![page; samples.len()]).collect();
    independence(&pages.concat(), &numbers, required).unwrap()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn pages_that_are_slow_as_a_whole() {
    // Half of 20 pages make ten requests of 10 ms each, the others of 100 ms.
    let pages: Vec<Vec<f64>> =
        (0..20).map(|page| vec![if page % 2 == 0 { 10.0 } else { 100.0 }; 10]).collect();
    let all = of(&pages, 1.0);
    assert_eq!((all.pages, all.samples, all.smallest, all.median, all.largest), (20, 200, 10, 10, 10));
    assert_close(all.slowest.observed_ms, 55.0);
    // 10 ms only if all ten are fast: 100 - 90/2^10.
    assert_close(all.slowest.model_ms, 99.912_109_375);
    assert_close(all.slowest.off, 99.912_109_375 / 55.0 - 1.0);
    assert!(all.slowest.off_low > 0.0, "{all:?}");
    assert_eq!(all.kth, all.slowest);
    // Half of all views meet 10 ms at most; for the model 1/1024 of them do.
    let median = all.shares.iter().find(|point| point.share == 0.5).unwrap();
    assert_eq!((median.observed_ms, median.model_ms), (10.0, 100.0));

    let half = of(&pages, 0.5);
    assert_close(half.slowest.observed_ms, 55.0);
    assert_close(half.slowest.model_ms, 100.0 - 90.0 / 32.0);
    // Five of ten are there if at least five are fast: 638/1024.
    assert_close(half.kth.observed_ms, 55.0);
    assert_close(half.kth.model_ms, 100.0 - 90.0 * 638.0 / 1024.0);
}

#[test]
fn the_interval_follows_from_the_pages() {
    // 20 alternating pages: deviations of -45 and 45, no lags: 20 x 45^2 over 20 x 19, a standard error of
    // 45/sqrt(19) = 10.323708, and t with 19 degrees of freedom.
    let pages: Vec<Vec<f64>> =
        (0..20).map(|page| vec![if page % 2 == 0 { 10.0 } else { 100.0 }; 10]).collect();
    let found = of(&pages, 1.0).slowest;
    assert!((found.observed_ms - found.observed_low_ms - 2.093_024 * 10.323_708).abs() < 1e-4, "{found:?}");
    assert!((found.observed_high_ms - found.observed_ms - 2.093_024 * 10.323_708).abs() < 1e-4);
}

#[test]
fn two_pages_that_are_alike_say_nothing() {
    // Two draws from 1 1 2 2 are at most 1 with 1/4, two dealt samples with 1/6: 1.75 and 11/6 against 2. But
    // of the three ways to deal them to two pages, two are the observed one.
    let found = of(&[vec![1.0, 2.0], vec![1.0, 2.0]], 1.0);
    assert_close(found.slowest.off, -0.125);
    assert!(found.slowest.off_low <= found.slowest.off && found.slowest.off_high == 0.0, "{found:?}");
    assert!(!found.is_conclusive());
    let found = of(&vec![vec![1.0, 2.0]; FEWEST_PAGES], 1.0);
    assert!(found.slowest.off_high < 0.0 && found.is_conclusive(), "{found:?}");
}

#[test]
fn few_pages_seldom_raise_a_false_alarm() {
    // Lognormal requests, 20 a page: of 400 cohorts a 95 % interval misses 0 in 20 on average. As pages and
    // as windows.
    for count in [2, 3, 5, 10, 30] {
        let mut random = Synthetic::new(77);
        let mut missed = 0;
        for _ in 0..400 {
            let series: Vec<f64> = (0..count * 20).map(|_| random.normal().exp()).collect();
            let pages: Vec<Vec<f64>> = series.chunks(20).map(<[f64]>::to_vec).collect();
            let found = of(&pages, 1.0);
            missed += i32::from(!(found.slowest.off_low..=found.slowest.off_high).contains(&0.0));
            let windows = crate::consecutive_maxima(&series, 20).unwrap();
            assert_eq!((windows.slowest, windows.windows), (found.slowest, found.pages));
            assert_eq!((found.is_conclusive(), windows.is_conclusive()), (count >= 30, count >= 30));
        }
        println!("{count} pages: {missed} of 400");
        assert!(missed <= 32, "{count} pages: {missed}");
    }
}

#[test]
fn pages_that_nothing_can_be_said_of_are_told_apart() {
    let one = independence(&[1.0, 2.0], &[7, 7], 1.0);
    assert_eq!(one, Err(Error::TooFew { what: "pages with samples", found: 1, least: 2 }));
    let requests = crate::MOST_REQUESTS + 50;
    let mut pages = vec![3; requests as usize];
    pages.push(4);
    assert_eq!(independence(&vec![1.0; pages.len()], &pages, 1.0), Err(Error::Requests { requests }));
}

#[test]
fn a_subset_of_a_page() {
    // Samples 1 2 4 8, two required: of the 6 pairs the maximum is 8 three times, 4 twice, 2 once: 34/6.
    // The second fastest is 2. The other page has one sample.
    let found = of(&[vec![8.0, 1.0, 4.0, 2.0], vec![16.0]], 0.5);
    assert_close(found.slowest.observed_ms, (34.0 / 6.0 + 16.0) / 2.0);
    assert_close(found.kth.observed_ms, 9.0);
    assert_eq!((found.smallest, found.median, found.largest), (1, 1, 4));
    // All of 1 2 4 8 16: max of 2 = (1 + 2 x 3 + 4 x 5 + 8 x 7 + 16 x 9)/25 = 9.08, mean 6.2.
    assert_close(found.slowest.model_ms, f64::midpoint(9.08, 6.2));
    // The waits' shares: 2, 4, 8 with 1/12, 2/12, 3/12, and 16 with half.
    let at = |share| found.shares.iter().find(|point| point.share == share).unwrap().observed_ms;
    assert_eq!((at(0.05), at(0.1), at(0.25), at(0.5), at(0.75)), (2.0, 4.0, 4.0, 8.0, 16.0));
}

/// Each page multiplies its requests by exp(spread x normal).
fn pages(random: &mut Synthetic, spread: f64) -> Vec<Vec<f64>> {
    let page = |_| {
        let size = 10 + floor(random.uniform() * 31.0);
        let level = 10.0 * (spread * random.normal()).exp();
        (0..size).map(|_| level * random.exponential()).collect()
    };
    (0..300).map(page).collect()
}

#[test]
fn independent_pages_agree_with_the_model() {
    // A 95 % interval misses 0 in ten of 200 cohorts on average; 3 standard deviations are 9.2.
    for required in [1.0, 0.5] {
        let mut random = Synthetic::new(5);
        let mut missed = [0, 0];
        for _ in 0..200 {
            let found = of(&pages(&mut random, 0.0), required);
            for (missed, versus) in missed.iter_mut().zip([found.slowest, found.kth]) {
                *missed += i32::from(!(versus.off_low..=versus.off_high).contains(&0.0));
            }
        }
        assert!(missed.iter().all(|missed| (1..=19).contains(missed)), "{missed:?}");
    }
}

#[test]
fn levels_of_pages_make_the_model_pessimistic() {
    let found = of(&pages(&mut Synthetic::new(6), 1.0), 1.0);
    assert!(found.slowest.off_low > 0.2, "{:?}", found.slowest);
}

#[test]
fn nonsense_is_refused_and_samples_without_a_page_left_out() {
    let none = u32::MAX;
    assert!(matches!(independence(&[1.0], &[], 1.0), Err(Error::Uneven { found: 0, values: 1, .. })));
    assert_eq!(
        independence(&[1.0, f64::INFINITY], &[1, none], 1.0).unwrap_err().to_string().split(';').next(),
        Some("sample 1 is inf")
    );
    assert_eq!(independence(&[1.0], &[1], 0.0), Err(Error::Required { required: 0.0 }));
    assert!(matches!(independence(&[1.0, 2.0], &[1, none], 1.0), Err(Error::TooFew { found: 1, .. })));
    let found = independence(&[1.0, 9e9, 3.0], &[7, none, 1_000_000], 1.0).unwrap();
    assert_eq!((found.pages, found.samples, found.slowest.observed_ms), (2, 2, 2.0));
    let nothing = independence(&[0.0, 0.0], &[1, 2], 1.0).unwrap().slowest;
    assert_eq!((nothing.off, nothing.off_low, nothing.off_high), (0.0, 0.0, 0.0));
    let half = independence(&[0.0, 1.0, 0.0, 1.0], &[1, 1, 2, 2], 0.5).unwrap().kth;
    assert_eq!((half.observed_ms, half.model_ms, half.off), (0.0, 0.25, f64::INFINITY));
}

proptest! {
    #[test]
    fn the_order_of_samples_does_not_matter(
        samples in prop::collection::vec((0.0..100.0, 0_u32..5), 12..60),
        required in 0.1..1.0,
    ) {
        let (values, numbers): (Vec<f64>, Vec<u32>) = samples.iter().copied().unzip();
        prop_assume!(numbers.iter().any(|&number| number != numbers[0]));
        let (back, back_numbers): (Vec<f64>, Vec<u32>) = samples.iter().rev().copied().unzip();
        let found = independence(&values, &numbers, required).unwrap();
        prop_assert_eq!(&found, &independence(&back, &back_numbers, required).unwrap());
        prop_assert!(found.kth.observed_ms <= found.slowest.observed_ms * (1.0 + 1e-12));
        prop_assert!(found.kth.model_ms <= found.slowest.model_ms * (1.0 + 1e-9));
        let slowest = |number: u32| values.iter().zip(&numbers).filter(|pair| *pair.1 == number).map(|pair| *pair.0).reduce(f64::max);
        let maxima: Vec<f64> = (0..5).filter_map(slowest).collect();
        let whole = independence(&values, &numbers, 1.0).unwrap();
        prop_assert!((whole.slowest.observed_ms - maxima.iter().sum::<f64>() / as_f64(maxima.len())).abs() < 1e-9);
    }
}
