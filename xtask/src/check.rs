//! All that `make test` checks, quickest first.

use std::{fs, io::ErrorKind};

use anyhow::Context;

use crate::{beside, generate, judge, root, run, run_allowing, smoke, tidy};

/// Removes the documents that tests have kept for the schemas: those of an earlier program are not held against today's.
fn forget_documents() -> anyhow::Result<()> {
    let folder = root().join("target/tmp/documents");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Builds everything that is tested, and has clippy look at it.
fn compile() -> anyhow::Result<()> {
    run(".", "cargo", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    run(".", "cargo", &["build", "--quiet", "--workspace", "--all-targets"])
}

/// What was done before the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// The pages are built (`make web`).
    Pages,
    /// `make test` has compiled the crates as well, and walked through the pages.
    Everything,
}

/// Runs every check.
pub(crate) fn check(before: Before) -> anyhow::Result<()> {
    run(".", "cargo", &["fmt", "--check"])?;
    tidy::tidy()?;
    generate::is_fresh()?;
    if before == Before::Pages {
        // The browser leaves half of the machine to the compiler. It is waited for in any case, so that nothing is left running.
        let pages = beside("web", "npm", &["test", "--silent"]);
        let compiled = compile();
        pages.wait().and(compiled)?;
    }
    forget_documents()?;
    run("web", "npm", &["run", "--silent", "speed-page"])?;
    run(".", "cargo", &["test", "--quiet", "--workspace"])?;
    smoke::smoke_built()?;
    // What the program printed here and in every test, against the schemas that it ships; and the page with a comparison that Rust wrote.
    let compared = "../target/compare/report.html";
    run(
        "web",
        "node",
        &["test/schemas.mjs", "../target/debug/longhaul", compared, "../target/tmp/documents"],
    )?;
    run("web", "node", &["test/walk.mjs", compared])?;
    // The page once more, with a report that Rust wrote about a planet that ran.
    // Its exit code is left out: 1 says that this machine was too busy, and the page must show that just as well.
    let quick = ["run", "scenarios/quick.toml", "--out", "target/quick"];
    run_allowing(&[0, 1], ".", "target/debug/longhaul", &quick)?;
    run("web", "node", &["test/walk.mjs", "../target/quick/report.html"])?;
    // A few seconds of faults by chance; `cargo xtask judge faults` has as many as anybody has time for.
    judge::faults::check("target/debug/longhaul")?;
    // Last, as they take a minute, and as what they print at their end is a figure.
    judge::cache_tests::check("target/debug/longhaul")
}
