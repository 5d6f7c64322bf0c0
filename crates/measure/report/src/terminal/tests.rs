//! The output for a small comparison, and cases that must not break it.

use claim::Judgement;

use super::*;
use crate::model::*;

fn side(label: &str, request_ms: f64, experienced_ms: f64) -> Side {
    let by = |values: [f64; 3]| ["50", "99", "99.9"].map(str::to_owned).into_iter().zip(values).collect();
    let around = |ms: f64| [Some(ms - 1.0), Some(ms + 2.0)];
    let mut side = Side {
        label: label.to_owned(),
        format: "csv".to_owned(),
        read: 1000,
        n: 1000,
        failed: 0,
        without_metric: 0,
        excluded: 0,
        relative_error: None,
        invalid: Vec::new(),
        own_error_ms: None,
        figures: Some(SideFigures {
            expected_request_ms: request_ms,
            expected_request_ci_ms: Some(around(request_ms)),
            standard_deviation_ms: 10.0,
            expected_experienced_ms: experienced_ms,
            expected_experienced_ci_ms: Some([Some(experienced_ms - 1.0), None]),
            min_ms: 80.0,
            max_ms: 900.0,
            request_percentiles_ms: by([request_ms, 2.0 * request_ms, 3.0 * request_ms]),
            request_percentiles_ci_ms: std::collections::BTreeMap::new(),
            experienced_percentiles_ms: by([experienced_ms, 2.0 * experienced_ms, 3.0 * experienced_ms]),
            experienced_percentiles_ci_ms: std::collections::BTreeMap::new(),
            thin_above: 99.1,
            experienced_thin_above: 95.0,
        }),
        block_length: None,
        shifts: Vec::new(),
        failures: Failures::default(),
        pages: None,
    };
    let figures = side.figures.as_mut().unwrap();
    figures.request_percentiles_ci_ms =
        figures.request_percentiles_ms.iter().map(|(p, &ms)| (p.clone(), around(ms))).collect();
    figures.experienced_percentiles_ci_ms =
        figures.experienced_percentiles_ms.iter().map(|(p, &ms)| (p.clone(), around(ms))).collect();
    side
}

fn verdict(better: &str, difference_ms: f64) -> Verdict {
    Verdict {
        better: Some(better.to_owned()),
        difference_ms,
        within_own_error: false,
        ci_ms: Some([Some(difference_ms - 10.0), Some(difference_ms + 10.0)]),
        share_better: None,
        share_better_ci: None,
        relative: None,
        sure: Some(0.99),
        certainty: Some(Certainty::Sure),
        samples_needed: None,
        basis: None,
    }
}

fn example() -> Comparison {
    let mut swift = side("swift", 129.9, 281.8);
    swift.block_length = Some(38);
    Comparison {
        schema: "longhaul.compare/1".to_owned(),
        metric: "ttfb".to_owned(),
        excluded_phases: Vec::new(),
        valid: true,
        page: Page { requests: 180, required: 0.5, effective_requests: 90 },
        percentile_to_watch: [("50", 99.232_8), ("90", 99.883), ("99", 99.988_8)]
            .map(|(p, at)| (p.to_owned(), at))
            .into(),
        intervals: Some(Intervals { level: 0.95, resamples: 1000, seed: 1 }),
        sides: vec![swift, side("steady", 141.9, 207.9)],
        verdict: Some(Verdicts {
            speed: Some(SpeedVerdicts {
                median_request: verdict("swift", 12.0),
                request: verdict("swift", 12.0),
                experienced: verdict("steady", 73.9),
                model: None,
            }),
            failures: None,
            headline: "swift is faster at the median request, but steady for the page.".to_owned(),
            certainty: None,
            sentence: "swift is faster at the median request, but steady for the page.".to_owned(),
        }),
        pairs: Vec::new(),
        identical: Vec::new(),
        differences: Vec::new(),
        crossovers: vec![Crossover {
            percentile: 97.12,
            ci: Some([96.8, 97.4]),
            latency_ms: 312.04,
            faster_above: "steady".to_owned(),
        }],
        independence: Independence {
            checked: false,
            model_ms: None,
            observed_ms: None,
            sentence: "Not checked: no page ids.".to_owned(),
            sides: Vec::new(),
        },
        phases: Vec::new(),
        breakdown: None,
        thresholds: Vec::new(),
        method: "Percentiles are type 7.".to_owned(),
        warnings: vec!["few samples".to_owned()],
        doubts: Vec::new(),
    }
}

