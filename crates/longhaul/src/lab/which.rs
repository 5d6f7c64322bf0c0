//! Which planet a command means: the one it names, the one that `LONGHAUL_PLANET` names, or the last that came up.

use anyhow::Context;
use clap::Args;
use planet::{Error, Planet};

use crate::output::say;

// No doc comment: it would take the place of the command's.
#[derive(Debug, Default, Args)]
pub(crate) struct Which {
    /// The planet; without it: the one that LONGHAUL_PLANET names, or the last that came up
    // Global, so that it may also stand before the command of a command: lab fault --planet P host b down.
    #[arg(long, value_name = "NAME", global = true)]
    pub planet: Option<String>,
}

impl Which {
    /// The planet that is meant. Where it had to be chosen among several, says which it is.
    pub(super) fn find(&self) -> anyhow::Result<Planet> {
        if let Some(name) = &self.planet {
            return Ok(Planet::find(Some(name))?);
        }
        if let Some(name) = from_environment() {
            let planet = Planet::find(Some(&name)).context(VARIABLE)?;
            if is_one_of_several()? {
                say(&format!("planet \"{name}\", as {VARIABLE} says"));
            }
            return Ok(planet);
        }
        match Planet::last()? {
            Some((planet, 1)) => Ok(planet),
            Some((planet, running)) => {
                let name = planet.name();
                say(&format!(
                    "planet \"{name}\", the last of {running} that came up; choose with --planet or {VARIABLE}"
                ));
                Ok(planet)
            }
            None => Err(none_is_up()),
        }
    }

    /// The planet that is meant, for a command that only needs to know what there is on it.
    pub(crate) fn find_silently(&self) -> anyhow::Result<Planet> {
        match self.planet.clone().or_else(from_environment) {
            Some(name) => Ok(Planet::find(Some(&name))?),
            None => Planet::last()?.map(|(planet, _)| planet).ok_or_else(none_is_up),
        }
    }

    /// The planet that is meant, for what cannot be undone: it is not chosen among several.
    pub(super) fn find_for_good(&self) -> anyhow::Result<Planet> {
        match (&self.planet, from_environment()) {
            (None, Some(name)) => Planet::find(Some(&name)).context(VARIABLE),
            (name, _) => Ok(Planet::find(name.as_deref())?),
        }
    }

    /// " --planet NAME" for a command that is shown, where it could mean another one without.
    pub(super) fn flag(&self, planet: &Planet) -> String {
        // Whoever cannot be asked how many there are will not be told of too many.
        let is_needed = self.planet.is_some() || is_one_of_several().unwrap_or(true);
        if is_needed { format!(" --planet {}", planet.name()) } else { String::new() }
    }
}

fn is_one_of_several() -> anyhow::Result<bool> {
    Ok(Planet::running()?.len() > 1)
}

fn from_environment() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|name| !name.is_empty())
}

fn none_is_up() -> anyhow::Error {
    Error::NoPlanet { wanted: None, running: Vec::new() }.into()
}

const VARIABLE: &str = "LONGHAUL_PLANET";
