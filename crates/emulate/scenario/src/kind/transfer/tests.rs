//! Transfers: subjects of claims and figures.

use report::figures::Panel;
use statistics::Page;

use super::*;

fn printed(summary: &str) -> TransferResult {
    let summary = serde_json::from_str(summary).unwrap();
    TransferResult {
        side: "x".to_owned(),
        from: "phone".to_owned(),
        to: "server".to_owned(),
        own_error_ms: None,
        summary,
    }
}

fn asked(of: &TransferResult, name: &str) -> Result<f64, String> {
    let mut evidence = Evidence::default();
    evidence.object(of.object(Arc::new(serde_json::to_value(of).unwrap())));
    let mut measured = claim::Measured::new(Page::new(1, 1.0).unwrap());
    measured.add(SOURCE, "x", evidence);
    measured.value(&subject(name).unwrap().unwrap(), "x").map(|one| one.value)
}

#[test]
fn lost_and_damaged_bytes_count_alike() {
    let transferred = printed(
        r#"{"schema":"longhaul.transfer/1","server":"10.0.0.2:5201","protocol":"mptcp","fell_back":false,
            "bytes_sent":1000,"bytes_received":990,"bytes_lost":10,"bytes_bad":3,"duration_s":2.0,
            "goodput_mbps":8.5,"stall":{"longest_s":0.5,"at_s":1.0},"intervals":[{"t_s":0.0,"bytes":990}],
            "subflows":2,"retransmits":4,
            "took_s":2.25,"memory":{"most_bytes":5000,"mean_bytes":1200.5,"looks":20}}"#,
    );
    assert_eq!(asked(&transferred, "transfer.lost"), Ok(13.0));
    assert_eq!(asked(&transferred, "transfer.stall"), Ok(500.0));
    assert_eq!(asked(&transferred, "transfer.goodput"), Ok(8.5e6));
    assert_eq!(asked(&transferred, "transfer.duration"), Ok(2250.0));
    assert_eq!(asked(&transferred, "transfer.memory"), Ok(5000.0));
    let json = serde_json::to_value(&transferred).unwrap();
    assert_eq!((&json["side"], &json["subflows"]), (&"x".into(), &2.into()));
    assert_eq!(serde_json::from_value::<TransferResult>(json).unwrap(), transferred);
}

#[test]
fn without_a_receipt_nobody_knows_what_was_lost() {
    let unfinished = printed(
        r#"{"schema":"longhaul.transfer/1","server":"10.0.0.2:5201","protocol":"tcp","fell_back":false,
            "unfinished":"the path carried nothing for 60 s","bytes_sent":1000,"intervals":[]}"#,
    );
    let why = "the transfer of x from phone to server: the path carried nothing for 60 s".to_owned();
    for name in ["transfer.lost", "transfer.stall", "transfer.duration"] {
        assert_eq!(asked(&unfinished, name), Err(why.clone()));
    }
}

/// One point per second: ten at 8 Mbit/s, five at 0, the rest at half the rate.
fn transfer(side: &str) -> TransferResult {
    let bytes = |second: u32| match second {
        0..10 => 1_000_000,
        10..15 => 0,
        _ => 500_000,
    };
    let intervals: Vec<_> =
        (0..=60).map(|second| serde_json::json!({ "t_s": second, "bytes": bytes(second) })).collect();
    let summary = serde_json::json!({
        "schema": "longhaul.transfer/1", "server": "10.0.0.2:5201", "protocol": "mptcp", "fell_back": false,
        "bytes_sent": 33_000_000, "bytes_received": 33_000_000, "bytes_lost": 0, "bytes_bad": 12,
        "goodput_mbps": 4.4, "took_s": 61.04,
        "memory": { "most_bytes": 4_260_000, "mean_bytes": 2e6, "looks": 600 }, "stall": { "longest_s": 5.25, "at_s": 9.9 }, "subflows": 2, "intervals": intervals,
    });
    TransferResult {
        side: side.to_owned(),
        from: "phone".to_owned(),
        to: "server".to_owned(),
        own_error_ms: None,
        summary: serde_json::from_value(summary).unwrap(),
    }
}

#[test]
fn throughput_and_what_happened_meanwhile_are_one_chart() {
    let fault = FaultMark { label: "phone's cable: down".to_owned(), at_s: 10.0, until_s: Some(15.0) };
    let figures = figures(&[transfer("two lines")], &[fault]);
    let row = figures.tables[0].rows[0].join("   ");
    assert!(row.contains("4.40 Mbit/s   5.25 s at 9.90 s   12 B"), "{row}");
    assert!(row.contains("61.0 s   4.26 MB   mptcp, 2 subflows"), "{row}");
    let [Panel::Timeline(timeline)] = &figures.panels[..] else { panic!("{:?}", figures.panels) };
    // 60 s in 60 points: one second each.
    let line = &timeline.lines[0];
    let steps: Vec<f64> = line.y.iter().flatten().copied().collect();
    assert_eq!((line.x[1], line.x.last(), steps.len()), (1.0, Some(&61.0), 62));
    assert_eq!((steps[9], steps[10], steps[14], steps[15]), (8.0, 0.0, 0.0, 4.0));
    assert_eq!((timeline.phases[0].from_s, timeline.phases[0].to_s), (10.0, 15.0));
    assert_eq!(
        timeline.sentence,
        "What arrived of 1 transfer during 1 fault. The longest stall: two lines, 5.25 s from 9.90 s. Means over \
         1.00 s."
    );
}

#[test]
fn what_nobody_knows_is_not_0() {
    let mut unfinished = transfer("tcp");
    unfinished.summary.unfinished = Some("the path broke".to_owned());
    (unfinished.summary.bytes_lost, unfinished.summary.stall) = (None, None);
    unfinished.summary.intervals.clear();
    let figures = figures(&[unfinished], &[]);
    let row = figures.tables[0].rows[0].join("   ");
    assert!(row.contains("4.40 Mbit/s   not known   not known"), "{row}");
    assert_eq!((figures.warnings, figures.valid), (vec!["tcp: the path broke".to_owned()], true));
    assert_eq!(figures.panels, []);
}
