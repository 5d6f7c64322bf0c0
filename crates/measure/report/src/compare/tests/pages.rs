//! Real pages and the model: which one decides, and the output if they disagree.

use super::*;
use crate::{Basis, Certainty};

pub(super) fn hash(i: u32, seed: u32) -> f64 {
    let mut x = (u64::from(seed) << 32 | u64::from(i)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x >> 40) as f64 / f64::from(1 << 24)
}

pub(super) fn paged(label: &str, latency: impl Fn(u32, u32) -> f64) -> SideInput {
    let row = |i: u32| format!("{i},{},{}\n", i / 10, latency(i / 10, i % 10));
    let text = format!("started_s,page,latency_ms\n{}", (0..4000).map(row).collect::<String>());
    SideInput { label: label.to_owned(), ..read(&text, None) }
}

fn ten() -> Page {
    Page::new(10, 1.0).unwrap()
}

/// One page in twenty is slow as a whole, by 300 ms.
fn together() -> SideInput {
    paged("together", |page, i| {
        20.0 + 10.0 * hash(page * 10 + i, 1) + if page % 20 == 7 { 300.0 } else { 0.0 }
    })
}

/// Always 60 to 70 ms more than nothing.
fn even() -> SideInput {
    paged("even", |page, i| 60.0 + 10.0 * hash(page * 10 + i, 2))
}

#[test]
fn real_pages_outrank_the_model() {
    // 29 + 300/20 = 44 ms on average, against 69. By the model, 1 - 0.95^10 = 40 % of pages are
    // slow: 150 ms.
    let question = Question {
        thresholds: vec![
            "experienced.mean surely worse".parse().unwrap(),
            "experienced.p50 worse by 5%".parse().unwrap(),
        ],
        ..Question::new(Metric::Latency, ten())
    };
    let sides = [together(), even()];
    let analysis = compare(&question, &sides).unwrap();
    let comparison = &analysis.comparison;
    let verdict = comparison.verdict.as_ref().unwrap();
    assert_eq!(speed(verdict).experienced.better.as_deref(), Some("together"));
    assert_eq!(speed(verdict).experienced.basis, Some(Basis::ObservedPages));
    assert_eq!(speed(verdict).experienced.certainty, Some(Certainty::Sure));
    assert!((speed(verdict).experienced.difference_ms - 25.0).abs() < 2.0, "{verdict:?}");
    let model = speed(verdict).model.as_ref().unwrap();
    assert_eq!((model.better.as_deref(), model.basis), (Some("even"), Some(Basis::Model)));
    assert!(
        verdict.headline.starts_with("Real page views and the model disagree: together is ")
            && verdict.headline.contains(
                " faster for real page views (10 requests), although the model of 10 independent requests"
            )
            && verdict.headline.contains(" favours even, by "),
        "{}",
        verdict.headline
    );
    assert!((speed(verdict).experienced.share_better.unwrap() - 0.95).abs() < 0.001);
    assert!(comparison.thresholds.iter().all(|one| !one.holds), "{:?}", comparison.thresholds);
    let pages = comparison.sides[0].pages.as_ref().unwrap();
    assert_eq!((pages.views, pages.whole, pages.requests_min, pages.requests_max), (400, 400, 10, 10));
    assert_eq!(comparison.differences[0].basis, Basis::ObservedPages);
    assert!((comparison.differences[0].experienced["mean"].difference_ms - 25.0).abs() < 2.0);
    let charts = analysis.charts().unwrap();
    assert_eq!(charts[0].page_views.as_ref().unwrap().latency_ms.len(), 400);
    assert!(charts[0].page_views_band.is_some());
}

#[test]
fn independent_pages_and_the_model_agree() {
    let slow = |page: u32, i: u32, seed| if hash(page * 10 + i, seed) < 0.05 { 300.0 } else { 0.0 };
    let scattered = paged("scattered", |page, i| 20.0 + hash(page * 10 + i, 1) + slow(page, i, 3));
    let comparison =
        compare(&Question::new(Metric::Latency, ten()), &[scattered, even()]).unwrap().comparison;
    let verdict = comparison.verdict.unwrap();
    let (real, model) = (&speed(&verdict).experienced, speed(&verdict).model.as_ref().unwrap());
    assert_eq!((real.better.as_deref(), model.better.as_deref()), (Some("even"), Some("even")));
    // 300 (1 - 0.95^10) = 120 ms more than 21, against 69; 400 pages give that to within 7 ms.
    assert!((real.difference_ms - model.difference_ms).abs() < 14.0, "{real:?} {model:?}");
    assert!((real.share_better.unwrap() - model.share_better.unwrap()).abs() < 0.05);
    assert!(!verdict.headline.contains("disagree"), "{}", verdict.headline);
    assert!(
        verdict.sentence.contains("By the model of 10 independent requests even is"),
        "{}",
        verdict.sentence
    );
}

