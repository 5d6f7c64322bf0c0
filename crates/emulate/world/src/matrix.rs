//! Measured round-trip times between cities in CSV files, and their comparison with generated ones.

mod distance;
mod table;

use std::{collections::BTreeMap, time::Duration};

use config_file::{Diagnostic, Document, suggestion};

pub use self::distance::{Distance, Worst};
use crate::file::Pair;
use crate::{
    gazetteer::{self, canonical},
    geography::{Place, great_circle_km},
};

/// Round-trip times between cities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// By city names, each pair in alphabetical order.
    pub pairs: BTreeMap<(String, String), Duration>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The cities that a matrix may contain, from the gazetteer and from the world.
#[derive(Debug, Clone, Default)]
pub struct KnownCities(BTreeMap<String, Place>);

impl KnownCities {
    /// The cities of the gazetteer and these.
    pub fn new(own: impl IntoIterator<Item = (String, Place)>) -> Self {
        Self(own.into_iter().map(|(name, place)| (canonical(&name).to_owned(), place)).collect())
    }

    fn find(&self, name: &str) -> Result<(&str, Place), String> {
        let own = self.0.get_key_value(canonical(name)).map(|(name, place)| (name.as_str(), *place));
        let known = || gazetteer::find(name).map(|city| (city.name.as_str(), city.place()));
        own.or_else(known).ok_or_else(|| {
            let names = gazetteer::cities().iter().map(|city| &city.name).chain(self.0.keys());
            format!("unknown city \"{name}\"{}", suggestion(name, names.map(String::as_str)))
        })
    }
}

impl Matrix {
    /// Parses a list of `from,to,rtt_ms`, or a square table. A pair measured in both directions
    /// gets the mean.
    pub fn parse(document: &Document, known: &KnownCities) -> Result<Self, Diagnostic> {
        let mut directed = Directed { known, trips: BTreeMap::new() };
        table::read(document, &mut directed)?;
        Ok(directed.fold())
    }

    pub(crate) fn new(pairs: &[Pair], known: &KnownCities) -> Result<Self, String> {
        let mut directed = Directed { known, trips: BTreeMap::new() };
        for Pair(from, to, rtt) in pairs {
            directed.add(from, to, *rtt)?;
        }
        Ok(directed.fold())
    }

    pub(crate) fn into_pairs(self) -> Vec<Pair> {
        self.pairs.into_iter().map(|((a, b), rtt)| Pair(a, b, rtt)).collect()
    }
}

struct Directed<'k> {
    known: &'k KnownCities,
    trips: BTreeMap<(&'k str, &'k str), Duration>,
}

impl<'k> Directed<'k> {
    fn add(&mut self, from: &str, to: &str, rtt: Duration) -> Result<(), String> {
        let (from, to) = (self.known.find(from)?, self.known.find(to)?);
        self.add_known(from, to, rtt)
    }

    /// Pairs within a city are ignored, because the metro minimum applies there.
    fn add_known(
        &mut self,
        (from, here): (&'k str, Place),
        (to, there): (&'k str, Place),
        rtt: Duration,
    ) -> Result<(), String> {
        if from == to {
            return Ok(());
        }
        let km = (great_circle_km(here, there) - COORDINATES_KM).max(0.0);
        let light = Duration::from_secs_f64(2.0 * km / LIGHT_KM_PER_S);
        if rtt < light || rtt.is_zero() {
            return Err(format!(
                "{} from {from} to {to} is less than light needs; expected milliseconds, and nothing where nothing was \
                 measured",
                units::duration::show(rtt)
            ));
        }
        if rtt > LONGEST {
            let (rtt, longest) = (units::duration::show(rtt), units::duration::show(LONGEST));
            return Err(format!("a round trip of {rtt} is more than the limit of {longest}"));
        }
        if self.trips.insert((from, to), rtt).is_some() {
            return Err(format!("the round trip from {from} to {to} is there twice"));
        }
        if self.trips.len() > MOST_TRIPS {
            return Err(format!(
                "more round trips than the limit of {MOST_TRIPS}, which is {MOST_CITIES} cities"
            ));
        }
        Ok(())
    }

    fn fold(self) -> Matrix {
        let mut matrix = Matrix::default();
        let mut averaged = 0;
        let mut widest: Option<(Duration, String)> = None;
        for (&(from, to), &there) in &self.trips {
            let back = self.trips.get(&(to, from)).copied();
            if from > to && back.is_some() {
                continue;
            }
            let back = back.unwrap_or(there);
            let apart = there.abs_diff(back);
            if !apart.is_zero() {
                averaged += 1;
                if widest.as_ref().is_none_or(|(most, _)| apart > *most) {
                    let [there, back] = [there, back].map(units::duration::show);
                    widest =
                        Some((apart, format!("{there} from {from} to {to}, {back} from {to} to {from}")));
                }
            }
            let (a, b) = (from.min(to), from.max(to));
            matrix.pairs.insert((a.to_owned(), b.to_owned()), (there + back) / 2);
        }
        if let Some((_, widest)) = widest {
            let pairs = if averaged == 1 {
                "1 pair differs by direction and has the mean".to_owned()
            } else {
                format!("{averaged} pairs differ by direction and have their mean")
            };
            matrix.notes.push(format!("{pairs}; most of all {widest}"));
        }
        matrix
    }
}

/// In vacuum: the lower limit for any medium.
const LIGHT_KM_PER_S: f64 = 299_792.458;

/// Tolerance for the positions of the measurement: two large cities' radii.
const COORDINATES_KM: f64 = 100.0;

/// A larger value is not a round-trip time in milliseconds.
const LONGEST: Duration = Duration::from_secs(60);

/// The pairs in both directions take 20 MB.
const MOST_CITIES: usize = 500;
const MOST_TRIPS: usize = MOST_CITIES * MOST_CITIES;

#[cfg(test)]
mod tests;
