//! A sweep of eight cells, one INVALID and one missing, as table, charts and CSV file.

use std::{path::Path, time::Duration};

use report::figures::{Look, Multiples, Panel, Scale};

use super::*;
use crate::{Figures as Measured, Measurement, Parameters, Reader, Setting};

fn cell(rtt_ms: u32, rmem: &str, programme: &str, state: State) -> Cell {
    let window_bytes: u32 = if rmem == "default" { 20 << 20 } else { 128 << 20 };
    let mean = (f64::from(window_bytes) * 8e-3 / f64::from(rtt_ms)).min(941.0);
    let is_slow_at_times = programme == "oscillating";
    let figures = Measured {
        bytes: 1_000_000,
        fast_mbps: Some([mean / 100.0, mean]),
        fast_mean_mbps: Some(mean),
        slow_mbps: is_slow_at_times.then_some(mean / 20.0),
        restart_s: (is_slow_at_times && rtt_ms < 300).then_some(0.45),
        restarts_missed: usize::from(is_slow_at_times && rtt_ms == 300) * 2,
        max_pause_ms: f64::from(rtt_ms) + 0.5,
        window_bytes: Some(window_bytes),
        rcvbuf_bytes: Some(2 * window_bytes),
        prunes: Some(0),
        collapses: Some(0),
        ..Measured::default()
    };
    let figures = (state != State::Missing).then_some(figures);
    let late = Caveat {
        kind: "late_packets".to_owned(),
        sentence: "0.2 % of the packets were late".to_owned(),
        invalid: true,
    };
    let doubts = if state == State::Invalid { vec![late] } else { Vec::new() };
    let reasons = claim::reasons(&doubts);
    let name = format!("{rtt_ms}ms-{rmem}-{programme}");
    let run = Measurement { name, state, reasons, warnings: Vec::new(), doubts, figures: figures.clone() };
    Cell {
        parameters: Parameters {
            rtt: Duration::from_millis(rtt_ms.into()),
            rate: "1Gbit".parse().unwrap(),
            rmem: rmem.parse().unwrap(),
            adv_win_scale: Setting::Default,
            notsent_lowat: Setting::Default,
            congestion: Setting::Is("cubic".to_owned()),
            programme: Reader::find(programme, Path::new("")).unwrap(),
        },
        valid: state == State::Valid,
        n: usize::from(figures.is_some()),
        figures,
        runs: vec![run],
    }
}

fn sweep() -> Sweep {
    let mut cells = Vec::new();
    for rtt in [20, 300] {
        for rmem in ["default", "512MiB"] {
            for programme in ["steady", "oscillating"] {
                let state = match (rtt, rmem, programme) {
                    (20, "512MiB", "steady") => State::Invalid,
                    (300, "512MiB", "oscillating") => State::Missing,
                    _ => State::Valid,
                };
                cells.push(cell(rtt, rmem, programme, state));
            }
        }
    }
    Sweep {
        schema: "longhaul.tcp.sweep/1".to_owned(),
        longhaul: "0.1.0".to_owned(),
        kernel: "6.18.44".to_owned(),
        valid: false,
        repeat: 1,
        cells,
    }
}

#[test]
fn the_table_has_what_differs_and_what_is_known() {
    let expected = [
        "\u{1b}[1mrate 1Gbit, congestion cubic; Linux 6.18.44\u{1b}[0m",
        "",
        " rtt        rmem        reader          fast   mean   slow   restart   pause   window   buffer         n",
        "─────────────────────────────────────────────────────────────────────────────────────────────────────────",
        " 20ms    default        steady   9.41 to 941    941      -         -    20.5     20.0     40.0         1",
        " 20ms    default   oscillating   9.41 to 941    941   47.0     0.450    20.5     20.0     40.0         1",
        " 20ms     512MiB        steady   9.41 to 941    941      -         -    20.5      128      256   INVALID",
        " 20ms     512MiB   oscillating   9.41 to 941    941   47.0     0.450    20.5      128      256         1",
        " 300ms   default        steady   5.59 to 559    559      -         -     300     20.0     40.0         1",
        " 300ms   default   oscillating   5.59 to 559    559   28.0     never     300     20.0     40.0         1",
        " 300ms    512MiB        steady   9.41 to 941    941      -         -     300      128      256         1",
        " 300ms    512MiB   oscillating             -      -      -         -       -        -        -   missing",
        "fast, mean, slow in Mbit/s; restart in s; pause in ms; window, buffer in MiB",
        "0 in all of them: prunes, collapsed",
        "\u{1b}[33mnote\u{1b}[0m: 20ms, 512MiB, steady, INVALID: 0.2 % of the packets were late",
        "",
    ];
    assert_eq!(table(&sweep()).split('\n').collect::<Vec<_>>(), expected);
}

