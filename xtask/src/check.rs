//! All checks of `make test`, fastest first.

use std::{fs, io::ErrorKind};

use anyhow::Context;

use crate::{beside, generate, judge, root, run, run_allowing, smoke, tidy};

/// Removes the documents that tests wrote for the schema check: documents of an earlier build must not be
/// checked against the current schemas.
fn forget_documents() -> anyhow::Result<()> {
    let folder = root().join("target/tmp/documents");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Compiles everything that is tested, and runs clippy.
fn compile() -> anyhow::Result<()> {
    run(".", "cargo", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    run(".", "cargo", &["build", "--quiet", "--workspace", "--all-targets"])
}

/// Prints which step runs, and its usual time on two cores.
#[derive(Debug, Default)]
struct Steps {
    begun: usize,
}

impl Steps {
    /// The number of calls of [`Self::begin`] in [`check`].
    const ALL: usize = 7;

    fn begin(&mut self, what: &str) {
        self.begun += 1;
        println!("step {} of {}: {what}", self.begun, Self::ALL);
    }
}

/// Steps completed before the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// The pages are built (`make web`).
    Pages,
    /// The crates are compiled and the browser tests of the pages have passed (`make test`).
    Everything,
}

pub(crate) fn check(before: Before) -> anyhow::Result<()> {
    let mut steps = Steps::default();
    steps.begin("rules and generated files, 20 s");
    run(".", "cargo", &["fmt", "--check"])?;
    tidy::tidy()?;
    generate::is_fresh()?;
    if before == Before::Pages {
        // The browser tests use about half of the machine, so they run next to the compiler. Waits for them
        // even if compilation fails, so that no process is left running.
        let pages = beside("web", "npm", &["test", "--silent"]);
        let compiled = compile();
        pages.wait().and(compiled)?;
    }
    forget_documents()?;
    steps.begin("tests of the speed test page, 1 min");
    run("web", "npm", &["run", "--silent", "speed-page"])?;
    steps.begin("tests of the crates, 12 min");
    run(".", "cargo", &["test", "--quiet", "--workspace"])?;
    steps.begin("commands of the documentation, 1 min");
    smoke::smoke_built()?;
    steps.begin("schemas and report pages, 2 min");
    // Validates the documents of these tests against the shipped schemas, and tests the page with a
    // comparison from Rust.
    let compared = "../target/compare/report.html";
    run(
        "web",
        "node",
        &["test/schemas.mjs", "../target/debug/longhaul", compared, "../target/tmp/documents"],
    )?;
    run("web", "node", &["test/walk.mjs", compared])?;
    // Tests the page with a report of a real planet run. Exit code 1 is allowed: it means that this machine
    // was too busy, and the page must show such a report too.
    let quick = ["run", "scenarios/quick.toml", "--out", "target/quick"];
    run_allowing(&[0, 1], ".", "target/debug/longhaul", &quick)?;
    run("web", "node", &["test/walk.mjs", "../target/quick/report.html"])?;
    steps.begin("random faults, 1 min");
    // A few seconds of random faults; `cargo xtask judge faults` runs more.
    judge::faults::check("target/debug/longhaul")?;
    steps.begin("public tests of HTTP caches, 1 min");
    // Last, because they take a minute and print a figure at the end.
    judge::cache_tests::check("target/debug/longhaul")
}
