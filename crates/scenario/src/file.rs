//! The scenario file as it is written. See `docs/scenario.md` for the format.

use std::{num::NonZero, time::Duration};

use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, Frequency, Probability};
use world::file::{Access, Anycast, City, Fault, Host, Link, Settings, Visitors};

/// A scenario file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub scenario: About,
    #[serde(default)]
    pub page: Page,
    pub world: Option<Settings>,
    #[serde(default)]
    pub city: Vec<City>,
    #[serde(default)]
    pub link: Vec<Link>,
    #[serde(default)]
    pub access: Vec<Access>,
    #[serde(default)]
    pub host: Vec<Host>,
    #[serde(default)]
    pub visitors: Vec<Visitors>,
    #[serde(default)]
    pub anycast: Vec<Anycast>,
    #[serde(default)]
    pub program: Vec<Program>,
    #[serde(default)]
    pub probe: Vec<Probe>,
    #[serde(default)]
    pub transfer: Vec<Transfer>,
    #[serde(default)]
    pub ping: Vec<Ping>,
    #[serde(default)]
    pub command: Vec<Command>,
    #[serde(default)]
    pub fault: Vec<Spanned<Fault>>,
    #[serde(default)]
    pub claim: Vec<Claim>,
}

/// What the scenario is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    /// The report's title.
    pub title: String,
    /// One or two sentences on what is asked.
    pub summary: Option<String>,
    /// A world file beside this one, instead of a world in this one.
    pub world: Option<Spanned<String>>,
    /// How much of what each program puts out is kept: the first half and the last.
    pub log_limit: Option<Spanned<Bytes>>,
    /// What claims and report speak of.
    #[serde(default = "default_metric")]
    pub metric: recording::Metric,
}

fn default_metric() -> recording::Metric {
    recording::Metric::Ttfb
}

/// The page that a person opens.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Page {
    pub requests: Spanned<u32>,
    pub required: Spanned<Probability>,
}

impl Default for Page {
    fn default() -> Self {
        Self { requests: Spanned::new(0..0, 1), required: Spanned::new(0..0, Probability::ONE) }
    }
}

/// Something that runs in a host for as long as the scenario measures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub host: Spanned<String>,
    /// The program and its arguments; "longhaul" is this program.
    pub run: Spanned<Vec<String>>,
    /// Measuring starts when it listens on this TCP port.
    pub ready: Option<u16>,
}

/// A measurement from one host or several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// Which side of the comparison its samples belong to.
    pub side: Spanned<String>,
    pub from: Spanned<Vec<Spanned<String>>>,
    pub url: Spanned<String>,
    /// Requests a second from each host.
    #[serde(default = "default_rate")]
    pub rate: Frequency,
    #[serde(default = "default_duration", with = "units::duration")]
    pub duration: Duration,
    #[serde(default)]
    pub arrival: Arrival,
    #[serde(default)]
    pub connections: Connections,
    #[serde(default)]
    pub protocol: Protocol,
    /// Which of the addresses of the URL's name are used.
    #[serde(default)]
    pub family: Family,
    /// Accept any certificate.
    #[serde(default)]
    pub insecure: bool,
}

fn default_rate() -> Frequency {
    "10/s".parse().expect("10/s is a frequency")
}

fn default_duration() -> Duration {
    Duration::from_secs(30)
}

/// How requests are spread, by the name that the command line has for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arrival {
    Constant,
    #[default]
    Poisson,
}

impl Arrival {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

/// Whether requests share connections, by the name that the command line has for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Connections {
    #[default]
    New,
    Reuse,
}

impl Connections {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Reuse => "reuse",
        }
    }
}

/// Which addresses of a name are used, by the name that the command line has for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    #[default]
    Any,
    Ipv4,
    Ipv6,
}

impl Family {
    /// The flag that says so; none is needed for both.
    pub(crate) fn flag(self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Ipv4 => Some("--ipv4"),
            Self::Ipv6 => Some("--ipv6"),
        }
    }
}

/// Which HTTP is spoken, by the name that the command line has for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Protocol {
    #[default]
    Auto,
    Http1,
    Http2,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Http1 => "http1",
            Self::Http2 => "http2",
        }
    }
}

