//! `longhaul example`: writes the recordings of the tutorial. The better provider for one request
//! is the worse one for a page.
//!
//! Only figures are published: the samples are quantiles of a log-normal distribution under an
//! affine map that meets the expectations for a request and for a page.

use std::{fmt::Write, fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, bail};
use clap::Args;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use report::Written;
use statistics::Distribution;

use crate::{
    output::{self, say},
    shell::shell_word,
};

/// Write two recordings to try `longhaul compare` with
///
/// A published case: 90 000 requests to each of two providers. The provider with the better mean and median
/// is slower for most page views. The files are the same each time.
///
/// Example: longhaul example pub
#[derive(Debug, Args)]
pub(crate) struct Example {
    /// The folder to write provider-a.csv and provider-b.csv to; created if it does not exist
    folder: PathBuf,
    /// Print which files were written as JSON
    #[arg(long)]
    json: bool,
}

impl Example {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let paths = SIDES.map(|side| self.folder.join(format!("provider-{}.csv", side.name)));
        let texts = SIDES.iter().map(csv).collect::<anyhow::Result<Vec<_>>>()?;
        for (path, text) in paths.iter().zip(&texts) {
            // An identical file may be overwritten; any other file may not.
            let is_there = path.symlink_metadata().is_ok();
            if is_there && fs::read(path).ok().as_deref() != Some(text.as_bytes()) {
                bail!("{}: another file of this name is there; name another folder", path.display());
            }
        }
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("{}: cannot be made", self.folder.display()))?;
        for (path, text) in paths.iter().zip(&texts) {
            recording::write_whole(path, text.as_bytes())
                .with_context(|| format!("{}: cannot be written", path.display()))?;
        }
        let names = paths.map(|path| path.display().to_string());
        if self.json {
            output::print_json(&output::named("longhaul.files/1", Written { files: names.to_vec() }))?;
        } else {
            output::print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())?;
            let [a, b] = names.map(|name| shell_word(&name));
            say(&format!("try: longhaul compare {a} {b} --requests 180 --required 50%"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, Clone, Copy)]
struct Side {
    name: &'static str,
    expected_request_ms: f64,
    expected_experienced_ms: f64,
    /// Standard deviation of the logarithm: the larger, the longer the tail.
    sigma: f64,
    seed: u64,
}

const SIDES: [Side; 2] = [
    Side { name: "a", expected_request_ms: 141.9, expected_experienced_ms: 207.9, sigma: 0.25, seed: 1 },
    Side { name: "b", expected_request_ms: 129.9, expected_experienced_ms: 281.8, sigma: 0.5, seed: 2 },
];

fn csv(side: &Side) -> anyhow::Result<String> {
    let mut latencies = latencies(side)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(side.seed);
    for last in (1..latencies.len()).rev() {
        let other = below(&mut random, last + 1);
        latencies.swap(last, other);
    }
    let mut text = "started_s,page,latency_ms\n".to_owned();
    for (number, latency) in latencies.into_iter().enumerate() {
        let page = number / REQUESTS;
        // A page view every two seconds; all its requests start within the first second.
        let started = page * 2000 + number % REQUESTS * 5;
        let _ = writeln!(text, "{}.{:03},{page},{latency:.3}", started / 1000, started % 1000);
    }
    Ok(text)
}

fn latencies(side: &Side) -> anyhow::Result<Vec<f64>> {
    let shape: Vec<f64> = (0..SAMPLES)
        .map(|i| (side.sigma * normal_quantile((f64::from(i) + 0.5) / f64::from(SAMPLES))).exp())
        .collect();
    let distribution = Distribution::new(shape.clone())?;
    let (mean, experienced) = (distribution.mean(), distribution.expected_experienced(EFFECTIVE));
    let scale = (side.expected_experienced_ms - side.expected_request_ms) / (experienced - mean);
    let start = side.expected_request_ms - scale * mean;
    Ok(shape.into_iter().map(|value| start + scale * value).collect())
}

/// By bisection of the distribution function.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0_f64, 9.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal_share(middle) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Abramowitz and Stegun 26.2.17, to 7.5e-8.
fn normal_share(x: f64) -> f64 {
    const B: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    let tail = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The modulo bias, 90 000 in 2^32, does not matter for a shuffle.
fn below(random: &mut impl Rng, bound: usize) -> usize {
    random.next_u32() as usize % bound
}

const SAMPLES: u32 = 90_000;
const REQUESTS: usize = 180;
const EFFECTIVE: u32 = 90;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_figures_are_met() {
        for side in SIDES {
            let text = csv(&side).unwrap();
            let values: Vec<f64> =
                text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
            let distribution = Distribution::new(values).unwrap();
            assert_eq!(distribution.n(), 90_000);
            assert!(distribution.min() > 50.0, "{}", distribution.min());
            // Rounding samples to a microsecond changes the mean by less.
            assert!((distribution.mean() - side.expected_request_ms).abs() < 1e-3);
            let experienced = distribution.expected_experienced(EFFECTIVE);
            assert!((experienced - side.expected_experienced_ms).abs() < 1e-3, "{experienced}");
        }
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-5);
        assert!(normal_quantile(0.5).abs() < 1e-6);
    }
}
