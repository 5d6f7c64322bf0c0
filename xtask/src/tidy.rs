//! Rules of the project that the compiler does not check.

mod changelog;
mod circles;
mod comments;
mod commits;
mod crates;
mod folders;
mod impls;
mod imports;
mod items;
mod links;
mod names;
mod prose;
mod ratchet;
mod shadows;
mod source;
mod test_names;

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context, anyhow, bail};

use crate::root;
use ratchet::{Finding, RuleCounts};
use source::TextFile;

/// Checks every file that git tracks or would track, and fails with all findings.
pub(crate) fn tidy() -> anyhow::Result<()> {
    let (mut findings, counted) = findings()?;
    match RuleCounts::read()? {
        Some(recorded) => findings.extend(ratchet::differences(&counted, &recorded)),
        None => findings.push(ratchet::missing()),
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("not tidy:\n  {}", findings.join("\n  "))
}

/// Records the counts that are lower than the recorded ones; records all counts if there is no
/// file.
pub(crate) fn lower() -> anyhow::Result<()> {
    let (_, counted) = findings()?;
    let present = RuleCounts::of(&counted);
    let lowered = RuleCounts::read()?.map(|recorded| recorded.lowered(&present));
    lowered.unwrap_or(present).write()
}

/// Findings that are forbidden, and findings that are counted.
fn findings() -> anyhow::Result<(Vec<String>, Vec<Finding>)> {
    let files = files()?;
    let sources = source::read(&files);
    let sources = sources.as_slice();
    thread::scope(|scope| {
        let crates = scope.spawn(|| crates::findings(&files));
        let links = scope.spawn(|| links::findings(&files));
        let rules = RULES.map(|rule| scope.spawn(move || rule(sources)));
        let mut forbidden: Vec<_> = sources.iter().flat_map(of_file).collect();
        forbidden.extend(commits::findings());
        let panicked = |_| anyhow!("a thread panicked");
        let mut counted = Vec::new();
        for rule in rules {
            counted.extend(rule.join().map_err(panicked)?);
        }
        let crates = crates.join().map_err(panicked)??;
        forbidden.extend(crates.forbidden);
        forbidden.extend(links.join().map_err(panicked)??);
        counted.extend(crates.counted);
        Ok((forbidden, counted))
    })
}

/// The forbidden findings about a file.
fn of_file(source: &TextFile) -> Vec<String> {
    let (text, shown) = (&source.text, source.path.display());
    let mut findings = Vec::new();
    if source.is_rust() {
        if !text.starts_with("//!") {
            findings.push(format!("{shown}:1: has no //! line; describe the file in one"));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE && !is_test(&source.path) {
            findings.push(format!("{shown}:{lines}: the file has more than {LONGEST_FILE} lines; split it"));
        }
        let is_sys = |part: &OsStr| part.to_string_lossy().starts_with("sys");
        if text.contains(concat!("unsafe", " {")) && !source.path.iter().any(is_sys) {
            findings.push(format!("{shown}: contains unsafe; move it to a sys module"));
        }
    }
    if let Some(line) = text.lines().position(|line| line.ends_with([' ', '\t'])) {
        findings.push(format!("{shown}:{}: blanks at the end of the line; remove them", line + 1));
    }
    findings
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

fn files() -> anyhow::Result<Vec<PathBuf>> {
    let mut files = match git_files() {
        Some(text) => text.lines().map(PathBuf::from).collect(),
        None => files_in(Path::new("")).context("cannot list the files of the project")?,
    };
    files.retain(|path| !path.ends_with("package-lock.json") && !path.ends_with("Cargo.lock"));
    Ok(files)
}

/// The files that git knows or does not ignore; `None` in a copy of the project without git.
fn git_files() -> Option<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok().filter(|_| output.status.success())
}

/// All files in a folder of the project, except hidden and generated folders.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        if !entry.file_type()?.is_dir() {
            files.push(path);
        } else if !name.starts_with('.') && !GENERATED.iter().any(|folder| path == Path::new(folder)) {
            files.extend(files_in(&path)?);
        }
    }
    Ok(files)
}

/// The folders of `.gitignore`.
const GENERATED: [&str; 7] =
    ["target", "out", "web/node_modules", "web/dist", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

/// Longer files should be split.
const LONGEST_FILE: usize = 600;

type Rule = fn(&[TextFile]) -> Vec<Finding>;

/// The rules whose findings are counted per crate.
const RULES: [Rule; 12] = [
    prose::prose,
    prose::messages,
    names::banned,
    names::homonyms,
    shadows::findings,
    folders::findings,
    impls::findings,
    comments::width,
    comments::sentences,
    comments::private_docs,
    test_names::findings,
    changelog::findings,
];
