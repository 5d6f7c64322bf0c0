//! A data centre, as configured by the operator.

/// The number of a data centre: its index in the network's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataCentreId(pub u16);

/// One data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Centre {
    /// The name. The keys that the data centre holds depend on the name, not on the order of the list.
    pub name: String,
    /// The region that the data centre serves.
    pub region: String,
    /// The capacity relative to the others, at least 1.
    pub weight: u32,
}
