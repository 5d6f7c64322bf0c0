//! What a network's file says of links: how data centres reach one another, and which zones may use that for detours.

use std::{
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
};

use document::{Document, Mistake};
use http::StatusCode;
use serde::Deserialize;
use toml::Spanned;

use super::DataCentre;

/// How other data centres reach one, and what it shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it listens for them.
    pub address: SocketAddr,
    /// Its certificate for its own name, signed by the network's authority, in PEM.
    pub certificate: PathBuf,
    /// The key of that, in PEM.
    pub key: PathBuf,
}

/// Whether requests may reach an origin through another data centre, so that they come from its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detours {
    /// Each data centre connects to the origin itself, or not at all.
    Off,
    /// Where it cannot, another one does.
    #[default]
    On,
    /// Also where another one is nearer to the origin, the way to it included.
    Faster,
}

/// What a data centre does that hears of too few of the others, so that it may not know of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CutOff {
    /// It uses what it stores as ever, for so long as the zone allows.
    #[default]
    Stale,
    /// It asks the origin first whether that has changed.
    Revalidate,
}

/// Statuses that count as failures of a path: errors alone, and only where there may be another path.
pub(super) fn detour_statuses(
    document: &Document,
    detours: Detours,
    written: &[Spanned<u16>],
) -> Result<Vec<StatusCode>, Mistake> {
    let status = |status: &Spanned<u16>| {
        let number = *status.get_ref();
        let wrong = |what: &str| Err(document.mistake(status.span(), format!("{number} {what}")));
        match StatusCode::from_u16(number) {
            _ if detours == Detours::Off => {
                wrong("has no effect with detours = \"off\": remove one of the two")
            }
            Ok(code) if code.is_client_error() || code.is_server_error() => Ok(code),
            _ => wrong("is not an error status: expected 400 to 599, such as 511"),
        }
    };
    written.iter().map(status).collect()
}

/// Whether all data centres are linked, or none is. `places` is where each one's name and address are written.
pub(super) fn check(
    document: &Document,
    authority: Option<&Path>,
    centres: &[DataCentre],
    places: &[(Range<usize>, Option<Range<usize>>)],
) -> Result<(), Mistake> {
    let linked = || centres.iter().zip(places).filter(|(centre, _)| centre.link.is_some());
    let Some((first, (place, address))) = linked().next() else { return Ok(()) };
    if authority.is_none() {
        let message = format!(
            "data centre \"{}\" has an address for others, which need the authority that signs for all of them: [network] authority = \
             \"ca.pem\" (`longhaul edge ca new` makes one)",
            first.name
        );
        return Err(document.mistake(address.clone().unwrap_or_else(|| place.clone()), message));
    }
    if let Some((other, (place, _))) = centres.iter().zip(places).find(|(centre, _)| centre.link.is_none()) {
        let message = format!(
            "data centre \"{}\" has no address, and \"{}\" has one: all data centres of a network are linked, or none",
            other.name, first.name
        );
        return Err(document.mistake(place.clone(), message));
    }
    for (number, (centre, (place, address))) in linked().enumerate() {
        let own = |centre: &DataCentre| centre.link.as_ref().map(|link| link.address);
        if let Some((other, _)) = linked().take(number).find(|(other, _)| own(other) == own(centre)) {
            let message = format!("data centre \"{}\" has the address of \"{}\"", centre.name, other.name);
            return Err(document.mistake(address.clone().unwrap_or_else(|| place.clone()), message));
        }
    }
    Ok(())
}
