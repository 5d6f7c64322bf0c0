//! `longhaul lab up`: a world file becomes a planet.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use planet::{Life, Running, outcome};
use world::Layout;

use super::read_world;
use crate::{
    interrupt::Interrupt,
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
    /// Call it this instead of what the file says
    #[arg(long)]
    name: Option<String>,
    /// Print its hosts as one line of JSON when it is up
    #[arg(long)]
    json: bool,
}

impl Up {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let (world, layout) = read_world(&self.world)?;
        let name = self.name.clone().unwrap_or_else(|| match &world.settings.name {
            Some(name) => name.clone(),
            None => name_of(&self.world),
        });
        let life = if self.detach { Life::Detached } else { Life::WithStarter };
        // Before the planet is up, so that a Ctrl-C in between ends it in order too.
        let interrupted = (!self.detach).then(Interrupt::listen).transpose()?;
        let running = Running::start(&world, &name, life)?;
        say(&format!("planet \"{name}\" is up: {}", summary(&layout)));
        if self.json {
            let hosts = running.planet().status()?.hosts;
            let up = outcome::Up { planet: name.clone(), detached: self.detach, hosts };
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
            interrupted.wait()?;
            drop(running);
            say(&format!("planet \"{name}\" is gone"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A planet's name from that of a file, which may have characters that a planet's may not.
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
