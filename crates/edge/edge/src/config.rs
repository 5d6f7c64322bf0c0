//! Configuration of a network: data centres, zones and their rules, read from TOML and validated.

mod balancing;
mod bus;
mod by_status;
mod file;
mod host;
mod kv;
mod links;
mod log_format;
mod origin_request;
mod origin_url;
mod rate_limit;
mod request_key;
mod revoked;
mod rule_spec;
mod rules;
mod secret;
mod source_positions;
mod starter;
mod tiers;
mod tls;
mod traces;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use config_file::Document;
use http_cache::{Coding, SetCookie};
use http_stack::{HeaderName, Revoked, StatusCode, server::TlsSettings, token::TokenHash};
use kv_nats::Address;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    balancing::{Balance, HealthCheck, LoadBalancing, OriginSettings},
    by_status::{ByStatus, ErrorPage},
    host::check_host,
    kv::{Kv, Store},
    links::{Detours, Link, PartitionPolicy},
    log_format::LogFormat,
    origin_request::{OriginAuth, OriginHost, OriginRequest},
    origin_url::{OriginUrl, OriginUrlError},
    rate_limit::RateLimit,
    request_key::RequestKey,
    secret::Secret,
    source_positions::SourcePositions,
    starter::{Initialized, Starter},
    tiers::Tiers,
    tls::{Acme, CertificateFiles, Challenge},
    traces::Collector,
};
pub use crate::rules::{Pattern, Rule, RuleInput, RuleSet, normal};
use crate::{Error, rules::address_list::AddressList};

/// Configuration of one network. All data centres read the same file.
#[derive(Debug, Clone)]
pub struct Network {
    /// Name of the network. It distinguishes requests of different networks.
    pub name: String,
    /// CA certificate (PEM) that signs the certificates of all data centres. Required only with
    /// links.
    pub authority: Option<PathBuf>,
    /// Certificates that links refuse although the authority has signed them.
    pub revoked: Revoked,
    /// Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are used.
    pub(crate) trusted_proxies: AddressList,
    /// NATS stream that also carries purges.
    pub bus: Option<Address>,
    /// Certificates from an ACME server.
    pub acme: Option<Acme>,
    /// Data centres.
    pub data_centres: Vec<DataCentre>,
    /// Zones.
    pub zones: Vec<Zone>,
    /// Collector of request traces.
    pub traces: Option<Collector>,
    /// Configuration of the key-value store.
    pub kv: Option<Kv>,
    /// Hashes of the tokens that authorize admin requests that change something.
    pub tokens: Vec<TokenHash>,
}

/// Addresses and limits of one data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataCentre {
    /// Name, as used in Cache-Status and Via.
    pub name: String,
    /// Listening addresses for clients, in clear text.
    pub listen: Vec<SocketAddr>,
    /// Listening addresses for clients over TLS. HTTP/3 uses the same numbers as UDP ports.
    pub listen_tls: Vec<SocketAddr>,
    /// Default certificate for `listen_tls`: for clients that request no name, or a name without a
    /// certificate.
    pub identity: Option<CertificateFiles>,
    /// Further certificates. A handshake selects one by the name that the client requests.
    pub certificates: Vec<CertificateFiles>,
    /// Whether the network has an ACME server.
    pub has_acme: bool,
    /// The oldest version of TLS, and certificates of clients.
    pub tls: TlsSettings,
    /// Whether client connections begin with a PROXY protocol header.
    pub proxy_protocol: bool,
    /// Maximum number of concurrent client connections, subject to the limit of open files.
    pub connections: usize,
    /// Maximum number of concurrent client connections per IPv4 address or IPv6 /64.
    pub connections_per_address: usize,
    /// Listening address of the admin interface.
    pub admin: Option<SocketAddr>,
    /// Maximum bytes of stored objects in memory.
    pub memory: u64,
    /// Disk storage of objects.
    pub disk: Option<Disk>,
    /// How long a graceful shutdown waits for requests in flight.
    pub drain: Duration,
    /// File of the access log.
    pub access_log: Option<PathBuf>,
    /// Format of the access log.
    pub access_log_format: LogFormat,
    /// Unix socket through which a new process takes over the listeners.
    pub handover: Option<PathBuf>,
    /// City from the gazetteer.
    pub city: Option<String>,
    /// Region that this data centre serves.
    pub region: Option<String>,
    /// Relative capacity.
    pub weight: u32,
    /// Address and certificate for other data centres. All data centres of a network have a link,
    /// or no one has.
    pub link: Option<Link>,
    /// Listening addresses of the key-value store, in clear text. Empty without a store.
    pub kv_listen: Vec<SocketAddr>,
    /// Listening addresses of the key-value store over TLS, with the certificate for clients.
    pub kv_listen_tls: Vec<SocketAddr>,
}

impl DataCentre {
    /// Whether TLS listeners have a certificate, or get one from an ACME server.
    pub fn has_certificate(&self) -> bool {
        self.identity.is_some() || !self.certificates.is_empty() || self.has_acme
    }

    /// Whether any listener uses TLS.
    pub fn has_tls(&self) -> bool {
        !self.listen_tls.is_empty() || !self.kv_listen_tls.is_empty()
    }

    /// All certificate files, the default first.
    pub fn certificate_files(&self) -> impl Iterator<Item = &CertificateFiles> {
        self.identity.iter().chain(&self.certificates)
    }
}

/// Purpose of reading a network's file. It determines which keys are required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To run the data centres. Each needs an address.
    Run,
    /// To simulate the data centres. Each needs a city.
    Simulation,
}

