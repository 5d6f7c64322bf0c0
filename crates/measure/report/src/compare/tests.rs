//! Comparisons whose numbers can be derived on paper.

use super::{side::distinct_labels, *};
use crate::{Breakdown, Columns, SpeedVerdicts, Verdicts};

mod doubt;
mod failing;
mod pages;

fn side(label: &str, samples: &[f64]) -> SideInput {
    SideInput::bare(label, Distribution::new(samples.to_vec()).unwrap())
}

fn question(metric: Metric, page: Page) -> Question {
    Question { intervals: None, ..Question::new(metric, page) }
}

fn speed(verdicts: &Verdicts) -> &SpeedVerdicts {
    verdicts.speed.as_ref().unwrap()
}

fn compared(metric: Metric, sides: &[SideInput], page: Page) -> Comparison {
    compare(&question(metric, page), sides).unwrap().comparison
}

fn swift() -> SideInput {
    let mut samples = vec![10.0; 99];
    samples.push(500.0);
    side("swift", &samples)
}

fn steady() -> SideInput {
    side("steady", &[20.0; 100])
}

fn sentence(sides: &[SideInput], page: Page) -> String {
    compared(Metric::Latency, sides, page).verdict.unwrap().sentence
}

fn page() -> Page {
    Page::new(180, 0.5).unwrap()
}

#[test]
fn the_verdict_flips() {
    let comparison = compared(Metric::Ttfb, &[swift(), steady()], page());
    assert_eq!((comparison.schema.as_str(), comparison.metric.as_str()), ("longhaul.compare/1", "ttfb"));
    assert_eq!(comparison.page.effective_requests, 90);
    let verdict = comparison.verdict.unwrap();
    assert_eq!(speed(&verdict).median_request.better.as_deref(), Some("swift"));
    assert_eq!(speed(&verdict).median_request.difference_ms, 10.0);
    assert!((speed(&verdict).request.share_better.unwrap() - 0.99).abs() < 1e-12);
    // Of independent page views, steady's is faster if swift's has the slow request: 1 - 0.99^90.
    assert!((speed(&verdict).experienced.share_better.unwrap() - (1.0 - 0.99_f64.powi(90))).abs() < 1e-12);
    // (99 x 10 + 500)/100 = 14.9.
    assert_eq!(speed(&verdict).request.better.as_deref(), Some("swift"));
    assert!((speed(&verdict).request.difference_ms - 5.1).abs() < 1e-12);
    // 10 + 490 (1 - 0.99^90) = 301.68.
    assert_eq!(speed(&verdict).experienced.better.as_deref(), Some("steady"));
    assert!((speed(&verdict).experienced.difference_ms - 281.68).abs() < 0.01);
    assert_eq!(
        verdict.sentence,
        "swift is 10.0 ms (50.0 %) faster at the median request, but steady is 281.7 ms (93.4 %) faster for the expected \
         page of 180 requests (90 required)."
    );
}

#[test]
fn sentences_for_agreement_and_ties() {
    let (fast, slow) = (side("fast", &[10.0; 30]), side("slow", &[10.25; 30]));
    let all = Page::new(7, 1.0).unwrap();
    assert_eq!(
        sentence(&[fast.clone(), slow.clone()], all),
        "fast is 0.250 ms (2.4 %) faster at the median request and 0.250 ms (2.4 %) faster for the expected page of 7 \
         requests."
    );
    assert_eq!(
        sentence(&[fast.clone(), side("same", &[10.0; 31])], Page::new(1, 1.0).unwrap()),
        "Both are level at the median request and on average."
    );
    let three = [steady(), side("level", &[20.0; 100]), swift()];
    assert_eq!(
        sentence(&three, all),
        "swift is 10.0 ms (50.0 %) faster than the next at the median request, but the best are level for the expected page \
         of 7 requests."
    );
    assert_eq!(
        sentence(&[fast, side("late", &[10.0, 10.0, 13.0])], all),
        // 10 + 3 (1 - (2/3)^7) = 12.8244.
        "Both are level at the median request, but fast is 2.82 ms (22.0 %) faster for the expected page of 7 requests."
    );
}

