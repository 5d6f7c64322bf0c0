//! The status of a planet.

use std::{collections::BTreeMap, net::IpAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::file::Fault;

use crate::Fidelity;

/// The state of a planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// The name.
    pub name: String,
    /// Always true: a planet replies only when all its hosts are reachable.
    pub ready: bool,
    /// Seconds since the start.
    pub running_s: f64,
    /// Its hosts.
    pub hosts: Vec<HostStatus>,
    /// Links with traffic so far, and links that differ from the world.
    pub links: Vec<LinkStatus>,
    /// Active and scheduled faults.
    pub faults: Vec<FaultStatus>,
    /// The fidelity so far.
    pub fidelity: Fidelity,
}

/// The state of a planet, and its background programs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Overview {
    /// The state.
    #[serde(flatten)]
    pub status: Status,
    /// The background programs, by number.
    pub programs: Vec<Program>,
}

/// A background program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Program {
    /// Its number, from 1.
    pub number: u64,
    /// The host in which it was started.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its run time so far or in total, in seconds.
    pub ran_s: f64,
    /// How it ended. Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// Unknown, because its watcher ended first.
    Unseen,
}

/// One direction of a link, or of a host's line, on a running planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LinkStatus {
    /// The city or host at its start.
    pub from: String,
    /// The city or host at its end.
    pub to: String,
    /// The kind of line; absent for a link between cities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// One-way propagation delay.
    pub delay_us: f64,
    /// Its current rate. Absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Whether a fault blocks all traffic.
    pub is_down: bool,
    /// Segments that arrived at the link, and their bytes on the wire.
    pub offered: Amount,
    /// Segments delivered or in flight. offered + duplicated = delivered + dropped by loss, queue and aqm +
    /// waiting.
    pub delivered: Amount,
    /// Segments that were duplicated.
    pub duplicated: Amount,
    /// Segments that were lost on the wire.
    pub lost: Amount,
    /// Segments that were dropped because the queue was full.
    pub overflowed: Amount,
    /// Segments that queue management dropped.
    pub managed: Amount,
    /// Segments that were marked instead of dropped, included in `delivered`.
    pub marked: Amount,
    /// Segments that were damaged, included in `delivered`.
    pub corrupted: Amount,
    /// Segments in the queue.
    pub waiting: Amount,
}

/// Segments and their bytes on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amount {
    /// Packets as on a real wire.
    pub segments: u64,
    /// Their bytes, including headers and link overhead.
    pub bytes: u64,
}

/// A fault of a running planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FaultStatus {
    /// The number for lifting it.
    pub number: u64,
    /// A description, as a phrase.
    pub what: String,
    /// The fault, with the keys of a world file's `[[fault]]`.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub fault: Fault,
    /// Whether it is active. If not, it is scheduled.
    pub is_active: bool,
    /// Its start, in seconds since the planet's start.
    pub at_s: f64,
    /// Its end. Absent if it has no scheduled end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

/// The catchments of an anycast prefix: the site that serves each city.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Catchment {
    /// The name of the prefix.
    pub name: String,
    /// The prefixes.
    pub prefixes: Vec<String>,
    /// The hosts that can announce it, and whether they do so now.
    pub sites: Vec<SiteStatus>,
    /// All cities with a host.
    pub cities: Vec<CatchmentOf>,
}

/// A site of an anycast prefix.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SiteStatus {
    /// The host.
    pub host: String,
    /// Its city.
    pub city: String,
    /// Whether it announces the prefix now.
    pub is_announced: bool,
}

/// The site of a city.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CatchmentOf {
    /// The city.
    pub city: String,
    /// The host that its packets reach now. Absent without a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Round trip between the cities, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// The treatment of its packets until it learns of the last change: "old-site", "blackhole" or "loop".
    /// Absent if it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<String>,
}

/// A host of a running planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostStatus {
    /// The name.
    pub name: String,
    /// Its city.
    pub city: String,
    /// Its addresses, IPv4 first.
    pub addresses: Vec<IpAddr>,
}
