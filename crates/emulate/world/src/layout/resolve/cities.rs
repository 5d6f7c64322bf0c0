//! Resolves the cities of a world: declared ones, and ones referenced by name.

use std::net::{Ipv4Addr, Ipv6Addr};

use config_file::{Diagnostic, Document, suggestion};
use toml::Spanned;

use crate::{
    file::World,
    gazetteer::{self, canonical},
    geography::Place,
    layout::City,
};

/// The declared cities, then cities that only hosts or links reference.
pub(super) fn cities(world: &World, document: &Document) -> Result<Vec<City>, Diagnostic> {
    let mut places: Vec<(String, Place)> = Vec::new();
    for city in &world.cities {
        let name = canonical(city.name.get_ref());
        if places.iter().any(|(known, _)| known == name) {
            return Err(document.mistake(city.name.span(), format!("city \"{name}\" is declared twice")));
        }
        let place = match (city.lat, city.lon) {
            (Some(lat), Some(lon)) if lat.abs() <= 90.0 && lon.abs() <= 180.0 => Place { lat, lon },
            (Some(_), Some(_)) => {
                let message = "coordinates are out of range; expected lat in -90..90 and lon in -180..180";
                return Err(document.mistake(city.name.span(), message));
            }
            (None, None) => known_place(&city.name, document)?,
            _ => return Err(document.mistake(city.name.span(), "a city needs both lat and lon, or neither")),
        };
        places.push((name.to_owned(), place));
    }
    let vias = world.links.iter().flat_map(|link| &link.own.via);
    for named in world.hosts.iter().map(|host| &host.city).chain(vias) {
        let name = canonical(named.get_ref());
        if places.iter().all(|(known, _)| known != name) {
            places.push((name.to_owned(), known_place(named, document)?));
        }
    }
    let router = |(number, (name, place)): (usize, (String, Place))| {
        let number = u32::try_from(number + 1).expect("far fewer cities than 2^32");
        City {
            name,
            place,
            v4: Ipv4Addr::from(u32::from(ROUTER_V4_BASE) + number),
            v6: Ipv6Addr::from(u128::from(ROUTER_V6_BASE) + u128::from(number)),
        }
    };
    if places.len() > MOST_CITIES {
        let message = format!("{} cities are more than the limit of {MOST_CITIES}", places.len());
        return Err(document.mistake(0..0, message));
    }
    Ok(places.into_iter().enumerate().map(router).collect())
}

fn known_place(name: &Spanned<String>, document: &Document) -> Result<Place, Diagnostic> {
    gazetteer::find(name.get_ref()).map(|city| Place { lat: city.lat, lon: city.lon }).ok_or_else(|| {
        let hint = suggestion(name.get_ref(), gazetteer::cities().iter().map(|city| city.name.as_str()));
        let message = format!("unknown city \"{}\"{hint} (a new city needs lat and lon)", name.get_ref());
        document.mistake(name.span(), message)
    })
}

/// Each pair of cities may have a link in both directions.
const MOST_CITIES: usize = 2000;

const ROUTER_V4_BASE: Ipv4Addr = Ipv4Addr::new(10, 255, 0, 0);
const ROUTER_V6_BASE: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x6f6e, 0x6768, 0xffff, 0, 0, 0, 0);