#[test]
fn one_side_is_described_without_a_verdict() {
    let comparison = compared(Metric::Latency, &[swift()], page());
    assert_eq!((comparison.verdict, comparison.crossovers), (None, Vec::new()));
    let side = &comparison.sides[0];
    let figures = side.figures.as_ref().unwrap();
    assert_eq!((side.n, figures.min_ms, figures.max_ms), (100, 10.0, 500.0));
    assert_eq!(figures.request_percentiles_ms["50"], 10.0);
    // Position 99 x 0.999 = 98.901: 10 + 0.901 x 490.
    assert!((figures.request_percentiles_ms["99.9"] - 451.49).abs() < 1e-9);
    // (100 - 10)/(100 - 1), and its 90th power: 0.000187 of visitors.
    assert!((figures.thin_above - 9000.0 / 99.0).abs() < 1e-12);
    assert!((figures.experienced_thin_above - 0.0188).abs() < 1e-4);
    // 0.5^(1/90).
    assert!((comparison.percentile_to_watch["50"] - 99.232_795).abs() < 1e-6);
    assert_eq!(compared(Metric::Latency, &[], page()).sides, []);
}

#[test]
fn what_is_missing_is_said() {
    let mut lossy = swift();
    (lossy.read, lossy.failed, lossy.without_metric) = (110, 3, 7);
    let warnings = compared(Metric::Tls, &[lossy, side("few", &[1.0, 2.0])], page()).warnings;
    assert_eq!(
        warnings,
        [
            "swift: 3 of 110 events failed; they are in no percentile.",
            "swift: 7 of 110 samples carry no tls; they are left out.",
            "swift: 100 samples are too few for 90 effective requests: what even the median person waits for is \
             decided by fewer than 10 of them.",
            "few: 2 samples are too few for 90 effective requests: what even the median person waits for is decided \
             by fewer than 10 of them.",
            "Fewer than 20 samples on a side: too few to locate the crossing.",
        ]
    );
    // ((5000 - 10)/4999)^90 = exp(-90 x 0.00180198) = 0.850.
    let samples: Vec<f64> = (0..5000).map(f64::from).collect();
    let warnings = compared(Metric::Tls, &[side("some", &samples)], page()).warnings;
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("with 5 000 samples, what people above the 85th percentile"),
        "{}",
        warnings[0]
    );
}

#[test]
fn crossovers_name_the_side_that_is_faster_above() {
    let uniform = |label, from: f64, width: f64| {
        let samples: Vec<f64> = (0..10_000).map(|i| from + width * f64::from(i) / 9999.0).collect();
        side(label, &samples)
    };
    // 100 + 100 p and 50 + 200 p meet at p = 1/2.
    let comparison =
        compared(Metric::Latency, &[uniform("narrow", 100.0, 100.0), uniform("wide", 50.0, 200.0)], page());
    assert_eq!(comparison.crossovers.len(), 1);
    let crossover = &comparison.crossovers[0];
    assert!((crossover.percentile - 50.0).abs() < 1e-6 && (crossover.latency_ms - 150.0).abs() < 1e-6);
    assert_eq!(crossover.faster_above, "narrow");
}

#[test]
fn equal_labels_are_told_apart() {
    let labels = ["a", "a", "a (2)", "b", "a"].map(|label| side(label, &[1.0]));
    assert_eq!(distinct_labels(&labels), ["a", "a (2)", "a (2) (2)", "b", "a (3)"]);
}

