//! A planet: a [`world::World`] that runs on one machine, with the kernel's own TCP at the ends and emulated
//! distance between.
//!
//! Each host is a network namespace with one TUN device. One process, the switch, holds all devices: it reads
//! the packets of hosts, applies the [`link`] engine, and writes each packet to the receiver when it is due.
//! Where user namespaces are allowed, it needs no root. It needs no kernel module except TUN, and leaves
//! nothing behind.
//!
//! - [`Running`]: start here. Starts a planet; [`process::main`] is the counterpart in the new process.
//! - [`Planet`]: a running planet, which may belong to another terminal: run programs in it, change it, end
//!   it.
//! - [`Fidelity`]: the evidence that a run was shaped by its world and not by the emulator.
//! - [`capture::Capture`]: packets as a file for tcpdump and Wireshark.
//! - [`doctor`]: the capabilities of this machine.
//! - [`outcome`]: the JSON output of the commands.
//!
//! Internally, `process` creates namespaces, `furnish` their files and `host` the hosts; `switch` moves
//! packets between their devices, `router` (pure) selects paths, and `frame` (pure) parses, splits and
//! answers frames; `control` is the control protocol, `keeper` handles its requests, and `enter` enters
//! namespaces. Inside a planet, `detach` starts background programs that `programs` lists, and `publish`
//! forwards connections; `folder` copies files.

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
