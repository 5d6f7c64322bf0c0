//! A world: a description of cities, links and hosts, and everything that follows from their positions. It starts
//! nothing.
//!
//! - [`World`]: start here. A world file as written, and the tables of it in [`file`].
//! - [`Layout`]: a world with every name resolved and every address given.
//! - [`gazetteer`], [`geography`]: cities, and how far light has to go between them.
//! - [`access`]: lines of access networks that a host can name without describing them.
//! - [`matrix`]: measured round trips, and how far generated ones are from them.
//! - [`population`]: visitors spread over the cities as the world's Internet users are.
//! - [`map`]: a picture of a world.
//! - [`Change`]: what a fault, or a hand, changes about a link.

pub mod access;
mod change;
pub mod file;
pub mod gazetteer;
pub mod geography;
mod impairment;
mod include;
mod layout;
pub mod map;
pub mod matrix;
pub mod population;

pub use change::{Change, LinkDown};
pub use document::{Document, Mistake};
pub use file::World;
pub use layout::{
    Anycast, AnycastId, Bias, City, CityId, Effect, Host, HostDown, HostId, Layout, Line, Port, PortId,
    Prefix, Timed,
};
