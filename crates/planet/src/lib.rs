//! draft

pub mod document;
pub mod gazetteer;
pub mod geography;
pub mod layout;
pub mod world;
pub use document::{Document, Mistake};
pub use layout::Layout;
pub use world::World;
