//! A world: a description of cities, links and hosts, and everything derived from their positions. Starts
//! nothing.
//!
//! - [`World`]: start here. A parsed world file, with its tables in [`file`].
//! - [`Layout`]: a world with resolved names and assigned addresses.
//! - [`gazetteer`], [`geography`]: cities, distances and propagation delays.
//! - [`access`]: built-in access lines.
//! - [`matrix`]: measured round-trip times, and their comparison with generated ones.
//! - [`population`]: visitors distributed over the cities in proportion to Internet users.
//! - [`map`]: an SVG map of a world.
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
