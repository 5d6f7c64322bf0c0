//! The network as its file describes it, checked: data centres, zones, and the rules of each.

mod bus;
mod file;
mod fit;
mod kv;
mod links;
mod pattern;
mod places;
mod revoked;
mod rule;
mod target;
mod tiers;
mod traces;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use cache::{Coding, SetCookie};
use document::Document;
use http::{
    HeaderName, Origin, Revoked, StatusCode,
    server::{Identity, Objection},
    token::TokenHash,
};
use jetstream::Address;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    kv::{Kv, Store},
    links::{CutOff, Detours, Link},
    pattern::Pattern,
    places::Places,
    rule::{Asked, Rule, normal},
    tiers::Tiers,
    traces::Collector,
};
use crate::Error;

/// One network; all its data centres have the same file.
#[derive(Debug, Clone)]
pub struct Network {
    /// Its name, which tells its requests from those of others.
    pub name: String,
    /// The certificate of the authority that signs for all its data centres, in PEM; only where they are linked.
    pub authority: Option<PathBuf>,
    /// Certificates of links that are refused although the authority has signed them.
    pub revoked: Revoked,
    /// The stream of NATS through which purges travel as well, if there is one.
    pub bus: Option<Address>,
    /// Where it runs.
    pub data_centres: Vec<DataCentre>,
    /// What it serves.
    pub zones: Vec<Zone>,
    /// Where traces of requests go, if there are any.
    pub traces: Option<Collector>,
    /// Its key-value store, if it has one.
    pub kv: Option<Kv>,
    /// Of the tokens that may change something.
    pub tokens: Vec<TokenHash>,
}

/// Where a process of the network listens, and what it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataCentre {
    /// Its name, as it stands in Cache-Status and Via.
    pub name: String,
    /// Where visitors are served in clear text.
    pub listen: Vec<SocketAddr>,
    /// Where they are served over TLS, and HTTP/3 on the UDP ports of the same numbers.
    pub listen_tls: Vec<SocketAddr>,
    /// Certificate and key for those, in PEM.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether visitors' connections begin with a header of the PROXY protocol.
    pub proxy_protocol: bool,
    /// Connections of visitors at once, if the limit of open files allows.
    pub connections: usize,
    /// Of them, those of one address, or of one IPv6 /64.
    pub connections_per_address: usize,
    /// Where the operator's requests are answered.
    pub admin: Option<SocketAddr>,
    /// Bytes that stored objects may have in memory.
    pub memory: u64,
    /// Where they are kept on disk as well.
    pub disk: Option<Disk>,
    /// How long requests in flight may take to be finished when it is stopped.
    pub drain: Duration,
    /// The access log's file.
    pub access_log: Option<PathBuf>,
    /// The Unix socket at which another process takes this one's place.
    pub handover: Option<PathBuf>,
    /// Where it is: a city of the gazetteer.
    pub city: Option<String>,
    /// The region that it serves.
    pub region: Option<String>,
    /// How much it can take compared with the others.
    pub weight: u32,
    /// How other data centres reach it; all of a network have this, or none.
    pub link: Option<Link>,
    /// Where it is asked for keys and values, in clear text; nowhere if the network has no store.
    pub kv_listen: Vec<SocketAddr>,
    /// The same over TLS, with the certificate that visitors see.
    pub kv_listen_tls: Vec<SocketAddr>,
}

/// What a network's file is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Data centres are to run, so that each needs an address.
    Run,
    /// They are to be simulated, so that each needs a place on Earth.
    Simulation,
}

/// A directory for objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// The directory, made if it is not there.
    pub path: PathBuf,
    /// Bytes that it may have.
    pub bytes: u64,
}

/// Some hosts, their origin, and how they are cached.
#[derive(Debug, Clone)]
pub struct Zone {
    /// As the operator calls it.
    pub name: String,
    /// Which hosts: whole names, "*.shop.example" for all below one, "*" for all that no other zone has.
    pub hosts: Vec<String>,
    /// Where responses come from: the first that is healthy.
    pub origins: Vec<Origin>,
    /// What goes before what origins say; the first match counts.
    pub rules: Vec<Rule>,
    /// How long after its end an object may be used because its origin fails, where the object does not say.
    pub stale_if_error: Duration,
    /// How long visitors wait for an origin where something stale may be used because it fails.
    pub stale_after: Duration,
    /// Whether requests may ask for fresher responses than the origin's rules give.
    pub obeys_clients: bool,
    /// How long the origin may take until its response begins.
    pub first_byte: Duration,
    /// How long the origin may be silent within a response's body.
    pub next_byte: Duration,
    /// Larger bodies are not stored.
    pub largest: u64,
    /// What becomes of `Set-Cookie` in the store.
    pub set_cookie: SetCookie,
    /// Whether a response is stored only if its Content-Type fits the extension of its path.
    pub deception_armor: bool,
    /// Fields that go before Cache-Control.
    pub targets: Vec<HeaderName>,
    /// Content codings that text is given on its way, the best one first.
    pub compress: Vec<Coding>,
    /// How data centres ask one another.
    pub tiers: Tiers,
    /// Whether its requests may reach the origin through another data centre.
    pub detours: Detours,
    /// Statuses that something on a path answers with and the origin never does: they count as failures of the path.
    pub detour_statuses: Vec<StatusCode>,
    /// What a data centre does that may not hear of purges.
    pub cut_off: CutOff,
    /// For how long it may use what it stores nevertheless.
    pub cut_off_limit: Duration,
    /// Whether a data centre of the visitor's region is asked before an upper tier in another one.
    pub regional: bool,
}