fn unstyled(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split('\u{1b}');
    plain += parts.next().unwrap_or_default();
    for part in parts {
        plain += part.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn the_answer_is_one_screen() {
    let text = unstyled(&comparison(&example(), Detail::Short));
    let expected = "\
swift is faster at the median request, but steady for the page.

ttfb in ms; page of 180 requests, 50 % required: 90 effective
              n       expected request     expected experienced
──────────────────────────────────────────────────────────────────
 swift    1 000   129.9 [128.9, 131.9] *      281.8 [280.8, ..]
 steady   1 000   141.9 [140.9, 143.9]        207.9 [206.9, ..] *

 request         p50      p99    p99.9
────────────────────────────────────────
 swift         129.9    259.8    389.7~
 steady        141.9    283.8    425.7~
 experienced
 swift         281.8    563.6~   845.4~
 steady        207.9    415.8~   623.7~
~ fewer than 10 samples beyond
decides for 50 % of people: p99.23 of requests; 90 %: p99.88; 99 %: p99.989

steady is faster above p97.1 [96.8, 97.4] (312.0 ms)
Not checked: no page ids.

95 % intervals, 1000 resamples, seed 1; blocks of 38 neighbours for swift
warning: few samples
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn in_detail_percentiles_have_their_intervals() {
    let text = unstyled(&comparison(&example(), Detail::Wide));
    assert!(text.contains(" 425.7~ [424.7, 427.7]"), "{text}");
    assert!(text.contains(" 281.8  [280.8, 283.8]"), "{text}");
    assert!(text.contains("min") && text.contains("Percentiles are type 7.\n"), "{text}");
}

#[test]
fn without_intervals_the_ends_have_room() {
    let mut plain = example();
    plain.intervals = None;
    for side in &mut plain.sides {
        let figures = side.figures.as_mut().unwrap();
        (figures.expected_request_ci_ms, figures.expected_experienced_ci_ms) = (None, None);
    }
    plain.crossovers[0].ci = None;
    let text = unstyled(&comparison(&plain, Detail::Short));
    assert!(
        text.contains("\n swift    1 000              129.9 *                  281.8     80.0   900.0\n"),
        "{text}"
    );
    assert!(text.contains("steady is faster above p97.1 (312.0 ms)\n"), "{text}");
    assert!(!text.contains("resamples"), "{text}");
}

#[test]
fn samples_that_are_not_used_are_counted() {
    let mut lossy = example();
    (lossy.sides[1].n, lossy.sides[1].failed, lossy.sides[1].without_metric) = (990, 7, 3);
    let text = unstyled(&comparison(&lossy, Detail::Short));
    assert!(
        text.contains("\nsteady: read 1 000, used 990, failed 7, without ttfb 3, excluded 0\n"),
        "{text}"
    );
    assert!(!text.contains("swift: read"), "{text}");
}

#[test]
fn a_page_of_one_request_is_one_request() {
    let mut single = example();
    single.page = Page { requests: 1, required: 1.0, effective_requests: 1 };
    let text = unstyled(&comparison(&single, Detail::Short));
    assert!(text.contains("\nttfb in ms; page of 1 request\n") && !text.contains("decides"), "{text}");
    // 0.55 x 100 is 55.00000000000001.
    single.page = Page { requests: 100, required: 0.55, effective_requests: 55 };
    assert!(
        unstyled(&comparison(&single, Detail::Short))
            .contains("page of 100 requests, 55 % required: 55 effective\n")
    );
}

#[test]
fn phases_say_which_is_decisive() {
    let mut phased = example();
    let share =
        |phase: &str, first_ms, second_ms| PhaseShare { phase: phase.to_owned(), first_ms, second_ms };
    let column = |percentile: &str, wait| PhaseDifference {
        percentile: percentile.to_owned(),
        phases: vec![share("connect", 20.0, 32.5), share("wait", 100.0, wait)],
        decisive: Some(if wait > 60.0 { "connect" } else { "wait" }.to_owned()),
    };
    phased.phases = vec![column("50", 101.0), column("99", 40.0)];
    let text = unstyled(&comparison(&phased, Detail::Short));
    let expected = "
steady less swift by phase, ms; * makes most of the difference
 phase       p50       p99
─────────────────────────────
 connect   +12.5 *   +12.5
 wait       +1.0     \u{2212}60.0 *
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn more_than_two_sides_have_a_matrix() {
    let mut three = example();
    three.sides.push(side("third", 150.0, 215.0));
    let pair = |first: &str, second: &str, better: &str, ms| Pair {
        first: first.to_owned(),
        second: second.to_owned(),
        request: verdict(better, ms),
        experienced: verdict(better, ms),
    };
    three.pairs = vec![
        pair("swift", "steady", "steady", 73.9),
        pair("swift", "third", "third", 66.8),
        pair("steady", "third", "steady", 7.1),
    ];
    three.pairs[2].experienced.certainty = Some(Certainty::Likely);
    let text = unstyled(&comparison(&three, Detail::Short));
    let expected = "
expected experienced, row less column, ms: below 0 the row is faster; ? may be chance, of so many pairs
          swift    steady    third
────────────────────────────────────
 swift              +73.9    +66.8
 steady   \u{2212}73.9              \u{2212}7.10?
 third    \u{2212}66.8     +7.10?
";
    assert!(text.contains(expected), "{text}");
    assert_eq!(unstyled(&comparison(&three, Detail::Wide)).matches("row less column").count(), 2);
}

#[test]
fn a_breakdown_shows_its_first_groups() {
    let mut broken = example();
    let of = |ms| GroupSide {
        n: 500,
        median_ms: ms,
        expected_request_ms: ms,
        expected_experienced_ms: ms,
        thin: ms < 50.0,
    };
    let group = |index: usize| Group {
        name: format!("country {index}"),
        share: 0.01,
        first: Some(of(100.0)),
        second: (index > 0).then(|| of(40.0)),
        experienced: (index > 0).then(|| verdict("steady", 60.0)),
    };
    broken.breakdown = Some(Breakdown {
        label: "country".to_owned(),
        groups: (0..300).map(group).collect(),
        omitted: 0,
        unlabelled: 1,
    });
    let text = unstyled(&comparison(&broken, Detail::Short));
    assert!(text.contains("\ncertainty is corrected for 299 groups (Holm)\n"), "{text}");
    assert!(text.contains("\nand 285 more: --json or --html shows all\n"), "{text}");
    assert!(text.contains("\n country 0           1   100.0         -\n"), "{text}");
    assert!(
        text.contains("\n country 14          1   100.0      40.0~   ! steady by 60.0       99\n"),
        "{text}"
    );
    assert!(text.contains("\n1 sample without country\n") && !text.contains("country 15"), "{text}");
}

#[test]
fn a_group_that_is_not_sure_does_not_look_sure() {
    let mut broken = example();
    let of = |ms| GroupSide {
        n: 500,
        median_ms: ms,
        expected_request_ms: ms,
        expected_experienced_ms: ms,
        thin: false,
    };
    let group = |name: &str, certainty| Group {
        name: name.to_owned(),
        share: 0.3,
        first: Some(of(100.0)),
        second: Some(of(40.0)),
        experienced: Some(Verdict { certainty: Some(certainty), ..verdict("steady", 60.0) }),
    };
    broken.breakdown = Some(Breakdown {
        label: "city".to_owned(),
        groups: vec![
            group("a", Certainty::Sure),
            group("b", Certainty::Likely),
            group("c", Certainty::Undecided),
        ],
        omitted: 0,
        unlabelled: 0,
    });
    let text = unstyled(&comparison(&broken, Detail::Short));
    let cells: Vec<_> = ["! steady by 60.0", "? steady by 60.0", "undecided"].into();
    for (line, cell) in text.lines().skip_while(|line| !line.starts_with(" a ")).zip(cells) {
        assert!(line.contains(cell), "{line}");
    }
    assert!(text.contains("ms; ! where swift is worse; ? may be chance\n"), "{text}");
}

#[test]
fn a_legend_explains_marks_and_not_what_looks_like_one() {
    let mut named = example();
    let of = |ms| GroupSide {
        n: 500,
        median_ms: ms,
        expected_request_ms: ms,
        expected_experienced_ms: ms,
        thin: false,
    };
    let better = Verdict { certainty: Some(Certainty::Sure), ..verdict("swift~", 60.0) };
    let group = Group {
        name: "what?! ~".to_owned(),
        share: 1.0,
        first: Some(of(40.0)),
        second: Some(of(100.0)),
        experienced: Some(better),
    };
    named.breakdown =
        Some(Breakdown { label: "city".to_owned(), groups: vec![group], omitted: 0, unlabelled: 0 });
    for (side, label) in named.sides.iter_mut().zip(["swift~", "steady?!"]) {
        label.clone_into(&mut side.label);
        let figures = side.figures.as_mut().unwrap();
        (figures.thin_above, figures.experienced_thin_above) = (100.0, 100.0);
    }
    let text = unstyled(&comparison(&named, Detail::Short));
    assert!(text.contains("what?! ~") && text.contains("swift~"), "{text}");
    for legend in ["is worse", "may be chance", "fewer than 10"] {
        assert!(!text.contains(legend), "{legend}: {text}");
    }
}

#[test]
fn failures_have_a_row_each_with_an_interval() {
    let mut failing = example();
    (failing.sides[0].failed, failing.sides[0].read) = (40, 1040);
    failing.sides[0].failures = Failures {
        request_share: 40.0 / 1040.0,
        request_share_ci: Some([0.0276, 0.0520]),
        page_share: 0.9703,
        page_share_ci: Some([0.9195, 0.9918]),
        basis: Some(Basis::Model),
    };
    let text = unstyled(&comparison(&failing, Detail::Short));
    let expected = "
 failed      requests    % of requests   % of pages, by the model
──────────────────────────────────────────────────────────────────
 swift    40 of 1 040   3.8 [2.8, 5.2]             97 [92, 99.18]
 steady    0 of 1 000                0                          0
";
    assert!(text.contains(expected), "{text}");
    assert!(!unstyled(&comparison(&example(), Detail::Short)).contains("% of requests"));
}

#[test]
fn real_page_views_have_a_table_of_their_own() {
    let mut paged = example();
    let pages = |mean: f64| ObservedPages {
        views: 500,
        whole: 480,
        requests_min: 180,
        requests_median: 180,
        requests_max: 180,
        expected_ms: Some(mean),
        expected_ci_ms: Some([Some(mean - 5.0), Some(mean + 5.0)]),
        percentiles_ms: [("50", mean), ("95", mean + 50.0), ("99", mean + 90.0)]
            .map(|(name, ms)| (name.to_owned(), ms))
            .into(),
        percentiles_ci_ms: std::collections::BTreeMap::new(),
        thin_above: 98.0,
        block_length: None,
    };
    paged.sides[0].pages = Some(pages(282.5));
    paged.sides[1].pages = Some(pages(208.0));
    let text = unstyled(&comparison(&paged, Detail::Short));
    let expected = "
 real pages   views   whole              mean wait       p50      p95      p99
────────────────────────────────────────────────────────────────────────────────
 swift          500     480   282.5 [277.5, 287.5]     282.5    332.5    372.5~
 steady         500     480   208.0 [203.0, 213.0] *   208.0    258.0    298.0~
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn thresholds_and_shifts_have_a_line_each() {
    let mut shifted = example();
    shifted.sides[0].shifts = vec![Shift { at_s: 312.4, before_ms: 120.0, after_ms: 161.0, sure: 1.0 }; 7];
    shifted.thresholds = vec![Judgement {
        claim: "p50 < 1 ms".to_owned(),
        holds: false,
        decided: true,
        figure: "120 ms".to_owned(),
    }];
    let text = unstyled(&comparison(&shifted, Detail::Short));
    assert!(
        text.contains("\nswift: median 120.0 ms up to 312 s, then 161.0 ms (over 99.9 % sure)\n"),
        "{text}"
    );
    assert!(text.contains("\nand 2 more shifts: --json or --html shows all\n"), "{text}");
    assert!(text.contains("\nFAILED  p50 < 1 ms\n        120 ms\n"), "{text}");
}

#[test]
fn a_label_cannot_move_the_cursor_and_loses_its_middle() {
    let mut hostile = example();
    hostile.sides[0].label = "\u{1b}[2Jevil".to_owned();
    hostile.sides[1].label = "measurements-of-a-very-distant-provider".to_owned();
    let text = comparison(&hostile, Detail::Short);
    assert!(!text.contains("\u{1b}[2J"));
    assert!(text.contains(" measureme\u{2026}provider "), "{text}");
}

#[test]
fn nothing_in_an_ordinary_answer_is_wider_than_a_terminal() {
    let text = unstyled(&comparison(&crate::svg::example::report().comparison, Detail::Short));
    for line in text.lines().skip(1) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn nobody_is_compared_with_nothing() {
    let mut empty = example();
    (empty.sides, empty.verdict, empty.crossovers) = (Vec::new(), None, Vec::new());
    assert!(comparison(&empty, Detail::Short).contains("page of 180 requests"));
}

#[test]
fn a_warning_is_said_once() {
    let mut said = crate::svg::example::report();
    said.comparison.warnings = vec!["few samples".to_owned()];
    said.warnings = vec!["few samples".to_owned(), "no origin".to_owned()];
    let text = unstyled(&report(&said, Detail::Short));
    assert_eq!((text.matches("few samples").count(), text.matches("no origin").count()), (1, 1));
}

#[test]
fn the_last_line_is_the_verdict() {
    let claim = |holds, decided| Judgement { claim: String::new(), holds, decided, figure: String::new() };
    for (valid, claims, expected) in [
        (true, vec![], "verdict: valid, no claim was judged"),
        (true, vec![claim(true, true)], "verdict: valid, the claim holds"),
        (false, vec![claim(true, true); 2], "verdict: INVALID, all 2 claims hold"),
        (true, vec![claim(true, true), claim(false, true)], "verdict: valid, 1 of 2 claims FAILED"),
        (true, vec![claim(true, true), claim(false, false)], "verdict: valid, 1 of 2 claims undecided"),
        (
            false,
            vec![claim(false, true), claim(false, false)],
            "verdict: INVALID, 1 of 2 claims FAILED, 1 undecided",
        ),
    ] {
        let judged = Report { valid, claims, ..crate::svg::example::report() };
        let text = unstyled(&report(&judged, Detail::Short));
        assert_eq!(text.lines().last(), Some(expected));
    }
}
