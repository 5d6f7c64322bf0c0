//! One data centre, as its operator describes it.

/// Which data centre: its place in the network's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CentreId(pub u16);

/// One data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Centre {
    /// Its name, which decides about the keys that it has: the order of the list does not.
    pub name: String,
    /// The region that it serves.
    pub region: String,
    /// How much it can take compared with the others: 1 and more.
    pub weight: u32,
}
