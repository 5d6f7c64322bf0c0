//! Builds the release files: a static program, a Debian package with manual pages and completions, and a
//! container file.
//!
//! Builds are reproducible for one commit and one compiler: timestamps are those of the commit, and the
//! program contains no paths of this machine.

mod deb;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, bail, ensure};
use units::show::bytes;

use self::deb::{Entry, Package};
use crate::root;

pub(crate) fn dist() -> anyhow::Result<()> {
    let machine = env::consts::ARCH;
    let target = format!("{machine}-unknown-linux-musl");
    check_tools(machine, &target)?;
    build(&target)?;

    let folder = root().join("target/dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let program = folder.join("longhaul");
    fs::copy(root().join(format!("target/{target}/shipped/longhaul")), &program)?;
    let size = fs::metadata(&program)?.len();
    ensure!(size <= LARGEST_PROGRAM, "the program is {}; it may be {}", bytes(size), bytes(LARGEST_PROGRAM));
    check_static(&program)?;

    output(Command::new(&program).arg("manual").arg(folder.join("man")))?;
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(Command::new(&program).args(["completions", shell]))?.stdout;
        fs::write(completions.join(format!("longhaul.{shell}")), script)?;
    }
    fs::copy(root().join("xtask/src/dist/Containerfile"), folder.join("Containerfile"))?;
    let edge = folder.join("edge");
    fs::create_dir_all(&edge)?;
    for (name, path) in files(&root().join(OPERATION))? {
        fs::copy(path, edge.join(name))?;
    }

    let version = env!("CARGO_PKG_VERSION");
    let architecture = if machine == "aarch64" { "arm64" } else { "amd64" };
    let package = folder.join(format!("longhaul_{version}_{architecture}.deb"));
    let text = Package { version, architecture, entries: entries(&folder)?, time: time_of_commit()? };
    fs::write(&package, text.bytes()?)?;

    for path in [&program, &package] {
        println!(
            "{:>8}  {}",
            bytes(fs::metadata(path)?.len()),
            path.strip_prefix(root()).unwrap_or(path).display()
        );
    }
    println!(
        "also man/, completions/, Containerfile, and edge/ with a systemd unit and the files for a container"
    );
    Ok(())
}

fn check_tools(machine: &str, target: &str) -> anyhow::Result<()> {
    let libraries = output(Command::new("rustc").args(["--print", "target-libdir", "--target", target]))?;
    let libraries = String::from_utf8(libraries.stdout)?;
    if !Path::new(libraries.trim()).exists() {
        bail!("Rust has no library for {target}: rustup target add {target}");
    }
    let has_compiler = env::var_os(format!("CC_{}", target.replace('-', "_"))).is_some()
        || ["musl-gcc".to_owned(), format!("{machine}-linux-musl-gcc")]
            .iter()
            .any(|name| Command::new(name).arg("--version").output().is_ok());
    ensure!(has_compiler, "a C compiler for musl is missing: apt-get install musl-tools");
    Ok(())
}

fn build(target: &str) -> anyhow::Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=.", root().display())];
    flags.extend(home.map(|home| format!("--remap-path-prefix={}=cargo", home.display())));
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--profile", "shipped", "--package", "longhaul", "--target", target])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .current_dir(root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the program for {target} could not be built");
    Ok(())
}

fn check_static(program: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(program)?;
    let needs = bytes.windows(8).any(|window| window == b"/lib/ld-" || window == b"/lib64/l");
    ensure!(!needs, "{} is not static", program.display());
    Ok(())
}

fn entries(folder: &Path) -> anyhow::Result<Vec<Entry>> {
    let read = |path: PathBuf| fs::read(&path).with_context(|| format!("cannot read {}", path.display()));
    let document = |name: &str| format!("usr/share/doc/longhaul/{name}");
    let mut entries = vec![
        Entry::program("usr/bin/longhaul", read(folder.join("longhaul"))?),
        Entry::file(document("copyright"), read(root().join("LICENSE"))?),
        Entry::file(document("README.md"), read(root().join("README.md"))?),
        Entry::zipped(document("changelog.gz"), &read(root().join("CHANGELOG.md"))?)?,
    ];
    for (shell, place) in [
        ("bash", "usr/share/bash-completion/completions/longhaul"),
        ("zsh", "usr/share/zsh/vendor-completions/_longhaul"),
        ("fish", "usr/share/fish/vendor_completions.d/longhaul.fish"),
    ] {
        entries.push(Entry::file(place, read(folder.join(format!("completions/longhaul.{shell}")))?));
    }
    for (name, path) in files(&folder.join("man"))? {
        entries.push(Entry::zipped(format!("usr/share/man/man1/{name}.gz"), &read(path)?)?);
    }
    for (name, path) in files(&root().join(OPERATION))? {
        let is_unit = path.extension().is_some_and(|extension| extension == "service");
        let place = if is_unit {
            format!("usr/lib/systemd/system/{name}")
        } else {
            document(&format!("edge/{name}"))
        };
        entries.push(Entry::file(place, read(path)?));
    }
    for (within, place) in [
        ("scenarios", "examples"),
        ("scenarios/worlds", "examples/worlds"),
        ("scenarios/networks", "examples/networks"),
    ] {
        for (name, path) in files(&root().join(within))? {
            entries.push(Entry::file(document(&format!("{place}/{name}")), read(path)?));
        }
    }
    Ok(entries)
}

fn files(folder: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    Ok(files)
}

/// Seconds since 1970: `SOURCE_DATE_EPOCH`, or the time of the last commit.
fn time_of_commit() -> anyhow::Result<u64> {
    let text = match env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => {
            let log = ["log", "-1", "--format=%ct"];
            String::from_utf8(output(Command::new("git").args(log).current_dir(root()))?.stdout)?
        }
    };
    text.trim().parse().with_context(|| format!("\"{}\" is not a time in seconds since 1970", text.trim()))
}

fn output(command: &mut Command) -> anyhow::Result<Output> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "failed: {command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output)
}

const OPERATION: &str = "docs/operation";

const LARGEST_PROGRAM: u64 = 44_000_000;
