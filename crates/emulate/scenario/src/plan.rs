//! A scenario with all names checked, ready to run.

use std::{path::Path, time::Duration};

use claim::Claim;
use recording::Metric;
use statistics::Page;
use units::Bytes;
use world::{Diagnostic, Document, Effect, HostDown, Layout, Timed, World};

use crate::{
    check::{Check, Seed},
    error::Error,
    file::{self, File},
    kind::{self, Measurement},
    program::Program,
};

mod claims;
mod faults;
mod mutants;
mod order;

pub use mutants::{Change, Mutant};

/// A checked scenario.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The file's name without its extension.
    pub name: String,
    /// The report's title.
    pub title: String,
    /// The question.
    pub summary: Option<String>,
    /// The metric of claims and report.
    pub metric: Metric,
    /// The page model.
    pub page: Page,
    /// The world, without its faults.
    pub world: World,
    /// The world with every name resolved.
    pub layout: Layout,
    /// Notes for the user about the files that were read.
    pub notes: Vec<String>,
    /// Commands to run before the hosts are created.
    pub prepare: Vec<Vec<String>>,
    /// The programs of the file, then the servers of its measurements.
    pub programs: Vec<Program>,
    /// By kind and then in the order of the file.
    pub measurements: Vec<Measurement>,
    /// The output limit of each program.
    pub log_limit: Bytes,
    /// The total duration according to the file.
    pub duration: Duration,
    /// Ordered by time since the measurements started.
    pub faults: Vec<Timed>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// Variants in which some of the claims must fail.
    pub mutants: Vec<Mutant>,
}

impl Plan {
    /// Reads a scenario file and its world file. Starts nothing.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_with(path, None)
    }

    /// A seed changes losses, jitter and the schedules of probes.
    pub fn read_with(path: &Path, seed: Option<Seed>) -> Result<Self, Error> {
        let mut document = open(path)?;
        let mut file: File = document.parse()?;
        let name = path
            .file_stem()
            .map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let (mut world, mut layout, notes) = read_world(&mut file, path, &mut document, seed)?;
        // The times of faults in a world file are relative to the start of the measurements, like
        // all others.
        world.faults.clear();
        let mut faults = std::mem::take(&mut layout.faults);

        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let check = Check { document: &document, layout: &layout, seed, folder };
        let log_limit = check.limit(file.scenario.log_limit.as_ref())?;
        let prepare =
            file.prepare.iter().map(|written| check.command(&written.run)).collect::<Result<_, _>>()?;
        let mut programs = std::mem::take(&mut file.program)
            .into_iter()
            .map(|written| program(&check, written))
            .collect::<Result<Vec<_>, _>>()?;
        let measurements = kind::check(&check, &file.take_tables())?;
        programs.extend(kind::programs(&measurements));
        if measurements.is_empty() {
            let message = "the scenario measures nothing; add a [[probe]], a [[transfer]], a [[ping]], a [[speed]], a [[kv]] or a [[command]]";
            return Err(document.mistake(0..0, message).into());
        }
        let duration = order::check(&measurements, &document)?;
        for fault in file.fault {
            faults.push(faults::check(fault, &layout, &measurements, duration, &document)?);
        }
        faults.sort_by_key(|fault| fault.at);
        let claims = file
            .claim
            .into_iter()
            .map(|claim| claims::check(claim, &measurements, &document))
            .collect::<Result<Vec<_>, _>>()?;
        let mutants = file.mutant.into_iter().map(|mutant| mutants::check(mutant, &claims, &document));
        let mutants = mutants.collect::<Result<_, _>>()?;
        let page = Page::new(*file.page.requests.get_ref(), file.page.required.get_ref().get())
            .map_err(|error| document.mistake(file.page.requests.span(), error.to_string()))?;
        let (title, summary, metric) = (file.scenario.title, file.scenario.summary, file.scenario.metric);
        Ok(Self {
            name,
            title,
            summary,
            metric,
            page,
            world,
            layout,
            notes,
            prepare,
            programs,
            measurements,
            log_limit,
            duration,
            faults,
            claims,
            mutants,
        })
    }

    /// By this time since the measurements started.
    pub fn is_killed(&self, host: &str, elapsed: Duration) -> bool {
        let kills = |fault: &Timed| match fault.effect {
            Effect::Host { host: killed, how: HostDown::Killed } => self.layout.hosts[killed].name == host,
            _ => false,
        };
        self.faults.iter().any(|fault| fault.at <= elapsed && kills(fault))
    }
}

fn program(check: &Check<'_>, written: file::Program) -> Result<Program, Diagnostic> {
    check.host(&written.host)?;
    let (command, host) = (check.command(&written.run)?, written.host.into_inner());
    Ok(Program { host, command, ready: written.ready })
}

fn read_world(
    file: &mut File,
    path: &Path,
    document: &mut Document,
    seed: Option<Seed>,
) -> Result<(World, Layout, Vec<String>), Error> {
    let seeded = |world: &mut World| {
        if let Some(Seed(seed)) = seed {
            world.settings.seed = seed;
        }
    };
    let has_settings = file.world.is_some();
    let mut inline = World {
        settings: file.world.take().unwrap_or_default(),
        cities: std::mem::take(&mut file.city),
        links: std::mem::take(&mut file.link),
        access: std::mem::take(&mut file.access),
        hosts: std::mem::take(&mut file.host),
        visitors: std::mem::take(&mut file.visitors),
        anycast: std::mem::take(&mut file.anycast),
        faults: Vec::new(),
    };
    let tables = [
        inline.cities.len(),
        inline.links.len(),
        inline.access.len(),
        inline.hosts.len(),
        inline.visitors.len(),
        inline.anycast.len(),
    ];
    let Some(other) = &file.scenario.world else {
        let notes = inline.gather(document, config_file::read_text)?;
        seeded(&mut inline);
        let layout = inline.layout(document)?;
        return Ok((inline, layout, notes));
    };
    if has_settings || tables.into_iter().any(|tables| tables > 0) {
        let message = "the scenario contains a world and also names a world file; expected one of them";
        return Err(document.mistake(other.span(), message).into());
    }
    let beside = path.parent().unwrap_or(Path::new("")).join(other.get_ref());
    let unreadable =
        |error| document.mistake(other.span(), format!("{} cannot be read: {error}", beside.display()));
    let mut named = Document::open(&beside).map_err(unreadable)?;
    let (mut world, layout, notes) = World::read_all(&mut named, config_file::read_text)?;
    if seed.is_none() {
        return Ok((world, layout, notes));
    }
    seeded(&mut world);
    let layout = world.layout(&named)?;
    Ok((world, layout, notes))
}

fn open(path: &Path) -> Result<Document, Error> {
    Document::open(path).map_err(|source| Error::Access { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
