//! What is generated from the code and kept in the tree: JSON schemas of all outputs, and the page's types.

use std::fs;

use anyhow::{Context, bail};
use schemars::schema_for;

use crate::{root, run};

/// Writes everything that is generated.
pub(crate) fn generate() -> anyhow::Result<()> {
    for (path, text) in schemas()? {
        fs::write(root().join(path), text).with_context(|| format!("cannot write {path}"))?;
    }
    run("web", "npm", &["run", "--silent", "generate"])
}

/// Fails if a schema in the tree is not what the code says.
pub(crate) fn is_fresh() -> anyhow::Result<()> {
    for (path, text) in schemas()? {
        if fs::read_to_string(root().join(path)).ok().as_deref() != Some(text.as_str()) {
            bail!("{path} is out of date: run `cargo xtask generate`");
        }
    }
    Ok(())
}

fn schemas() -> anyhow::Result<Vec<(&'static str, String)>> {
    let all = [
        ("web/schema/figures.json", schema_for!(report::figures::Figures)),
        ("web/schema/report.json", schema_for!(report::Report)),
        ("docs/schema/catchment.json", schema_for!(planet::Catchment)),
        ("docs/schema/compare.json", schema_for!(report::Comparison)),
        ("docs/schema/convert.json", schema_for!(report::Conversion)),
        ("docs/schema/explain.json", schema_for!(Vec<tcp::explain::Explanation>)),
        ("docs/schema/fault.json", schema_for!(planet::FaultStatus)),
        ("docs/schema/logs.json", schema_for!(Vec<planet::Program>)),
        ("docs/schema/oscil.json", schema_for!(tcp::oscil::Recording)),
        ("docs/schema/ping.json", schema_for!(probe::ping::Summary)),
        ("docs/schema/mptcp.json", schema_for!(tcp::mptcp::Audit)),
        ("docs/schema/ports.json", schema_for!(tcp::ports::Measurement)),
        ("docs/schema/probe.json", schema_for!(probe::summary::Summary)),
        ("docs/schema/status.json", schema_for!(planet::Overview)),
        ("docs/schema/sweep.json", schema_for!(scenario::sweep::Sweep)),
        ("docs/schema/transfer.json", schema_for!(probe::transfer::Summary)),
        ("docs/schema/window.json", schema_for!(tcp::window::Plan)),
        ("docs/schema/window-check.json", schema_for!(tcp::window::Check)),
    ];
    all.into_iter().map(|(path, schema)| Ok((path, serde_json::to_string_pretty(&schema)? + "\n"))).collect()
}
