//! A planet: a [`world::World`] that runs on one machine, with the kernel's own TCP at the ends and emulated distance between.
//!
//! Each host is a network namespace with one TUN device. One process, the switch, holds all the devices: it reads what a
//! host sends, asks the [`link`] engine what the distance does to it, and hands it to the receiver when it is due. No
//! root is needed where user namespaces are allowed, no kernel module beyond TUN, and nothing stays when it ends.
//!
//! - [`Running`]: start here. Starts a planet; [`process::main`] is the other half of it.
//! - [`Planet`]: one that is up, also one that another terminal started: run a program in it, change it, end it.
//! - [`Fidelity`]: the proof that a run was shaped by its world and not by the emulator.
//! - [`capture::Capture`]: its packets as a file for tcpdump and Wireshark.
//! - [`doctor`]: what this machine allows.
//! - [`outcome`]: what commands print about all this as JSON.
//!
//! Inside: `process` makes namespaces, `furnish` their files and `host` the hosts; `switch` moves packets between their
//! devices, `router` (pure) decides where and when, `frame` (pure) reads, cuts and answers frames; `control` is how others
//! talk to a planet, `keeper` what it answers, `enter` how they get in. Once inside, `detach` starts a program in the
//! background that `programs` reports on, and `publish` passes connections on; `folder` gets files in and out.

mod awake;
pub mod capture;
mod clock;
mod control;
mod detach;
mod device;
pub mod doctor;
mod enter;
mod error;
mod failure;
mod fidelity;
mod folder;
pub mod frame;
mod furnish;
mod host;
mod keeper;
pub mod outcome;
pub mod process;
mod programs;
mod publish;
mod router;
mod status;
mod switch;
mod sys;
mod taps;
mod timeline;

pub use awake::Awake;
pub use claim::{Bin, Fidelity};
pub use control::{Planet, Tap};
pub use enter::{Ended, Network};
pub use error::{Error, Needs};
pub use folder::{Entry, Folder, Links};
pub use process::{Ending, Life, Running};
pub use programs::{Log, News, Piece};
pub use publish::Published;
pub use status::{
    Amount, Catchment, CatchmentOf, End, FaultStatus, HostStatus, LinkStatus, Overview, Program, SiteStatus,
    Status,
};
