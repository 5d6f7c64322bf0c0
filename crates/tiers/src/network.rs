//! The data centres of a network: what their operator says of them, and what follows for all its zones.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    Rendezvous,
    centre::{Centre, CentreId},
};

/// The data centres, and those among them that hold keys for others.
#[derive(Debug, Clone)]
pub struct Network {
    centres: Vec<Centre>,
    /// The number of each one's region.
    regions: Vec<u16>,
    /// Those that are upper tiers for everybody where keys are spread.
    large: Rendezvous,
    /// Those of each region.
    hubs: Vec<Rendezvous>,
    /// The time that light needs between any two, there and back.
    light: Vec<Duration>,
}

impl Network {
    /// A network of at most 65 535 data centres. `light` is how long light in glass needs between two of them, there and back, on the
    /// shortest way on Earth; 0 where it is not known. It is asked once for each pair.
    pub fn new(centres: Vec<Centre>, light: impl Fn(CentreId, CentreId) -> Duration) -> Self {
        let mut numbers = BTreeMap::new();
        let mut regions = Vec::with_capacity(centres.len());
        for centre in &centres {
            let next = numbers.len();
            let number = *numbers.entry(centre.region.as_str()).or_insert(next);
            regions.push(u16::try_from(number).unwrap_or(u16::MAX));
        }
        let named = || ids(centres.len()).zip(&centres);
        let hubs = (0..numbers.len()).map(|region| {
            let inside = named().filter(|(id, _)| usize::from(regions[usize::from(id.0)]) == region);
            Rendezvous::new(inside.map(|(id, centre)| (id, centre.name.as_str(), centre.weight)))
        });
        let hubs = hubs.collect();
        let mean = centres.iter().map(|centre| f64::from(centre.weight)).sum::<f64>() / centres.len() as f64;
        let is_large = |centre: &Centre| f64::from(centre.weight) >= mean;
        let large = named().filter(|(_, centre)| is_large(centre));
        let large = Rendezvous::new(large.map(|(id, centre)| (id, centre.name.as_str(), centre.weight)));
        let pairs = ids(centres.len()).flat_map(|a| ids(centres.len()).map(move |b| (a, b)));
        let light = pairs.map(|(a, b)| if a < b { light(a, b) } else { Duration::ZERO }).collect();
        Self { centres, regions, large, hubs, light }
    }

    /// All of them, in their order.
    pub fn ids(&self) -> impl Iterator<Item = CentreId> + use<> {
        ids(self.centres.len())
    }

    /// What is said of one.
    ///
    /// # Panics
    /// When it is not of this network.
    pub fn centre(&self, id: CentreId) -> &Centre {
        &self.centres[usize::from(id.0)]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// Whether two are in the same region.
    pub fn are_neighbours(&self, a: CentreId, b: CentreId) -> bool {
        self.region(a) == self.region(b)
    }

    /// The large ones, among which keys are spread: those of at least the mean weight. If all have the same, it is all of them.
    pub fn large(&self) -> &Rendezvous {
        &self.large
    }

    /// The data centres of the region of one, among which the region's keys are spread.
    pub fn hubs(&self, of: CentreId) -> &Rendezvous {
        &self.hubs[self.region(of)]
    }

    /// How long light needs between two, there and back; 0 where that is not known.
    pub fn light(&self, a: CentreId, b: CentreId) -> Duration {
        let (less, more) = (usize::from(a.min(b).0), usize::from(a.max(b).0));
        self.light[less * self.centres.len() + more]
    }

    fn region(&self, id: CentreId) -> usize {
        usize::from(self.regions[usize::from(id.0)])
    }
}

fn ids(count: usize) -> impl Iterator<Item = CentreId> + use<> {
    (0..u16::try_from(count).unwrap_or(u16::MAX)).map(CentreId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_is_who_has_at_least_the_mean_weight() {
        let centre = |(name, weight): (&str, u32)| Centre { name: name.into(), region: "r".into(), weight };
        let of = |weights: &[(&str, u32)]| {
            let network =
                Network::new(weights.iter().map(|&one| centre(one)).collect(), |_, _| Duration::ZERO);
            network.large().members().map(|id| id.0).collect::<Vec<_>>()
        };
        // The mean of 10, 4 and four times 1 is 3.
        assert_eq!(of(&[("a", 1), ("b", 10), ("c", 1), ("d", 4), ("e", 1), ("f", 1)]), [1, 3]);
        assert_eq!(of(&[("a", 2), ("b", 2)]), [0, 1]);
    }
}
