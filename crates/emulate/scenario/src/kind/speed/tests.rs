//! Speed tests: subjects of claims, figures, and their command lines.

use ::speedtest::{
    bandwidth::Transfer,
    latency::{During, On, Sample},
    plan::Direction,
    result::{Loss, Seen},
};
use statistics::Page;

use super::*;

fn test(protocol: Protocol) -> Speed {
    Speed {
        side: "dsl".to_owned(),
        from: "home".to_owned(),
        to: "server".to_owned(),
        port: 8090,
        protocol,
        plan: "quick".to_owned(),
        streams: 1,
        duration: Duration::from_secs(30),
        after: None,
    }
}

/// 10 Mbit/s down and nothing up; 20 ms idle, 320 ms during a download.
fn seen() -> Seen {
    let sample = |during, ms| Sample { at_s: 0.0, during, on: On::Separate, ms };
    let idle = |ms| Sample { on: On::Same, ..sample(During::Idle, ms) };
    let second = Duration::from_secs(1);
    let transfer = Transfer { bytes: 1_250_000, behind_first: 1_250_000, over: second, took: second };
    let mut seen = Seen { took_s: 10.0, protocol: "http/1.1".to_owned(), ..Seen::default() };
    seen.transfers[Direction::Download as usize].push(transfer);
    seen.latencies = vec![idle(20.0), idle(20.0), sample(During::Download, 320.0)];
    seen.loss = Some(Ok(Loss::of(200, 197).unwrap()));
    seen
}

fn asked(of: &SpeedResult, name: &str) -> Result<f64, String> {
    let mut evidence = Evidence::default();
    evidence.object(of.object(Arc::new(serde_json::to_value(of).unwrap())));
    let mut measured = claim::Measured::new(Page::new(1, 1.0).unwrap());
    measured.add(SOURCE, "dsl", evidence);
    measured.value(&subject(name).unwrap().unwrap(), "dsl").map(|one| one.value)
}

#[test]
fn claims_are_about_figures_and_points_and_what_is_missing_says_why() {
    let one = SpeedResult::new(&test(Protocol::Http1), seen().conclude());
    assert_eq!(asked(&one, "speed.download"), Ok(10e6));
    assert_eq!(asked(&one, "speed.idle"), Ok(20.0));
    assert_eq!(asked(&one, "speed.loss"), Ok(0.015));
    // 5 for a loss of 1 to 5 %, 5 for 20 to 50 ms, and at least -20 for latency under load: clamped
    // at 0.
    assert_eq!(asked(&one, "speed.gaming"), Ok(0.0));
    let why = asked(&one, "speed.added").unwrap_err();
    assert!(why.contains("upload: nothing was transferred"), "{why}");
    let mut seen = seen();
    seen.latencies.push(Sample { at_s: 0.0, during: During::Upload, on: On::Separate, ms: 120.0 });
    let one = SpeedResult::new(&test(Protocol::Http1), seen.conclude());
    assert_eq!(asked(&one, "speed.added"), Ok(300.0));
    let json = serde_json::to_value(&one).unwrap();
    let read: SpeedResult = serde_json::from_value(json).unwrap();
    assert_eq!((read.measured, read.outcome.scores), (one.measured, one.outcome.scores));
}

#[test]
fn a_row_for_each_line_and_one_for_each_use_with_its_reasons() {
    let shown = figures(&[SpeedResult::new(&test(Protocol::Http1), seen().conclude())]);
    let [measured, scores] = shown.tables.as_slice() else { panic!("two tables") };
    assert_eq!(measured.rows[0][..2], ["dsl", "10.0 Mbit/s"]);
    assert_eq!(measured.rows[0][6], "not known", "added under load");
    assert_eq!(scores.rows.len(), 3);
    assert!(scores.rows[1][4].contains("packet loss"), "{:?}", scores.rows[1]);
}

#[test]
fn one_server_for_each_port_with_tls_where_the_protocol_needs_it() {
    let (clear, other) = (test(Protocol::Http1), Speed { port: 8443, ..test(Protocol::Http3) });
    let started = servers(&[&clear, &clear, &other]);
    let commands: Vec<String> = started.iter().map(|server| server.command.join(" ")).collect();
    assert_eq!(
        commands,
        ["longhaul speed serve --listen [::]:8090", "longhaul speed serve --listen [::]:8443 --tls"]
    );
    assert_eq!(started[0].ready, Some(8090));
}
