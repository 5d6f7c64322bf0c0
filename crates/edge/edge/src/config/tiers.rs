//! The `tiers` of zones and the locations of data centres.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use ::tier_routing::{Centre, Custom, DataCentreId};
use config_file::{Diagnostic, Document, suggestion};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use toml::Spanned;
use world::{
    gazetteer,
    geography::{great_circle_km, propagation},
};

use super::{DataCentre, Network, Purpose};

/// How the data centres of a zone form tiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiers {
    /// Each data centre sends requests to the origin.
    None,
    /// The data centre nearest to the origin is the upper tier of all others.
    Smart,
    /// Each key has one of the large data centres as its upper tier.
    Generic,
    /// The map in the file.
    Custom(Custom),
}

#[derive(Debug)]
pub(super) enum TiersSpec {
    Word(String),
    Map(Vec<(Spanned<String>, Spanned<String>)>),
}

/// Not `untagged`, because serde would lose the positions of the names.
impl<'de> Deserialize<'de> for TiersSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TiersVisitor;
        impl<'de> Visitor<'de> for TiersVisitor {
            type Value = TiersSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E>(self, word: &str) -> Result<TiersSpec, E> {
                Ok(TiersSpec::Word(word.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TiersSpec, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(TiersSpec::Map(pairs))
            }
        }
        deserializer.deserialize_any(TiersVisitor)
    }
}

pub(super) fn read(
    document: &Document,
    purpose: Purpose,
    (tiers, regional): (Option<&Spanned<TiersSpec>>, Option<&Spanned<bool>>),
    centres: &[DataCentre],
) -> Result<(Tiers, bool), Diagnostic> {
    let found = match tiers {
        None => Tiers::None,
        Some(written) => match written.get_ref() {
            TiersSpec::Word(word) => match word.as_str() {
                "none" => Tiers::None,
                "smart" => Tiers::Smart,
                "generic" => Tiers::Generic,
                other => {
                    let similar = suggestion(other, ["none", "smart", "generic"]);
                    let message = format!("unknown tiers \"{other}\": expected {EXPECTED}{similar}");
                    return Err(document.mistake(written.span(), message));
                }
            },
            TiersSpec::Map(pairs) => custom(document, written, pairs, centres)?,
        },
    };
    let are_linked = centres.iter().all(|centre| centre.link.is_some());
    if let (Purpose::Run, Some(written)) = (purpose, tiers.filter(|_| found != Tiers::None && !are_linked)) {
        let message = "tiers need links between data centres: each needs an address = \"10.0.1.1:4400\" with \
                       link_certificate and link_key, and [network] an authority";
        return Err(document.mistake(written.span(), message));
    }
    let Some(regional) = regional.filter(|regional| *regional.get_ref()) else { return Ok((found, false)) };
    let wrong = |message: String| Err(document.mistake(regional.span(), message));
    if let Tiers::None | Tiers::Generic = found {
        return wrong(
            "a regional tier is used before an upper tier in another region: it needs tiers = \"smart\" or a map"
                .to_owned(),
        );
    }
    if let Some(centre) = centres.iter().find(|centre| centre.region.is_none()) {
        return wrong(format!(
            "regional tiers need the region of each data centre, but \"{}\" has no region",
            centre.name
        ));
    }
    Ok((found, true))
}

fn custom(
    document: &Document,
    written: &Spanned<TiersSpec>,
    pairs: &[(Spanned<String>, Spanned<String>)],
    centres: &[DataCentre],
) -> Result<Tiers, Diagnostic> {
    let id = |name: &Spanned<String>| {
        let position = centres.iter().position(|centre| centre.name == *name.get_ref());
        let id = position.and_then(|position| u16::try_from(position).ok()).map(DataCentreId);
        id.ok_or_else(|| {
            let similar = suggestion(name.get_ref(), centres.iter().map(|centre| centre.name.as_str()));
            let message = format!("the network has no data centre \"{}\"{similar}", name.get_ref());
            document.mistake(name.span(), message)
        })
    };
    let known: Vec<_> =
        pairs.iter().map(|(from, to)| Ok((id(from)?, id(to)?))).collect::<Result<_, Diagnostic>>()?;
    let map = Custom::new(&network(centres), known);
    map.map(Tiers::Custom).map_err(|around| {
        let place = pairs.iter().find(|(from, _)| Some(from.get_ref()) == around.names.first());
        let span = place.map_or(written.span(), |(from, _)| from.span());
        document.mistake(span, around.to_string())
    })
}

pub(super) fn city(document: &Document, written: &Spanned<String>) -> Result<String, Diagnostic> {
    let name = written.get_ref();
    gazetteer::find(name).map(|city| city.name.clone()).ok_or_else(|| {
        let names: BTreeSet<_> = gazetteer::cities().iter().map(|city| city.name.as_str()).collect();
        let message = format!("unknown city \"{name}\"{}", suggestion(name, names));
        document.mistake(written.span(), message)
    })
}

impl Network {
    /// Returns the data centres in their order, for the crate `tier_routing`. All data centres
    /// without a region share one.
    pub fn tiers(&self) -> ::tier_routing::Network {
        network(&self.data_centres)
    }
}

fn network(centres: &[DataCentre]) -> ::tier_routing::Network {
    let places: BTreeMap<_, _> = centres
        .iter()
        .filter_map(|centre| centre.city.as_deref())
        .filter_map(|name| Some((name, gazetteer::find(name)?.place())))
        .collect();
    let place = |id: DataCentreId| places.get(centres[usize::from(id.0)].city.as_deref()?).copied();
    let light = |a, b| match (place(a), place(b)) {
        // No cable is shorter than the great circle.
        (Some(a), Some(b)) if a != b => 2 * propagation(great_circle_km(a, b), 1.0),
        _ => Duration::ZERO,
    };
    let centre = |centre: &DataCentre| Centre {
        name: centre.name.clone(),
        region: centre.region.clone().unwrap_or_default(),
        weight: centre.weight,
    };
    ::tier_routing::Network::new(centres.iter().map(centre).collect(), light)
}

const EXPECTED: &str = "\"none\", \"smart\", \"generic\", or a map such as { lhr = \"fra\" }, where fra is the upper tier of lhr";
