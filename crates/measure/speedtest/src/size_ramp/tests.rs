//! Executes plans on lines in virtual time.

use serde::Deserialize;

use super::*;
use crate::serve::browser::Written;

/// Bits per second each way, and the round-trip time.
#[derive(Clone, Copy)]
struct Line {
    rates: [f64; 2],
    round_trip: Option<Duration>,
}

impl Line {
    fn of(rates: [f64; 2]) -> Self {
        Self { rates, round_trip: None }
    }

    fn long(rate: f64, round_trip_ms: u64) -> Self {
        Self { rates: [rate; 2], round_trip: Some(Duration::from_millis(round_trip_ms)) }
    }

    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    fn takes(self, direction: Direction, bytes: u64) -> Duration {
        let over = Duration::from_secs_f64(bytes as f64 * 8.0 / self.rates[direction as usize]);
        over + self.round_trip.unwrap_or_default()
    }
}

struct Walked {
    sets: Vec<(Direction, u64, u32)>,
    latencies: u32,
    total: Duration,
    last: Option<Step>,
    steps: Vec<String>,
}

fn walk(plan: &Plan, line: Line, largest: u64) -> Walked {
    let mut course = SizeRamp::new(plan, largest);
    let mut walked =
        Walked { sets: Vec::new(), latencies: 0, total: Duration::ZERO, last: None, steps: Vec::new() };
    while let Some((step, left)) = course.next_step() {
        assert!((1..=plan.steps.len()).contains(&left), "{left} steps are left");
        walked.last = Some(step);
        walked.steps.push(format!("{left} left: {}", said(step)));
        match step {
            Step::Latency { samples } => walked.latencies += samples,
            Step::Transfer { direction, bytes, count } => {
                let took = line.takes(direction, bytes);
                let mut done = 0;
                while done < count && course.goes_on(took * done) {
                    done += 1;
                }
                course.finished((direction, bytes), &vec![took; done as usize], line.round_trip);
                walked.total += took * done;
                walked.sets.push((direction, bytes, done));
            }
            Step::WarmUp { .. } | Step::Loss { .. } => {}
        }
    }
    walked
}

fn said(step: Step) -> String {
    match step {
        Step::WarmUp { bytes } => format!("warm_up {bytes}"),
        Step::Latency { samples } => format!("latency {samples}"),
        Step::Transfer { direction, bytes, count } => format!("{direction} {bytes} x{count}"),
        Step::Loss { messages } => format!("loss {messages}"),
    }
}

#[test]
fn a_slow_line_is_not_asked_for_large_bodies() {
    // 10 Mbit/s: 1 MB takes 0.8 s and 10 MB 8 s, of which two start within 15 s. Upload at 1 Mbit/s: 100 KB
    // take 0.8 s, 1 MB 8 s.
    let Walked { sets, latencies, .. } = walk(&Plan::full(), Line::of([10e6, 1e6]), MOST);
    use Direction::{Download, Upload};
    assert_eq!(
        sets,
        [
            (Download, 100_000, 9),
            (Download, 1_000_000, 8),
            (Upload, 100_000, 8),
            (Upload, 1_000_000, 2),
            (Download, 10_000_000, 2)
        ]
    );
    assert_eq!(latencies, 20 + 2 * 4);
}

#[test]
fn a_fast_line_gets_the_whole_plan() {
    let Walked { sets, latencies, .. } = walk(&Plan::full(), Line::of([5e9; 2]), MOST);
    assert_eq!(sets.len(), 11);
    assert_eq!(sets.last(), Some(&(Direction::Download, 250_000_000, 2)));
    assert_eq!(latencies, 20 + 2 * 10);
}

#[test]
fn a_long_line_is_asked_for_larger_bodies_until_its_window_has_opened() {
    let plan = Plan::quick();
    let is_enough = |took_ms, round_trip_ms: Option<u64>| {
        let mut course = SizeRamp::new(&plan, MOST);
        let ms = Duration::from_millis;
        course.finished((Direction::Download, 1_000_000), &[ms(took_ms)], round_trip_ms.map(ms));
        course.is_enough(Direction::Download)
    };
    // 1 MB in seven round trips of 300 ms measures the window and not the line.
    assert!(!is_enough(2100, Some(300)));
    assert!(is_enough(3001, Some(300)));
    for round_trip_ms in [None, Some(1), Some(100)] {
        assert!(!is_enough(1000, round_trip_ms) && is_enough(1001, round_trip_ms), "{round_trip_ms:?}");
    }
}

