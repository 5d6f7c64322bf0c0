//! `longhaul lab up`: starts a planet from a world file.

use std::{
    os::fd::AsFd,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use clap::Args;
use planet::{Ending, Life, Running, cli_documents};
use world::Layout;

use super::read_world;
use crate::{
    interrupt::{Interrupt, first_ready},
    output::{self, say},
};

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
    /// Name of the planet instead of the name in the file
    #[arg(long)]
    name: Option<String>,
    // The global option of `lab`, which does not apply to a new planet.
    #[arg(long, hide = true)]
    planet: Option<String>,
    /// Print its hosts as one line of JSON when it is up
    #[arg(long)]
    json: bool,
}

impl Up {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if self.planet.is_some() {
            bail!("--planet selects a running planet; name a new one with --name");
        }
        let (world, layout) = read_world(&self.world)?;
        let name = self.name.clone().unwrap_or_else(|| match &world.settings.name {
            Some(name) => name.clone(),
            None => name_of(&self.world),
        });
        let life = if self.detach { Life::Detached } else { Life::WithStarter };
        // Before the planet starts, so that Ctrl-C during the start also ends it gracefully.
        let interrupted = (!self.detach).then(Interrupt::listen).transpose()?;
        let mut running = Running::start(&world, &name, life)?;
        say(&format!("planet \"{name}\" is up: {}", summary(&layout)));
        if self.json {
            let hosts = running.planet().status()?.hosts;
            let up = cli_documents::Up { planet: name.clone(), detached: self.detach, hosts };
            output::print_json_line(&output::named("longhaul.lab.up/1", up))?;
        }
        if let Some(distance) = layout.distance() {
            say(&format!("{distance}"));
        }
        if let Some(interrupted) = interrupted {
            say(&format!(
                "try: longhaul lab exec {} -- sh     (Ctrl-C ends the planet)",
                layout.hosts[0].name
            ));
            if let Some(ending) = last(&mut running, &interrupted)? {
                return match ending {
                    Ending::Told => {
                        say(&format!("planet \"{name}\" was stopped by another process (longhaul lab down)"));
                        Ok(ExitCode::SUCCESS)
                    }
                    other => Err(other.into_error(&name).into()),
                };
            }
            drop(running);
            say(&format!("planet \"{name}\" is gone"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn last(running: &mut Running, interrupted: &Interrupt) -> anyhow::Result<Option<Ending>> {
    let Ok(planet) = running.planet().watch() else { return Ok(running.ended()) };
    let asked = interrupted.descriptor()?;
    match first_ready(&[asked.as_fd(), planet.as_fd()])? {
        0 => Ok(None),
        _ => Ok(running.ended()),
    }
}

fn name_of(world: &Path) -> String {
    let stem = world.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain: String = stem.chars().map(|c| if is_plain(c) { c } else { '-' }).take(60).collect();
    let name = plain.trim_start_matches('-');
    if name.is_empty() { "planet".to_owned() } else { name.to_owned() }
}

fn summary(layout: &Layout) -> String {
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    format!(
        "{} in {}",
        plural(layout.hosts.len(), "host", "hosts"),
        plural(layout.cities.len(), "city", "cities")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_be_called_what_no_planet_can_be() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("scenarios/worlds/atlantic.toml"), "atlantic");
        assert_eq!(name("my world.toml"), "my-world");
        assert_eq!(name("-x.toml"), "x");
        assert_eq!(name("東京.toml"), "planet");
        assert_eq!(name(&"a".repeat(99)).len(), 60);
    }
}
