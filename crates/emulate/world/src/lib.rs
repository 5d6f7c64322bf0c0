//! A world: a description of cities, links and hosts, and everything derived from their positions.
//!
//! - [`World`]: start here. A parsed world file, with its tables in [`file`].
//! - [`Layout`]: a world with resolved names and assigned addresses.
//! - [`gazetteer`], [`geography`]: cities, distances and propagation delays.
//! - [`matrix`]: measured round-trip times.
//! - [`population`]: visitors distributed over the cities by Internet users.
//! - [`Change`]: a change to a link, by a fault or by the user.

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
pub use config_file::{Diagnostic, Document};
pub use file::World;
pub use layout::{
    Anycast, AnycastId, Bias, City, CityId, Effect, Host, HostDown, HostId, Layout, Line, Port, PortId,
    Prefix, Timed,
};
