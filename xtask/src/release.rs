//! The program as its users have it: optimised, with its pages in it.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::root;

/// Builds it. What others have to say is not a part of a result, so it is not in the standard output.
pub(crate) fn build() -> anyhow::Result<()> {
    // Cargo alone takes the pages that were built last.
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