#[test]
fn half_of_a_page_is_any_half() {
    // Of independent requests, the wait for a random half is that of the model.
    let exponential = |seed| move |page: u32, i: u32| -(1.0 - hash(page * 10 + i, seed)).ln() * 100.0;
    let sides = [paged("one", exponential(4)), paged("two", exponential(5))];
    let half = Page::new(10, 0.5).unwrap();
    let comparison = compare(&Question::new(Metric::Latency, half), &sides).unwrap().comparison;
    for side in &comparison.sides {
        let pages = side.pages.as_ref().unwrap();
        // H_5 = 2.2833 means; 400 pages give it to within 100 x 1.21/20 = 6.
        assert!((pages.expected_ms.unwrap() - 228.3).abs() < 18.0, "{pages:?}");
        let [low, high] = pages.percentiles_ci_ms["90"];
        let model = side.figures.as_ref().unwrap().experienced_percentiles_ms["90"];
        assert!(low.unwrap() < model && model < high.unwrap(), "{pages:?} {model}");
    }
}

#[test]
fn without_page_ids_on_all_sides_the_model_decides() {
    let mut bare = even();
    bare.columns.as_mut().unwrap().pages = None;
    let comparison = compare(&Question::new(Metric::Latency, ten()), &[together(), bare]).unwrap().comparison;
    let verdict = comparison.verdict.unwrap();
    assert_eq!(speed(&verdict).experienced.basis, Some(Basis::Model));
    assert_eq!(
        (speed(&verdict).experienced.better.as_deref(), &speed(&verdict).model),
        (Some("even"), &None)
    );
    assert!(!verdict.sentence.contains("real page views"), "{}", verdict.sentence);
    let pages: Vec<bool> = comparison.sides.iter().map(|side| side.pages.is_some()).collect();
    assert_eq!(pages, [true, false]);
    assert!(comparison.sides[0].pages.as_ref().unwrap().expected_ci_ms.is_some());
}

#[test]
fn without_a_page_of_the_model_real_pages_decide_alone() {
    let one = Page::new(1, 1.0).unwrap();
    let verdict = compared(Metric::Latency, &[together(), even()], one).verdict.unwrap();
    assert_eq!(
        (speed(&verdict).experienced.basis, &speed(&verdict).model),
        (Some(Basis::ObservedPages), &None)
    );
    assert!(verdict.headline.ends_with(" faster for real page views (10 requests)."), "{}", verdict.headline);
    assert!(!verdict.sentence.contains("model"), "{}", verdict.sentence);
}

#[test]
fn another_page_than_the_recorded_one_is_said() {
    let asked = |requests| {
        let page = Page::new(requests, 1.0).unwrap();
        let warnings = compared(Metric::Latency, &[together(), even()], page).warnings;
        warnings.into_iter().filter(|warning| warning.contains("was requested, and")).count()
    };
    assert_eq!((asked(70), asked(10), asked(1)), (1, 0, 0));
}

#[test]
fn groups_that_hold_whole_pages_go_by_them() {
    let with_city = |side: &SideInput| {
        let columns = side.columns.as_ref().unwrap();
        let row = |(place, ms): (usize, &f64)| {
            let page = place / 10;
            format!("{place},{page},{ms},{}\n", if page % 2 == 0 { "oslo" } else { "lima" })
        };
        let rows: String = columns.values_ms.iter().enumerate().map(row).collect();
        read(&format!("started_s,page,latency_ms,city\n{rows}"), Some("city"))
    };
    let question = Question { by: Some("city".to_owned()), ..Question::new(Metric::Latency, ten()) };
    let sides = [with_city(&together()), with_city(&even())];
    let groups = compare(&question, &sides).unwrap().comparison.breakdown.unwrap().groups;
    // Slow pages are all in Lima: 29 + 300/10 there on average, against 69.
    assert!(
        groups.iter().all(|group| group.experienced.as_ref().unwrap().basis == Some(Basis::ObservedPages))
    );
    let oslo = groups.iter().find(|group| group.name == "oslo").unwrap().experienced.as_ref().unwrap();
    assert!((oslo.difference_ms - 40.0).abs() < 1.0, "{oslo:?}");
}
