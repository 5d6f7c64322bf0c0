//! Runs the cache tests of <https://cache-tests.fyi> against one of our data centres.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use super::{Ended, accepts, data_centre, free_port, longhaul};
use crate::{release, root, run};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Compared,
    Written,
}

#[derive(Debug, Deserialize)]
struct Graded {
    id: String,
    kind: String,
    is_passed: bool,
    why: String,
}

pub(crate) fn judge(list: List) -> anyhow::Result<()> {
    let Some(source) = source() else { bail!("{HOW}") };
    let suite = suite(&source)?;
    release::build()?;
    held_against(longhaul(), &suite, list)
}

pub(crate) fn check(program: &str) -> anyhow::Result<()> {
    let Some(source) = source() else {
        println!("the cache tests of cache-tests.fyi were skipped: {HOW}");
        return Ok(());
    };
    held_against(Command::new(root().join(program)), &suite(&source)?, List::Compared)
}

fn held_against(program: Command, suite: &Path, list: List) -> anyhow::Result<()> {
    let results = results(program, suite)?;
    let graded = grade(suite, &results)?;
    let passed: BTreeSet<_> =
        graded.iter().filter(|test| test.is_passed).map(|test| test.id.clone()).collect();
    for test in graded.iter().filter(|test| !test.is_passed) {
        println!("{:8} {}: {}", test.kind, test.id, test.why);
    }
    println!("\n{}", table(suite, &results)?);
    let counts = ["required", "optimal"].map(|kind| {
        let of_kind = || graded.iter().filter(|test| test.kind == kind);
        format!("{kind} {}/{}", of_kind().filter(|test| test.is_passed).count(), of_kind().count())
    });
    let outcome = match list {
        List::Written => fs::write(file(), lines(&passed)).map_err(Into::into),
        List::Compared => compare(&passed),
    };
    println!("{}", counts.join(", "));
    outcome
}

fn file() -> PathBuf {
    root().join("xtask/src/judge/cache-tests.txt")
}

fn lines(passed: &BTreeSet<String>) -> String {
    passed.iter().map(|id| format!("{id}\n")).collect()
}

fn compare(passed: &BTreeSet<String>) -> anyhow::Result<()> {
    let text = fs::read_to_string(file()).context("the list of tests that pass")?;
    let known: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let failed: Vec<_> = known.difference(passed).collect();
    let new: Vec<_> = passed.difference(&known).collect();
    ensure!(failed.is_empty(), "these passed before: {failed:?}");
    ensure!(new.is_empty(), "these pass now: {new:?}; add them with `cargo xtask judge cache-tests write`");
    Ok(())
}

fn source() -> Option<PathBuf> {
    env::var_os("CACHE_TESTS").map(PathBuf::from)
}

fn suite(source: &Path) -> anyhow::Result<PathBuf> {
    let copy = root().join("target/judge/cache-tests");
    fs::create_dir_all(&copy)?;
    let copied =
        Command::new("cp").args(["-r", "--no-preserve=mode"]).arg(source.join(".")).arg(&copy).status()?;
    ensure!(copied.success(), "the tests cannot be copied from {}", source.display());
    let place = copy.to_str().context("the project's folder has no plain name")?.to_owned();
    run(&place, "npm", &["install", "--silent", "--no-audit", "--no-fund"])?;
    Ok(copy)
}

fn results(program: Command, suite: &Path) -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    let (origin, front) = (free_port()?, free_port()?);
    let _origin = Ended(
        Command::new("node")
            .arg("test-engine/server/server.mjs")
            .current_dir(suite)
            .env("npm_config_protocol", "http")
            .env("npm_config_port", origin.to_string())
            .env("npm_config_pidfile", folder.path().join("pid"))
            .env("npm_package_config_id", "")
            .stdout(Stdio::null())
            .spawn()
            .context("node cannot be started")?,
    );
    accepts(origin)?;
    let network = format!("{NETWORK}origin = [\"http://127.0.0.1:{origin}\"]\n");
    let _edge = data_centre(program, folder.path(), &network, &["--listen", &format!("127.0.0.1:{front}")])?;
    let tested = Command::new("node")
        .args(["--no-warnings", "test-engine/cli.mjs"])
        .current_dir(suite)
        .env("npm_config_base", format!("http://127.0.0.1:{front}"))
        .env("npm_config_id", "")
        .env("npm_package_config_id", "")
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(tested.status.success(), "the tests ended with {}", tested.status);
    Ok(String::from_utf8(tested.stdout)?)
}

/// A test counts only if the tests that it depends on pass.
fn grade(suite: &Path, results: &str) -> anyhow::Result<Vec<Graded>> {
    let file = suite.join("ours.json");
    fs::write(&file, results)?;
    let graded = script(suite, &["grade", "ours.json"])?;
    Ok(serde_json::from_str(&graded)?)
}

fn table(suite: &Path, results: &str) -> anyhow::Result<String> {
    fs::write(suite.join("ours.json"), results)?;
    let mut counts: Vec<(String, BTreeMap<String, usize>)> = Vec::new();
    for (name, file) in PUBLISHED.iter().chain([&("Longhaul", "ours.json")]) {
        let graded: Vec<Graded> = serde_json::from_str(&script(suite, &["grade", file])?)?;
        let mut of_kind = BTreeMap::new();
        for test in graded.iter().filter(|test| test.is_passed) {
            *of_kind.entry(test.kind.clone()).or_default() += 1;
        }
        counts.push(((*name).to_owned(), of_kind));
    }
    counts.sort_by_key(|(_, of_kind)| std::cmp::Reverse(of_kind.get("required").copied().unwrap_or(0)));
    let rows = counts.iter().map(|(name, of_kind)| {
        let [required, optimal] = ["required", "optimal"].map(|kind| of_kind.get(kind).copied().unwrap_or(0));
        format!("| {name} | {required} | {optimal} |\n")
    });
    Ok(format!("| cache | required | optimal |\n| --- | --- | --- |\n{}", rows.collect::<String>()))
}

fn script(suite: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let place = suite.join("grade.mjs");
    fs::write(&place, include_str!("grade.mjs"))?;
    let output = Command::new("node")
        .arg("grade.mjs")
        .args(arguments)
        .current_dir(suite)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the results could not be graded");
    Ok(String::from_utf8(output.stdout)?)
}

const HOW: &str = "git clone https://github.com/http-tests/cache-tests, and name that folder in CACHE_TESTS";

const NETWORK: &str = "\
[network]
name = \"judged\"
[[data_centre]]
name = \"lhr\"
listen = [\"127.0.0.1:0\"]
[[zone]]
name = \"tests\"
hosts = [\"*\"]
stale_if_error = \"1h\"
store_set_cookie = true
";

const PUBLISHED: [(&str, &str); 8] = [
    ("Apache httpd", "results/apache.json"),
    ("Caddy", "results/caddy.json"),
    ("Fastly", "results/fastly.json"),
    ("HAProxy", "results/haproxy.json"),
    ("nginx", "results/nginx.json"),
    ("Squid", "results/squid.json"),
    ("Traffic Server", "results/trafficserver.json"),
    ("Varnish", "results/varnish.json"),
];
