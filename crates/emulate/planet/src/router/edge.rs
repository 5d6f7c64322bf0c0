//! The directed edges of a planet. Each has a separate engine.

use world::{CityId, Layout, PortId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Edge {
    Up(PortId),
    Down(PortId),
    /// With equal cities, across town.
    Between(CityId, CityId),
}

impl Edge {
    /// The shard of the city at its start owns its engine.
    pub(crate) fn city(self, layout: &Layout) -> CityId {
        match self {
            Self::Up(port) | Self::Down(port) => layout.city_of(port),
            Self::Between(from, _) => from,
        }
    }
}
