//! The cities that a world can name without giving coordinates, and how many people of their countries use the Internet.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, de::DeserializeOwned};

use crate::geography::Place;

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
    /// The order of how many people live there.
    pub population: Population,
    /// How many people live in the metropolitan area, in thousands, rounded.
    pub people: u32,
}

impl Entry {
    /// Where it is.
    pub fn place(&self) -> Place {
        Place { lat: self.lat, lon: self.lon }
    }
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

/// A country, or a territory with its own code.
#[derive(Debug, Clone, Deserialize)]
pub struct Country {
    /// ISO 3166-1 alpha-2.
    pub code: String,
    /// Its usual English name.
    pub name: String,
    /// How many people use the Internet, in thousands, rounded.
    pub users: u32,
    lat: Option<f64>,
    lon: Option<f64>,
}

impl Country {
    /// Where its capital is, if the gazetteer has no city of this country.
    pub fn place(&self) -> Option<Place> {
        Some(Place { lat: self.lat?, lon: self.lon? })
    }
}

/// All cities, by name.
pub fn cities() -> &'static [Entry] {
    &CITIES
}

/// All countries with a significant number of Internet users, by code.
pub fn countries() -> &'static [Country] {
    &COUNTRIES
}

/// The city of that name or IATA code, whatever the case.
pub fn find(name: &str) -> Option<&'static Entry> {
    BY_NAME.get(name.to_ascii_lowercase().as_str()).map(|&index| &CITIES[index])
}

/// A city's name as the gazetteer writes it, or as it was given.
pub(crate) fn canonical(name: &str) -> &str {
    find(name).map_or(name, |city| city.name.as_str())
}

static CITIES: LazyLock<Vec<Entry>> = LazyLock::new(|| table(include_bytes!("gazetteer/cities.csv")));

static COUNTRIES: LazyLock<Vec<Country>> = LazyLock::new(|| table(include_bytes!("gazetteer/countries.csv")));

static BY_NAME: LazyLock<BTreeMap<String, usize>> = LazyLock::new(|| {
    let names = |(index, city): (usize, &Entry)| {
        [(city.name.clone(), index), (city.iata.to_ascii_lowercase(), index)]
    };
    CITIES.iter().enumerate().flat_map(names).collect()
});

fn table<T: DeserializeOwned>(text: &[u8]) -> Vec<T> {
    csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text)
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("the gazetteer is part of the program and is read by its tests")
}

#[cfg(test)]
mod tests;
