//! Failures are part of what people experience, and a side's speed does not hide them.

use super::{pages::hash, *};
use crate::Basis;

/// 400 pages of ten requests; a share of pages lacks one request.
fn lossy(label: &str, base: f64, share: f64, seed: u32) -> SideInput {
    let row = |i: u32| {
        let is_lost = i % 10 == 4 && hash(i / 10, seed) < share;
        let latency = if is_lost { String::new() } else { format!("{}", base + 10.0 * hash(i, seed + 50)) };
        format!("{i},{},{latency},{}\n", i / 10, if is_lost { "reset" } else { "" })
    };
    let text = format!("started_s,page,latency_ms,error\n{}", (0..4000).map(row).collect::<String>());
    SideInput { label: label.to_owned(), ..read(&text, None) }
}

fn without_pages(mut side: SideInput) -> SideInput {
    side.columns.as_mut().unwrap().pages = None;
    side
}

fn of(sides: &[SideInput], page: Page) -> Comparison {
    compare(&Question::new(Metric::Latency, page), sides).unwrap().comparison
}

fn ten() -> Page {
    Page::new(10, 1.0).unwrap()
}

#[test]
fn a_fast_side_that_fails_more_is_said_to_fail_first() {
    let comparison = of(&[lossy("hasty", 20.0, 0.4, 1), lossy("sound", 60.0, 0.002, 2)], ten());
    let verdict = comparison.verdict.as_ref().unwrap();
    assert!(verdict.headline.starts_with("hasty fails for "), "{}", verdict.headline);
    assert!(verdict.headline.contains(" % of page views, sound for "), "{}", verdict.headline);
    assert!(verdict.headline.contains("Of the complete page views: hasty is "), "{}", verdict.headline);
    assert!(verdict.sentence.contains("Complete page views: "), "{}", verdict.sentence);
    let failures = verdict.failures.as_ref().unwrap();
    assert_eq!((failures.more.as_deref(), failures.than.as_deref()), (Some("hasty"), Some("sound")));
    assert!(failures.sure > 0.999);
    let pages = comparison.sides[0].pages.as_ref().unwrap();
    assert_eq!(pages.views, 400);
    let shares = &comparison.sides[0].failures;
    assert_eq!(shares.page_share, 1.0 - pages.whole as f64 / 400.0);
    assert_eq!(shares.basis, Some(Basis::ObservedPages));
    assert!((shares.request_share - shares.page_share / 10.0).abs() < 1e-12);
    let [low, high] = shares.page_share_ci.unwrap();
    // 1.96 sqrt(0.4 x 0.6/400) = 4.8 %.
    assert!(low < shares.page_share && shares.page_share < high && high - low < 0.11, "{shares:?}");
}

#[test]
fn where_both_fail_alike_no_one_does_first_and_both_shares_are_said() {
    let verdict = of(&[lossy("one", 20.0, 0.4, 1), lossy("two", 60.0, 0.4, 9)], ten()).verdict.unwrap();
    assert!(verdict.headline.starts_with("one is "), "{}", verdict.headline);
    assert_eq!(verdict.failures.as_ref().unwrap().more, None);
    let said = verdict.certainty.unwrap();
    let shares = said.split("Complete page views: ").nth(1).unwrap();
    assert!(shares.contains("of one's and ") && shares.contains("of two's."), "{said}");
}

#[test]
fn a_slow_side_that_fails_more_has_lost_anyway() {
    let verdict = of(&[lossy("good", 20.0, 0.0, 1), lossy("bad", 60.0, 0.4, 2)], ten()).verdict.unwrap();
    assert!(verdict.headline.starts_with("good is "), "{}", verdict.headline);
    assert_eq!(verdict.failures.unwrap().more.as_deref(), Some("bad"));
}

#[test]
fn without_page_ids_the_model_says_how_many_pages_fail() {
    let sides = [lossy("hasty", 20.0, 0.4, 1), lossy("sound", 60.0, 0.0, 2)].map(without_pages);
    let comparison = of(&sides, ten());
    let failures = &comparison.sides[0].failures;
    assert_eq!(failures.basis, Some(Basis::Model));
    let expected = 1.0 - (1.0 - failures.request_share).powi(10);
    assert!((failures.page_share - expected).abs() < 1e-12, "{failures:?}");
    let headline = comparison.verdict.unwrap().headline;
    assert!(headline.contains(" % of page views, by the model, sound for 0 %."), "{headline}");
    let one = of(&sides, Page::new(1, 1.0).unwrap()).verdict.unwrap();
    assert!(
        one.headline.contains(" % of requests, sound for 0 %. Of the successful requests: "),
        "{}",
        one.headline
    );
    assert!(one.sentence.contains("Successful requests: "), "{}", one.sentence);
}

#[test]
fn nothing_is_said_of_failures_where_there_are_none() {
    let verdict = of(&[lossy("a", 20.0, 0.0, 1), lossy("b", 60.0, 0.0, 2)], ten()).verdict.unwrap();
    assert_eq!(verdict.failures, None);
    assert!(!verdict.sentence.contains("omplete page views"), "{}", verdict.sentence);
}

#[test]
fn a_few_failures_are_chance() {
    let verdict = of(&[lossy("a", 20.0, 0.004, 1), lossy("b", 60.0, 0.004, 5)], ten()).verdict.unwrap();
    assert!(verdict.failures.is_none_or(|failures| failures.more.is_none()), "{}", verdict.headline);
}

#[test]
fn a_side_of_which_no_page_came_whole_is_not_fast() {
    let comparison = of(&[lossy("never", 20.0, 1.0, 1), lossy("sound", 60.0, 0.0, 2)], ten());
    let pages = comparison.sides[0].pages.as_ref().unwrap();
    assert_eq!((pages.views, pages.whole, pages.expected_ms), (400, 0, None));
    let headline = comparison.verdict.unwrap().headline;
    assert!(headline.starts_with("never fails for 100 % of page views, sound for 0 %."), "{headline}");
}

#[test]
fn failures_have_gates() {
    let sides = [lossy("baseline", 60.0, 0.05, 1), lossy("hasty", 20.0, 0.4, 2)];
    let judged = |text: &str| {
        let question =
            Question { thresholds: vec![text.parse().unwrap()], ..Question::new(Metric::Latency, ten()) };
        compare(&question, &sides).unwrap().comparison.thresholds.remove(0)
    };
    // 4 % of requests, and 40 % of pages.
    assert!(judged("failed above 5%").holds && !judged("failed above 3%").holds);
    assert!(judged("experienced.failed above 50%").holds && !judged("experienced.failed above 20%").holds);
    let more = judged("experienced.failed surely worse");
    assert!(!more.holds && more.figure.contains(" page views failed ("), "{more:?}");
    assert!(!judged("failed surely worse").holds);
    let speed = judged("experienced.p50 worse by 5%");
    assert!(speed.holds && speed.figure.contains(" % of its page views failed, "), "{speed:?}");
    let same = [lossy("baseline", 60.0, 0.1, 1), lossy("same", 60.0, 0.1, 7)];
    let question = Question {
        thresholds: vec!["failed surely worse".parse().unwrap()],
        ..Question::new(Metric::Latency, ten())
    };
    assert!(compare(&question, &same).unwrap().comparison.thresholds[0].holds);
}
