//! Known cities with coordinates, and the number of Internet users by country.

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
    /// The IATA code of its main airport.
    pub iata: String,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// The size class of its metropolitan area.
    pub population: Population,
    /// Population of the metropolitan area, in thousands, rounded.
    pub people: u32,
}

impl Entry {
    /// Its coordinates.
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
    /// All others.
    Small,
}

/// A country, or a territory with its own code.
#[derive(Debug, Clone, Deserialize)]
pub struct Country {
    /// ISO 3166-1 alpha-2.
    pub code: String,
    /// Its usual English name.
    pub name: String,
    /// Number of Internet users, in thousands, rounded.
    pub users: u32,
    lat: Option<f64>,
    lon: Option<f64>,
}

impl Country {
    /// The capital's place, if the gazetteer has no city of this country.
    pub fn place(&self) -> Option<Place> {
        Some(Place { lat: self.lat?, lon: self.lon? })
    }
}

/// All cities, sorted by name.
pub fn cities() -> &'static [Entry] {
    &CITIES
}

/// All countries with a significant number of Internet users, sorted by code.
pub fn countries() -> &'static [Country] {
    &COUNTRIES
}

/// Finds a city by name or IATA code, case-insensitively.
pub fn find(name: &str) -> Option<&'static Entry> {
    BY_NAME.get(name.to_ascii_lowercase().as_str()).map(|&index| &CITIES[index])
}

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
