//! Rules for every drawing: ticks, nothing outside the picture, no text on another, the mark of few
//! samples, no partial interval.

#![expect(
    clippy::cast_possible_truncation,
    reason = "phases have the digits of an f32, and there are few pages"
)]

use std::{collections::BTreeSet, sync::LazyLock};

use recording::Metric;
use statistics::{Distribution, Page, Settings};

use super::{canvas::WIDTH, charts, figures, frame::width};
use crate::{
    Columns, Question, SideInput, compare,
    figures::{Axis, Bars, Figures, Line, Multiples, Scatter, Timeline},
    model::{FaultMark, Report},
};

fn broken_rules(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let root = document.root_element();
    let height: f64 = root.attribute("height").unwrap().parse().unwrap();
    let mut broken = Vec::new();
    let texts: Vec<Written> = root.descendants().filter_map(Written::of).collect();
    for text in &texts {
        if text.left < -0.5 || text.top < -0.5 || text.right > WIDTH + 0.5 || text.bottom > height + 0.5 {
            broken.push(format!("outside: {text:?}"));
        }
    }
    for (index, text) in texts.iter().enumerate() {
        broken.extend(
            texts[..index]
                .iter()
                .filter(|other| text.meets(other))
                .map(|other| format!("{text:?} on {other:?}")),
        );
    }
    let number = |node: roxmltree::Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    for dot in root.descendants().filter(|node| node.has_tag_name("circle")) {
        let [x, y, r] = ["cx", "cy", "r"].map(|name| number(dot, name));
        if x - r < -1.0 || x + r > WIDTH + 1.0 || y - r < -1.0 || y + r > height + 1.0 {
            broken.push(format!("outside: a dot at {x}, {y}"));
        }
        let is_on = |text: &&Written| {
            (x - x.clamp(text.left, text.right)).hypot(y - y.clamp(text.top, text.bottom)) < r - 1.0
        };
        if r >= 4.0 {
            broken.extend(texts.iter().filter(is_on).map(|text| format!("{text:?} on a dot at {x}, {y}")));
        }
    }
    for path in root.descendants().filter(|node| node.has_tag_name("path")) {
        let data = path.attribute("d").unwrap();
        for (place, most) in places(data).into_iter().zip([WIDTH, height].into_iter().cycle()) {
            if !(-1.0..=most + 1.0).contains(&place) {
                broken.push(format!("outside: {place} of {}", data.chars().take(60).collect::<String>()));
                break;
            }
        }
    }
    for axis in ["x-axis", "y-axis"] {
        for group in root.descendants().filter(|node| node.attribute("class") == Some(axis)) {
            let ticks: BTreeSet<_> =
                group.descendants().filter_map(Written::of).map(|one| one.text).collect();
            if ticks.len() < 3 {
                broken.push(format!("ticks of an {axis}: {ticks:?}"));
            }
        }
    }
    broken
}

fn places(data: &str) -> Vec<f64> {
    let mut places = Vec::new();
    let mut at = (0.0, 0.0);
    let commands = data.split_inclusive(|c: char| c.is_ascii_alphabetic()).collect::<Vec<_>>();
    let mut command = 'M';
    for piece in commands {
        let (numbers, next) = match piece.char_indices().next_back() {
            Some((end, letter)) if letter.is_ascii_alphabetic() => (&piece[..end], letter),
            _ => (piece, command),
        };
        let numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        match (command, &numbers[..]) {
            (_, []) | ('h', _) => {}
            ('M' | 'L', [x, y]) => at = (*x, *y),
            ('H', [x]) => at.0 = *x,
            ('V', [y]) => at.1 = *y,
            other => panic!("{other:?} in {data}"),
        }
        places.extend([at.0, at.1]);
        command = next;
    }
    places.split_off(2)
}

