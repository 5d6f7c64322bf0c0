//! The scenario file as deserialized. The format is in `docs/scenario-reference.md`.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, Probability};
use world::file::{Access, Anycast, City, Fault, Host, Link, Settings, Visitors};

use crate::kind::{Tables, command, kv, ping, probe, speed, transfer};

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
    pub prepare: Vec<Prepare>,
    #[serde(default)]
    pub program: Vec<Program>,
    #[serde(default)]
    pub probe: Vec<probe::Table>,
    #[serde(default)]
    pub transfer: Vec<transfer::Table>,
    #[serde(default)]
    pub ping: Vec<ping::Table>,
    #[serde(default)]
    pub speed: Vec<speed::Table>,
    #[serde(default)]
    pub kv: Vec<kv::Table>,
    #[serde(default)]
    pub command: Vec<command::Table>,
    #[serde(default)]
    pub fault: Vec<Spanned<Fault>>,
    #[serde(default)]
    pub claim: Vec<Claim>,
    #[serde(default)]
    pub mutant: Vec<Mutant>,
}

impl File {
    pub(crate) fn take_tables(&mut self) -> Tables {
        Tables {
            probe: std::mem::take(&mut self.probe),
            transfer: std::mem::take(&mut self.transfer),
            ping: std::mem::take(&mut self.ping),
            speed: std::mem::take(&mut self.speed),
            kv: std::mem::take(&mut self.kv),
            command: std::mem::take(&mut self.command),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    pub title: String,
    pub summary: Option<String>,
    pub world: Option<Spanned<String>>,
    /// The first half and the last half are kept.
    pub log_limit: Option<Spanned<Bytes>>,
    #[serde(default = "default_metric")]
    pub metric: recording::Metric,
}

fn default_metric() -> recording::Metric {
    recording::Metric::Ttfb
}

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prepare {
    pub run: Spanned<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub host: Spanned<String>,
    pub run: Spanned<Vec<String>>,
    /// The measurements start when the program listens on this TCP port.
    pub ready: Option<u16>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub claim: Spanned<String>,
    pub at: Spanned<String>,
    pub faster: Option<Spanned<String>>,
    pub fewer: Option<Spanned<String>>,
    pub than: Option<Spanned<String>>,
    /// A value, or a multiple such as "3x".
    pub by: Option<Spanned<String>>,
    pub side: Option<Spanned<String>>,
    pub below: Option<Spanned<String>>,
    pub above: Option<Spanned<String>>,
    pub is: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    pub without: String,
    pub fails: Spanned<Vec<Spanned<String>>>,
    pub change: Spanned<Vec<Change>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    pub file: Option<Spanned<PathBuf>>,
    pub from: Spanned<String>,
    pub to: String,
}
