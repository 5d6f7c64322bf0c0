//! What Longhaul shows.

mod model;

pub use model::*;
