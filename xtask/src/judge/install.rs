//! Installs third-party packages for the judges, if they are missing.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

use crate::root;

/// Does not run the scripts of the packages.
pub(super) fn npm(folder: &Path, packages: &[&str]) -> anyhow::Result<()> {
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix"])
        .arg(folder)
        .args(packages)
        .status()
        .context("npm cannot be run")?;
    ensure!(installed.success(), "npm cannot install {}", packages.join(" and "));
    Ok(())
}

pub(super) fn python(folder: &str, package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let place = root().join("target/judge").join(folder);
    let python = place.join("bin/python");
    let wanted = format!("import {package}; assert {package}.__version__ == '{version}'");
    let has_it = || {
        let asked = Command::new(&python).args(["-c", &wanted]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    if !has_it() {
        println!("installing {package} {version} into {}", place.display());
        let made = Command::new("python3").args(["-m", "venv"]).arg(&place).status();
        let made = made.context("python3 cannot be run")?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let installed = Command::new(&python).args(install).arg(format!("{package}=={version}")).status()?;
        ensure!(made.success() && installed.success() && has_it(), "{package} cannot be installed");
    }
    Ok(python)
}