#[derive(Debug)]
struct Written {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Written {
    /// Rims of text do not count.
    fn of(node: roxmltree::Node) -> Option<Self> {
        let is_text = node.has_tag_name("text") && node.attribute("aria-hidden").is_none();
        let text = node.text().filter(|_| is_text)?.to_owned();
        let number = |name: &str| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
        let (x, y, size) = (number("x")?, number("y")?, number("font-size")?);
        let wide = width(&text, size) * if node.attribute("font-weight").is_some() { 1.1 } else { 1.0 };
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - wide / 2.0,
            Some("end") => x - wide,
            _ => x,
        };
        Some(Self { text, left, right: left + wide, top: y - 0.76 * size, bottom: y + 0.12 * size })
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right - 0.5
            && other.left < self.right - 0.5
            && self.top < other.bottom - 0.5
            && other.top < self.bottom - 0.5
    }
}

type Shape = (&'static str, fn(f64) -> f64);

const SHAPES: [Shape; 10] = [
    ("constant", |_| 5.0),
    ("zero", |_| 0.0),
    ("tiny range", |u| 100.0 + 0.02 * u),
    ("part of a decade", |u| 30.0 + 25.0 * u),
    ("a decade", |u| 11.0 * 9.1_f64.powf(u)),
    ("log-normal", |u| 20.0 * (0.5 * (u / (1.0 - u)).ln()).exp()),
    ("heavy tail", |u| 10.0 * (1.0 - u).powf(-1.0 / 1.1)),
    ("two modes", |u| if u < 0.97 { 20.0 + u } else { 1220.0 + 300.0 * u }),
    ("huge range", |u| 10_f64.powf(-4.0 + 11.0 * u)),
    ("large", |u| 3.0e7 + 5.0e6 * u),
];
const SAMPLES: [usize; 6] = [1, 2, 20, 150, 400, 1500];
const LABELS: [[&str; 4]; 4] = [
    ["a", "b", "c", "d"],
    ["swift", "steady", "a rather long name of a recording from the frankfurt office", "swift-2"],
    ["WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", "MMMMMMMMMMMMMMMMMMMMMMMM", "@@@@@@@@@@@@@@@@@@@@@@@", "W"],
    [
        "\u{6771}\u{4eac}\u{306e}\u{8a18}\u{9332}\u{ff1a}\u{5927}\u{962a}\u{307e}\u{3067}\u{306e}\u{9060}\u{3044}\u{9053}\u{306e}\u{308a}",
        "\u{5927}\u{962a}",
        "</text>",
        "",
    ],
];

/// Knuth's MMIX generator: numbers in 0..1, never 0 or 1.
fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

fn side(label: &str, shape: fn(f64) -> f64, n: usize, seed: u64, beside: u64) -> SideInput {
    let mut draw = draws(seed);
    let values_ms: Vec<f64> =
        (0..n).map(|_| shape(draw()) * if seed.is_multiple_of(2) { 1.0 } else { 1.1 }).collect();
    let mut side = SideInput::bare(label, Distribution::new(values_ms.clone()).unwrap());
    if beside == 0 {
        return side;
    }
    let started_s = (0..n).map(|i| 3.7 * beside as f64 + i as f64 * 0.037).collect();
    let phase = |part: f64| values_ms.iter().map(|ms| (ms * part) as f32).collect::<Vec<f32>>();
    let phases = [0.05, 0.2, 0.1, 0.1, 0.05, 0.4, 0.1].map(phase);
    side.columns = Some(Columns {
        values_ms,
        started_s: Some(started_s),
        pages: (beside > 1).then(|| (0..n).map(|i| (i / 7) as u32).collect()),
        phases: (beside != 2).then_some(phases),
        ..Columns::default()
    });
    side
}

fn reports() -> &'static [(String, Report)] {
    static MADE: LazyLock<Vec<(String, Report)>> = LazyLock::new(make_reports);
    &MADE
}

