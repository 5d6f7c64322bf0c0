//! Resolves and checks the cities, hosts, links, anycast prefixes and faults of a world file.

mod anycast;
mod cities;
mod hosts;
mod links;

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use config_file::{Diagnostic, Document};
use toml::Spanned;

use self::{
    anycast::anycast,
    cities::cities,
    hosts::hosts,
    links::{given, links, vias},
};
use super::{City, CityId, Layout, Timed};
use crate::{
    file::{self, Source, World},
    matrix::Matrix,
};

impl World {
    /// For a world that names no other file; see [`World::read_all`].
    pub fn read(document: &Document) -> Result<(Self, Layout), Diagnostic> {
        let world: Self = document.parse()?;
        let layout = world.layout(document)?;
        Ok((world, layout))
    }

    /// Resolves and checks every name.
    pub fn layout(&self, document: &Document) -> Result<Layout, Diagnostic> {
        let world = &settle(self, document)?;
        check_settings(world, document)?;
        let settings = &world.settings;
        let cities = cities(world, document)?;
        let (hosts, ports) = hosts(world, &cities, document)?;
        let links = links(world, &cities, document)?;
        let mut layout = Layout {
            name: settings.name.clone().unwrap_or_else(|| "planet".to_owned()),
            seed: settings.seed,
            receive: settings.receive.into(),
            lateness: settings.lateness,
            threads: settings.threads,
            via: vias(&links, &cities, document)?,
            measured: measured(world, &cities, document)?,
            anycast: anycast(world, &cities, &hosts, document)?,
            cities,
            hosts,
            ports,
            faults: Vec::new(),
            inflation: settings.inflation,
            access_inflation: settings.access_inflation,
            links: given(&links, world, document)?,
        };
        layout.faults = faults(world, &layout, document)?;
        Ok(layout)
    }
}

fn measured(
    world: &World,
    cities: &[City],
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), Duration>, Diagnostic> {
    let Some(source) = &world.settings.matrix else { return Ok(BTreeMap::new()) };
    let mistake = |message: String| document.mistake(source.span(), message);
    let Source::Pairs(pairs) = source.get_ref() else {
        return Err(mistake(
            "a text that is not a file cannot name a matrix; give the pairs themselves".to_owned(),
        ));
    };
    let matrix = Matrix::new(pairs, &world.known_cities()).map_err(mistake)?;
    let ids: BTreeMap<_, _> = cities.iter().enumerate().map(|(id, city)| (city.name.as_str(), id)).collect();
    let here = |((a, b), rtt): (&(String, String), &Duration)| {
        let (a, b) = (*ids.get(a.as_str())?, *ids.get(b.as_str())?);
        Some(((a.min(b), a.max(b)), *rtt))
    };
    Ok(matrix.pairs.iter().filter_map(here).collect())
}

fn settle<'w>(world: &'w World, document: &Document) -> Result<Cow<'w, World>, Diagnostic> {
    if world.visitors.is_empty() {
        return Ok(Cow::Borrowed(world));
    }
    let mut settled = world.clone();
    for visitors in settled.visitors.split_off(0) {
        let count = *visitors.count.get_ref() as usize;
        if settled.hosts.len() + count > MOST_HOSTS {
            let message =
                format!("with {count} visitors there are more hosts than the limit of {MOST_HOSTS}");
            return Err(document.mistake(visitors.count.span(), message));
        }
        let hosts = visitors.hosts().map_err(|message| document.mistake(visitors.count.span(), message))?;
        settled.hosts.extend(hosts);
    }
    Ok(Cow::Owned(settled))
}

fn check_settings(world: &World, document: &Document) -> Result<(), Diagnostic> {
    let settings = &world.settings;
    if let Some(include) = settings.include.first() {
        let message = "a text that is not a file cannot include others";
        return Err(document.mistake(include.span(), message));
    }
    for (key, inflation) in
        [("inflation", settings.inflation), ("access_inflation", settings.access_inflation)]
    {
        if !(1.0..=10.0).contains(&inflation) {
            let message =
                format!("{key} = {inflation}: no way is shorter than the great circle; expected 1 to 10");
            return Err(document.mistake(0..0, message));
        }
    }
    if world.hosts.is_empty() {
        return Err(document.mistake(0..0, "the world has no hosts; add a [[host]] with a name and a city"));
    }
    if let Some(host) = world.hosts.get(MOST_HOSTS) {
        let message = format!("{} hosts are more than the limit of {MOST_HOSTS}", world.hosts.len());
        return Err(document.mistake(host.name.span(), message));
    }
    for key in settings.sysctl.keys().chain(world.hosts.iter().flat_map(|host| host.sysctl.keys())) {
        check_sysctl(key.get_ref()).map_err(|message| document.mistake(key.span(), message))?;
    }
    Ok(())
}

/// A planet may set network settings of a host, but none of the machine.
fn check_sysctl(key: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    if key.starts_with("net.") && key.chars().all(is_plain) && !key.contains("..") {
        return Ok(());
    }
    Err(format!("\"{key}\" is not a setting of a host's network; expected one such as net.ipv4.tcp_rmem"))
}

fn faults(world: &World, layout: &Layout, document: &Document) -> Result<Vec<Timed>, Diagnostic> {
    let resolve = |spanned: &Spanned<file::Fault>| {
        let fault = spanned.get_ref().clone();
        let effect = layout.effect(&fault).map_err(|message| document.mistake(spanned.span(), message))?;
        let at = fault.at.ok_or_else(|| {
            document.mistake(spanned.span(), "this fault has no time; expected at = \"10s\"")
        })?;
        Ok(Timed { at, lasts: fault.lasts, fault, effect })
    };
    let mut faults = world.faults.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    faults.sort_by_key(|fault| fault.at);
    Ok(faults)
}

/// Three file descriptors per host, and the kernel's default limit of 20 000.
const MOST_HOSTS: usize = 5000;
