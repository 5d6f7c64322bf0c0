//! Whole files: valid XML, required and forbidden contents.

use super::*;

fn file<'f>(files: &'f [(String, String)], name: &str) -> &'f str {
    &files.iter().find(|(file, _)| file == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text().map(str::to_owned)).collect()
}

fn names(report: &Report) -> Vec<String> {
    charts(report).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_report_with_everything_has_every_chart() {
    let files = charts(&example::report());
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "cdf.svg",
            "cdf-nines.svg",
            "qq.svg",
            "effective-qq.svg",
            "difference.svg",
            "experienced.svg",
            "over-time.svg",
            "phases.svg",
            "heat-swift.svg",
            "heat-steady.svg"
        ]
    );
    for (name, svg) in &files {
        let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        assert_eq!(root.attribute("viewBox"), Some("0 0 960 540"));
        for (child, tag) in root.children().filter(roxmltree::Node::is_element).zip(["title", "desc"]) {
            assert!(
                child.has_tag_name(tag) && child.text().is_some_and(|text| text.len() > 20),
                "{name}: {tag}"
            );
        }
        assert!(svg.len() < 200_000, "{name}: {} bytes", svg.len());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
}

#[test]
fn charts_name_their_sides_and_conditions() {
    let files = charts(&example::report());
    for name in ["cdf.svg", "cdf-nines.svg", "qq.svg", "experienced.svg"] {
        let texts = texts(file(&files, name));
        for label in ["swift", "steady"] {
            assert!(texts.iter().any(|text| text == label), "{name}: {texts:?}");
        }
        let [before, after] =
            ["ttfb, page of 180 requests, 90 required; ", ": 95 % intervals; n = 20 000 a side"];
        let is_conditions = |text: &String| text.starts_with(before) && text.ends_with(after);
        assert!(texts.iter().any(is_conditions), "{name}: {texts:?}");
    }
    let axis = texts(file(&files, "cdf-nines.svg"));
    for tick in ["0", "50", "90", "99", "99.9", "99.99", "100", "1\u{202f}000"] {
        assert!(axis.iter().any(|text| text == tick), "{tick}: {axis:?}");
    }
}

#[test]
fn what_was_not_measured_has_no_file() {
    let mut report = example::report();
    report.charts[0].heat = None;
    report.differences.clear();
    for chart in &mut report.charts {
        (chart.over_time, chart.phases, chart.band) = (None, None, None);
    }
    report.comparison.page.effective_requests = 1;
    assert_eq!(names(&report), ["cdf.svg", "cdf-nines.svg", "qq.svg", "experienced.svg", "heat-steady.svg"]);
    report.charts.truncate(1);
    report.charts[0].experienced.truncate(1);
    assert_eq!(names(&report), ["cdf.svg", "cdf-nines.svg"]);
    report.charts.clear();
    assert!(charts(&report).is_empty());
}

#[test]
fn a_label_cannot_leave_its_text() {
    let mut report = example::report();
    let label = "</text><script>alert('&')</script>\u{0}";
    report.charts[0].label = label.to_owned();
    report.comparison.sides[0].label = label.to_owned();
    report.differences[0].first = label.to_owned();
    report.faults[0].label = label.to_owned();
    let files = charts(&report);
    for (name, svg) in &files {
        let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!document.descendants().any(|node| node.has_tag_name("script")), "{name}");
    }
    assert!(
        files.iter().any(|(name, _)| name == "heat-text--script-alert-------script.svg"),
        "{:?}",
        names(&report)
    );
}

#[test]
fn file_names_are_harmless_and_their_own() {
    let mut used = BTreeSet::new();
    let names = ["../../etc/passwd", "Swift", "swift", "...", "", "c:\\a|b", "\u{6771}\u{4eac}"];
    assert_eq!(
        names.map(|label| file_name("heat", label, &mut used)),
        [
            "heat-etc-passwd.svg",
            "heat-Swift.svg",
            "heat-swift-2.svg",
            "heat-side.svg",
            "heat-side-2.svg",
            "heat-c--a-b.svg",
            "heat-\u{6771}\u{4eac}.svg"
        ]
    );
}

#[test]
fn an_invalid_measurement_says_so_on_every_chart() {
    let mut report = example::report();
    report.valid = false;
    for (name, svg) in charts(&report) {
        assert!(texts(&svg).iter().any(|text| text.starts_with("INVALID")), "{name}");
    }
}

#[test]
fn sides_without_any_spread_are_drawn() {
    let mut report = example::report();
    for chart in &mut report.charts {
        chart.quantiles.latency_ms.fill(0.0);
        chart.band = None;
    }
    report.differences[0].difference_ms.fill(0.0);
    report.differences[0].ci_ms.clear();
    for (name, svg) in charts(&report) {
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!svg.contains("NaN"), "{name}");
    }
}

#[test]
fn a_heat_map_without_any_order_stays_small() {
    let mut report = example::report();
    let heat = report.charts[0].heat.as_mut().unwrap();
    // 1000 intervals of 100 rows; adjacent cells hardly ever have the same shade.
    heat.counts = (0..100_000_u32).map(|cell| cell.wrapping_mul(2_654_435_761) >> 24).collect();
    heat.edges_ms = (1..=101).map(f64::from).collect();
    let svg = heat::draw(&report, 0).unwrap();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
}

#[test]
fn many_sides_stay_small() {
    let mut report = example::report();
    for index in 0..10 {
        let mut chart = report.charts[index % 2].clone();
        chart.label = format!("side {index} with a name that is rather too long for a drawing");
        report.charts.push(chart);
    }
    for (name, svg) in charts(&report) {
        assert!(svg.len() < 200_000, "{name}: {} bytes", svg.len());
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
