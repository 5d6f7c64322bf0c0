//! Speed test plans: parsed plans are within the limits, and errors have a position.
//!
//! `cargo +nightly fuzz run speed_plan corpus/speed_plan seeds/speed_plan`

#![no_main]

use std::time::Duration;

use config_file::Document;
use libfuzzer_sys::fuzz_target;
use speedtest::{
    plan::{Direction, LARGEST, Plan, Step},
    stop::Course,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Plan::read("plan", &Document::new("plan.toml", text)) {
        Ok(plan) => {
            assert!((1..=100).contains(&plan.steps.len()));
            assert!(plan.most_bytes(Direction::Download).0 <= 100 * 1000 * LARGEST);
            assert!(walk(&plan) <= plan.steps.len() + MOST_LARGER);
        }
        Err(mistake) => assert!(mistake.line >= 1 && mistake.column >= 1),
    }
});

/// Runs a plan on a very fast path, where each set of transfers is too short; returns the number of
/// steps.
fn walk(plan: &Plan) -> usize {
    let mut course = Course::new(plan, LARGEST);
    let mut walked = 0;
    while let Some((step, left)) = course.next_step() {
        assert!((1..=plan.steps.len()).contains(&left));
        if let Step::Transfer { direction, bytes, .. } = step {
            assert!((1..=LARGEST).contains(&bytes));
            course.finished((direction, bytes), &[Duration::from_nanos(1)], Some(Duration::from_secs(1)));
        }
        walked += 1;
    }
    walked
}

/// In each direction, body sizes that at least double exceed 1 GB after 30 steps.
const MOST_LARGER: usize = 2 * 30;