const MOST: u64 = 8_000_000_000;
const MB: u64 = 1_000_000;

fn beyond(line: Line, largest: u64) -> Vec<(Direction, u64, u32)> {
    let plan = Plan::full();
    let Walked { sets, last, .. } = walk(&plan, line, largest);
    assert_eq!(last, plan.steps.last().copied(), "latency is looked at after all of them");
    let steps = plan.steps.iter().filter(|step| matches!(step, Step::Transfer { .. })).count();
    sets.into_iter().skip(steps).collect()
}

#[test]
fn a_long_fast_line_gets_larger_bodies_than_the_plan_has() {
    use Direction::{Download, Upload};
    // 941 Mbit/s, 300 ms: 250 MB take 2.4 s and 200 MB 2.0 s, less than the 6 s of 20 round trips. 1 GB takes
    // 8.8 s, 800 MB 7.1 s.
    let long = Line::long(941e6, 300);
    assert_eq!(beyond(long, MOST), [(Upload, 200 * MB, 2), (Upload, 800 * MB, 2), (Download, 1000 * MB, 2)]);
    // 50 MB up take 0.53 s, and 200 MB 1.8 s, of the 2 s of 20 round trips. 250 MB down take 2.2 s.
    assert_eq!(beyond(Line::long(941e6, 100), MOST), [(Upload, 200 * MB, 2), (Upload, 800 * MB, 2)]);
    assert_eq!(beyond(long, 250 * MB), [(Upload, 200 * MB, 2), (Upload, 250 * MB, 2)]);
}

#[test]
fn a_short_or_slow_line_gets_the_plan_and_no_more() {
    // At 20 ms 50 MB take at least 21 round trips.
    for round_trip_ms in [1, 20] {
        assert_eq!(beyond(Line::long(941e6, round_trip_ms), MOST), [], "{round_trip_ms} ms");
    }
    // 25 MB take 21 s at 10 Mbit/s.
    assert_eq!(beyond(Line::long(9.41e6, 300), MOST), []);
    assert_eq!(beyond(Line::of([1e11; 2]), MOST), []);
}

#[test]
fn no_larger_body_begins_that_would_take_too_long() {
    // 250 MB take 11 s, less than 20 round trips of 1 s; four times as much exceeds the limit of 30
    // s. 50 MB take 3 s, so the prediction for 200 MB is 12 s; it takes 9 s, and 800 MB would take
    // 36 s.
    assert_eq!(beyond(Line::long(200e6, 1000), MOST), [(Direction::Upload, 200 * MB, 2)]);
}

#[test]
fn no_line_is_full_for_long() {
    for rate in [1e5, 1e6, 1e7, 1e8, 1e9] {
        let quick = walk(&Plan::quick(), Line::of([rate; 2]), MOST).total;
        // At most the last two sets of a direction take long. A started request is completed: 100
        // KB at 100 Kbit/s take 8 s.
        assert!(quick < Duration::from_secs(2 * (2 * 4 + 10)), "{rate}: {quick:?}");
    }
}

/// `web/test/course.mjs` tests the page with the same cases.
#[derive(Deserialize)]
struct Cases {
    plan: serde_json::Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    bps: [f64; 2],
    round_trip_ms: Option<u64>,
    largest: u64,
    steps: Vec<String>,
}

#[test]
fn the_page_and_the_terminal_go_the_same_way() {
    let Cases { plan, cases } = serde_json::from_str(include_str!("cases.json")).unwrap();
    assert_eq!(serde_json::to_value(Written::of(&Plan::full())).unwrap(), plan, "the page's plan");
    for Case { name, bps, round_trip_ms, largest, steps } in cases {
        let line = Line { rates: bps, round_trip: round_trip_ms.map(Duration::from_millis) };
        assert_eq!(walk(&Plan::full(), line, largest).steps, steps, "{name}");
    }
}
