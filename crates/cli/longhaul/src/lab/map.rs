//! `longhaul lab map`: draws a world, or a planet with its traffic and faults.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;
use planet::{LinkStatus, Status, cli_documents::Drawn};
use world::{
    Layout,
    map::{Options, Overlay, svg},
};

use super::{Which, layout_of, read_world};
use crate::output;

/// Draw a world, or a planet with its traffic and faults, as an SVG
///
/// Examples:
///   longhaul lab map scenarios/worlds/atlantic.toml -o atlantic.svg
///   longhaul lab map -o now.svg
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Map {
    /// The world file; without it: the running planet
    #[arg(conflicts_with = "planet")]
    world: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE.svg")]
    output: Option<PathBuf>,
    /// Width of the picture in pixels
    #[arg(long, default_value_t = Options::default().width, value_parser = clap::value_parser!(u32).range(300..=4000))]
    width: u32,
    #[command(flatten)]
    which: Which,
    /// Print the path of the picture as JSON; without -o, the JSON contains the picture
    #[arg(long)]
    json: bool,
}

impl Map {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if self.output.is_none() && !self.json && io::stdout().is_terminal() {
            bail!("an SVG is nothing for a terminal; name a file with -o, or see: longhaul lab view --map");
        }
        let (layout, overlay) = match &self.world {
            Some(path) => (read_world(path)?.1, Overlay::default()),
            None => {
                let planet = self.which.find()?;
                let layout = layout_of(&planet)?;
                let overlay = running(&planet.status()?, &layout);
                (layout, overlay)
            }
        };
        let picture = svg(&layout, Options { width: self.width }, &overlay);
        match &self.output {
            Some(path) => write(path, &picture)?,
            None if self.json => {}
            None => output::print(&picture)?,
        }
        if self.json {
            let file = self.output.as_ref().map(|path| path.display().to_string());
            let svg = file.is_none().then_some(picture);
            output::print_json(&output::named(
                "longhaul.lab.map/1",
                Drawn { name: layout.name, width: self.width, file, svg },
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn running(status: &Status, layout: &Layout) -> Overlay {
    let between = |link: &LinkStatus| {
        let (from, to) = layout.city(&link.from).zip(layout.city(&link.to))?;
        (from != to).then_some((from.min(to), from.max(to)))
    };
    let active = status.faults.iter().filter(|fault| fault.is_active);
    Overlay {
        links: status.links.iter().filter_map(between).collect(),
        // The planet runs this world and has accepted the faults, so none of them fails here.
        faults: active.filter_map(|fault| layout.effect(&fault.fault).ok()).collect(),
        catchment: None,
    }
}

pub(super) fn write(path: &Path, picture: &str) -> anyhow::Result<()> {
    recording::write_whole(path, picture.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    output::say(&format!("wrote {}", path.display()));
    Ok(())
}
