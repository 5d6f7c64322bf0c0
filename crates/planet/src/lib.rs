//! A planet: a [`World`] that runs on one machine, with the kernel's own TCP at the ends and emulated distance between.
//!
//! Each host is a network namespace with one TUN device. One process, the switch, holds all the devices: it reads what a
//! host sends, asks the [`link`] engine what the distance does to it, and hands it to the receiver when it is due. No
//! root is needed where user namespaces are allowed, no kernel module beyond TUN, and nothing stays when it ends.
//!
//! - [`World`], [`Document`], [`Mistake`]: the world file, and what is wrong with it, by line and column.
//! - [`Layout`]: a world with every name resolved; [`gazetteer`] and [`geography`]: cities and distances.
//! - [`Running`]: start here. Starts a planet; [`process::main`] is the other half of it.
//! - [`Planet`]: one that is up, also one that another terminal started: run a program in it, change it, end it.
//! - [`Fidelity`]: the proof that a run was shaped by its world and not by the emulator.
//! - [`doctor`]: what this machine allows.
//!
//! Inside: `process` makes namespaces, `furnish` their files and `host` the hosts; `switch` moves packets between their
//! devices, `router` (pure) decides where and when, `wire` (pure) reads and cuts frames; `control` is how others talk to a
//! planet, `keeper` what it answers, `enter` how they get in.

mod awake;
mod change;
mod clock;
mod control;
mod device;
pub mod doctor;
mod document;
mod enter;
mod error;
mod fidelity;
mod furnish;
pub mod gazetteer;
pub mod geography;
mod host;
mod keeper;
mod layout;
pub mod process;
mod router;
mod switch;
mod sys;
pub mod wire;
mod world;

pub use awake::Awake;
pub use change::Change;
pub use control::{HostStatus, Planet, Status};
pub use document::{Document, Mistake, suggestion};
pub use error::Error;
pub use fidelity::Fidelity;
pub use layout::{City, CityId, Host, HostId, Layout};
pub use process::{Life, Running};
pub use world::World;
/// The parts of a world file, for files that contain one.
pub mod file {
    pub use crate::world::{City, Host, Link, Network, ReceiveMode, Settings};
}
