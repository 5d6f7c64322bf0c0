//! What a planet says about itself.

use std::{collections::BTreeMap, net::IpAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::file::Fault;

use crate::Fidelity;

/// A planet's state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Always true: a planet answers when all its hosts can be reached.
    pub ready: bool,
    /// Seconds since it came up.
    pub running_s: f64,
    /// Its hosts.
    pub hosts: Vec<HostStatus>,
    /// Its links that something has passed, or that are not as the world has them.
    pub links: Vec<LinkStatus>,
    /// What is wrong now, and what will be.
    pub faults: Vec<FaultStatus>,
    /// How faithful it has been so far.
    pub fidelity: Fidelity,
}

/// A planet's state, and the programs in its background.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Overview {
    /// Its state.
    #[serde(flatten)]
    pub status: Status,
    /// The programs that were started in the background, in order.
    pub programs: Vec<Program>,
}

/// A program that was started in the background.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Program {
    /// Its number, from 1 on.
    pub number: u64,
    /// The host it was started in.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How long it has run, or did, in seconds.
    pub ran_s: f64,
    /// How it ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Who watched it was ended first.
    Unseen,
}

/// One direction of a link, or of a host's line, on a running planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LinkStatus {
    /// The city or host at which it begins.
    pub from: String,
    /// The city or host at which it ends.
    pub to: String,
    /// The kind of line; absent for a link between cities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Propagation, one way.
    pub delay_us: f64,
    /// Its rate now; absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Whether a fault keeps everything from passing.
    pub is_down: bool,
    /// What arrived at it: segments, and bytes on the wire.
    pub offered: Amount,
    /// What came out, or will. offered + duplicated = delivered + dropped by loss, queue and aqm + waiting.
    pub delivered: Amount,
    /// What was made twice.
    pub duplicated: Amount,
    /// What was lost on the wire.
    pub lost: Amount,
    /// What found the queue full.
    pub overflowed: Amount,
    /// What queue management dropped.
    pub managed: Amount,
    /// What was marked instead of dropped. It is part of what was delivered.
    pub marked: Amount,
    /// What was damaged. It is part of what was delivered.
    pub corrupted: Amount,
    /// What waits.
    pub waiting: Amount,
}

/// Segments and their bytes on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amount {
    /// Packets as a real wire would carry them.
    pub segments: u64,
    /// Their bytes, headers and link overhead included.
    pub bytes: u64,
}

/// A fault of a running planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FaultStatus {
    /// By which it is lifted.
    pub number: u64,
    /// What it is, as a phrase.
    pub what: String,
    /// What it is, with the keys of a world file's `[[fault]]`.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub fault: Fault,
    /// Whether it is there now; if not, it will be.
    pub is_active: bool,
    /// When it began or will, in seconds since the planet came up.
    pub at_s: f64,
    /// When it ends; absent: not by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

/// Which site of an anycast prefix serves which city.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Catchment {
    /// By which the prefix is reached.
    pub name: String,
    /// The prefixes.
    pub prefixes: Vec<String>,
    /// The hosts that announce it, and whether they do so now.
    pub sites: Vec<SiteStatus>,
    /// All cities that have a host.
    pub cities: Vec<CatchmentOf>,
}

/// A site of an anycast prefix.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SiteStatus {
    /// The host.
    pub host: String,
    /// Its city.
    pub city: String,
    /// Whether it announces the prefix.
    pub is_announced: bool,
}

/// What serves a city.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CatchmentOf {
    /// The city.
    pub city: String,
    /// The host that its packets reach now; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Round trip to it between the cities, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// What becomes of its packets until it has heard of the last change: "old-site", "blackhole" or "loop"; absent: it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<String>,
}

/// A host of a running planet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostStatus {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub city: String,
    /// Its addresses, IPv4 first.
    pub addresses: Vec<IpAddr>,
}
