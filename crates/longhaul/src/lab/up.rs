//! `longhaul lab up`: a world file becomes a planet.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use planet::{Life, Running};
use world::Layout;

use super::read_world;
use crate::{interrupt::Interrupt, output::say};

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

impl Up {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
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
        if let Some(distance) = layout.distance() {
            say(&format!("{distance}"));
        }
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

fn summary(layout: &Layout) -> String {
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    format!(
        "{} in {}",
        plural(layout.hosts.len(), "host", "hosts"),
        plural(layout.cities.len(), "city", "cities")
    )
}