/// Disk storage of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// Directory. It is created if necessary.
    pub path: PathBuf,
    /// Maximum size in bytes.
    pub bytes: u64,
}

/// Hosts with common origins and caching settings.
#[derive(Debug, Clone)]
pub struct Zone {
    /// Name of the zone.
    pub name: String,
    /// Host patterns: a full name, `*.shop.example` for all subdomains, or `*` for all hosts
    /// without a zone.
    pub hosts: Vec<String>,
    /// Whether the hosts get certificates from the network's ACME server.
    pub acme: bool,
    /// Origins, in order of preference unless `balancing` has another method.
    pub origins: Vec<OriginUrl>,
    /// How requests are distributed to the origins.
    pub balancing: LoadBalancing,
    /// Limits of clients' requests.
    pub rate_limits: Vec<RateLimit>,
    /// Changes of requests to these origins.
    pub origin_request: OriginRequest,
    /// Rules in the order of the file, and the settings of the whole site.
    pub rules: RuleSet,
    /// Default for stale-if-error: how long a stale object may be served if the origin fails.
    pub stale_if_error: Duration,
    /// How long to wait for an origin before a stale object is served, if stale-if-error allows
    /// one.
    pub stale_after: Duration,
    /// Whether Cache-Control in requests is honoured.
    pub obeys_clients: bool,
    /// Timeout until the origin's response header arrives.
    pub first_byte: Duration,
    /// Timeout between two reads of the origin's response body.
    pub next_byte: Duration,
    /// Maximum size in bytes of a body that is stored.
    pub largest: u64,
    /// Maximum size in bytes of a request's content.
    pub max_request_body: Option<u64>,
    /// How responses with `Set-Cookie` are stored.
    pub set_cookie: SetCookie,
    /// Freshness lifetimes of responses without one, by status.
    pub cache_statuses: ByStatus<Duration>,
    /// Bodies of the errors that the edge generates, by status.
    pub error_pages: ByStatus<ErrorPage>,
    /// Whether a response is stored only if its Content-Type matches the extension in the path.
    pub deception_armor: bool,
    /// Targeted cache control fields (RFC 9213), which take precedence over Cache-Control.
    pub targets: Vec<HeaderName>,
    /// Content codings for text in responses, in order of preference.
    pub compress: Vec<Coding>,
    /// How data centres of this zone form tiers.
    pub tiers: Tiers,
    /// Whether requests may reach the origin through another data centre.
    pub detours: Detours,
    /// Statuses that indicate a failure of the path: middleboxes send them, the origin never does.
    pub detour_statuses: Vec<StatusCode>,
    /// Behaviour of a data centre that may miss purges.
    pub cut_off: PartitionPolicy,
    /// How long stored objects are used while purges may be missing.
    pub cut_off_limit: Duration,
    /// Whether a data centre in the client's region is used before an upper tier in another region.
    pub regional: bool,
}

/// Summary of a network's file, the output of `edge check --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Checked {
    /// Name of the network.
    pub name: String,
    /// Names of the data centres.
    pub data_centres: Vec<String>,
    /// Zones.
    pub zones: Vec<CheckedZone>,
    /// Namespaces of the key-value store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<CheckedNamespace>,
}

/// Summary of a namespace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedNamespace {
    /// Name of the namespace.
    pub name: String,
    /// Id of the namespace, as used in URLs.
    pub id: String,
}

/// Summary of a zone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedZone {
    /// Name of the zone.
    pub name: String,
    /// Host patterns.
    pub hosts: Vec<String>,
    /// Origins, in order of preference.
    pub origins: Vec<String>,
    /// Number of rules.
    pub rules: u64,
}

impl Network {
    /// Returns the place and the error of each secret that cannot be read on this machine.
    pub fn missing_secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.zones.iter().flat_map(|zone| zone.origin_request.secrets()).filter_map(Secret::missing)
    }

    /// Whether all secrets can be read on this machine.
    /// # Errors
    /// If a secret cannot be read. The error contains its position.
    pub fn require_secrets(&self) -> Result<(), Error> {
        let missing = self.missing_secrets().next();
        missing.map_or(Ok(()), |(place, why)| Err(Error::Secret(format!("{place}: {why}"))))
    }

    pub(crate) fn streams_directory(&self, centre: &str) -> Option<PathBuf> {
        let centre = self.data_centres.iter().find(|one| one.name == centre)?;
        Some(centre.disk.as_ref()?.path.join("nats"))
    }

    /// Returns a summary.
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

    /// Reads and validates a file to run the data centres.
    /// # Errors
    /// If the file is unreadable or invalid. The error contains the position and the expected
    /// value.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_for(path, Purpose::Run)
    }

    /// Reads and validates a file.
    /// # Errors
    /// If the file is unreadable or invalid. The error contains the position and the expected
    /// value.
    pub fn open_for(path: &Path, purpose: Purpose) -> Result<Self, Error> {
        let document =
            Document::open(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        Ok(file::read(&document, purpose)?)
    }

    /// Validates a parsed file to run the data centres.
    /// # Errors
    /// If the file is invalid. The error contains the position and the expected value.
    pub fn read(document: &Document) -> Result<Self, config_file::Diagnostic> {
        file::read(document, Purpose::Run)
    }

    /// Validates a parsed file.
    /// # Errors
    /// If the file is invalid. The error contains the position and the expected value.
    pub fn read_for(document: &Document, purpose: Purpose) -> Result<Self, config_file::Diagnostic> {
        file::read(document, purpose)
    }

    /// Returns the zone of a host (lower case, without a port). Full names take precedence, then
    /// the longest suffix.
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
