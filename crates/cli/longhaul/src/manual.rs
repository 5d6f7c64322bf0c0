//! `longhaul manual`: writes a manual page for each command, generated from `--help`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man;
use report::Written;

use crate::{Cli, output};

/// Write a manual page for each command
///
/// Existing pages are replaced.
///
/// Example: longhaul manual ~/.local/share/man/man1
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder to write longhaul.1 and the others to; created if it does not exist
    folder: PathBuf,
    /// Print the written files as JSON
    #[arg(long)]
    json: bool,
}

impl Manual {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("{}: cannot be made", self.folder.display()))?;
        let mut root = Cli::conventional().disable_help_subcommand(true);
        root.build();
        let mut files = Vec::new();
        write(&root, &self.folder, &mut files)?;
        if self.json {
            output::print_json(&output::named("longhaul.files/1", Written { files }))?;
        } else {
            output::print(&files.iter().map(|file| format!("{file}\n")).collect::<String>())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A page has no date, so that the output is reproducible.
fn write(command: &Command, folder: &Path, files: &mut Vec<String>) -> anyhow::Result<()> {
    let page = Man::new(command.clone())
        .source(format!("longhaul {}", env!("CARGO_PKG_VERSION")))
        .manual("Longhaul");
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    recording::write_whole(&path, &text).with_context(|| format!("{}: cannot be written", path.display()))?;
    files.push(path.display().to_string());
    for command in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write(command, folder, files)?;
    }
    Ok(())
}
