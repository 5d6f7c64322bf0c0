//! False positive rate of other tools, on the same draws of one source.
//!
//! Runs ministat (Student's t test) and benchstat (Mann-Whitney U test) if they are installed. Welch's t test
//! and the BCa bootstrap of the difference of means are those of scipy, run by the interpreter in `PYTHON`.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context;

use super::source::{Dependence, Shape};
use super::{Place, WHAT, called_sure, pair};

pub(crate) fn bench(repeats: u64) -> anyhow::Result<()> {
    println!("Two draws of one source reported as different at 95 %, in percent of {repeats}.\n");
    println!(
        "| shape | in time | samples | mean | median | E[max of 90] | ministat | Welch's t | BCa bootstrap | benchstat |"
    );
    println!("|{}", " --- |".repeat(10));
    for place in places() {
        let folder = tempfile::tempdir()?;
        let mut ours = [0_u64; WHAT.len()];
        for seed in 0..repeats {
            let sure = called_sure(place, 1.0, seed);
            ours.iter_mut().zip(sure).for_each(|(count, sure)| *count += u64::from(sure));
            for (side, series) in ["a", "b"].into_iter().zip(pair(place, 1.0, seed)) {
                write(folder.path(), &format!("{seed}.{side}"), &series)?;
            }
        }
        let [welch, bootstrap] = scipy(folder.path(), repeats)?;
        let ministat =
            ran(folder.path(), repeats, "ministat", &["-A", "-c", "95"], "txt", "Difference at 95")?;
        let benchstat = ran(folder.path(), repeats, "benchstat", &[], "bench", "(p=")?;
        let percent = |count: Option<u64>| {
            count.map_or_else(
                || "not here".to_owned(),
                |count| format!("{:.1}", count as f64 * 100.0 / repeats as f64),
            )
        };
        let cells =
            [Some(ours[2]), Some(ours[0]), Some(ours[4]), ministat, welch, bootstrap, benchstat].map(percent);
        let [first, second] = place.sizes;
        println!(
            "| {} | {} | {first} x {second} | {} |",
            place.shape.name(),
            place.dependence.name(),
            cells.join(" | ")
        );
    }
    Ok(())
}

fn places() -> [Place; 7] {
    let place = |shape, dependence, sizes| Place { shape, dependence, sizes, is_common: false };
    let ar = Dependence::Autoregressive;
    [
        place(Shape::LogNormal(0.4), Dependence::Independent, [500, 500]),
        place(Shape::Bimodal(0.01), Dependence::Independent, [100, 100]),
        place(Shape::LogNormal(1.5), Dependence::Independent, [500, 5000]),
        place(Shape::Pareto, Dependence::Independent, [50, 1500]),
        place(Shape::LogNormal(1.0), ar(0.8), [1000, 1000]),
        place(Shape::LogNormal(1.0), ar(0.95), [4000, 4000]),
        place(Shape::LogNormal(1.0), Dependence::Bursts, [4000, 4000]),
    ]
}

fn write(folder: &Path, name: &str, series: &[f64]) -> anyhow::Result<()> {
    let (mut plain, mut bench) = (String::new(), String::new());
    for value in series {
        writeln!(plain, "{value}")?;
        writeln!(bench, "BenchmarkLatency 1 {value} ns/op")?;
    }
    fs::write(folder.join(format!("{name}.txt")), plain)?;
    Ok(fs::write(folder.join(format!("{name}.bench")), bench)?)
}

/// benchstat prints "~" if it finds no difference.
fn ran(
    folder: &Path,
    repeats: u64,
    program: &str,
    arguments: &[&str],
    ending: &str,
    different: &str,
) -> anyhow::Result<Option<u64>> {
    let mut count = 0;
    for seed in 0..repeats {
        let sides = ["a", "b"].map(|side| folder.join(format!("{seed}.{side}.{ending}")));
        let Ok(output) = Command::new(program).args(arguments).args(sides).stderr(Stdio::null()).output()
        else {
            return Ok(None);
        };
        let said = String::from_utf8_lossy(&output.stdout);
        count += u64::from(said.lines().any(|line| line.contains(different) && !line.contains('~')));
    }
    Ok(Some(count))
}

fn scipy(folder: &Path, repeats: u64) -> anyhow::Result<[Option<u64>; 2]> {
    let Ok(python) = std::env::var("PYTHON") else { return Ok([None; 2]) };
    let output = Command::new(&python)
        .args(["-c", SCRIPT, &repeats.to_string()])
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {python}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = said.split_whitespace().map(str::parse::<u64>);
    Ok([(); 2].map(|()| numbers.next().and_then(Result::ok)))
}

const SCRIPT: &str = "
import sys, warnings
import numpy, scipy.stats as stats
warnings.simplefilter('ignore')
welch = bootstrap = 0
def difference(a, b, axis=-1):
    return numpy.mean(b, axis=axis) - numpy.mean(a, axis=axis)
for seed in range(int(sys.argv[1])):
    a, b = (numpy.loadtxt(f'{seed}.{side}.txt') for side in 'ab')
    welch += stats.ttest_ind(a, b, equal_var=False).pvalue < 0.05
    found = stats.bootstrap((a, b), difference, n_resamples=999, method='BCa', batch=50, random_state=seed).confidence_interval
    bootstrap += found.low > 0 or found.high < 0
print(int(welch), int(bootstrap))
";
