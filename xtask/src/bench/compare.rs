//! How long `longhaul compare` takes for two CSV files of a million samples each.

use std::{
    fmt::Write,
    fs,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::ensure;

use super::row;
use crate::root;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(super) fn bench() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let files = [1_u64, 2].map(|seed| (folder.path().join(format!("{seed}.csv")), seed));
    for (path, seed) in &files {
        fs::write(path, csv(*seed))?;
    }
    let mut seconds = Vec::new();
    for _ in 0..REPEATS {
        let start = Instant::now();
        let status = Command::new(root().join("target/release/longhaul"))
            .arg("compare")
            .args(files.iter().map(|(path, _)| path))
            .args(["--requests", "180", "--required", "0.5", "--json"])
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "compare failed");
        seconds.push(start.elapsed().as_secs_f64());
    }
    row("compare two CSV files of 1 000 000 samples each", "< 0.5 s", "s", seconds);
    Ok(())
}

/// A million latencies between 10 and 510 ms, from a linear congruential generator: only their number and form matter.
fn csv(seed: u64) -> String {
    let mut text = "latency_ms\n".to_owned();
    let mut state = seed;
    for _ in 0..1_000_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}.{:03}", 10 + (state >> 40) % 500, (state >> 20) % 1000);
    }
    text
}

const REPEATS: usize = 7;
