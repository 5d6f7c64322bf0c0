//! Resolves the links of a world and the paths over several links.

use std::{collections::BTreeMap, time::Duration};

use config_file::{Diagnostic, Document, suggestion};
use toml::Spanned;

use super::hosts::plain_line;
use crate::{
    file::{self, World},
    gazetteer::canonical,
    layout::{City, CityId, Given},
};

/// In order of index. A link that names both cities takes precedence over links with "*".
pub(super) fn links(
    world: &World,
    cities: &[City],
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), file::Link>, Diagnostic> {
    let mut links = BTreeMap::new();
    let is_wild = |link: &&file::Link| link.own.between.iter().any(|name| name.get_ref() == "*");
    let (wild, exact): (Vec<_>, Vec<_>) = world.links.iter().partition(is_wild);
    for link in exact {
        check_link(link, document)?;
        let [a, b] = link.own.between.each_ref();
        let (a_id, b_id) = (end(a, cities, document)?, end(b, cities, document)?);
        if a_id == b_id {
            let message =
                format!("both ends of a link are \"{}\"; two different cities are expected", a.get_ref());
            return Err(document.mistake(b.span(), message));
        }
        add(link, (a_id, b_id), &mut links, cities, document)?;
    }
    let mut rest = BTreeMap::new();
    for link in wild {
        check_link(link, document)?;
        let named = link.own.between.iter().find(|name| name.get_ref() != "*");
        let named = named.map(|name| end(name, cities, document)).transpose()?;
        let pairs = (0..cities.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        for (a, b) in pairs.filter(|&(a, b)| named.is_none_or(|named| named == a || named == b)) {
            if !links.contains_key(&(b, a)) {
                add(link, (a, b), &mut rest, cities, document)?;
            }
        }
    }
    links.append(&mut rest);
    Ok(links)
}

fn check_link(link: &file::Link, document: &Document) -> Result<(), Diagnostic> {
    if link.own.rtt.is_some() && link.own.delay.is_some() {
        let message = "a link has a delay (one way) or an rtt (both ways), not both";
        return Err(document.mistake(link.own.between[0].span(), message));
    }
    Ok(())
}

pub(super) fn given(
    links: &BTreeMap<(CityId, CityId), file::Link>,
    world: &World,
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), Given>, Diagnostic> {
    let base = plain_line(Duration::ZERO, world).up;
    let given = |(&ends, link): (&(CityId, CityId), &file::Link)| {
        let config = link.direction().apply(&base, document)?;
        let by_netem = (!config.propagation.is_zero()).then_some(config.propagation);
        let propagation = link.own.delay.or(link.own.rtt.map(|rtt| rtt / 2)).or(by_netem);
        let is_named = link.own.between.iter().all(|city| city.get_ref() != "*");
        Ok((ends, Given { config, propagation, is_named }))
    };
    links.iter().map(given).collect()
}

fn add(
    link: &file::Link,
    (a, b): (CityId, CityId),
    links: &mut BTreeMap<(CityId, CityId), file::Link>,
    cities: &[City],
    document: &Document,
) -> Result<(), Diagnostic> {
    if links.insert((a.min(b), a.max(b)), link.clone()).is_none() {
        return Ok(());
    }
    let message =
        format!("the link between \"{}\" and \"{}\" is described twice", cities[a].name, cities[b].name);
    Err(document.mistake(link.own.between[0].span(), message))
}

pub(super) fn end(
    name: &Spanned<String>,
    cities: &[City],
    document: &Document,
) -> Result<CityId, Diagnostic> {
    let found = cities.iter().position(|city| city.name == canonical(name.get_ref()));
    found.ok_or_else(|| {
        let hint = suggestion(name.get_ref(), cities.iter().map(|city| city.name.as_str()));
        let message = format!("a link to nowhere: no host lives in \"{}\"{hint}", name.get_ref());
        document.mistake(name.span(), message)
    })
}

pub(super) fn vias(
    links: &BTreeMap<(CityId, CityId), file::Link>,
    cities: &[City],
    document: &Document,
) -> Result<BTreeMap<(CityId, CityId), Vec<CityId>>, Diagnostic> {
    let mut vias = BTreeMap::new();
    for (&(a, b), link) in links.iter().filter(|(_, link)| !link.own.via.is_empty()) {
        let has_more = link.own.rtt.is_some() || link.own.delay.is_some() || !link.direction().is_absent();
        if has_more || link.own.via.len() > MOST_VIAS {
            let message = if has_more {
                "a link with via consists of other links, and cannot have further keys".to_owned()
            } else {
                format!("{} cities in between are more than the limit of {MOST_VIAS}", link.own.via.len())
            };
            return Err(document.mistake(link.own.via[0].span(), message));
        }
        let mut path =
            link.own.via.iter().map(|name| end(name, cities, document)).collect::<Result<Vec<_>, _>>()?;
        for (at, city) in path.iter().enumerate() {
            if [a, b].contains(city) || path[..at].contains(city) {
                let message = format!("the path passes \"{}\" twice", cities[*city].name);
                return Err(document.mistake(link.own.via[at].span(), message));
            }
        }
        if canonical(link.own.between[0].get_ref()) != cities[a].name {
            path.reverse();
        }
        vias.insert((a, b), path);
    }
    let is_made = |hop: &(CityId, CityId)| vias.contains_key(hop);
    if let Some(link) = vias.iter().flat_map(|(ends, path)| hops(*ends, path)).find(is_made) {
        let (a, b) = (&cities[link.0].name, &cities[link.1].name);
        let message = format!(
            "the path between \"{a}\" and \"{b}\" consists of links itself, so it cannot be part of another one"
        );
        return Err(document.mistake(links[&link].own.via[0].span(), message));
    }
    Ok(vias)
}

/// Each with its lower index first.
fn hops((a, b): (CityId, CityId), path: &[CityId]) -> Vec<(CityId, CityId)> {
    let all: Vec<_> = std::iter::once(a).chain(path.iter().copied()).chain([b]).collect();
    all.windows(2).map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1]))).collect()
}

const MOST_VIAS: usize = 16;
