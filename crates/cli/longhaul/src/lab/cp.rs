//! `longhaul lab cp`: copies files between the machine and the hosts of a planet.

mod place;

use std::{
    fs::File,
    io::{Read, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use planet::{Entry, Links, cli_documents::Copied};

use place::{Place, Spot};

use super::Which;
use crate::output;

/// Copy files and folders between this machine and a host's folder /srv/HOST
///
/// A PATH of a host is below /srv/HOST, where programs on the planet find it. A folder is copied recursively;
/// permissions and the symbolic links in it are preserved. A destination that ends in / is created if it does
/// not exist.
///
/// Example: longhaul lab cp index.html images origin:www/
#[derive(Debug, Args)]
pub(crate) struct Cp {
    /// The sources, then the destination: FILE... HOST:[PATH] or HOST:[PATH]... FILE
    #[arg(required = true, num_args = 2.., value_name = "FILE|HOST:PATH")]
    paths: Vec<Spot>,
    #[command(flatten)]
    which: Which,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

impl Cp {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let (destination, sources) =
            self.paths.split_last().context("expected a source and a destination")?;
        if sources.iter().any(|source| source.is_on_planet() == destination.is_on_planet()) {
            bail!(
                "expected copies from this machine to a host or back; a path on a host is written HOST:PATH, \
                 and a file with a colon in its name ./FILE"
            );
        }
        let planet = self.which.find()?;
        let to = Place::destination(&planet, destination)?;
        if sources.len() > 1 && !to.is_folder {
            bail!("{destination}: several files can only be copied into a folder, and this is not a folder");
        }
        let mut copied =
            Copied { planet: planet.name().to_owned(), to: destination.to_string(), ..Copied::default() };
        for source in sources {
            let from = Place::source(&planet, source)?;
            let path = if to.is_folder { to.path.join(&from.name) } else { to.path.clone() };
            Copy { from: &from, to: &to, copied: &mut copied }.any(&from.path, &path, Links::Follow)?;
        }
        if self.json {
            output::print_json(&output::named("longhaul.lab.cp/1", copied))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

struct Copy<'a> {
    from: &'a Place,
    to: &'a Place,
    copied: &'a mut Copied,
}

impl Copy<'_> {
    fn any(&mut self, from: &Path, to: &Path, links: Links) -> anyhow::Result<()> {
        match self.from.check(from, self.from.folder.entry(from, links))? {
            Entry::File { bytes, mode } => self.file(from, to, bytes, mode),
            Entry::Folder { mode } => self.folder(from, to, mode),
            Entry::Link(target) => {
                self.copied.links += 1;
                self.to.check(to, self.to.folder.make_link(to, &target))
            }
            Entry::Other => bail!("{}: neither a file nor a folder", self.from.show(from)),
        }
    }

    fn folder(&mut self, from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
        let is_there = matches!(self.to.folder.entry(to, Links::Follow), Ok(Entry::Folder { .. }));
        if !is_there {
            self.to.check(to, self.to.folder.make_folder(to))?;
            self.copied.folders += 1;
        }
        for name in self.from.check(from, self.from.folder.list(from))? {
            self.any(&from.join(&name), &to.join(&name), Links::Keep)?;
        }
        if is_there {
            return Ok(());
        }
        // Set last: the mode may forbid writing.
        self.to.check(to, self.to.folder.set_mode(to, mode))
    }

    fn file(&mut self, from: &Path, to: &Path, bytes: u64, mode: u32) -> anyhow::Result<()> {
        let source = self.from.check(from, self.from.folder.read(from))?;
        let target = self.to.check(to, self.to.folder.write(to))?;
        let bar = progress(bytes, self.from.show(from))?;
        let copied = self.content(source, target, (from, to), &bar);
        bar.finish_and_clear();
        self.copied.files += u64::from(copied.is_ok());
        if copied.is_err() {
            // Remove the incomplete file. The copy already returns an error.
            let _ = self.to.folder.remove(to);
        }
        copied.and_then(|()| self.to.check(to, self.to.folder.set_mode(to, mode)))
    }

    fn content(
        &mut self,
        mut source: File,
        mut target: File,
        (from, to): (&Path, &Path),
        bar: &ProgressBar,
    ) -> anyhow::Result<()> {
        let mut buffer = vec![0; BUFFER];
        loop {
            let length = self.from.check(from, source.read(&mut buffer))?;
            if length == 0 {
                return Ok(());
            }
            self.to.check(to, target.write_all(&buffer[..length]))?;
            bar.inc(length as u64);
            self.copied.bytes += length as u64;
        }
    }
}

fn progress(bytes: u64, name: String) -> anyhow::Result<ProgressBar> {
    if bytes < LARGE {
        return Ok(ProgressBar::hidden());
    }
    let style =
        ProgressStyle::with_template("{msg} {bar:30} {binary_bytes} of {binary_total_bytes}, {eta} to go")?;
    Ok(ProgressBar::new(bytes).with_style(style).with_message(name))
}

const BUFFER: usize = 1 << 20;

/// Smaller files are copied too quickly for a progress bar.
const LARGE: u64 = 64 << 20;
