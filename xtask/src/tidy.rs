//! Rules of the project that the compiler does not check.

mod circles;
mod crates;
mod imports;
mod links;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::root;

/// Checks every file that git tracks or would track, and fails with all findings.
pub(crate) fn tidy() -> anyhow::Result<()> {
    let mut findings = Vec::new();
    let files = files()?;
    for path in &files {
        let Ok(text) = fs::read_to_string(root().join(path)) else { continue };
        let shown = path.display();
        if is_rust(path) {
            if !text.starts_with("//!") {
                findings.push(format!("{shown}: has no //! line at the start that describes the file"));
            }
            let lines = text.lines().count();
            if lines > LONGEST_FILE && !is_test(path) {
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
    findings.extend(crates::findings(&files)?);
    findings.extend(links::findings(&files)?);
    if findings.is_empty() {
        return Ok(());
    }
    bail!("not tidy:\n  {}", findings.join("\n  "))
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
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

/// Longer files should be split.
const LONGEST_FILE: usize = 600;
