//! Statistical power: how often a comparison reports a sure difference, and in the right direction, if one
//! side is slower by a known number of standard errors.
//!
//! `cargo xtask bench power` runs every shape, `power REPEATS TEXT` those with TEXT in their name.

mod shapes;

use std::{fmt::Write as _, fs, num::NonZero, path::Path, process::Command, thread};

use anyhow::{Context, ensure};
use statistics::{
    Certainty, Difference, Distribution, Resamples, Scheme, Settings, Timed, independent_stretch, resample,
};

use self::shapes::{Shape, Sides};

const SAMPLES: usize = 1000;

const EFFECTS: [f64; 6] = [0.0, 1.0, 2.0, 5.0, 20.0, 100.0];

const WHAT: [&str; 3] = ["mean", "median", "E[max of 10]"];

pub(crate) fn bench(repeats: u64, wanted: &str) -> anyhow::Result<()> {
    let shapes: Vec<Shape> = Shape::ALL.into_iter().filter(|shape| shape.name().contains(wanted)).collect();
    ensure!(repeats > 0, "no repeats");
    ensure!(!shapes.is_empty(), "no shape's name contains \"{wanted}\"");
    println!(
        "Surely the right side / surely the wrong side, in percent of {repeats} draws of 2 x {SAMPLES}."
    );
    println!("At effect 0, both sides have the same source: each sure difference is an error.\n");
    println!("| shape | effect, SE | ms | {} | Welch's t | Mann-Whitney | BCa bootstrap |", WHAT.join(" | "));
    println!("|{}", " --- |".repeat(WHAT.len() + 6));
    for shape in shapes {
        let error_ms = standard_error(shape);
        for effect in EFFECTS {
            let ours = said(repeats, |seed| called(&shape.draw(SAMPLES, effect * error_ms, seed)));
            let theirs = scipy(shape, effect * error_ms, repeats)?;
            let percent = |count: u64| (count as f64 * 100.0 / repeats as f64).round();
            let cell = |[right, wrong]: [u64; 2]| format!("{}/{}", percent(right), percent(wrong));
            let ours = ours.map(cell).join(" | ");
            let theirs = theirs.map(|found| found.map_or_else(|| "not here".to_owned(), cell)).join(" | ");
            println!("| {} | {effect} | {:.3} | {ours} | {theirs} |", shape.name(), effect * error_ms);
        }
    }
    Ok(())
}

fn standard_error(shape: Shape) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let difference = |seed: u64| {
        let [first, second] = shape.draw(SAMPLES, 0.0, DRAWS + seed);
        mean(&second.1) - mean(&first.1)
    };
    let differences: Vec<f64> = (0..DRAWS).map(difference).collect();
    let middle = mean(&differences);
    (differences.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (DRAWS - 1) as f64).sqrt()
}

fn said(repeats: u64, called: impl Fn(u64) -> [i32; WHAT.len()] + Sync) -> [[u64; 2]; WHAT.len()] {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |thread: usize| (0..repeats).skip(thread).step_by(threads).map(&called).collect::<Vec<_>>();
    let part = &part;
    let calls: Vec<[i32; WHAT.len()]> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    let count = |what: usize, call: i32| calls.iter().filter(|calls| calls[what] == call).count() as u64;
    std::array::from_fn(|what| [count(what, 1), count(what, -1)])
}

fn called(sides: &Sides) -> [i32; WHAT.len()] {
    let sides = sides.each_ref().map(|(started_s, values_ms)| {
        let length = independent_stretch(values_ms, None);
        let timed = Timed { values_ms, started_s: Some(started_s), offset_s: 0.0, step: None, length };
        (Distribution::new(values_ms.clone()).expect("latencies"), Scheme::Timed(timed))
    });
    let sides: Vec<(&Distribution, Scheme<'_>)> =
        sides.iter().map(|(side, scheme)| (side, *scheme)).collect();
    let settings = Settings { resamples: 400, seed: 1, level: 0.95 };
    let resamples: Resamples<'_> = resample(&sides, 10, &settings).expect("settings in their ranges");
    let call = |difference: Difference| match (difference.certainty, difference.difference_ms > 0.0) {
        (Certainty::Sure, true) => 1,
        (Certainty::Sure, false) => -1,
        _ => 0,
    };
    let pair = resamples.pair(0, 1).expect("two sides");
    [pair.mean(), pair.quantile(0.5), pair.expected_experienced()].map(call)
}

fn scipy(shape: Shape, later_ms: f64, repeats: u64) -> anyhow::Result<[Option<[u64; 2]>; 3]> {
    let Ok(python) = std::env::var("PYTHON") else { return Ok([None; 3]) };
    let folder = tempfile::tempdir()?;
    for seed in 0..repeats {
        for (side, (_, values)) in ["a", "b"].into_iter().zip(shape.draw(SAMPLES, later_ms, seed)) {
            write(folder.path(), &format!("{seed}.{side}"), &values)?;
        }
    }
    let output = Command::new(&python)
        .args(["-c", SCRIPT, &repeats.to_string()])
        .current_dir(folder.path())
        .output()
        .with_context(|| format!("cannot run {python}"))?;
    ensure!(output.status.success(), "{python}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    ensure!(numbers.len() == 6, "{python} printed \"{text}\"");
    Ok([0, 2, 4].map(|at| Some([numbers[at], numbers[at + 1]])))
}

fn write(folder: &Path, name: &str, values: &[f64]) -> anyhow::Result<()> {
    let mut text = String::new();
    values.iter().try_for_each(|value| writeln!(text, "{value}"))?;
    Ok(fs::write(folder.join(name), text)?)
}

const SCRIPT: &str = "
import sys, warnings
import numpy, scipy.stats as stats
warnings.simplefilter('ignore')
counts = [[0, 0], [0, 0], [0, 0]]
def difference(a, b, axis=-1):
    return numpy.mean(b, axis=axis) - numpy.mean(a, axis=axis)
for seed in range(int(sys.argv[1])):
    a, b = (numpy.loadtxt(f'{seed}.{side}') for side in 'ab')
    later = b.mean() > a.mean()
    interval = stats.bootstrap((a, b), difference, n_resamples=999, method='BCa', batch=50, random_state=seed).confidence_interval
    ranks = stats.mannwhitneyu(a, b)
    calls = [
        (stats.ttest_ind(a, b, equal_var=False).pvalue < 0.05, later),
        (ranks.pvalue < 0.05, ranks.statistic < len(a) * len(b) / 2),
        (interval.low > 0 or interval.high < 0, later),
    ]
    for count, (sure, is_later) in zip(counts, calls):
        if sure:
            count[0 if is_later else 1] += 1
print(*[number for count in counts for number in count])
";

/// Draws for a standard error, which determine it to 4 %.
const DRAWS: u64 = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_anybody_sees_is_sure() {
        for shape in Shape::ALL {
            let later_ms = (100.0 * standard_error(shape)).max(1.0);
            let found = said(4, |seed| called(&shape.draw(SAMPLES, later_ms, seed)));
            assert!(found.iter().all(|calls| *calls == [4, 0]), "{}: {found:?}", shape.name());
        }
    }

    #[test]
    fn five_standard_errors_are_found_through_what_both_sides_share() {
        for shape in [Shape::LogNormal, Shape::SharedDrift, Shape::Cities, Shape::Periodic] {
            let later_ms = 5.0 * standard_error(shape);
            let [mean, ..] = said(10, |seed| called(&shape.draw(SAMPLES, later_ms, seed)));
            assert!(mean[0] >= 8, "{}: {mean:?}", shape.name());
        }
    }
}
