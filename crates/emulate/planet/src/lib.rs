//! A planet: a [`world::World`] that runs on one machine, with the kernel's own TCP at the ends and
//! emulated distance between.
//!
//! Each host is a network namespace with one TUN device. The switch reads the packets of hosts,
//! applies the [`link`] engine, and writes each packet to the receiver when it is due.
//!
//! - [`Running`]: start here. Starts a planet; [`process::main`] is the counterpart in the new
//!   process.
//! - [`Planet`]: a running planet, which may belong to another terminal.
//! - [`Fidelity`]: the evidence that a run was shaped by its world and not by the emulator.
//! - [`doctor`]: the capabilities of this machine.

pub mod capture;
pub mod cli_documents;
mod clock;
mod control;
mod control_server;
mod daemonize;
mod device;
pub mod doctor;
mod error;
mod exec;
mod failure;
mod fidelity;
mod folder;
pub mod frame;
mod host;
mod host_files;
mod no_cpu_sleep;
pub mod process;
mod programs;
mod publish;
mod router;
mod status;
mod switch;
mod sys;
mod taps;
mod timeline;

pub use claim::{Bin, Fidelity};
pub use control::{Planet, Tap};
pub use error::{Error, Needs};
pub use exec::{Ended, Network};
pub use folder::{Entry, Folder, Links};
pub use no_cpu_sleep::Awake;
pub use process::{Ending, Life, Running};
pub use programs::{Log, News, Piece};
pub use publish::Published;
pub use status::{
    Amount, Catchment, CatchmentOf, End, FaultStatus, HostStatus, LinkStatus, Overview, Program, SiteStatus,
    Status,
};
