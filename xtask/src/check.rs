//! All checks of `make test`, fastest first.

use std::{fs, io::ErrorKind};

use anyhow::Context;

use crate::{beside, generate, judge, root, run, run_allowing, smoke, tidy};

/// Documents of an earlier build must not be checked against the current schemas.
fn forget_documents() -> anyhow::Result<()> {
    let folder = root().join("target/tmp/documents");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn compile() -> anyhow::Result<()> {
    run(".", "cargo", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    run(".", "cargo", &["build", "--quiet", "--workspace", "--all-targets"])
}

#[derive(Debug, Default)]
struct Steps {
    begun: usize,
}

impl Steps {
    const ALL: usize = 7;

    fn begin(&mut self, what: &str) {
        self.begun += 1;
        println!("step {} of {}: {what}", self.begun, Self::ALL);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Pages,
    Everything,
}

pub(crate) fn check(before: Before) -> anyhow::Result<()> {
    let mut steps = Steps::default();
    steps.begin("rules and generated files, 20 s");
    run(".", "cargo", &["fmt", "--check"])?;
    tidy::tidy()?;
    generate::is_fresh()?;
    if before == Before::Pages {
        // Waits for them even if compilation fails, so that no process is left running.
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
    let compared = "../target/compare/report.html";
    run(
        "web",
        "node",
        &["test/schemas.mjs", "../target/debug/longhaul", compared, "../target/tmp/documents"],
    )?;
    run("web", "node", &["test/walk.mjs", compared])?;
    // Exit code 1 is allowed: it means that this machine was too busy, and the page must show such
    // a report too.
    let quick = ["run", "scenarios/quick.toml", "--out", "target/quick"];
    run_allowing(&[0, 1], ".", "target/debug/longhaul", &quick)?;
    run("web", "node", &["test/walk.mjs", "../target/quick/report.html"])?;
    steps.begin("random faults, 1 min");
    judge::faults::check("target/debug/longhaul")?;
    steps.begin("public tests of HTTP caches, 1 min");
    judge::cache_tests::check("target/debug/longhaul")
}