fn make_reports() -> Vec<(String, Report)> {
    let cases = SHAPES.iter().flat_map(|shape| SAMPLES.iter().map(move |&n| (shape, n))).enumerate();
    let report = |(case, (&(shape, of), n)): (usize, (&Shape, usize))| {
        let labels = LABELS[case % LABELS.len()];
        let count = [2, 3, 1, 2, 4][case % 5];
        let sides: Vec<SideInput> = (0..count)
            .map(|index| {
                let other = SHAPES[(case + index) % SHAPES.len()].1;
                let shape = if index == 2 { other } else { of };
                let n = if index == 1 { n.div_ceil(2) } else { n };
                side(labels[index], shape, n, (case * 7 + index) as u64, (case % 4) as u64)
            })
            .collect();
        let page = Page::new([1, 20, 180, 500][case % 4], [1.0, 0.5][case % 2]).unwrap();
        let settings = Settings { resamples: 200, ..Settings::default() };
        let intervals = (case % 7 != 6).then_some(settings);
        let question = Question { intervals, ..Question::new(Metric::Total, page) };
        let analysis = compare(&question, &sides).unwrap();
        let mut report = crate::of_comparison("rules", &analysis, &[]).unwrap();
        let fault = |label: &str, at_s: f64, until_s| FaultMark { label: label.to_owned(), at_s, until_s };
        if case % 3 == 0 {
            report.faults = vec![
                fault("london-newyork: loss 5 %", 8.0, Some(12.0)),
                fault(labels[2], 9.0, Some(30.0)),
                fault("and one that stays", 20.0, None),
            ];
        }
        (format!("{shape}, {n} samples, {count} sides, case {case}"), report)
    };
    cases.map(report).collect()
}

