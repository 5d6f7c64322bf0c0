//! Objects in memory and on disk, and the index that purges use.

pub(crate) mod disk;
pub(crate) mod memory;
pub(crate) mod purge_index;
