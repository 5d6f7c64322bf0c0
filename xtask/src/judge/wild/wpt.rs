//! The tests of `fetch/http-cache` of the web platform tests in Chromium, without and with the edge between browser and server. A test that
//! passes without the edge has to pass with it.

mod dispatch;
mod pages;
mod report;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use anyhow::{Context, bail, ensure};

use self::{
    pages::Pages,
    report::{Report, Test},
};
use super::servers;
use crate::judge::{Ended, accepts, data_centre, free_port};

/// A failed test has a message.
type Results = BTreeMap<String, Option<String>>;

/// Runs the tests of a folder that has `fetch/http-cache`, `resources` and `common` of the web platform tests.
pub(super) fn judge(folder: &Path) -> anyhow::Result<()> {
    let names = names(folder)?;
    let browser = browser()?;
    let (send, reports) = channel();
    let pages = Pages::start(folder, send)?;
    let place = tempfile::tempdir()?;
    let port = free_port()?;
    let network = format!(
        "[network]\nname = \"wpt\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:{port}\"]\n\
         [[zone]]\nname = \"all\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:{}\"]\n\
         requests_decide = true\n",
        pages.port
    );
    let _edge = data_centre(Command::new(servers::program()?), place.path(), &network, &[])?;
    accepts(port)?;
    let (mut total, mut direct_passed, mut edge_passed, mut worse, mut better) =
        (0, 0, 0, Vec::new(), Vec::new());
    for name in names {
        let direct =
            run(&browser, pages.port, &name, &reports).with_context(|| format!("{name} without the edge"))?;
        let edge = run(&browser, port, &name, &reports).with_context(|| format!("{name} with the edge"))?;
        eprintln!("{name}: {} of {} pass, {} with the edge", passed(&direct), direct.len(), passed(&edge));
        total += direct.len();
        direct_passed += passed(&direct);
        edge_passed += passed(&edge);
        for (test, message) in &direct {
            let with_edge = edge.get(test);
            match (message, with_edge) {
                (None, Some(None)) | (Some(_), Some(Some(_)) | None) => {}
                (None, Some(Some(message))) => worse.push((name.clone(), test.clone(), message.clone())),
                (None, None) => worse.push((name.clone(), test.clone(), "no result".to_owned())),
                (Some(_), Some(None)) => better.push((name.clone(), test.clone())),
            }
        }
    }
    println!();
    better.iter().for_each(|(name, test)| println!("passes with the edge alone: {name}: {test}"));
    let mut unexpected = 0;
    for (name, test, message) in &worse {
        match EXPECTED.iter().find(|(expected, _)| test == expected) {
            Some((_, why)) => println!("explained: {name}: {test}: {why}"),
            None => {
                println!("fails with the edge: {name}: {test}: {message}");
                unexpected += 1;
            }
        }
    }
    println!("{total} tests, {direct_passed} pass without the edge, {edge_passed} with it");
    ensure!(unexpected == 0, "{unexpected} tests fail with the edge alone");
    Ok(())
}

fn passed(results: &Results) -> usize {
    results.values().filter(|message| message.is_none()).count()
}

fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let tests = folder.join("fetch/http-cache");
    let files = fs::read_dir(&tests).with_context(|| format!("{}: {HOW}", tests.display()))?;
    let mut names = Vec::new();
    for file in files {
        let name = file?.file_name().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(".any.js") {
            names.push(name.to_owned());
        }
    }
    ensure!(!names.is_empty(), "{} has no *.any.js: {HOW}", tests.display());
    names.sort();
    Ok(names)
}

fn browser() -> anyhow::Result<PathBuf> {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let known = ["/usr/bin/chromium", "/usr/bin/google-chrome"].map(PathBuf::from);
    let found = named.into_iter().chain(known).find(|path| path.exists());
    found.context("Chromium is not installed; on Debian: apt-get install chromium, or CHROMIUM=its path")
}

fn run(browser: &Path, port: u16, name: &str, reports: &Receiver<Report>) -> anyhow::Result<Results> {
    while reports.try_recv().is_ok() {}
    let profile = tempfile::tempdir()?;
    let page = format!("http://127.0.0.1:{port}/fetch/http-cache/{name}.any.html");
    let started = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args(["--no-first-run", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _browser = Ended(started.with_context(|| format!("{} cannot be run", browser.display()))?);
    loop {
        let Ok(report) = reports.recv_timeout(PATIENCE) else { bail!("the page does not end") };
        if report.page == page {
            let result =
                |test: Test| (test.name, (!test.is_passed).then(|| test.message.unwrap_or_default()));
            return Ok(report.tests.into_iter().map(result).collect());
        }
    }
}

/// Tests that cannot pass with a shared cache on the way, and why.
const EXPECTED: &[(&str, &str)] = &[(
    "HTTP cache does not prefer Cache-Control: s-maxage over Cache-Control: max-age",
    "the test is about a private cache, and a shared cache has to prefer s-maxage (RFC 9111 section 5.2.2.10)",
)];

const HOW: &str = "--wpt needs a folder of https://github.com/web-platform-tests/wpt with fetch/http-cache, resources and common";

/// The tests of a page, some of which pause for seconds, have ended.
const PATIENCE: Duration = Duration::from_secs(180);
