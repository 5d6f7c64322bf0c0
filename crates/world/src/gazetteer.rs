//! The cities that a world can name without giving coordinates.

use std::sync::LazyLock;

use serde::Deserialize;

/// A city of the gazetteer.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// Lower case, without blanks.
    pub name: String,
    /// ISO 3166-1 alpha-2.
    pub country: String,
    /// The code of its main airport.
    pub iata: String,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// How many people live there.
    pub population: Population,
}

/// A metropolitan area's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Population {
    /// Ten million and more.
    Mega,
    /// A million and more.
    Large,
    /// Fewer.
    Small,
}

/// All cities, by name.
pub fn cities() -> &'static [Entry] {
    &CITIES
}

/// The city of that name or IATA code, whatever the case.
pub fn find(name: &str) -> Option<&'static Entry> {
    cities().iter().find(|city| city.name.eq_ignore_ascii_case(name) || city.iata.eq_ignore_ascii_case(name))
}

static CITIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    csv::Reader::from_reader(include_bytes!("gazetteer.csv").as_slice())
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("the gazetteer is part of the program and is read by its tests")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_city_is_on_earth_and_unique() {
        assert!(cities().len() >= 60);
        for pair in cities().windows(2) {
            assert!(pair[0].name < pair[1].name, "{} is out of order", pair[1].name);
        }
        for city in cities() {
            assert!(city.lat.abs() <= 90.0 && city.lon.abs() <= 180.0, "{}", city.name);
            assert_eq!(city.iata.len(), 3, "{}", city.name);
            assert_eq!(cities().iter().filter(|other| other.iata == city.iata).count(), 1, "{}", city.iata);
        }
    }

    #[test]
    fn cities_are_found_by_name_and_airport() {
        assert_eq!(find("London").unwrap().country, "GB");
        assert_eq!(find("syd").unwrap().name, "sydney");
        assert!(find("atlantis").is_none());
    }
}