fn charts(figures: &Figures) -> Vec<&Multiples> {
    let multiples = figures.panels.iter().filter_map(|panel| match panel {
        Panel::Multiples(multiples) => Some(multiples),
        _ => None,
    });
    multiples.collect()
}

#[test]
fn a_line_goes_through_valid_cells_only() {
    let figures = figures(&sweep());
    let charts = charts(&figures);
    let throughput = charts[0];
    assert_eq!((throughput.x.title.as_str(), throughput.x.scale), ("round trip", Scale::Log));
    let places: Vec<_> =
        throughput.charts.iter().map(|chart| (chart.row.as_str(), chart.column.as_str())).collect();
    assert_eq!(places, [("steady", ""), ("oscillating", "")]);
    let lines = |chart: usize| {
        let lines = throughput.charts[chart].lines.iter();
        lines
            .map(|line| {
                let values = line.y.iter().map(|y| y.map(f64::round)).collect::<Vec<_>>();
                (line.name.as_str(), line.look, values)
            })
            .collect::<Vec<_>>()
    };
    // 20 MiB / 300 ms = 559 Mbit/s; the rate at 20 ms. An INVALID cell is a cross with the name of its
    // setting, and the line skips it.
    assert_eq!(
        lines(0),
        [
            ("default", Look::Solid, vec![Some(941.0), Some(559.0)]),
            ("512MiB", Look::Solid, vec![Some(941.0)]),
            ("512MiB", Look::Crosses, vec![Some(941.0)]),
        ]
    );
    assert_eq!(
        lines(1),
        [
            ("default", Look::Solid, vec![Some(941.0), Some(559.0)]),
            ("512MiB", Look::Solid, vec![Some(941.0)])
        ]
    );
    assert_eq!(
        throughput.sentence,
        "From 559 Mbit/s (300ms, default, steady) to 941 Mbit/s (300ms, 512MiB, steady). Crosses are INVALID measurements."
    );
    let titles: Vec<_> = charts.iter().map(|chart| chart.y.title.as_str()).collect();
    assert_eq!(titles, ["mean throughput", "restart", "longest pause", "buffer"]);
    assert!(figures.valid);
    assert_eq!(figures.warnings, ["20ms, 512MiB, steady, INVALID: 0.2 % of the packets were late"]);
}

#[test]
fn an_invalid_point_is_a_cross_in_the_colour_of_its_setting_and_the_legend_says_so() {
    let mut sweep = sweep();
    for cell in &mut sweep.cells {
        if cell.parameters.rmem == "default".parse().unwrap() && cell.parameters.programme.name == "steady" {
            cell.valid = false;
        }
    }
    for (name, svg) in report::svg::figures(&figures(&sweep)) {
        let document = roxmltree::Document::parse(&svg).unwrap();
        let of = |class: &str, attribute: &str| -> Vec<String> {
            let groups = document.descendants().filter(|node| node.attribute("class") == Some(class));
            let drawn = groups.flat_map(|group| group.descendants().collect::<Vec<_>>());
            drawn.filter_map(|node| node.attribute(attribute).map(str::to_owned)).collect()
        };
        let crosses = of("crosses", "stroke");
        assert!(
            crosses.iter().all(|color| ["#0072b2", "#d55e00"].contains(&color.as_str())),
            "{name}: {crosses:?}"
        );
        if name == "multiples.svg" {
            assert_eq!(crosses.len(), 2, "{crosses:?}");
        }
        let texts: Vec<_> = document.descendants().filter_map(|node| node.text()).collect();
        let is_said = texts.contains(&"\u{2715} INVALID: the tool affected this measurement");
        assert_eq!(is_said, !crosses.is_empty(), "{name}: {texts:?}");
    }
}

#[test]
fn a_sweep_without_a_valid_cell_says_so() {
    let nothing = Sweep { cells: vec![cell(20, "default", "steady", State::Missing)], ..sweep() };
    let figures = figures(&nothing);
    assert!(!figures.valid);
    assert_eq!((figures.panels.len(), figures.summary.as_str()), (0, "No measurement is valid."));
}

#[test]
fn a_csv_file_has_a_line_for_each_cell_and_nothing_for_what_is_absent() {
    let mut sweep = sweep();
    sweep.cells[0].parameters.congestion = Setting::Is("a \"b\", c".to_owned());
    let text = csv(&sweep);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 8);
    assert!(
        lines[1].starts_with(
            "20.0,1000.0,,,,\"a \"\"b\"\", c\",steady,true,1,1000000,9.41,941.0,941.0,,,,,,0,20.5,"
        ),
        "{}",
        lines[1]
    );
    assert!(lines[8].starts_with("300.0,1000.0,536870912,,,cubic,oscillating,false,0,,"), "{}", lines[8]);
}
