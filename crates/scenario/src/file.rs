//! The scenario file as it is written. The format is in `docs/scenario.md`.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, Probability};
use world::file::{Access, Anycast, City, Fault, Host, Link, Settings, Visitors};

use crate::kind::{Tables, command, kv, ping, probe, speed, transfer};

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
    /// Takes the tables of measurements out of the file.
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

/// What the scenario is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    /// The report's title.
    pub title: String,
    /// One or two sentences on the question.
    pub summary: Option<String>,
    /// A world file in the same folder, instead of tables of the world in this file.
    pub world: Option<Spanned<String>>,
    /// How much output of each program is kept: the first half and the last half.
    pub log_limit: Option<Spanned<Bytes>>,
    /// The metric of claims and report.
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

/// What is done in the run's folder before there are hosts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prepare {
    /// The program and its arguments; "longhaul" is this program.
    pub run: Spanned<Vec<String>>,
}

/// A program that runs in a host while the scenario measures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub host: Spanned<String>,
    /// The program and its arguments; "longhaul" is this program.
    pub run: Spanned<Vec<String>>,
    /// Measuring starts when it listens on this TCP port.
    pub ready: Option<u16>,
}

/// A statement about the result. Its values have the unit of its subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The statement as people read it.
    pub claim: Spanned<String>,
    /// Its subject: "request.p50", "transfer.stall".
    pub at: Spanned<String>,
    /// The side that is faster ...
    pub faster: Option<Spanned<String>>,
    /// Or the side that has fewer ...
    pub fewer: Option<Spanned<String>>,
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

/// The scenario without what it shows: some of its claims must fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    /// What it is without, as people read it.
    pub without: String,
    /// The claims that must fail, as their `claim` has them.
    pub fails: Spanned<Vec<Spanned<String>>>,
    pub change: Spanned<Vec<Change>>,
}

/// A text of the scenario, or of a file beside it, in the place of another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// Which file, if not the scenario.
    pub file: Option<Spanned<PathBuf>>,
    pub from: Spanned<String>,
    pub to: String,
}