#[test]
fn charts_run_from_end_to_end() {
    let samples: Vec<f64> = (0..50_000).map(f64::from).collect();
    let mut long = side("side", &samples);
    long.columns = Some(Columns {
        started_s: Some(samples.iter().map(|i| i / 1000.0).collect()),
        values_ms: samples.iter().map(|i| i % 1000.0).collect(),
        ..Columns::default()
    });
    let mut single = side("side", &[7.0]);
    single.columns =
        Some(Columns { started_s: Some(vec![49.5]), values_ms: vec![7.0], ..Columns::default() });
    let sides = [long, single, swift()];
    let drawn = compare(&question(Metric::Latency, page()), &sides).unwrap().charts().unwrap();

    let quantiles = &drawn[0].quantiles;
    assert_eq!((quantiles.share[0], *quantiles.share.last().unwrap()), (0.0, 1.0));
    assert_eq!(quantiles.share.len(), quantiles.latency_ms.len());
    assert!(quantiles.share.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(drawn[0].experienced.len(), 400);
    assert!((drawn[0].experienced[0].expected_ms - 24_999.5).abs() < 1e-9);
    // 0.5^(1/400) = 0.9982686 of 49999.
    assert!((drawn[0].experienced[399].percentiles_ms[0] - 49_912.43).abs() < 0.01);

    // 50 s of 1000 a second make 100 intervals of 0.5 s, 500 samples in each.
    let over_time = drawn[0].over_time.as_ref().unwrap();
    assert_eq!((over_time.interval_s, over_time.start_s.len()), (0.5, 100));
    assert_eq!((over_time.start_s[1], over_time.count[1], over_time.max_ms[1]), (0.5, 500, 999.0));
    let over_time = drawn[1].over_time.as_ref().unwrap();
    assert_eq!((over_time.start_s.len(), over_time.left_out), (0, 1));

    assert_eq!(drawn[1].label, "side (2)");
    assert_eq!(
        (&drawn[1].quantiles.share[..], &drawn[1].quantiles.latency_ms[..]),
        (&[0.0, 1.0][..], &[7.0, 7.0][..])
    );
    assert_eq!(drawn[2].over_time, None);
}

fn read(text: &str, by: Option<&str>) -> SideInput {
    let wanted = recording::Wanted { by: by.map(str::to_owned), ..recording::Wanted::default() };
    let series =
        recording::decode_series(text.as_bytes(), std::path::Path::new("x/edge.csv"), &wanted).unwrap();
    SideInput::try_from(series).unwrap()
}

#[test]
fn a_series_becomes_a_side() {
    let side = read("started_s,latency_ms,error\n1,30,\n0,10,\n2,,reset\n3,,\n", None);
    assert_eq!((side.label.as_str(), side.format.as_str()), ("edge", "CSV"));
    assert_eq!((side.read, side.failed, side.without_metric), (4, 1, 1));
    assert_eq!((side.distribution.min(), side.distribution.max()), (10.0, 30.0));
    assert_eq!(side.in_time(), Some((&[0.0, 1.0][..], &[10.0, 30.0][..])));
}

fn spread(label: &str, min: f64, max: f64) -> SideInput {
    let n = 20_000_u32;
    let values: Vec<f64> =
        (0..n).map(|i| min + (max - min) * f64::from(i * 7919 % n) / f64::from(n - 1)).collect();
    let started = (0..n).map(|i| f64::from(i) * 0.01).collect();
    let mut side = side(label, &values);
    side.columns = Some(Columns { values_ms: values, started_s: Some(started), ..Columns::default() });
    side
}

#[test]
fn intervals_hold_what_they_are_about() {
    let sides = [spread("narrow", 100.0, 200.0), spread("wide", 50.0, 250.0)];
    let analysis = compare(&Question::new(Metric::Latency, page()), &sides).unwrap();
    let comparison = &analysis.comparison;
    let holds = |ci: crate::Ci, value: f64| ci[0].unwrap() < value && value < ci[1].unwrap();
    for side in comparison.sides.iter().map(|side| side.figures.as_ref().unwrap()) {
        assert!(holds(side.expected_request_ci_ms.unwrap(), 150.0), "{side:?}");
        assert!(holds(side.expected_experienced_ci_ms.unwrap(), side.expected_experienced_ms), "{side:?}");
        assert!(holds(side.request_percentiles_ci_ms["95"], side.request_percentiles_ms["95"]), "{side:?}");
    }
    let verdicts = comparison.verdict.as_ref().unwrap();
    assert_eq!(speed(verdicts).request.better, None);
    let experienced = &speed(verdicts).experienced;
    // U^90 has mean 90/91 of the width above the minimum: 198.9 and 247.8.
    assert_eq!(experienced.better.as_deref(), Some("narrow"));
    assert!(holds(experienced.ci_ms.unwrap(), (50.0 + 200.0 * 90.0 / 91.0) - (100.0 + 100.0 * 90.0 / 91.0)));
    assert_eq!(experienced.sure, Some(1.0 - 1.0 / 1001.0));
    assert!(verdicts.sentence.ends_with(": sure (over 99.9 %)."), "{}", verdicts.sentence);
    let crossover = &comparison.crossovers[0];
    let [low, high] = crossover.ci.unwrap();
    assert!(low < 50.0 && 50.0 < high && high - low < 5.0, "{crossover:?}");
    assert_eq!(analysis.differences().len(), 1);
    let charts = analysis.charts().unwrap();
    assert!(charts.iter().all(|side| side.band.is_some() && side.heat.is_some() && side.phases.is_none()));
}

#[test]
fn three_sides_make_three_pairs() {
    let sides = [side("a", &[1.0; 30]), side("b", &[2.0; 30]), side("c", &[3.0; 30])];
    let pairs = compared(Metric::Latency, &sides, page()).pairs;
    let found: Vec<_> =
        pairs.iter().map(|pair| (&*pair.first, &*pair.second, pair.request.difference_ms)).collect();
    assert_eq!(found, [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0)]);
}

