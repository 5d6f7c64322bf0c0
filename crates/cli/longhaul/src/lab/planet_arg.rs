//! Selects a planet: of the command line, in `LONGHAUL_PLANET`, or the last one started.

use anyhow::Context;
use clap::Args;
use planet::{Error, Planet};

use crate::output::say;

// No doc comment: it would replace the command's description.
#[derive(Debug, Default, Args)]
pub(crate) struct Which {
    /// The planet; without it: the planet in LONGHAUL_PLANET, or the last one started
    // Global, so that it may also precede a nested command: lab fault --planet P host b down.
    #[arg(long, value_name = "NAME", global = true)]
    pub planet: Option<String>,
}

impl Which {
    /// Prints the planet's name if the command line names none of several.
    pub(super) fn find(&self) -> anyhow::Result<Planet> {
        if let Some(name) = &self.planet {
            return Ok(Planet::find(Some(name))?);
        }
        if let Some(name) = from_environment() {
            let planet = Planet::find(Some(&name)).context(VARIABLE)?;
            if is_one_of_several()? {
                say(&format!("planet \"{name}\", from {VARIABLE}"));
            }
            return Ok(planet);
        }
        match Planet::last()? {
            Some((planet, 1)) => Ok(planet),
            Some((planet, running)) => {
                let name = planet.name();
                say(&format!(
                    "planet \"{name}\", the last started of {running}; choose with --planet or {VARIABLE}"
                ));
                Ok(planet)
            }
            None => Err(none_is_up()),
        }
    }

    pub(crate) fn find_silently(&self) -> anyhow::Result<Planet> {
        match self.planet.clone().or_else(from_environment) {
            Some(name) => Ok(Planet::find(Some(&name))?),
            None => Planet::last()?.map(|(planet, _)| planet).ok_or_else(none_is_up),
        }
    }

    /// The planet must be named if several are up.
    pub(super) fn find_for_good(&self) -> anyhow::Result<Planet> {
        match (&self.planet, from_environment()) {
            (None, Some(name)) => Planet::find(Some(&name)).context(VARIABLE),
            (name, _) => Ok(Planet::find(name.as_deref())?),
        }
    }

    /// For a suggested command; empty if the command selects this planet anyway.
    pub(super) fn flag(&self, planet: &Planet) -> String {
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
