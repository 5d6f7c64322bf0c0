//! Whole drawings of figures: valid XML, required and forbidden contents.

use super::*;

/// Each text once: rims of text do not count.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let texts = texts.filter(|node| node.attribute("aria-hidden").is_none());
    texts.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn every_kind_has_its_file() {
    let files = figures(&example::figures());
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["timeline.svg", "scatter.svg", "multiples.svg", "bars.svg"]);
    for (name, svg) in &files {
        let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (child, tag) in
            document.root_element().children().filter(roxmltree::Node::is_element).zip(["title", "desc"])
        {
            assert!(
                child.has_tag_name(tag) && child.text().is_some_and(|text| text.len() > 20),
                "{name}: {tag}"
            );
        }
        assert!(svg.len() < 200_000, "{name}: {} bytes", svg.len());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        let conditions = "kernel 6.18; round trip 300 ms";
        assert!(texts(svg).iter().any(|text| text.ends_with(conditions)), "{name}: {:?}", texts(svg));
    }
}

#[test]
fn lines_phases_classes_and_marks_are_named() {
    let files = figures(&example::figures());
    let all: Vec<String> = files.iter().flat_map(|(_, svg)| texts(svg)).collect();
    let timeline = ["read (Mbit/s)", "rcv_ssthresh", "rmem", "fast", "slow", "time since the start (s)"];
    let others = [
        "even",
        "odd",
        "p99",
        "868 errors",
        "ports used (%)",
        "10 Gbit/s \u{b7} bbr",
        "128 MiB",
        "40.2 s",
        "0 s",
    ];
    for wanted in timeline.iter().chain(&others) {
        assert!(all.iter().any(|text| text == wanted), "{wanted}: {all:?}");
    }
    assert_eq!(all.iter().filter(|text| *text == "slow").count(), 9);
}

#[test]
fn phases_without_room_are_named_once() {
    // 60 phases in 790 units leave 13 units for each, and "slow" takes about 30.
    let line = Line::new("line", [(0.0, 1.0), (60.0, 2.0)]);
    let empty = Timeline::new("phases", Axis::linear("value", "")).line(line);
    let panel = (0..30_u32).map(|i| 2.0 * f64::from(i)).fold(empty, |panel, from| {
        panel.phase("fast", from, from + 1.0).phase("slow", from + 1.0, from + 2.0)
    });
    let texts = texts(&figures(&Figures::new("", "").panel(panel))[0].1);
    assert_eq!(texts.iter().filter(|text| ["fast", "slow"].contains(&text.as_str())).count(), 1);
}

#[test]
fn a_gap_and_steps_are_drawn_as_such() {
    assert_eq!(
        stairs(&[(0.0, 1.0), (1.0, 5.0), (2.0, 5.0)]),
        [(0.0, 1.0), (1.0, 1.0), (1.0, 5.0), (2.0, 5.0), (2.0, 5.0)]
    );
    assert_eq!(stairs(&[]), []);
    let gap = Line::new(
        "gap",
        [(0.0, Some(1.0)), (1.0, Some(1.0)), (2.0, None), (3.0, Some(1.0)), (4.0, Some(1.0))],
    );
    let whole = Line::new("whole", [(0.0, 1.0), (4.0, 1.0)]);
    let of = |line: Line| {
        let panel = Timeline::new("one line", Axis::linear("value", "")).line(line);
        figures(&Figures::new("", "").panel(panel))[0].1.matches(r##"stroke="#0072b2""##).count()
    };
    // The gap makes two lines of one; the dot before the name has the same rim.
    assert_eq!((of(gap), of(whole)), (3, 2));
}

#[test]
fn what_belongs_together_is_one_file_and_what_is_empty_none() {
    let axis = || Axis::linear("value", "");
    let timeline = || Timeline::new("timeline", axis()).line(Line::new("line", [(0.0, 1.0), (1.0, 2.0)]));
    let scatter =
        |unit: &str| Scatter::new("scatter", axis(), Axis::linear("time", unit)).class("all", [(0.0, 1.0)]);
    let document = Figures::new("many", "")
        .panel(timeline())
        .panel(timeline())
        .panel(scatter("ms"))
        .panel(scatter("ms"))
        .panel(scatter("s"))
        .panel(timeline())
        .panel(Multiples::new("none", axis(), axis()).chart("row", "column", []))
        .panel(crate::model::figures::Bars::new("none", axis()))
        .panel(Timeline::new("none", axis()).phase("slow", 0.0, 1.0))
        .panel(Scatter::new("none", axis(), axis()));
    let names: Vec<_> = figures(&document).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["timeline.svg", "scatter.svg", "scatter-2.svg", "timeline-2.svg"]);
}

#[test]
fn labels_cannot_leave_their_text_and_an_invalid_run_says_so() {
    let label = "</text><script>alert('&')</script>\u{0}";
    let document = Figures::new(label, label)
        .condition(label, label)
        .invalid("The reader was the bottleneck.")
        .panel(
            Timeline::new(label, Axis::linear(label, label))
                .line(Line::new(label, [(0.0, 1.0)]))
                .phase(label, 0.0, 9.0),
        )
        .panel(
            Scatter::new(label, Axis::share(label), Axis::log(label, ""))
                .class(label, [(0.5, 0.0)])
                .marks(label, [0.5]),
        )
        .panel(Multiples::new(label, Axis::log("", ""), Axis::share("")).chart(
            label,
            label,
            [Line::new(label, [(1.0, 0.5)])],
        ))
        .panel(crate::model::figures::Bars::new(label, Axis::linear("", "")).bar(label, 1.0));
    let files = figures(&document);
    assert_eq!(files.len(), 4);
    for (name, svg) in files {
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!document.descendants().any(|node| node.has_tag_name("script")), "{name}");
        assert!(texts(&svg).iter().any(|text| text.starts_with("INVALID")), "{name}");
    }
}

#[test]
fn a_crowd_of_points_stays_small() {
    // A class of noise that fills its frame: 837 - 62 = 775 by about 330 units are at most 260 x 110 spots
    // of size 3, and each takes at most 10 letters, "M837 447h0".
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    let crowd = (0..200_000_u32).map(|i| (noise(i), noise(i.wrapping_mul(7) + 1)));
    let panel = Scatter::new("noise", Axis::share("x"), Axis::share("y")).class("all", crowd);
    let svg = &figures(&Figures::new("", "").panel(panel))[0].1;
    assert!(svg.len() < 300_000, "{} bytes", svg.len());
}
