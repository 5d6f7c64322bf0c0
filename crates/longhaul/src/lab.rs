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
mod which;

use std::{path::Path, process::ExitCode};

use anyhow::Context;
use clap::Subcommand;
use planet::Planet;
use world::{Document, Layout, World};

pub(crate) use self::which::Which;
use crate::{output::say, wrong_file};

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

/// Reads and checks a world file and those that it names.
pub(crate) fn read_world(path: &Path) -> anyhow::Result<(World, Layout)> {
    let mut document = Document::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let (world, layout, notes) = World::read_all(&mut document, document::read_text)
        .map_err(|error| wrong_file::instead_of_world(path, error.into()))?;
    for note in notes {
        say(&note);
    }
    Ok((world, layout))
}

/// The world that a planet runs, under the planet's name.
pub(crate) fn layout_of(planet: &Planet) -> anyhow::Result<Layout> {
    let document = Document::new(format!("planet {}", planet.name()), planet.world()?);
    let (_, mut layout) = World::read(&document)?;
    planet.name().clone_into(&mut layout.name);
    Ok(layout)
}