/// What a network's file says, in short: `edge check --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Checked {
    /// The network's name.
    pub name: String,
    /// Its data centres.
    pub data_centres: Vec<String>,
    /// Its zones.
    pub zones: Vec<CheckedZone>,
    /// The namespaces of its key-value store, if it has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<CheckedNamespace>,
}

/// A namespace, in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedNamespace {
    /// Its name.
    pub name: String,
    /// Its id, as URLs have it.
    pub id: String,
}

/// A zone, in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedZone {
    /// Its name.
    pub name: String,
    /// Which hosts it serves.
    pub hosts: Vec<String>,
    /// Where its responses come from, in the order in which they are asked.
    pub origins: Vec<String>,
    /// How many rules it has.
    pub rules: u64,
}

impl Network {
    /// The directory in which a data centre keeps the state of NATS streams, if it has a disk.
    pub(crate) fn streams_directory(&self, centre: &str) -> Option<PathBuf> {
        let centre = self.data_centres.iter().find(|one| one.name == centre)?;
        Some(centre.disk.as_ref()?.path.join("nats"))
    }

    /// What it says, in short.
    pub fn checked(&self) -> Checked {
        let zone = |zone: &Zone| CheckedZone {
            name: zone.name.clone(),
            hosts: zone.hosts.clone(),
            origins: zone.origins.iter().map(ToString::to_string).collect(),
            rules: zone.rules.len() as u64,
        };
        let namespaces = self.kv.iter().flat_map(|kv| &kv.namespaces);
        Checked {
            namespaces: namespaces
                .map(|one| CheckedNamespace { name: one.name.clone(), id: one.id.clone() })
                .collect(),
            name: self.name.clone(),
            data_centres: self.data_centres.iter().map(|centre| centre.name.clone()).collect(),
            zones: self.zones.iter().map(zone).collect(),
        }
    }

    /// What visitors will say against this data centre's certificate, or why it cannot be shown to them; a sentence each. A file may be there
    /// on the data centre's own machine alone, so that none of it makes the network wrong.
    pub fn objections(&self, centre: &DataCentre) -> Vec<String> {
        let Some((certificate, key)) = &centre.identity else { return Vec::new() };
        let name = &centre.name;
        match Identity::read(certificate, key) {
            Err(error) => vec![format!("data centre {name}: {error}")],
            Ok(identity) => {
                let hosts = self.zones.iter().flat_map(|zone| &zone.hosts).filter(|host| *host != "*");
                // One name stands for all below another.
                let hosts: Vec<_> = hosts.map(|host| host.replacen('*', "www", 1)).collect();
                let objections = identity.objections(hosts.iter().map(String::as_str));
                let place = certificate.display();
                let told =
                    |objection: &Objection| format!("data centre {name}, certificate {place}: {objection}");
                objections.iter().map(told).collect()
            }
        }
    }

    /// Reads and checks a file of data centres that are to run.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong: where, and what would be right.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_for(path, Purpose::Run)
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong: where, and what would be right.
    pub fn open_for(path: &Path, purpose: Purpose) -> Result<Self, Error> {
        let document =
            Document::open(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        Ok(file::read(&document, purpose)?)
    }

    /// Checks a file that has been read, of data centres that are to run.
    ///
    /// # Errors
    /// When it is wrong: where, and what would be right.
    pub fn read(document: &Document) -> Result<Self, document::Mistake> {
        file::read(document, Purpose::Run)
    }

    /// Checks a file that has been read.
    ///
    /// # Errors
    /// When it is wrong: where, and what would be right.
    pub fn read_for(document: &Document, purpose: Purpose) -> Result<Self, document::Mistake> {
        file::read(document, purpose)
    }

    /// The zone of a host, which has neither a port nor capital letters: whole names first, then the longest suffix.
    pub fn zone_of(&self, host: &str) -> Option<usize> {
        let fits = |pattern: &String| match pattern.strip_prefix('*') {
            Some("") => Some(0),
            Some(suffix) => host.strip_suffix(suffix).filter(|name| !name.is_empty()).map(|_| suffix.len()),
            None => (pattern == host).then_some(usize::MAX),
        };
        let best = |zone: &Zone| zone.hosts.iter().filter_map(fits).max();
        let zones = self.zones.iter().enumerate().filter_map(|(number, zone)| Some((best(zone)?, number)));
        zones.max_by_key(|&(length, number)| (length, std::cmp::Reverse(number))).map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests;
