//! Link traces, loss traces and delay tables: parsed files drive a link, and errors have a line number.
//!
//! `cargo +nightly fuzz run trace corpus/trace seeds/trace`

#![no_main]

use std::{sync::Arc, time::Duration};

use libfuzzer_sys::fuzz_target;
use link::{
    Arrival, Config, Ecn, FileError, Jitter, Link, Loss, LossTrace, Order, Packet, Rate, Shape, Table, Trace,
    Verdict,
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(trace) = read(bytes, Trace::parse(bytes)) {
        assert!(trace.mean_rate().bits_per_second() > 0);
        carry(Config { rate: Rate::Trace(Arc::new(trace)), ..Config::default() });
    }
    if let Some(losses) = read(bytes, LossTrace::parse(bytes)) {
        carry(Config { loss: Loss::Trace(Arc::new(losses)), ..Config::default() });
    }
    if let Some(table) = read(bytes, Table::parse(bytes)) {
        let (spread, shape) = (Duration::from_millis(5), Shape::Table(Arc::new(table)));
        carry(Config { jitter: Some(Jitter { spread, shape, order: Order::Free }), ..Config::default() });
    }
});

/// Returns the value; the line number of an error must exist.
fn read<T>(bytes: &[u8], result: Result<T, FileError>) -> Option<T> {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    match result {
        Ok(value) => return Some(value),
        Err(FileError::Empty { .. }) => {}
        Err(
            FileError::Unexpected { line, .. }
            | FileError::Decreasing { line, .. }
            | FileError::NoLength { line }
            | FileError::TooLong { line, .. },
        ) => assert!((1..=lines).contains(&line)),
    }
    None
}

/// Each segment sent over the link must have exactly one fate, and must not arrive before it was sent.
fn carry(config: Config) {
    let mut link = Link::new(config, 1);
    let mut segments = 0;
    let packet = Packet::segmented(52, 14_480, 1448);
    for ms in [0, 0, 3, 1_000_000] {
        let arrival = Arrival { packet, flow: 0, ecn: Ecn::NotCapable, tag: Duration::from_millis(ms) };
        link.offer(arrival.tag, arrival, &mut |came, verdict| segments += fate(came, verdict));
    }
    while let Some(timeout) = link.next_timeout() {
        link.advance(timeout, &mut |came, verdict| segments += fate(came, verdict));
    }
    assert_eq!(segments, 40);
}

fn fate(came: &Duration, verdict: Verdict) -> usize {
    if let Verdict::Deliver { due, .. } = &verdict {
        assert!(due >= came);
    }
    let (Verdict::Deliver { segments, .. } | Verdict::Drop { segments, .. }) = verdict;
    segments.len()
}