#[test]
fn a_breakdown_begins_where_the_first_is_worse_for_most() {
    let rows = |oslo: u32, lima: u32, rome: u32| {
        let city = |name: &str, ms: u32, n: usize| format!("{ms},{name}\n").repeat(n);
        format!(
            "latency_ms,city\n{}{}{}5,\n",
            city("oslo", oslo, 40),
            city("lima", lima, 80),
            city("rome", rome, 60)
        )
    };
    let sides =
        [read(&rows(10, 30, 30), Some("city")), read(&(rows(20, 20, 20) + "7,nowhere\n"), Some("city"))];
    let by_city = Question { by: Some("city".to_owned()), ..Question::new(Metric::Latency, page()) };
    let Breakdown { label, groups, omitted, unlabelled } =
        compare(&by_city, &sides).unwrap().comparison.breakdown.unwrap();
    let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!((label.as_str(), names), ("city", vec!["lima", "rome", "oslo", "nowhere"]));
    assert_eq!((omitted, unlabelled), (0, 2));
    assert!((groups[0].share - 160.0 / 361.0).abs() < 1e-12);
    let verdict = groups[0].experienced.as_ref().unwrap();
    assert_eq!((verdict.better.is_some(), verdict.difference_ms), (true, 10.0));
    assert_eq!((&groups[3].first, groups[3].second.as_ref().unwrap().n), (&None, 1));
}

/// An HdrHistogram log has counts and tags, but no samples.
#[test]
fn a_breakdown_by_the_tags_of_a_log() {
    let log = |tags: [(&str, f64, u64); 3]| {
        let part = |(tag, value_ms, count): (&str, f64, u64)| {
            let bucket = recording::Bucket::exact(value_ms, count);
            (
                (!tag.is_empty()).then(|| tag.to_owned()),
                Distribution::from_counts(vec![bucket], 0.0005).unwrap(),
            )
        };
        let all = tags.map(|(_, value_ms, count)| recording::Bucket::exact(value_ms, count));
        let all = Distribution::from_counts(all.to_vec(), 0.0005).unwrap();
        SideInput { tagged: Some(tags.map(part).to_vec()), ..SideInput::bare("log", all) }
    };
    let sides = [
        log([("lima", 30.0, 60), ("oslo", 10.0, 100), ("", 5.0, 3)]),
        read("latency_ms,city\n20,lima\n20,lima\n20,oslo\n", Some("city")),
    ];
    let question = Question { by: Some("city".to_owned()), ..Question::new(Metric::Latency, page()) };
    let Breakdown { groups, unlabelled, .. } =
        compare(&question, &sides).unwrap().comparison.breakdown.unwrap();
    let found: Vec<_> = groups
        .iter()
        .map(|group| (&*group.name, group.first.as_ref().unwrap().n, group.second.as_ref().unwrap().n))
        .collect();
    assert_eq!((found, unlabelled), (vec![("lima", 60, 2), ("oslo", 100, 1)], 3));
    assert_eq!(groups[0].first.as_ref().unwrap().median_ms, 30.0);
}

