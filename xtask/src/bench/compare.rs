//! Run time and peak memory of `longhaul compare`, compared with the same computation in pandas and numpy.

use std::{
    fmt::Write as _,
    fs,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use super::row;
use crate::root;

pub(super) fn bench() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let million = files(folder.path(), 1_000_000)?;
    let ten = files(folder.path(), 10_000_000)?;
    let page = ["--requests", "180", "--required", "0.5"];
    let html = folder.path().join("report.html");

    let ours = longhaul();
    let compare = |files: &[PathBuf], more: &[&str]| {
        let mut command = Command::new(&ours);
        command.arg("compare").args(files).args(page).args(more);
        measured(command)
    };
    let mut seconds = Vec::new();
    let mut certain = Vec::new();
    for _ in 0..REPEATS {
        seconds.push(compare(&million, &["--json", "--resamples", "0"])?.seconds);
        let html = html.to_string_lossy();
        certain.push(compare(&million, &["--json", "--html", &html])?.seconds);
    }
    row("compare two CSV files of 1e6 samples, without intervals", "< 0.5 s", "s", seconds);
    row("the same with 1000 resamples and a report", "-", "s", certain);
    let megabytes = fs::metadata(&html)?.len() as f64 / 1e6;
    row("its report", "<= 1.5 MB", "MB", vec![megabytes]);

    let script = folder.path().join("peer.py");
    fs::write(&script, PEER)?;
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let peer = || {
        let mut command = Command::new(&python);
        command.arg(&script).args(&ten);
        measured(command)
    };
    let has_peer =
        Command::new(&python).args(["-c", "import numpy, pandas"]).stderr(Stdio::null()).status()?.success();
    let (mut seconds, mut memory, mut ratios, mut peers) = (vec![], vec![], vec![], vec![]);
    // Interleaved, so that machine noise affects both programs equally.
    for _ in 0..PAIRS {
        let run = compare(&ten, &["--json", "--resamples", "0"])?;
        if has_peer {
            let other = peer()?;
            ratios.push(other.seconds / run.seconds);
            peers.push(other.seconds);
        }
        seconds.push(run.seconds);
        memory.push(run.peak_kib as f64 / 1024.0);
    }
    row("compare two CSV files of 1e7 samples, without intervals", "<= 3 s", "s", seconds);
    row("its memory at the most", "<= 1024 MiB", "MiB", memory);
    if has_peer {
        row("pandas and numpy doing the same", "-", "s", peers);
        row("how many times longer they take", ">= 5", "x", ratios);
    } else {
        println!("| pandas and numpy doing the same | - | 0 | not measured: {python} has no pandas | | |");
    }
    Ok(())
}

fn longhaul() -> PathBuf {
    root().join("target/release/longhaul")
}

struct Run {
    seconds: f64,
    peak_kib: u64,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn measured(mut command: Command) -> anyhow::Result<Run> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak_kib = peak_kib.max(high_water_mark(&status_file));
        thread::sleep(Duration::from_millis(2));
    };
    let seconds = start.elapsed().as_secs_f64();
    ensure!(status.success(), "{} failed", command.get_program().to_string_lossy());
    Ok(Run { seconds, peak_kib })
}

fn high_water_mark(status_file: &str) -> u64 {
    let text = fs::read_to_string(status_file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Only the number and the format of the samples matter.
fn files(folder: &Path, samples: u64) -> anyhow::Result<Vec<PathBuf>> {
    let file = |seed: u64| -> anyhow::Result<PathBuf> {
        let path = folder.join(format!("{samples}-{seed}.csv"));
        let mut output = BufWriter::new(fs::File::create(&path).context("cannot write samples")?);
        let mut text = "latency_ms\n".to_owned();
        let mut state = seed;
        for _ in 0..samples {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let _ = writeln!(text, "{}.{:03}", 10 + (state >> 40) % 500, (state >> 20) % 1000);
            output.write_all(text.as_bytes())?;
            text.clear();
        }
        output.flush()?;
        Ok(path)
    };
    [1, 2].into_iter().map(file).collect()
}

const PEER: &str = r#"
import sys
import numpy as np
import pandas as pd

shares = np.array([0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999])
for path in sys.argv[1:]:
    values = np.sort(pd.read_csv(path)["latency_ms"].to_numpy())
    n = len(values)
    ranks = np.arange(n + 1) / n
    weights = np.diff(ranks ** 90)
    print(path, n, values.mean(), values.std(), (values * weights).sum())
    print(np.quantile(values, shares), np.quantile(values, shares ** (1 / 90)))
"#;

const REPEATS: usize = 7;

const PAIRS: usize = 5;
