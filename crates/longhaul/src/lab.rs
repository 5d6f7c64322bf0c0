//! `longhaul lab`: a planet to work in by hand.

mod capture;
mod catchment;
mod cp;
mod down;
#[cfg(test)]
mod example;
mod exec;
mod fault;
pub(crate) mod figures;
mod logs;
mod map;
mod names;
mod publish;
mod status;
mod table;
mod up;
mod view;

use std::{path::Path, process::ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};
use planet::Planet;
use world::{Document, Layout, World};

use crate::output::say;

/// A planet to work in by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    Up(up::Up),
    Exec(exec::Exec),
    Logs(logs::Logs),
    Cp(cp::Cp),
    Publish(publish::Publish),
    Status(status::Status),
    Fault(Box<fault::Fault>),
    Catchment(catchment::Catchment),
    Map(map::Map),
    View(view::View),
    Capture(capture::Capture),
    Down(down::Down),
}

impl Lab {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Up(up) => up.run(),
            Self::Exec(exec) => exec.run(),
            Self::Logs(logs) => logs.run(),
            Self::Cp(cp) => cp.run(),
            Self::Publish(publish) => publish.run(),
            Self::Status(status) => status.run(),
            Self::Fault(fault) => fault.run(),
            Self::Catchment(catchment) => catchment.run(),
            Self::Map(map) => map.run(),
            Self::View(view) => view.run(),
            Self::Capture(capture) => capture.run(),
            Self::Down(down) => down.run(),
        }
    }
}

// No doc comment: it would take the place of the command's.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The planet, if several are up
    #[arg(long, value_name = "NAME")]
    planet: Option<String>,
}

impl Which {
    /// The planet that is meant.
    fn find(&self) -> anyhow::Result<Planet> {
        Ok(Planet::find(self.planet.as_deref())?)
    }
}

/// Reads and checks a world file and those that it names.
pub(crate) fn read_world(path: &Path) -> anyhow::Result<(World, Layout)> {
    let mut document = Document::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let (world, layout, notes) = World::read_all(&mut document, world::read_text)?;
    for note in notes {
        say(&note);
    }
    Ok((world, layout))
}

/// The world that a planet runs, under the planet's name.
fn layout_of(planet: &Planet) -> anyhow::Result<Layout> {
    let document = Document::new(format!("planet {}", planet.name()), planet.world()?);
    let (_, mut layout) = World::read(&document)?;
    planet.name().clone_into(&mut layout.name);
    Ok(layout)
}
