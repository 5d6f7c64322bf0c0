//! Runs the commands of README and docs: an optimised build may have bugs that the debug build of the tests
//! does not show.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

use crate::root;

/// Programs without debug assertions: of `cargo build --release` and of `make run`.
const RELEASES: [&str; 2] = ["target/release/longhaul", "target/quick-build/longhaul"];

pub(crate) fn smoke(program: &str) -> anyhow::Result<()> {
    let program =
        fs::canonicalize(root().join(program)).with_context(|| format!("{program} is not there"))?;
    let helped = help(&program, &mut Vec::new())?;
    let mut ran = 0;
    for page in pages()? {
        let shell = Shell::new(&program)?;
        let text = fs::read_to_string(&page)?;
        for command in commands(&text).iter().filter(|command| is_offline(command)) {
            ran += u32::from(shell.run(command).with_context(|| page.display().to_string())?);
        }
    }
    println!("{}: the help of {helped} commands, {ran} commands of the docs", program.display());
    ensure!(ran >= FEWEST, "only {ran} commands of the docs ran, {FEWEST} did before");
    Ok(())
}

pub(crate) fn smoke_built() -> anyhow::Result<()> {
    smoke("target/debug/longhaul")?;
    for program in RELEASES {
        if is_current(&root().join(program))? {
            return smoke(program);
        }
    }
    println!("no program of `make run` that is newer than its sources: only the debug build was tried");
    Ok(())
}

/// Whether a program is newer than all its sources, which cargo lists in a file next to it.
fn is_current(program: &Path) -> anyhow::Result<bool> {
    let (Ok(built), Ok(listed)) = (fs::metadata(program), fs::read_to_string(program.with_extension("d")))
    else {
        return Ok(false);
    };
    let built = built.modified()?;
    let (_, sources) = listed.split_once(": ").context("a list of sources without a target")?;
    let is_older = |source: &str| {
        let modified = fs::metadata(source).and_then(|source| source.modified());
        modified.is_ok_and(|modified| modified <= built)
    };
    let lock = root().join("Cargo.lock");
    Ok(sources.split_whitespace().chain(lock.to_str()).all(is_older))
}

fn help(program: &Path, words: &mut Vec<String>) -> anyhow::Result<u32> {
    let output = Command::new(program).args(&*words).arg("--help").output()?;
    let shown = format!("longhaul {} --help", words.join(" "));
    ensure!(output.status.success(), "{shown}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut names = Vec::new();
    for heading in LISTS_OF_COMMANDS {
        let listed = text.lines().skip_while(|line| *line != heading).skip(1);
        let listed = listed.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
        names.extend(listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned));
    }
    ensure!(!words.is_empty() || names.len() > 10, "{shown} lists {} commands", names.len());
    let mut count = 1;
    for name in names.into_iter().filter(|name| name != "help") {
        words.push(name);
        count += help(program, words)?;
        words.pop();
    }
    Ok(count)
}

const LISTS_OF_COMMANDS: [&str; 5] = ["Commands:", "Measure:", "Emulate:", "Run an edge network:", "Shell:"];

fn pages() -> anyhow::Result<Vec<PathBuf>> {
    let docs = fs::read_dir(root().join("docs"))?.map(|entry| Ok(entry?.path()));
    let mut pages: Vec<_> = docs.collect::<anyhow::Result<_>>()?;
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.push(root().join("README.md"));
    pages.sort();
    Ok(pages)
}

fn commands(text: &str) -> Vec<String> {
    let (mut commands, mut block, mut kind) = (Vec::new(), String::new(), None);
    for line in text.lines() {
        match (kind, line.strip_prefix("```")) {
            (None, Some(info)) => (kind, block) = (Some(info.trim()), String::new()),
            (Some(info), Some(_)) => {
                match info {
                    "sh" => commands.push(std::mem::take(&mut block)),
                    "console" => commands.extend(of_console(&block)),
                    _ => {}
                }
                kind = None;
            }
            (Some(_), None) => block.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    commands
}

fn of_console(block: &str) -> Vec<String> {
    let (mut commands, mut goes_on) = (Vec::<String>::new(), false);
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        } else if let Some(last) = commands.last_mut().filter(|_| goes_on) {
            last.extend(["\n", line]);
        } else {
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

fn is_offline(command: &str) -> bool {
    let mut words = command.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let is_of_files =
        ["compare", "convert", "merge", "example", "completions", "manual", "cat", "cd", "head", "seq"];
    command.split_whitespace().any(|word| is_of_files.contains(&word))
        && !words.any(|word| ELSEWHERE.contains(&word))
}

struct Shell {
    folder: tempfile::TempDir,
    path: String,
}

impl Shell {
    fn new(program: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let bin = folder.path().join("bin");
        fs::create_dir_all(&bin)?;
        std::os::unix::fs::symlink(program, bin.join("longhaul"))?;
        fs::create_dir(folder.path().join("work"))?;
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        Ok(Self { folder, path })
    }

    /// Returns false if a file or a program is missing that the page does not create.
    fn run(&self, command: &str) -> anyhow::Result<bool> {
        let place = self.folder.path().join("place");
        let at = fs::read_to_string(&place)
            .map_or_else(|_| self.folder.path().join("work"), |at| at.trim().into());
        let script = format!("{command}\nstatus=$?\npwd >{}\nexit $status\n", place.display());
        let mut shell = Command::new("timeout");
        shell.args(["60", "sh", "-c", &script]).current_dir(at).stdin(Stdio::null());
        shell.env("PATH", &self.path).env("HOME", self.folder.path());
        let output = shell.output().context("cannot run timeout")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        let lacks = code == Some(127) || (code == Some(2) && said.contains("cannot open"));
        let has_panicked = said.contains("panicked at") || code.is_none_or(|code| code > 100 && code != 127);
        ensure!(!has_panicked, "{command}\n{said}exit code {code:?}");
        Ok(!lacks)
    }
}

const ELSEWHERE: [&str; 28] = [
    "lab",
    "edge",
    "probe",
    "serve",
    "run",
    "ping",
    "speed",
    "transfer",
    "tcp",
    "doctor",
    "curl",
    "docker",
    "ip",
    "sudo",
    "make",
    "cargo",
    "apt-get",
    "nats",
    "kill",
    "nginx",
    "systemctl",
    "ssh",
    "fpath",
    "sleep",
    "k6",
    "oha",
    "vegeta",
    "wrk2",
];

/// Lower bound of the number of commands that run.
const FEWEST: u32 = 25;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_blocks() {
        let text = "$ no\n```console\n$ longhaul compare a.csv \\\n    b.csv\noutput\n$ cd pub\n```\n```sh\ncat > x <<'END'\n1\nEND\n```\n```toml\n$ no\n```\n";
        assert_eq!(
            commands(text),
            ["longhaul compare a.csv \\\n    b.csv", "cd pub", "cat > x <<'END'\n1\nEND\n"]
        );
    }

    #[test]
    fn commands_that_need_more_than_files_are_left_out() {
        for command in ["longhaul compare a.csv b.csv", "cd pub", "longhaul example pub"] {
            assert!(is_offline(command), "{command}");
        }
        for command in [
            "longhaul lab up x",
            "longhaul probe http://x | longhaul compare -",
            "rm -r x",
            "sudo longhaul compare",
        ] {
            assert!(!is_offline(command), "{command}");
        }
    }
}
