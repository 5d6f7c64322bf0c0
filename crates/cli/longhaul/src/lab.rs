//! `longhaul lab`: interactive use of a planet.

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
mod planet_arg;
mod publish;
mod status;
mod up;
mod view;

use std::{path::Path, process::ExitCode};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use planet::Planet;
use world::{Document, Layout, World};

pub(crate) use self::planet_arg::Which;
use crate::{file_kind_hint, output::say};

/// Run an emulated planet and work on it interactively
#[derive(Debug, Args)]
pub(crate) struct Lab {
    // Global, so that it may precede the subcommand, whose own option gets the value from clap.
    #[command(flatten)]
    which: Which,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
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
        let is_named = self.which.planet.is_some();
        match &self.command {
            Command::Down(down) if is_named && down.is_for_all() => {
                bail!("--all and --planet exclude each other")
            }
            Command::Up(up) => up.run(),
            Command::Exec(exec) => exec.run(),
            Command::Logs(logs) => logs.run(),
            Command::Cp(cp) => cp.run(),
            Command::Publish(publish) => publish.run(),
            Command::Status(status) => status.run(),
            Command::Fault(fault) => fault.run(),
            Command::Catchment(catchment) => catchment.run(),
            Command::Map(map) => map.run(),
            Command::View(view) => view.run(),
            Command::Capture(capture) => capture.run(),
            Command::Down(down) => down.run(),
        }
    }
}

pub(crate) fn read_world(path: &Path) -> anyhow::Result<(World, Layout)> {
    let mut document = Document::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let (world, layout, notes) = World::read_all(&mut document, config_file::read_text)
        .map_err(|error| file_kind_hint::instead_of_world(path, error.into()))?;
    for note in notes {
        say(&note);
    }
    Ok((world, layout))
}

pub(crate) fn layout_of(planet: &Planet) -> anyhow::Result<Layout> {
    let document = Document::new(format!("planet {}", planet.name()), planet.world()?);
    let (_, mut layout) = World::read(&document)?;
    planet.name().clone_into(&mut layout.name);
    Ok(layout)
}
