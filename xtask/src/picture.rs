//! README's picture of a report: the tutorial's comparison, as a browser shows it.

use anyhow::Context;

use crate::{root, run};

/// Makes `docs/pictures/report.png` anew. The page must have been built (`make web`), and Chromium be there.
pub(crate) fn picture() -> anyhow::Result<()> {
    run(".", "cargo", &["build", "--quiet", "--package", "longhaul"])?;
    let folder = tempfile::tempdir()?;
    let within = folder.path().to_str().context("the folder for temporary files has no plain name")?;
    let program = root().join("target/debug/longhaul");
    let program = program.to_str().context("the project's folder has no plain name")?;
    run(within, program, &["example", "pub"])?;
    let sides =
        ["compare", "pub/provider-a.csv", "pub/provider-b.csv", "--requests", "180", "--required", "50%"];
    run(within, program, &[&sides[..], &["--html", "report.html"]].concat())?;
    let page = folder.path().join("report.html");
    let page = page.to_str().context("the folder for temporary files has no plain name")?;
    run("web", "node", &["scripts/picture.mjs", page, "../docs/pictures/report.png"])
}
