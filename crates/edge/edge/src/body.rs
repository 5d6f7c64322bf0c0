//! Bodies: shared by several readers, sparse, concatenated.

pub(crate) mod concat;
pub(crate) mod shared;
pub(crate) mod sparse;
