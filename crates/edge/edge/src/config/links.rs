//! Links between data centres, and the zones that use them for detours.

use std::{
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
};

use config_file::{Diagnostic, Document};
use http_stack::StatusCode;
use serde::Deserialize;
use toml::Spanned;

use super::DataCentre;

/// Address and certificate of a data centre for links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Listening address for other data centres.
    pub address: SocketAddr,
    /// Certificate (PEM) for the data centre's name, signed by the network's authority.
    pub certificate: PathBuf,
    /// Key (PEM) of the certificate.
    pub key: PathBuf,
}

/// Whether requests may reach an origin through another data centre and, therefore, from its
/// address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detours {
    /// No detours: each data centre connects to the origin directly.
    Off,
    /// Detour if the direct connection fails.
    #[default]
    On,
    /// Detour also if it is faster than the direct path.
    Faster,
}

/// Behaviour of a data centre that receives heartbeats of too few others and may, therefore, miss
/// purges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartitionPolicy {
    /// Continue to use stored objects, up to the limit of the zone.
    #[default]
    Stale,
    /// Revalidate stored objects at the origin before use.
    Revalidate,
}

pub(super) fn detour_statuses(
    document: &Document,
    detours: Detours,
    written: &[Spanned<u16>],
) -> Result<Vec<StatusCode>, Diagnostic> {
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

pub(super) fn check(
    document: &Document,
    authority: Option<&Path>,
    centres: &[DataCentre],
    places: &[(Range<usize>, Option<Range<usize>>)],
) -> Result<(), Diagnostic> {
    let linked = || centres.iter().zip(places).filter(|(centre, _)| centre.link.is_some());
    let Some((first, (place, address))) = linked().next() else { return Ok(()) };
    if authority.is_none() {
        let message = format!(
            "data centre \"{}\" has an address for links, which need a common authority: [network] authority = \
             \"ca.pem\" (`longhaul edge ca new` creates one)",
            first.name
        );
        return Err(document.mistake(address.clone().unwrap_or_else(|| place.clone()), message));
    }
    if let Some((other, (place, _))) = centres.iter().zip(places).find(|(centre, _)| centre.link.is_none()) {
        let message = format!(
            "data centre \"{}\" has no address, but \"{}\" has one: links need an address in every data centre",
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