/// Bytes from one host to another, as fast as they go.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transfer {
    /// Which side of the comparison it belongs to.
    pub side: Spanned<String>,
    pub from: Spanned<String>,
    pub to: Spanned<String>,
    /// Where the receiver listens.
    #[serde(default = "default_port")]
    pub port: NonZero<u16>,
    #[serde(default)]
    pub protocol: Transport,
    /// How long bytes are sent; with `bytes`, how long that will take.
    #[serde(default = "default_duration", with = "units::duration")]
    pub duration: Duration,
    /// How many bytes are sent.
    pub bytes: Option<Bytes>,
    /// A start that does not count for the goodput.
    #[serde(default, with = "units::duration::option")]
    pub omit: Option<Duration>,
    /// Congestion control of the sender; absent: its host's.
    pub congestion: Option<String>,
    /// How much may wait in the sender's kernel for being sent.
    pub notsent_lowat: Option<Bytes>,
    /// The receiver's buffer; absent: its kernel sizes it.
    pub rcvbuf: Option<Bytes>,
    /// The largest window that the receiver announces.
    pub window: Option<Bytes>,
    /// The side whose measurements end before this one begins.
    pub after: Option<Spanned<String>>,
}

fn default_port() -> NonZero<u16> {
    NonZero::new(5201).expect("5201 is not 0")
}

/// What a transfer goes over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    #[default]
    Tcp,
    Mptcp,
}

/// Pings from one host or several to one or several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ping {
    /// Which side of the comparison they belong to.
    pub side: Spanned<String>,
    /// Hosts; "*" is all of them.
    pub from: Spanned<Vec<Spanned<String>>>,
    /// Hosts; "*" is all of them. None pings itself.
    pub to: Spanned<Vec<Spanned<String>>>,
    /// Pings to each.
    #[serde(default = "default_count")]
    pub count: NonZero<u32>,
    /// From one round to the next; those of a round are spread over it.
    #[serde(default = "default_interval", with = "units::duration")]
    pub interval: Duration,
    /// After this a ping is lost.
    #[serde(default = "default_timeout", with = "units::duration")]
    pub timeout: Duration,
}

fn default_count() -> NonZero<u32> {
    NonZero::new(10).expect("10 is not 0")
}

fn default_interval() -> Duration {
    Duration::from_secs(1)
}

fn default_timeout() -> Duration {
    Duration::from_secs(2)
}

/// Any program that measures and prints one JSON value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    /// Which side of the comparison it measures, alone.
    pub side: Spanned<String>,
    pub host: Spanned<String>,
    /// The program and its arguments; "longhaul" is this program, and "{out}" in an argument the run's folder.
    pub run: Spanned<Vec<String>>,
    /// Exit codes with which it has measured.
    #[serde(default = "default_codes")]
    pub codes: Spanned<Vec<u8>>,
    /// How long it will take.
    #[serde(default = "default_duration", with = "units::duration")]
    pub duration: Duration,
    /// How long it may take.
    #[serde(default = "default_limit", with = "units::duration")]
    pub timeout: Duration,
    /// How much it may print.
    pub limit: Option<Spanned<Bytes>>,
    /// The side whose measurements end before this one begins.
    pub after: Option<Spanned<String>>,
}

fn default_codes() -> Spanned<Vec<u8>> {
    Spanned::new(0..0, vec![0])
}

fn default_limit() -> Duration {
    Duration::from_secs(300)
}

/// A statement about the result. The unit of its values is that of what it speaks of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The statement as people read it.
    pub claim: Spanned<String>,
    /// What it speaks of: "request.p50", "transfer.stall".
    pub at: Spanned<String>,
    /// The side that is faster ...
    pub faster: Option<Spanned<String>>,
    /// ... than this one ...
    pub than: Option<Spanned<String>>,
    /// ... by more than this: a value, or a multiple such as "3x".
    pub by: Option<Spanned<String>>,
    /// Or: the side that ...
    pub side: Option<Spanned<String>>,
    /// ... stays below this ...
    pub below: Option<Spanned<String>>,
    /// ... or above this ...
    pub above: Option<Spanned<String>>,
    /// ... or is exactly this.
    pub is: Option<Spanned<String>>,
}
