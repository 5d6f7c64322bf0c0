//! All that `make test` checks, quickest first.

use crate::{generate, run, run_allowing, tidy};

/// Runs every check. The page must have been built (`make web`).
pub(crate) fn check() -> anyhow::Result<()> {
    run(".", "cargo", &["fmt", "--check"])?;
    tidy::tidy()?;
    generate::is_fresh()?;
    run(".", "cargo", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    run(".", "cargo", &["build", "--quiet", "--package", "longhaul"])?;
    run(".", "cargo", &["test", "--quiet", "--workspace"])?;
    run("web", "npm", &["test", "--silent"])?;
    // What the program prints, against the schemas that it ships; and the page with a comparison that Rust wrote.
    let compared = "../target/compare/report.html";
    run("web", "node", &["test/schemas.mjs", "../target/debug/longhaul", compared])?;
    run("web", "node", &["test/walk.mjs", compared])?;
    // The page once more, with a report that Rust wrote about a planet that ran.
    // Its exit code is left out: 1 says that this machine was too busy, and the page must show that just as well.
    let quick = ["run", "scenarios/quick.toml", "--out", "target/quick"];
    run_allowing(&[0, 1], ".", "target/debug/longhaul", &quick)?;
    run("web", "node", &["test/walk.mjs", "../target/quick/report.html"])
}
