//! Reads every file of a corpus with the program and with an independent reader in Python, and compares
//! samples, failures, mean, median, 99th percentile and maximum.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};
use recording::formats::ROWS;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::root;

#[derive(Debug, Serialize)]
struct Task {
    path: PathBuf,
    options: Options,
    format_first: bool,
}

/// Options that a file needs, from a file of the same name with the suffix `.options`, one per line.
#[derive(Debug, Default, Clone, Serialize)]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Figures {
    metric: Option<String>,
    read: u64,
    failed: u64,
    n: u64,
    mean: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Figures(Figures),
    Refused { refused: String },
    Failed { failed_to_read: String },
}

enum Said {
    Figures { format: String, figures: Figures },
    Refused(String),
}

pub(crate) fn judge(paths: &[&str]) -> anyhow::Result<()> {
    let in_tree = paths.is_empty();
    let places: Vec<PathBuf> = match in_tree {
        true => own_corpora()?,
        false => paths.iter().map(PathBuf::from).collect(),
    };
    let mut tasks = Vec::new();
    for place in &places {
        collect(place, &mut tasks)?;
    }
    ensure!(!tasks.is_empty(), "no file in {places:?}");
    let folder = tempfile::tempdir()?;
    let (mut formats, mut refused, mut differ) = (BTreeSet::new(), 0, Vec::new());
    for (task, answer) in tasks.iter().zip(ask(&tasks)?) {
        let said = read(task, folder.path())?;
        let difference = match (&said, &answer) {
            (_, Answer::Failed { failed_to_read }) => {
                Some(format!("Python cannot read it: {failed_to_read}"))
            }
            (Said::Figures { format, figures }, Answer::Figures(expected)) => {
                formats.insert(format.clone());
                different(figures, expected)
            }
            (Said::Refused(sentence), Answer::Refused { .. }) => {
                refused += 1;
                (!names_what_it_is(sentence))
                    .then(|| format!("the error does not name the format of the file: {sentence}"))
            }
            (Said::Refused(sentence), Answer::Figures(expected)) => {
                let all_failed = expected.n == 0 && sentence.contains("failed");
                (!all_failed).then(|| format!("refused: {sentence}"))
            }
            (Said::Figures { format, .. }, Answer::Refused { refused }) => {
                Some(format!("read as {format}, but Python reports: {refused}"))
            }
        };
        differ.extend(difference.map(|difference| format!("{}: {difference}", task.path.display())));
    }
    for line in &differ {
        println!("{line}");
    }
    println!(
        "{} files of {} formats: {} differ; {refused} are refused",
        tasks.len(),
        formats.len(),
        differ.len()
    );
    if in_tree {
        let all = ROWS.iter().flat_map(|row| row.formats).map(|format| format.name());
        let missing: Vec<_> = all.filter(|name| !formats.contains(*name)).collect();
        ensure!(missing.is_empty(), "no file of {}", missing.join(", "));
    }
    ensure!(differ.is_empty(), "{} of {} files differ", differ.len(), tasks.len());
    Ok(())
}

fn own_corpora() -> anyhow::Result<Vec<PathBuf>> {
    let seeds = fs::read_dir(root().join("fuzz/seeds"))?.collect::<Result<Vec<_>, _>>()?;
    let seeds = seeds.into_iter().map(|entry| entry.path());
    // The seeds of recording_hgrm lack their first line, which the fuzz target adds.
    let is_ours = |path: &PathBuf| {
        !path.ends_with("recording_hgrm")
            && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("recording_"))
    };
    Ok(seeds.filter(is_ours).chain([root().join("crates/measure/recording/testdata")]).collect())
}

fn collect(place: &Path, tasks: &mut Vec<Task>) -> anyhow::Result<()> {
    let metadata = fs::metadata(place).with_context(|| format!("cannot read {}", place.display()))?;
    if metadata.is_dir() {
        let mut inside = fs::read_dir(place)?.collect::<Result<Vec<_>, _>>()?;
        inside.sort_by_key(fs::DirEntry::file_name);
        return inside.iter().try_for_each(|entry| collect(&entry.path(), tasks));
    }
    let ends_in = |end: &str| place.extension().is_some_and(|extension| extension == end);
    if ["options", "java", "py", "sh", "md"].into_iter().any(ends_in) {
        return Ok(());
    }
    let mut options = options_of(place)?;
    if ends_in("hlog") && options.unit.is_none() {
        options.unit = Some("us".to_owned());
    }
    let format_first = place.parent().is_some_and(|folder| folder.ends_with("recording_access"));
    tasks.push(Task { path: place.to_owned(), options, format_first });
    Ok(())
}

