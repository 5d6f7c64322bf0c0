//! Builds the program as users have it: optimised, with its pages.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::root;

/// The output of the build tools goes to standard error, because standard output may be a result.
pub(crate) fn build() -> anyhow::Result<()> {
    // Cargo alone would use the last built pages.
    step("make", &["--silent", "web"])?;
    step("cargo", &["build", "--quiet", "--release", "--package", "longhaul"])
}

fn step(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let shown = format!("{program} {}", arguments.join(" "));
    eprintln!("$ {shown}");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdout(Stdio::null());
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    ensure!(status.success(), "{shown} failed");
    Ok(())
}
