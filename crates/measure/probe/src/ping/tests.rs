//! The schedule in virtual time, and pings over loopback, which need root or a group within
//! net.ipv4.ping_group_range.

use std::time::Duration;

use recording::{Reader, Writer};

use super::{
    clocks::Clocks,
    config::REMEMBERED,
    packet::sequence,
    rounds::{Answer, Rounds},
    *,
};
use crate::{ShutdownSignal, load::Progress};

const MS: u64 = 1_000_000;

fn config(count: u32, interval_ms: u64, timeout_ms: u64) -> Config {
    Config {
        count,
        interval: Duration::from_millis(interval_ms),
        timeout: Duration::from_millis(timeout_ms),
        ..Config::default()
    }
}

fn send_all(rounds: &mut Rounds, until: u64) -> Vec<(usize, u64)> {
    let mut sent = Vec::new();
    while let Some(ping) = rounds.due(until) {
        rounds.sent(ping, ping.intended);
        sent.push((ping.target, ping.intended));
    }
    sent
}

#[test]
fn a_round_is_spread_evenly_over_the_interval() {
    let mut rounds = Rounds::new(&config(2, 100, 50), 4);
    // 100 ms among 4 targets: one each 25 ms.
    let first = [(0, 0), (1, 25 * MS), (2, 50 * MS), (3, 75 * MS)];
    assert_eq!(send_all(&mut rounds, 100 * MS - 1), first);
    assert_eq!(send_all(&mut rounds, u64::MAX), first.map(|(target, at)| (target, at + 100 * MS)));
}

#[test]
fn a_delay_comes_before_the_first_round() {
    let later = Config { delay: Duration::from_millis(30), ..config(2, 100, 50) };
    let mut rounds = Rounds::new(&later, 2);
    assert_eq!(rounds.due(30 * MS - 1), None);
    // 30 ms, and then 100 ms among 2 targets, twice.
    let sent = [(0, 30 * MS), (1, 80 * MS), (0, 130 * MS), (1, 180 * MS)];
    assert_eq!(send_all(&mut rounds, u64::MAX), sent);
}

#[test]
fn each_reply_counts_for_what_it_is() {
    let mut rounds = Rounds::new(&config(1, 100, 50), 2);
    send_all(&mut rounds, u64::MAX);
    assert!(matches!(rounds.answer(0, 20 * MS), Some(Answer::First(flight)) if flight.sent == 0));
    assert_eq!(rounds.answer(0, 21 * MS), Some(Answer::Duplicate));
    // The second was sent at 50 ms and may wait until 100 ms.
    assert_eq!(rounds.lost(100 * MS), None);
    assert_eq!(rounds.next_timeout(), Some(100 * MS + 1));
    assert_eq!(rounds.answer(1, 101 * MS), Some(Answer::Late));
    assert_eq!(rounds.lost(101 * MS).map(|flight| flight.ping.number), Some(1));
    assert_eq!((rounds.lost(u64::MAX), rounds.next_timeout()), (None, None));
    assert_eq!(rounds.answer(2, 102 * MS), None);
}

#[test]
fn a_sequence_means_the_youngest_ping_that_has_it() {
    let mut rounds = Rounds::new(&config(100_000, 1, 1), 1);
    let before = 70_000;
    while rounds.find(sequence(before - 1)).is_none_or(|flight| flight.ping.number != before - 1) {
        send_all(&mut rounds, before * MS - 1);
        // Each is lost a millisecond after it was sent, and makes room for another.
        while rounds.lost((before - 2) * MS).is_some() {}
    }
    let find = |rounds: &mut Rounds, number| rounds.find(sequence(number)).map(|flight| flight.ping.number);
    assert_eq!(find(&mut rounds, before - 1), Some(before - 1));
    let oldest = before - REMEMBERED as u64;
    assert_eq!(find(&mut rounds, oldest), Some(oldest));
    assert_eq!(find(&mut rounds, oldest - 1), Some(before - 1));
}

#[test]
fn none_that_may_be_answered_is_forgotten_for_one_that_is_due() {
    let mut rounds = Rounds::new(&config(100_000, 1, 1), 1);
    assert_eq!(send_all(&mut rounds, 100_000 * MS).len(), REMEMBERED);
    assert_eq!(rounds.lost(2 * MS - 1).map(|flight| flight.ping.number), Some(0));
    assert_eq!(send_all(&mut rounds, 100_000 * MS).len(), 1);
}

