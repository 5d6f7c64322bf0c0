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
    /// One or two sentences on the question.
    pub summary: Option<String>,
    /// A world file in the same folder, instead of tables of the world in this file.
    pub world: Option<Spanned<String>>,
    /// The output limit of each program: the first half and the last half are kept.
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

/// A command that runs in the run's folder before the hosts are created.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prepare {
    pub run: Spanned<Vec<String>>,
}

/// A program that runs in a host during the measurements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub host: Spanned<String>,
    pub run: Spanned<Vec<String>>,
    /// The measurements start when the program listens on this TCP port.
    pub ready: Option<u16>,
}

/// A claim about the result. Its values are in the unit of its subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The statement in words.
    pub claim: Spanned<String>,
    pub at: Spanned<String>,
    /// The faster side.
    pub faster: Option<Spanned<String>>,
    /// The side with the lower count.
    pub fewer: Option<Spanned<String>>,
    /// The other side of `faster` or `fewer`.
    pub than: Option<Spanned<String>>,
    /// The required difference: a value, or a multiple such as "3x".
    pub by: Option<Spanned<String>>,
    /// The side of a limit.
    pub side: Option<Spanned<String>>,
    /// Upper limit.
    pub below: Option<Spanned<String>>,
    /// Lower limit.
    pub above: Option<Spanned<String>>,
    /// The exact value.
    pub is: Option<Spanned<String>>,
}

/// A variant of the scenario without the property under test: some of its claims must fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    /// A description of the removed property.
    pub without: String,
    /// The `claim` texts of the claims that must fail.
    pub fails: Spanned<Vec<Spanned<String>>>,
    pub change: Spanned<Vec<Change>>,
}

/// A text substitution in the scenario, or in a file of its folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// The file, if not the scenario.
    pub file: Option<Spanned<PathBuf>>,
    pub from: Spanned<String>,
    pub to: String,
}
