//! What commands that work on a planet print as JSON.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Amount, End, FaultStatus, Fidelity, HostStatus};

/// A planet that came up: `lab up --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Up {
    /// Its name.
    pub planet: String,
    /// Whether it stays when the command returns.
    pub detached: bool,
    /// Its hosts.
    pub hosts: Vec<HostStatus>,
}

/// A program that was run in a host, or that runs in its background: `lab exec --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Executed {
    /// The planet.
    pub planet: String,
    /// The host.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether the program was there and began to run. If not, it has no end, and the exit code is 2.
    pub started: bool,
    /// Its number among the programs of the background; absent: it was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// How it ended; absent: it was not waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// What `lab exec` exits with: the program's exit code, or 128 + N if signal N ended it.
    pub exit_code: u8,
    /// How long it ran, in seconds; absent: it was not waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_s: Option<f64>,
}

/// What was copied: `lab cp --json`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Copied {
    /// The planet.
    pub planet: String,
    /// Where to, as it was written.
    pub to: String,
    /// How many files.
    pub files: u64,
    /// How many of the folders copied were not there before.
    pub folders: u64,
    /// How many symbolic links.
    pub links: u64,
    /// The files' content.
    pub bytes: u64,
}

/// A map that was drawn: `lab map --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Drawn {
    /// The planet, or the world if it came from a file.
    pub name: String,
    /// In pixels.
    pub width: u32,
    /// The file it was written to; absent: `svg` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The picture itself; absent: `file` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
}

/// What moves on a planet: a line of `lab view --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct View {
    /// The planet.
    pub planet: String,
    /// Seconds since it came up.
    pub running_s: f64,
    /// Over how many seconds its rates were measured: since the line before, in the first line since it came up.
    pub over_s: f64,
    /// Links that carried something meanwhile, and those that are down; the busiest first.
    pub links: Vec<Moving>,
    /// What is wrong now, and what will be.
    pub faults: Vec<FaultStatus>,
    /// How faithful it has been since it came up.
    pub fidelity: Fidelity,
}

/// One direction of a link and what moves on it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Moving {
    /// The city or host at which it begins.
    pub from: String,
    /// The city or host at which it ends.
    pub to: String,
    /// The kind of line; absent for a link between cities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// What came out at its end, in bits a second.
    pub delivered_bps: f64,
    /// What it has room for; absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Segments a second that were lost or dropped by the queue.
    pub drops_per_s: f64,
    /// What waits.
    pub waiting: Amount,
    /// Whether a fault keeps everything from passing.
    pub is_down: bool,
}

/// Packets that were captured: `lab capture --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Captured {
    /// The planet.
    pub planet: String,
    /// The file; absent: standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many.
    pub packets: u64,
    /// How many more there were that could not be written in time.
    pub missed: u64,
    /// The size of the capture.
    pub bytes: u64,
    /// Why it ended.
    pub ended: CaptureEnd,
}

/// Why a capture has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureEnd {
    /// Ctrl-C, or its time is up. All that there was has come.
    Asked,
    /// Ctrl-C twice, or the planet took too long to end what was asked to end.
    Impatient,
    /// The planet sends no more.
    Planet,
    /// Who read standard output went away.
    Reader,
}

/// A server that is passed on to this machine: `lab publish --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Publishing {
    /// The planet.
    pub planet: String,
    /// Where it listens on this machine.
    pub listen: SocketAddr,
    /// The server on the planet.
    pub server: String,
    /// The host that its visitors seem to be.
    pub from: String,
    /// Where that host is.
    pub city: String,
}

/// Faults that were ended: `lab fault lift --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Lifted {
    /// The planet.
    pub planet: String,
    /// Their numbers.
    pub faults: Vec<u64>,
}

/// Planets that were ended: `lab down --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Down {
    /// Their names.
    pub planets: Vec<String>,
}
