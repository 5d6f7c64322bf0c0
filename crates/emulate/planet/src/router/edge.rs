//! The directed edges of a planet. Each has a separate engine.

use world::{CityId, Layout, PortId};

/// One direction of a link between cities, or of a host's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Edge {
    /// From a host to its city's router.
    Up(PortId),
    /// From a city's router to a host.
    Down(PortId),
    /// From one city's router to another's; with equal cities, across town.
    Between(CityId, CityId),
}

impl Edge {
    /// The city at its start, whose shard owns its engine.
    pub(crate) fn city(self, layout: &Layout) -> CityId {
        match self {
            Self::Up(port) | Self::Down(port) => layout.city_of(port),
            Self::Between(from, _) => from,
        }
    }
}
