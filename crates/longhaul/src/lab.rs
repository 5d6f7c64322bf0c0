//! `longhaul lab`: a planet to work in by hand.

mod capture;
mod cp;
mod logs;
mod publish;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Subcommand};
use planet::{Life, Planet, Running};
use world::{Document, Layout, World};

use crate::{
    interrupt::Interrupt,
    output::{self, say},
};

/// A planet to work in by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    Up(Up),
    Exec(Exec),
    Logs(logs::Logs),
    Cp(cp::Cp),
    Publish(publish::Publish),
    Capture(capture::Capture),
    Status(Which),
    Down(Down),
}

/// Start a planet from a world file
///
/// Without --detach it runs until Ctrl-C.
///
/// Example: longhaul lab up scenarios/worlds/atlantic.toml --detach
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The world file
    world: PathBuf,
    /// Return when the planet is ready; end it with `longhaul lab down`
    #[arg(long)]
    detach: bool,
    /// Call it this instead of what the file says
    #[arg(long)]
    name: Option<String>,
}

/// Run a program in a host, with its exit code passed on
///
/// Hosts reach each other by name.
///
/// Example: longhaul lab exec visitor -- ping -c 3 origin
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The host
    host: String,
    /// Return when it runs; see its output and its end with `longhaul lab logs`
    #[arg(long)]
    detach: bool,
    /// The planet, if several are up
    #[arg(long)]
    planet: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Show a planet's hosts and how faithful it has been
///
/// Example: longhaul lab status --json
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The planet, if several are up
    #[arg(long)]
    planet: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// End a planet with everything that runs in it
///
/// Example: longhaul lab down
#[derive(Debug, Args)]
pub(crate) struct Down {
    /// The planet, if several are up
    #[arg(long, conflicts_with = "all")]
    planet: Option<String>,
    /// End all of this user's planets
    #[arg(long)]
    all: bool,
}

impl Lab {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Up(up) => up.run(),
            Self::Exec(exec) => exec.run(),
            Self::Logs(logs) => logs.run(),
            Self::Cp(cp) => cp.run(),
            Self::Publish(publish) => publish.run(),
            Self::Capture(capture) => capture.run(),
            Self::Status(which) => which.run(),
            Self::Down(down) => down.run(),
        }
    }
}

impl Up {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let (world, layout) = read_world(&self.world)?;
        let name = self.name.clone().unwrap_or_else(|| match &world.settings.name {
            Some(name) => name.clone(),
            None => self
                .world
                .file_stem()
                .map_or_else(|| "planet".to_owned(), |stem| stem.to_string_lossy().into_owned()),
        });
        let life = if self.detach { Life::Detached } else { Life::WithStarter };
        // Before the planet is up, so that a Ctrl-C in between ends it in order too.
        let interrupted = (!self.detach).then(Interrupt::listen).transpose()?;
        let running = Running::start(&world, &name, life)?;
        say(&format!("planet \"{name}\" is up: {}", summary(&layout)));
        if let Some(interrupted) = interrupted {
            say(&format!(
                "try: longhaul lab exec {} -- sh     (Ctrl-C ends the planet)",
                layout.hosts[0].name
            ));
            interrupted.wait()?;
            drop(running);
            say(&format!("planet \"{name}\" is gone"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Exec {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let planet = Planet::find(self.planet.as_deref())?;
        if !self.detach {
            return Ok(planet.run_in(&self.host, &self.command)?);
        }
        let number = planet.start_in(&self.host, &self.command)?;
        let name = self.command[0].display();
        say(&format!("[{number}] {name} runs in {}     (longhaul lab logs {0} shows its output)", self.host));
        Ok(ExitCode::SUCCESS)
    }
}

impl Which {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let status = Planet::find(self.planet.as_deref())?.status()?;
        if self.json {
            output::print_json(&status)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!("planet \"{}\", up for {:.0} s\n\n", status.name, status.running_s);
        for host in &status.hosts {
            let addresses: Vec<_> = host.addresses.iter().map(ToString::to_string).collect();
            text += &format!("  {:20} {:16} {}\n", host.name, host.city, addresses.join("  "));
        }
        text += &format!("\n{}\n", report::terminal::fidelity(&status.fidelity));
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Down {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let names = if self.all {
            Planet::running()?
        } else {
            vec![Planet::find(self.planet.as_deref())?.name().to_owned()]
        };
        for name in names {
            Planet::find(Some(&name))?.down()?;
            say(&format!("planet \"{name}\" is gone"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads and checks a world file.
pub(crate) fn read_world(path: &Path) -> anyhow::Result<(World, Layout)> {
    let document = Document::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(World::read(&document)?)
}

fn summary(layout: &Layout) -> String {
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    format!(
        "{} in {}",
        plural(layout.hosts.len(), "host", "hosts"),
        plural(layout.cities.len(), "city", "cities")
    )
}
