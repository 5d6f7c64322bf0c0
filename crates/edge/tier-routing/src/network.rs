//! The data centres of a network, and the sets derived from them for all zones.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    Rendezvous,
    data_centre::{Centre, DataCentreId},
};

/// The data centres, and the subsets that hold keys for others.
#[derive(Debug, Clone)]
pub struct Network {
    centres: Vec<Centre>,
    regions: Vec<u16>,
    large: Rendezvous,
    hubs: Vec<Rendezvous>,
    light: Vec<Duration>,
}

impl Network {
    /// A network of at most 65 535 data centres. `light` returns the round-trip time of light in
    /// glass between two of them; 0 if unknown.
    pub fn new(centres: Vec<Centre>, light: impl Fn(DataCentreId, DataCentreId) -> Duration) -> Self {
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

    /// All data centres, in order.
    pub fn ids(&self) -> impl Iterator<Item = DataCentreId> + use<> {
        ids(self.centres.len())
    }

    /// The configuration of a data centre.
    ///
    /// # Panics
    /// When the data centre is not part of this network.
    pub fn centre(&self, id: DataCentreId) -> &Centre {
        &self.centres[usize::from(id.0)]
    }

    /// The number of data centres.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Whether the network has no data centres.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// Whether two data centres are in the same region.
    pub fn are_neighbours(&self, a: DataCentreId, b: DataCentreId) -> bool {
        self.region(a) == self.region(b)
    }

    /// The data centres with at least the mean weight, among which keys are spread.
    pub fn large(&self) -> &Rendezvous {
        &self.large
    }

    /// The data centres in the region of `of`.
    pub fn hubs(&self, of: DataCentreId) -> &Rendezvous {
        &self.hubs[self.region(of)]
    }

    /// The round-trip time of light between two data centres; 0 if unknown.
    pub fn light(&self, a: DataCentreId, b: DataCentreId) -> Duration {
        let (less, more) = (usize::from(a.min(b).0), usize::from(a.max(b).0));
        self.light[less * self.centres.len() + more]
    }

    fn region(&self, id: DataCentreId) -> usize {
        usize::from(self.regions[usize::from(id.0)])
    }
}

fn ids(count: usize) -> impl Iterator<Item = DataCentreId> + use<> {
    (0..u16::try_from(count).unwrap_or(u16::MAX)).map(DataCentreId)
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
        assert_eq!(of(&[("a", 1), ("b", 10), ("c", 1), ("d", 4), ("e", 1), ("f", 1)]), [1, 3]);
        assert_eq!(of(&[("a", 2), ("b", 2)]), [0, 1]);
    }
}
