//! A data centre, as configured by the operator.

/// The index of a data centre in the network's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataCentreId(pub u16);

/// One data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Centre {
    /// The name. It determines the keys that the data centre holds; the order of the list does not.
    pub name: String,
    /// The region that the data centre serves.
    pub region: String,
    /// The capacity relative to the others, at least 1.
    pub weight: u32,
}
