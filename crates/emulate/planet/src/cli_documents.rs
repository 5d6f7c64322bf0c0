//! The JSON output of commands that work on a planet.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Amount, End, FaultStatus, Fidelity, HostStatus};

/// A started planet: `lab up --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Up {
    /// The name.
    pub planet: String,
    /// Whether the planet continues after the command returns.
    pub detached: bool,
    /// Its hosts.
    pub hosts: Vec<HostStatus>,
}

/// A program that ran in a host or runs in its background: `lab exec --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Executed {
    /// The planet.
    pub planet: String,
    /// The host.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether the program could be executed. If not, it has no end, and the exit code is 2.
    pub started: bool,
    /// Its number among the background programs. Absent for a foreground program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// How it ended. Absent for a background program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// The exit code of `lab exec`: the program's exit code, or 128 + N if signal N ended it.
    pub exit_code: u8,
    /// Its run time in seconds. Absent for a background program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_s: Option<f64>,
}

/// The result of a copy: `lab cp --json`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Copied {
    /// The planet.
    pub planet: String,
    /// The destination, as given.
    pub to: String,
    /// Number of files.
    pub files: u64,
    /// Number of folders created.
    pub folders: u64,
    /// Number of symbolic links.
    pub links: u64,
    /// Total size of the files.
    pub bytes: u64,
}

/// A map: `lab map --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Drawn {
    /// The name of the planet, or of the world if read from a file.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// The output file. Absent if `svg` contains the map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The map as SVG. Absent if it is in `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
}

/// The current traffic of a planet: a line of `lab view --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct View {
    /// The planet.
    pub planet: String,
    /// Seconds since the start of the planet.
    pub running_s: f64,
    /// The interval of the rates in seconds: since the previous line; in the first line, since the start.
    pub over_s: f64,
    /// Links with traffic in the interval, and links that are down; the busiest first.
    pub links: Vec<Moving>,
    /// Active and scheduled faults.
    pub faults: Vec<FaultStatus>,
    /// The fidelity since the start.
    pub fidelity: Fidelity,
}

/// One direction of a link, with its traffic.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Moving {
    /// The city or host at its start.
    pub from: String,
    /// The city or host at its end.
    pub to: String,
    /// The kind of line; absent for a link between cities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Delivered bits per second.
    pub delivered_bps: f64,
    /// Its capacity. Absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Segments per second that were lost or dropped by the queue.
    pub drops_per_s: f64,
    /// The queue.
    pub waiting: Amount,
    /// Whether a fault blocks all traffic.
    pub is_down: bool,
}

/// Captured packets: `lab capture --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Captured {
    /// The planet.
    pub planet: String,
    /// The file. Absent for standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of packets.
    pub packets: u64,
    /// Number of packets that were missed because they could not be written in time.
    pub missed: u64,
    /// The size of the capture.
    pub bytes: u64,
    /// The reason for its end.
    pub ended: CaptureEnd,
}

/// The reason for the end of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureEnd {
    /// Ctrl-C, or the end of its duration. The capture is complete.
    Asked,
    /// A second Ctrl-C, or a timeout while the planet ended the capture.
    Impatient,
    /// The planet closed the stream.
    Planet,
    /// The reader of standard output has ended.
    Reader,
}

/// A server that is published on this machine: `lab publish --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Publishing {
    /// The planet.
    pub planet: String,
    /// The listening address on this machine.
    pub listen: SocketAddr,
    /// The server on the planet.
    pub server: String,
    /// The host from which connections are made.
    pub from: String,
    /// The city of that host.
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
