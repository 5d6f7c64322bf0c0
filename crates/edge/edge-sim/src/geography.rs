//! Positions of visitors, data centres and the origin, and the round-trip times between them.

use std::{sync::LazyLock, time::Duration};

use edge::{Network, config::DataCentre};
use tier_routing::DataCentreId;
use world::{
    file::Settings,
    gazetteer,
    geography::{Place as Position, great_circle_km, propagation},
    population,
};

use crate::Error;

/// The position of an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a city.
    City(String),
    /// In every city, like an anycast address.
    Anywhere,
}

/// In nanoseconds, as on a world map without custom links.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    centres: usize,
    /// With the round-trip time to it.
    nearest: Vec<(DataCentreId, u64)>,
    between: Vec<u64>,
    to_origin: Vec<u64>,
}

impl Places {
    /// All data centres of the network must have a city.
    pub(crate) fn new(network: &Network, origin: &Place) -> Result<Self, Error> {
        let centres: Vec<Position> = network.data_centres.iter().map(place_of).collect::<Result<_, _>>()?;
        let origin = match origin {
            Place::City(name) => Some(city(name)?.place()),
            Place::Anywhere => None,
        };
        let nearest = gazetteer::cities().iter().map(|city| {
            let trips = centres.iter().map(|&centre| rtt_ns(city.place(), centre)).enumerate();
            // The first one in the file, if two are equally near.
            let (index, rtt) = trips.min_by_key(|&(_, rtt)| rtt).unwrap_or((0, 0));
            (id(index), rtt)
        });
        Ok(Self {
            centres: centres.len(),
            nearest: nearest.collect(),
            between: centres.iter().flat_map(|&a| centres.iter().map(move |&b| rtt_ns(a, b))).collect(),
            to_origin: centres.iter().map(|&centre| rtt_ns(centre, origin.unwrap_or(centre))).collect(),
        })
    }

    pub(crate) fn nearest(&self, city: u16) -> (DataCentreId, u64) {
        self.nearest[usize::from(city)]
    }

    pub(crate) fn between(&self, a: DataCentreId, b: DataCentreId) -> u64 {
        self.between[usize::from(a.0) * self.centres + usize::from(b.0)]
    }

    pub(crate) fn to_origin(&self, centre: DataCentreId) -> u64 {
        self.to_origin[usize::from(centre.0)]
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Population {
    cumulative: Vec<(u64, u16)>,
}

impl Population {
    pub(crate) fn world() -> Self {
        static WORLD: LazyLock<Population> = LazyLock::new(Population::spread);
        WORLD.clone()
    }

    fn spread() -> Self {
        let mut sum = 0;
        let cumulative = population::spread(VISITORS).into_iter().filter_map(|(city, count)| {
            sum += u64::from(count);
            Some((sum, number(&city.name).ok()?))
        });
        Self { cumulative: cumulative.collect() }
    }

    pub(crate) fn city(name: &str) -> Result<Self, Error> {
        Ok(Self { cumulative: vec![(1, number(name)?)] })
    }

    pub(crate) fn draw(&self, bits: u64) -> u16 {
        let Some(&(sum, last)) = self.cumulative.last() else { return 0 };
        let visitor = ((bits >> 32) * sum) >> 32;
        let at = self.cumulative.partition_point(|&(up_to, _)| up_to <= visitor);
        self.cumulative.get(at).map_or(last, |&(_, city)| city)
    }
}

pub(crate) fn city(name: &str) -> Result<&'static gazetteer::Entry, Error> {
    gazetteer::find(name).ok_or_else(|| Error::City { name: name.to_owned() })
}

pub(crate) fn number(name: &str) -> Result<u16, Error> {
    let found = city(name)?;
    let position = gazetteer::cities().binary_search_by(|city| city.name.cmp(&found.name));
    let number = position.ok().and_then(|position| u16::try_from(position).ok());
    number.ok_or_else(|| Error::City { name: name.to_owned() })
}

fn place_of(centre: &DataCentre) -> Result<Position, Error> {
    city(centre.city.as_deref().unwrap_or_default()).map(gazetteer::Entry::place)
}

fn id(index: usize) -> DataCentreId {
    DataCentreId(u16::try_from(index).unwrap_or(u16::MAX))
}

fn rtt_ns(a: Position, b: Position) -> u64 {
    let rtt: Duration = 2 * propagation(great_circle_km(a, b), Settings::default().inflation);
    u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX)
}

/// Large enough that the smallest city has visitors.
const VISITORS: u32 = 5_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_city_has_its_number() {
        for (position, city) in gazetteer::cities().iter().enumerate() {
            assert_eq!(usize::from(number(&city.name).unwrap()), position, "{}", city.name);
            assert_eq!(number(&city.iata).unwrap(), number(&city.name).unwrap());
        }
    }

    #[test]
    fn a_crowd_is_where_internet_users_are() {
        let crowd = Population::world();
        let shanghai = number("shanghai").unwrap();
        let draws = 100_000_u64;
        let hits = (0..draws).filter(|draw| crowd.draw(draw * (u64::MAX / draws)) == shanghai).count();
        let visitors = population::spread(VISITORS);
        let share = visitors.iter().find(|(city, _)| city.name == "shanghai").unwrap().1;
        // Evenly spaced draws have an error of at most one draw at either end.
        let expected = f64::from(share) / f64::from(VISITORS) * 1e5;
        assert!((hits as f64 - expected).abs() <= 2.0, "{hits} for {expected}");
    }
}
