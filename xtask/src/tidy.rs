//! The rules of the house that no compiler knows.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::root;

/// Looks at every file that git knows or would know, and fails with all that is untidy.
pub(crate) fn tidy() -> anyhow::Result<()> {
    let mut findings = Vec::new();
    for path in files()? {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        let shown = path.display();
        if path.extension().is_some_and(|extension| extension == "rs") {
            if !text.starts_with("//!") {
                findings.push(format!("{shown}: begins with no //! line that says what it is and why"));
            }
            let is_test =
                path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
            let lines = text.lines().count();
            if lines > LONGEST_FILE && !is_test {
                findings.push(format!("{shown}: {lines} lines; split it by {LONGEST_FILE}"));
            }
            if text.contains(concat!("unsafe", " {"))
                && !path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("sys"))
            {
                findings.push(format!("{shown}: unsafe belongs in a sys module"));
            }
        }
        if let Some(line) = text.lines().position(|line| line.ends_with(' ') || line.ends_with('\t')) {
            findings.push(format!("{shown}:{}: blanks at the end of the line", line + 1));
        }
    }
    findings.extend(upward_dependencies()?);
    if findings.is_empty() {
        return Ok(());
    }
    bail!("not tidy:\n  {}", findings.join("\n  "))
}

/// Crates from the bottom up: one may depend on those before it only.
const LAYERS: [&str; 13] = [
    "units",
    "experience",
    "claim",
    "link",
    "world",
    "recording",
    "probe",
    "tcp",
    "planet",
    "report",
    "scenario",
    "sweep",
    "longhaul",
];

/// Engines: they depend on no crate that could give them a clock, a socket or a file.
const ENGINES: [&str; 4] = ["units", "experience", "claim", "link"];

fn upward_dependencies() -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    for (level, name) in LAYERS.into_iter().enumerate() {
        let path = format!("crates/{name}/Cargo.toml");
        let manifest =
            fs::read_to_string(root().join(&path)).with_context(|| format!("cannot read {path}"))?;
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        let names = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        for dependency in names.filter(|name| !name.is_empty()) {
            if LAYERS[level..].contains(&dependency) {
                findings.push(format!("{path}: {name} is below {dependency} and must not depend on it"));
            }
            if ENGINES.contains(&name) && ["tokio", "nix", "libc", "mio"].contains(&dependency) {
                findings.push(format!("{path}: an engine must not depend on {dependency}"));
            }
        }
    }
    Ok(findings)
}

fn files() -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot run git")?;
    let text = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    let is_ours = |path: &&Path| !path.ends_with("package-lock.json") && !path.ends_with("Cargo.lock");
    Ok(text.lines().map(Path::new).filter(is_ours).map(Path::to_path_buf).collect())
}

/// A file longer than this has a seam somewhere.
const LONGEST_FILE: usize = 600;
