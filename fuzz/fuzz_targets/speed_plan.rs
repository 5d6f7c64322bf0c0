//! Any text is a plan within the limits of one, or a mistake with its place.
//!
//! `cargo +nightly fuzz run speed_plan corpus/speed_plan seeds/speed_plan`

#![no_main]

use document::Document;
use libfuzzer_sys::fuzz_target;
use speed::{
    plan::{Direction, LARGEST, Plan},
    stop::Course,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Plan::read("plan", &Document::new("plan.toml", text)) {
        Ok(plan) => {
            assert!((1..=100).contains(&plan.steps.len()));
            assert!(plan.most_bytes(Direction::Download).0 <= 100 * 1000 * LARGEST);
            let mut course = Course::new(&plan);
            let walked = std::iter::from_fn(|| course.next_step()).count();
            assert!(walked <= plan.steps.len());
        }
        Err(mistake) => assert!(mistake.line >= 1 && mistake.column >= 1),
    }
});