#[test]
fn the_phase_that_makes_the_difference() {
    let rows = |tls: u32| {
        let row = |i: u32| format!("{},10,{tls},{}\n", 10 + tls + 20 + i % 7, 20 + i % 7);
        format!("total_ms,connect_ms,tls_ms,wait_ms\n{}", (0..500).map(row).collect::<String>())
    };
    let sides = [read(&rows(30), None), read(&rows(80), None)];
    let total = Question::new(Metric::Total, page());
    let analysis = compare(&total, &sides).unwrap();
    let phases = &analysis.comparison.phases;
    assert!(phases.iter().all(|at| at.decisive.as_deref() == Some("tls")), "{phases:?}");
    let tls = phases[0].phases.iter().find(|share| share.phase == "tls").unwrap();
    assert_eq!((tls.first_ms, tls.second_ms), (30.0, 80.0));
    let stack = analysis.charts().unwrap()[0].phases.clone().unwrap();
    let at_median: f64 = stack.phases.iter().map(|phase| phase.mean_ms[stack.share.len() / 2]).sum();
    assert!((60.0..=66.0).contains(&at_median), "{at_median}");
}

#[test]
fn real_pages_are_held_against_the_model() {
    let rows: String = (0..2000).map(|i| format!("{},{}\n", 10 + i / 10 % 200, i / 10)).collect();
    let side = read(&format!("latency_ms,page\n{rows}"), None);
    let independence = compared(Metric::Latency, &[side], Page::new(10, 1.0).unwrap()).independence;
    assert!(independence.checked);
    // A page waits 10 + its number, on average 10 + 199/2.
    assert!((independence.observed_ms.unwrap() - 109.5).abs() < 1e-9);
    // The slowest of ten uniform values: about 10 + 200 x 10/11 - 1/2.
    assert!((independence.model_ms.unwrap() - (9.5 + 2000.0 / 11.0)).abs() < 0.5, "{independence:?}");
    assert!(independence.sentence.contains("the model is pessimistic by 7"), "{}", independence.sentence);
    let bare = compared(Metric::Latency, &[swift()], page()).independence;
    assert_eq!((bare.checked, bare.model_ms), (false, None));
}

#[test]
fn order_in_time_is_spoken_of_as_far_as_it_is_known() {
    let sentence = |n: u32, slow: &dyn Fn(u32) -> bool| {
        let rows: String = (0..n)
            .map(|i| format!("{},{i}\n", if slow(i) { 900.0 } else { 100.0 + f64::from(i * 7 % 13) }))
            .collect();
        let side = read(&format!("latency_ms,started_s\n{rows}"), None);
        compared(Metric::Latency, &[side], page()).independence.sentence
    };
    let scattered = sentence(500, &|i| i * 37 % 500 < 25);
    assert!(scattered.contains("no more often than by chance (n = 500)"), "{scattered}");
    let together = sentence(500, &|i| i % 100 < 5);
    assert!(together.contains("slow requests cluster") && together.contains("500 requests"), "{together}");
    let few = sentence(60, &|i| i % 20 == 0);
    assert!(few.contains("fewer than 200 samples") && !few.contains("no times"), "{few}");
}

#[test]
fn thresholds_are_judged_against_the_first_side() {
    let sides = [spread("narrow", 100.0, 200.0), spread("wide", 50.0, 250.0)];
    let judged = |text: &str| {
        let question =
            Question { thresholds: vec![text.parse().unwrap()], ..Question::new(Metric::Latency, page()) };
        compare(&question, &sides).unwrap().comparison.thresholds.remove(0)
    };
    // p90 is 190 and 230, 21.05 % more.
    assert!(judged("p90 worse by 22%").holds);
    let broken = judged("p90 worse by 21%");
    assert!(!broken.holds);
    assert_eq!(broken.figure, "wide: 230.0 ms against 190.0 ms (+21.1 %)");
    assert!(judged("p90 surely worse by 21%").holds);
    assert!(!judged("p90 surely worse by 15%").holds);
    assert!(judged("p10 worse by 0%").holds);
    assert!(!judged("mean above 149ms").holds && judged("mean above 151ms").holds);
    assert!(judged("failed above 0%").holds);
    assert!(!judged("p99.99 worse by 500%").holds);
}