#[test]
fn every_chart_of_every_comparison_keeps_the_rules() {
    let mut all = Vec::new();
    for (name, report) in reports() {
        for (file, svg) in charts(report) {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{file} of {name}");
            all.extend(broken_rules(&svg).into_iter().map(|broken| format!("{file} of {name}: {broken}")));
        }
    }
    assert!(
        all.is_empty(),
        "{} broken rules:\n{}",
        all.len(),
        all.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn few_samples_are_marked_wherever_a_table_marks_them() {
    for (name, report) in reports() {
        let sides: Vec<_> =
            report.comparison.sides.iter().map(|side| side.figures.as_ref().unwrap()).collect();
        let thin = |percent: f64| sides.iter().any(|side| side.thin_above <= percent);
        for (file, svg) in charts(report) {
            let is_marked = svg.contains('~');
            let wanted = match file.as_str() {
                "cdf.svg" | "cdf-nines.svg" | "difference.svg" | "phases.svg" => thin(100.0 - 1e-9),
                "qq.svg" => sides.iter().take(2).any(|side| side.thin_above <= 99.9),
                "effective-qq.svg" => sides.iter().take(2).any(|side| side.experienced_thin_above <= 99.9),
                "experienced.svg" => {
                    let most = report.charts.iter().map(|chart| chart.experienced.len()).min().unwrap();
                    sides.iter().any(|side| (side.thin_above / 100.0).powf(most as f64) <= 0.5)
                }
                _ => continue,
            };
            assert_eq!(is_marked, wanted, "{file} of {name}");
        }
    }
}

#[test]
fn partial_intervals_are_neither_drawn_nor_hidden() {
    let mut seen = 0;
    for (name, report) in reports() {
        for (index, chart) in report.charts.iter().enumerate() {
            let (Some(over), Some(heat)) = (&chart.over_time, &chart.heat) else { continue };
            let n = report.comparison.sides[index].n;
            assert_eq!(over.count.iter().sum::<u64>() + over.left_out, n, "{name}");
            let counted: u64 = heat.counts.iter().copied().map(u64::from).sum();
            assert_eq!(counted + heat.left_out, n, "{name}");
        }
        let left_out: u64 =
            report.charts.iter().filter_map(|chart| Some(chart.over_time.as_ref()?.left_out)).sum();
        let files = charts(report);
        let Some((_, svg)) = files.iter().find(|(file, _)| file == "over-time.svg") else { continue };
        seen += usize::from(left_out > 0);
        assert_eq!(svg.contains("of partial ones left out"), left_out > 0, "{name}: {left_out}");
    }
    assert!(seen > 5, "only {seen} recordings end within an interval");
}

fn documents() -> Vec<(String, Figures)> {
    let ranges: [Shape; 5] = [
        ("constant", |_| 3.0),
        ("zero", |_| 0.0),
        ("tiny", |part| 941.0 + 0.01 * part),
        ("huge", |part| 10_f64.powf(-3.0 + 12.0 * part)),
        ("signed", |part| 1e7 * (part - 0.5)),
    ];
    let cases = ranges.iter().flat_map(|range| LABELS.iter().map(move |labels| (range, labels))).enumerate();
    let document = |(case, (&(range, of), labels)): (usize, (&Shape, &[&str; 4]))| {
        let lines = 1 + case % 9;
        let name = |index: usize| format!("{} {index}", labels[index % 4]);
        let points = |points: usize| (0..points).map(move |i| (0.3 + 37.7 * i as f64, of(i as f64 / 9.0)));
        let line = |index: usize| Line::new(name(index), points(10 - index % 3));
        let timeline = (0..lines).fold(
            Timeline::new(labels[1], Axis::linear(labels[0], "Mbit/s"))
                .says(labels[2])
                .phase(labels[0], 0.0, 90.0),
            |all, index| all.line(line(index)),
        );
        let scatter = Scatter::new(labels[2], Axis::share("ports used"), Axis::log("time", "us"))
            .class(labels[0], (0..50_u32).map(|i| (f64::from(i) / 50.0, of(f64::from(i) / 50.0).abs())))
            .class(labels[1], (0..50_u32).map(|i| (f64::from(i) / 50.0, 2.0 * of(f64::from(i) / 50.0).abs())))
            .line(Line::new(name(0), [(0.1, 1.0), (0.9, of(0.9).abs())]))
            .marks(labels[3], [0.9, 0.95]);
        let sweep = (0..4_usize).fold(
            Multiples::new(
                "Throughput by round trip",
                Axis::log("round trip", "ms"),
                Axis::linear("rate", "Mbit/s"),
            ),
            |all, chart| {
                let drawn = (0..lines).flat_map(|index| {
                    [line(index), Line::new(name(index), points(3)).crosses()]
                        .into_iter()
                        .take(1 + (case + chart) % 2)
                });
                all.chart(labels[chart % 2], labels[1 + chart / 2], drawn)
            },
        );
        let bars = (0..lines).fold(Bars::new("limits", Axis::linear("time", "s")), |all, index| {
            all.bar(name(index), of(index as f64 / 9.0).abs())
        });
        let document = Figures::new(labels[2], labels[0])
            .condition(labels[1], labels[2])
            .panel(timeline.clone())
            .panel(timeline)
            .panel(scatter.clone())
            .panel(scatter)
            .panel(sweep)
            .panel(bars);
        (format!("{range}, {lines} lines, case {case}"), document)
    };
    cases.map(document).collect()
}

#[test]
fn every_drawing_of_figures_keeps_the_rules() {
    let mut all = Vec::new();
    for (name, document) in documents() {
        for (file, svg) in figures(&document) {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{file} of {name}");
            all.extend(broken_rules(&svg).into_iter().map(|broken| format!("{file} of {name}: {broken}")));
        }
    }
    assert!(
        all.is_empty(),
        "{} broken rules:\n{}",
        all.len(),
        all.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn a_drawing_that_breaks_a_rule_is_found() {
    let drawing = |body: &str| format!("<svg width=\"960\" height=\"540\">{body}</svg>");
    let text = |x: f64, text: &str| format!("<text x=\"{x}\" y=\"20\" font-size=\"10\">{text}</text>");
    assert_eq!(broken_rules(&drawing(&format!("{}{}", text(10.0, "nnn"), text(40.0, "nnn")))).len(), 0);
    // Three n are 18.6 wide.
    assert_eq!(broken_rules(&drawing(&format!("{}{}", text(10.0, "nnn"), text(27.0, "nnn")))).len(), 1);
    assert_eq!(broken_rules(&drawing(&text(950.0, "nnn"))).len(), 1);
    assert_eq!(broken_rules(&drawing("<path d=\"M10 10L20 20H30V700z\"/>")).len(), 1);
    assert_eq!(broken_rules(&drawing("<circle cx=\"12\" cy=\"18\" r=\"5\"/>")).len(), 0);
    let on = format!("{}<circle cx=\"12\" cy=\"18\" r=\"5\"/>", text(10.0, "n"));
    assert_eq!(broken_rules(&drawing(&on)).len(), 1);
    let axis = format!("<g class=\"x-axis\">{}{}</g>", text(10.0, "1"), text(40.0, "2"));
    assert_eq!(broken_rules(&drawing(&axis)).len(), 1);
}
