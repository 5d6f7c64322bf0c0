//! Speed, measured beside a peer in the same run. Not a test: a figure depends on the machine, a ratio much less.

mod compare;
mod engines;
mod planet;

use anyhow::bail;

use crate::run;

/// Runs the named benchmarks, or all of them.
pub(crate) fn bench(names: &[&str]) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| !["planet", "compare"].contains(name)) {
        bail!("no benchmark \"{unknown}\"; expected planet or compare");
    }
    run(".", "cargo", &["build", "--quiet", "--release", "--package", "longhaul"])?;
    let is_wanted = |name| names.is_empty() || names.contains(&name);
    println!("\n{}\n", conditions());
    println!("| what | goal | n | median | least | most |\n| --- | --- | --- | --- | --- | --- |");
    if is_wanted("planet") {
        planet::bench()?;
    }
    if is_wanted("compare") {
        compare::bench()?;
        // What is timed in this process must be optimised.
        run(".", "cargo", &["run", "--quiet", "--release", "--package", "xtask", "--", "engine-bench"])?;
    }
    Ok(())
}

pub(crate) use engines::bench as engines;

/// Prints one row of the table.
fn row(what: &str, goal: &str, unit: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return };
    let median = values[values.len() / 2];
    println!("| {what} | {goal} | {} | {median:.3} {unit} | {least:.3} | {most:.3} |", values.len());
}

fn conditions() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = model.trim_start_matches(['\t', ' ', ':']);
    format!("{cores} cores of {model}, Linux {}", read("/proc/sys/kernel/osrelease").trim())
}