fn options_of(place: &Path) -> anyhow::Result<Options> {
    let mut name = place.as_os_str().to_owned();
    name.push(".options");
    let mut options = Options::default();
    let Ok(text) = fs::read_to_string(name) else { return Ok(options) };
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("--unit", unit)) => options.unit = Some(unit.to_owned()),
            Some(("--log-format", format)) => options.log_format = Some(format.to_owned()),
            Some(("--metric", metric)) => options.metric = Some(metric.to_owned()),
            Some(("--column", column)) => options.columns.push(column.to_owned()),
            _ => bail!("{}: an option that the judge does not know: {line}", place.display()),
        }
    }
    Ok(options)
}

fn ask(tasks: &[Task]) -> anyhow::Result<Vec<Answer>> {
    let mut python = Command::new("python3")
        .arg("-B")
        .arg(root().join("xtask/src/judge/recordings/oracle.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("python3 cannot be run")?;
    python.stdin.take().context("the program has a pipe")?.write_all(&serde_json::to_vec(tasks)?)?;
    let output = python.wait_with_output()?;
    ensure!(output.status.success(), "the reader in Python failed");
    serde_json::from_slice(&output.stdout).context("the reader in Python printed something else")
}

fn read(task: &Task, folder: &Path) -> anyhow::Result<Said> {
    let mut options = task.options.clone();
    let mut path = task.path.clone();
    if task.format_first {
        let bytes = fs::read(&path)?;
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        options.log_format = Some(String::from_utf8_lossy(&bytes[..end]).into_owned());
        path = folder.join("access.log");
        fs::write(&path, bytes.get(end + 1..).unwrap_or_default())?;
    }
    let mut command = Command::new(root().join("target/debug/longhaul"));
    command.args(["compare", "--json", "--resamples", "0"]).arg(&path);
    let named =
        [("--unit", &options.unit), ("--log-format", &options.log_format), ("--metric", &options.metric)];
    for (name, value) in named {
        command.args(value.iter().flat_map(|value| [name, value.as_str()]));
    }
    command.args(options.columns.iter().flat_map(|column| ["--column", column.as_str()]));
    let output = command.output().context("target/debug/longhaul cannot be run: build it")?;
    if output.status.code() == Some(2) {
        return Ok(Said::Refused(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let document: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} of {}: no JSON", output.status, task.path.display()))?;
    let side = &document["sides"][0];
    let number = |value: &Value| value.as_f64();
    let count = |name: &str| side[name].as_u64().unwrap_or_default();
    let figures = Figures {
        metric: document["metric"].as_str().map(str::to_owned),
        read: count("read"),
        failed: count("failed"),
        n: count("n"),
        mean: number(&side["expected_request_ms"]),
        p50: number(&side["request_percentiles_ms"]["50"]),
        p99: number(&side["request_percentiles_ms"]["99"]),
        max: number(&side["max_ms"]),
    };
    Ok(Said::Figures { format: side["format"].as_str().unwrap_or_default().to_owned(), figures })
}

/// Figures that Python does not report are not compared.
fn different(found: &Figures, expected: &Figures) -> Option<String> {
    if expected.n > 0 && found.metric != expected.metric {
        return Some(format!("it has {:?}, expected {:?}", found.metric, expected.metric));
    }
    let counts = [
        ("samples read", found.read, expected.read),
        ("failed", found.failed, expected.failed),
        ("with a value", found.n, expected.n),
    ];
    if let Some((what, found, expected)) = counts.into_iter().find(|(_, found, expected)| found != expected) {
        return Some(format!("{found} {what}, expected {expected}"));
    }
    if expected.n == 0 {
        return None;
    }
    let figures = BTreeMap::from([
        ("mean", (found.mean, expected.mean)),
        ("p50", (found.p50, expected.p50)),
        ("p99", (found.p99, expected.p99)),
        ("maximum", (found.max, expected.max)),
    ]);
    figures.into_iter().find_map(|(what, (found, expected))| {
        let expected = expected?;
        let is_close =
            found.is_some_and(|found| (found - expected).abs() <= CLOSE * expected.abs().max(CLOSE));
        (!is_close).then(|| format!("{what} {found:?} ms, expected {expected} ms"))
    })
}

fn names_what_it_is(sentence: &str) -> bool {
    let words = ["this is ", "these are ", "this looks like ", "found ", "there is no ", "the file is empty"];
    words.iter().any(|words| sentence.contains(words))
}

const CLOSE: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_figure_that_differs_is_named() {
        let figures = |n, p99| Figures {
            metric: Some("latency".to_owned()),
            read: n,
            n,
            mean: Some(2.0),
            p99,
            ..Figures::default()
        };
        assert_eq!(different(&figures(3, Some(5.0)), &figures(3, Some(5.000_001))), None);
        assert_eq!(different(&figures(3, Some(5.0)), &figures(3, None)), None);
        assert_eq!(
            different(&figures(3, Some(5.0)), &figures(3, Some(5.1))),
            Some("p99 Some(5.0) ms, expected 5.1 ms".to_owned())
        );
        assert_eq!(
            different(&figures(3, None), &figures(4, None)),
            Some("3 samples read, expected 4".to_owned())
        );
    }
}