#[test]
fn after_a_stop_nothing_is_due_and_what_is_under_way_is_waited_for() {
    let mut rounds = Rounds::new(&config(10, 100, 50), 1);
    send_all(&mut rounds, 0);
    assert!(rounds.stop(), "nine pings are left out");
    assert!(!rounds.stop(), "and by a second wish none");
    assert_eq!((rounds.due(u64::MAX), rounds.next_timeout()), (None, Some(50 * MS + 1)));
    assert_eq!(rounds.abandoned().map(|flight| flight.ping.number), Some(0));
    assert_eq!((rounds.abandoned(), rounds.next_timeout()), (None, None));
}

#[test]
fn what_cannot_be_carried_out_is_refused() {
    assert!(matches!(config(1, 0, 50).check(1), Err(Error::Interval)));
    // 2 s are 2000 rounds of 33 targets: 66 000.
    assert!(matches!(config(5000, 1, 2000).check(33), Err(Error::TooMany { under_way: 66_000, .. })));
    assert!(config(100, 1, 2000).check(33).is_ok());
}

#[test]
fn three_hundred_targets_answer_over_both_families() {
    let mut hosts: Vec<_> = (0..200).map(|n| format!("127.0.{}.{}", n / 100, n % 100 + 1)).collect();
    hosts.extend((0..100).map(|_| "::1".to_owned()));
    let targets = resolve(&hosts, Family::Any).unwrap();
    let config = Config { timeout: Duration::from_secs(60), size: 3, ..config(2, 100, 0) };
    let mut file = Vec::new();
    let recording = Writer::new(&mut file, &header(&targets, &config)).unwrap();
    let summary = run(&targets, &config, recording, &Progress::default(), &ShutdownSignal::new()).unwrap();
    assert_eq!((summary.sent, summary.received), (600, 600));
    for target in &summary.targets {
        let rtt = target.rtt_ms.as_ref().unwrap();
        assert_eq!((target.sent, target.duplicates, target.damaged, rtt.n), (2, 0, 0, 2));
        assert!(0.0 < rtt.min && rtt.min <= rtt.mean && rtt.mean <= rtt.max, "{rtt:?}");
    }
    let samples: Vec<_> = Reader::new(file.as_slice(), "memory").unwrap().map(Result::unwrap).collect();
    assert_eq!(samples.len(), 600);
    assert!(samples.iter().all(|sample| sample.latency_ns > Some(0) && sample.labels.contains_key("target")));
}

/// 3.2 s forward after 0.3 s, and 5 s back after 0.6 s.
fn restless(at: u64) -> i64 {
    match at / (300 * MS) {
        0 => 0,
        1 => 3_200_000_000,
        _ => -1_800_000_000,
    }
}

#[test]
fn round_trips_survive_a_clock_that_is_set_and_it_is_said_when() {
    // No other test pings these: the raw sockets of a process receive each other's replies.
    let targets = resolve(&["127.0.3.1", "127.0.3.2"].map(str::to_owned), Family::Any).unwrap();
    let config = config(45, 20, 60_000);
    let recording = Writer::new(std::io::sink(), &header(&targets, &config)).unwrap();
    let (progress, stop) = (Progress::default(), ShutdownSignal::new());
    let summary =
        run::run_by(&targets, &config, recording, &progress, &stop, Clocks::start(restless)).unwrap();
    assert_eq!(summary.received, 90);
    for target in &summary.targets {
        // Round trips by the wall clock would be wrong by 3.2 s, or 5 s below zero.
        let rtt = target.rtt_ms.as_ref().unwrap();
        assert!(rtt.min > 0.0 && rtt.max < 3000.0, "{rtt:?}");
    }
    let [forward, back] = summary.clock_steps.as_slice() else { panic!("{:?}", summary.clock_steps) };
    assert!(
        (forward.step_ms - 3200.0).abs() < 1.0 && (back.step_ms + 5000.0).abs() < 1.0,
        "{forward:?}, {back:?}"
    );
    assert!(0 < forward.after_seq && forward.after_seq < back.after_seq, "{forward:?}, {back:?}");
}

#[test]
fn an_unknown_host_is_named() {
    let said = resolve(&["127.0.0.1".to_owned(), "no.such.host.invalid".to_owned()], Family::Any);
    assert!(matches!(said, Err(Error::UnknownHost { host, .. }) if host == "no.such.host.invalid"));
    let said = resolve(&["127.0.0.1".to_owned()], Family::V6).unwrap_err().to_string();
    assert!(said.contains("127.0.0.1"), "{said}");
}
