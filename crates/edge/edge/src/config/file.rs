//! Schema and validation of the network's file.

use std::{collections::BTreeMap, net::SocketAddr, num::NonZero, path::PathBuf, time::Duration};

use config_file::{Diagnostic, Document, suggestion};
use http_cache::{Coding, SetCookie};
use http_stack::HeaderName;
use serde::Deserialize;
use toml::{Spanned, Value};
use units::Bytes;

use super::{
    Balance, CertificateFiles, DataCentre, Detours, Disk, LogFormat, Network, PartitionPolicy, Purpose,
    RuleSet, Zone,
    balancing::{self, BalancingSpec, HealthCheckSpec, OriginSpec},
    bus, by_status, check_host,
    kv::{self, token_hashes},
    links, origin_request,
    origin_url::OriginUrl,
    rate_limit::{self, RateLimitSpec},
    revoked,
    rule_spec::RuleSpec,
    rules::{self, RuleReader},
    tiers, tls, traces,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    network: Name,
    #[serde(default)]
    admin: Admin,
    traces: Option<Spanned<traces::TracesSpec>>,
    kv: Option<Spanned<kv::KvSpec>>,
    data_centre: Vec<Centre>,
    zone: Vec<ZoneSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    name: Spanned<String>,
    authority: Option<PathBuf>,
    #[serde(default)]
    revoked: revoked::RevokedSpec,
    bus: Option<Spanned<String>>,
    #[serde(default)]
    trusted_proxies: Vec<Spanned<String>>,
    acme: Option<Spanned<tls::AcmeSpec>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Admin {
    #[serde(default)]
    tokens: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Centre {
    name: Spanned<String>,
    #[serde(default)]
    listen: Vec<SocketAddr>,
    #[serde(default)]
    listen_tls: Vec<SocketAddr>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    #[serde(default)]
    certificates: Vec<CertificateFiles>,
    tls_min: Option<tls::MinVersionSpec>,
    client_ca: Option<Spanned<PathBuf>>,
    client_auth: Option<Spanned<tls::ClientAuthSpec>>,
    #[serde(default)]
    proxy_protocol: bool,
    #[serde(default = "connections")]
    connections: NonZero<u32>,
    #[serde(default = "connections_per_address")]
    connections_per_address: NonZero<u32>,
    admin: Option<SocketAddr>,
    #[serde(default = "memory")]
    memory: Bytes,
    disk: Option<PathBuf>,
    disk_size: Option<Bytes>,
    access_log: Option<PathBuf>,
    #[serde(default)]
    access_log_format: LogFormat,
    handover: Option<PathBuf>,
    #[serde(default = "drain", with = "units::duration")]
    drain: Duration,
    city: Option<Spanned<String>>,
    region: Option<String>,
    #[serde(default = "weight")]
    weight: NonZero<u32>,
    address: Option<Spanned<SocketAddr>>,
    link_certificate: Option<PathBuf>,
    link_key: Option<PathBuf>,
    kv_listen: Option<kv::Listen>,
    kv_listen_tls: Option<kv::Listen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneSpec {
    name: Spanned<String>,
    hosts: Vec<Spanned<String>>,
    acme: Option<Spanned<bool>>,
    origin: Vec<Spanned<OriginSpec>>,
    balance: Option<Spanned<Balance>>,
    balance_by: Option<Spanned<String>>,
    health_check: Option<Spanned<HealthCheckSpec>>,
    #[serde(default)]
    failover_statuses: Vec<Spanned<u16>>,
    slow_start: Option<Spanned<String>>,
    eject_after: Option<Spanned<NonZero<u32>>>,
    eject_for: Option<Spanned<String>>,
    origin_host: Option<Spanned<String>>,
    #[serde(default)]
    origin_headers: origin_request::HeadersSpec,
    origin_auth: Option<Spanned<origin_request::AuthSpec>>,
    #[serde(default)]
    rate_limit: Vec<Spanned<RateLimitSpec>>,
    #[serde(default, with = "units::duration")]
    stale_if_error: Duration,
    #[serde(default = "stale_after", with = "units::duration")]
    stale_after: Duration,
    #[serde(default)]
    requests_decide: bool,
    #[serde(default = "first_byte", with = "units::duration")]
    first_byte: Duration,
    #[serde(default = "next_byte", with = "units::duration")]
    next_byte: Duration,
    #[serde(default = "largest")]
    largest: Bytes,
    max_request_body: Option<Bytes>,
    #[serde(default)]
    store_set_cookie: bool,
    #[serde(default)]
    cache_statuses: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    error_pages: BTreeMap<String, Spanned<PathBuf>>,
    #[serde(default)]
    deception_armor: bool,
    #[serde(default = "targets")]
    targets: Vec<Spanned<String>>,
    #[serde(default)]
    compress: Vec<Spanned<String>>,
    tiers: Option<Spanned<tiers::TiersSpec>>,
    regional: Option<Spanned<bool>>,
    #[serde(default)]
    detours: Detours,
    #[serde(default)]
    detour_statuses: Vec<Spanned<u16>>,
    #[serde(default)]
    cut_off: PartitionPolicy,
    #[serde(default = "cut_off_limit", with = "units::duration")]
    cut_off_limit: Duration,
    #[serde(default)]
    rule: Vec<Spanned<RuleSpec>>,
    #[serde(default)]
    https_only: bool,
    canonical_host: Option<Spanned<String>>,
    hsts: Option<Spanned<Value>>,
}

impl ZoneSpec {
    fn balancing(&self) -> BalancingSpec<'_> {
        BalancingSpec {
            origins: &self.origin,
            balance: self.balance.as_ref(),
            by: self.balance_by.as_ref(),
            health_check: self.health_check.as_ref(),
            failover_statuses: &self.failover_statuses,
            slow_start: self.slow_start.as_ref(),
            eject_after: self.eject_after.as_ref(),
            eject_for: self.eject_for.as_ref(),
        }
    }
}

fn many(number: NonZero<u32>) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

fn drain() -> Duration {
    Duration::from_secs(30)
}

fn weight() -> NonZero<u32> {
    NonZero::<u32>::MIN
}

/// The limit of a server in the crate `http_stack`.
fn connections() -> NonZero<u32> {
    u32::try_from(http_stack::limits::CONNECTIONS).ok().and_then(NonZero::new).unwrap_or(NonZero::<u32>::MAX)
}

/// A quarter of all connections: enough for clients behind one NAT, and one address cannot exhaust
/// the limit.
fn connections_per_address() -> NonZero<u32> {
    NonZero::new(connections().get() / 4).unwrap_or(NonZero::<u32>::MIN)
}

fn memory() -> Bytes {
    Bytes(256_000_000)
}

const DISK_SIZE: u64 = 10_000_000_000;

fn largest() -> Bytes {
    Bytes(64_000_000)
}

/// One day gives the operator time to repair a data centre that is cut off.
fn cut_off_limit() -> Duration {
    Duration::from_secs(24 * 60 * 60)
}

fn stale_after() -> Duration {
    Duration::from_secs(1)
}

fn first_byte() -> Duration {
    Duration::from_secs(30)
}

/// The default of nginx's proxy_read_timeout.
fn next_byte() -> Duration {
    Duration::from_secs(60)
}

fn targets() -> Vec<Spanned<String>> {
    vec![Spanned::new(0..0, "cdn-cache-control".to_owned())]
}

pub(super) fn read(document: &Document, purpose: Purpose) -> Result<Network, Diagnostic> {
    let file: File = document.parse()?;
    let checked = Checks { document, purpose, has_acme: file.network.acme.is_some() };
    let mut data_centres: Vec<_> =
        file.data_centre.iter().map(|centre| checked.centre(centre)).collect::<Result<_, _>>()?;
    checked.are_different(file.data_centre.iter().map(|centre| &centre.name), "data centre")?;
    if purpose == Purpose::Run {
        let names = file.data_centre.iter().map(|centre| centre.name.span());
        let addresses = file.data_centre.iter().map(|centre| centre.address.as_ref().map(Spanned::span));
        let places: Vec<_> = names.zip(addresses).collect();
        links::check(document, file.network.authority.as_deref(), &data_centres, &places)?;
    }
    let bus = file.network.bus.as_ref();
    let bus = bus.map(|written| bus::read(document, purpose, written, &data_centres)).transpose()?;
    let zone = |zone: &ZoneSpec| checked.zone(zone, &data_centres);
    let zones: Vec<_> = file.zone.iter().map(zone).collect::<Result<_, _>>()?;
    checked.are_different(file.zone.iter().map(|zone| &zone.name), "zone")?;
    checked.are_different(file.zone.iter().flat_map(|zone| &zone.hosts), "host")?;
    let tokens = token_hashes(document, &file.admin.tokens)?;
    let traces = file.traces.as_ref().map(|written| traces::read(document, written)).transpose()?;
    let centres = file.data_centre.iter();
    let kv_listen: Vec<_> =
        centres.map(|centre| [centre.kv_listen.as_ref(), centre.kv_listen_tls.as_ref()]).collect();
    let kv = kv::read(document, purpose, file.kv.as_ref(), (&mut data_centres, &kv_listen))?;
    let acme = file.network.acme.as_ref().map(|written| {
        let names = file.data_centre.iter().map(|centre| centre.name.span());
        let centres: Vec<_> = data_centres.iter().zip(names).collect();
        tls::read_acme(document, written, &centres, &zones)
    });
    Ok(Network {
        acme: acme.transpose()?,
        name: checked.token_name(&file.network.name)?,
        authority: file.network.authority,
        revoked: revoked::read(document, file.network.revoked)?,
        trusted_proxies: rules::address_list(document, &file.network.trusted_proxies)?,
        bus,
        data_centres,
        zones,
        traces,
        kv,
        tokens,
    })
}

struct Checks<'d> {
    document: &'d Document,
    purpose: Purpose,
    has_acme: bool,
}

impl Checks<'_> {
    fn centre(&self, centre: &Centre) -> Result<DataCentre, Diagnostic> {
        let name = self.token_name(&centre.name)?;
        let wrong = |what: &str| {
            Err(self.document.mistake(centre.name.span(), format!("data centre \"{name}\" {what}")))
        };
        let identity = match (&centre.certificate, &centre.key) {
            (Some(certificate), Some(key)) => {
                Some(CertificateFiles { certificate: certificate.clone(), key: key.clone() })
            }
            (None, None) => None,
            _ => return wrong("needs certificate and key together, both files in PEM"),
        };
        let listens = !centre.listen.is_empty() || !centre.listen_tls.is_empty();
        if self.purpose == Purpose::Run && !listens {
            return wrong("has no listening address: add listen = [\"0.0.0.0:80\"], or listen_tls");
        }
        let has_certificate = identity.is_some() || !centre.certificates.is_empty() || self.has_acme;
        if !centre.listen_tls.is_empty() && !has_certificate {
            return wrong(
                "has listen_tls and needs certificate and key for it, both files in PEM, or [network.acme]",
            );
        }
        let tls = tls::settings(
            self.document,
            centre.tls_min,
            centre.client_ca.as_ref(),
            centre.client_auth.as_ref(),
        )?;
        let disk = match (&centre.disk, centre.disk_size) {
            (Some(_), Some(Bytes(bytes))) if bytes < segment_store::Config::SMALLEST => {
                return wrong("has a disk_size below 1MiB, the least that is of use");
            }
            (Some(path), bytes) => {
                Some(Disk { path: path.clone(), bytes: bytes.map_or(DISK_SIZE, |bytes| bytes.0) })
            }
            (None, Some(_)) => return wrong("has a disk_size but no disk, its directory"),
            (None, None) => None,
        };
        let link = match (&centre.address, &centre.link_certificate, &centre.link_key) {
            (None, None, None) => None,
            (Some(address), Some(certificate), Some(key)) => Some(links::Link {
                address: *address.get_ref(),
                certificate: certificate.clone(),
                key: key.clone(),
            }),
            // A simulation does not read certificates.
            _ if self.purpose == Purpose::Simulation => None,
            _ => {
                return wrong(
                    "needs address, link_certificate and link_key together, for other data centres",
                );
            }
        };
        let city = centre.city.as_ref().map(|city| tiers::city(self.document, city)).transpose()?;
        if self.purpose == Purpose::Simulation && city.is_none() {
            return wrong("has no city, which a simulation needs: city = \"london\"");
        }
        Ok(DataCentre {
            city,
            region: centre.region.clone(),
            weight: centre.weight.get(),
            listen: centre.listen.clone(),
            listen_tls: centre.listen_tls.clone(),
            identity,
            certificates: centre.certificates.clone(),
            has_acme: self.has_acme,
            tls,
            proxy_protocol: centre.proxy_protocol,
            connections: many(centre.connections),
            connections_per_address: many(centre.connections_per_address),
            admin: centre.admin,
            memory: centre.memory.0,
            disk,
            access_log: centre.access_log.clone(),
            access_log_format: centre.access_log_format,
            handover: centre.handover.clone(),
            drain: centre.drain,
            link,
            kv_listen: Vec::new(),
            kv_listen_tls: Vec::new(),
            name,
        })
    }

    fn zone(&self, zone: &ZoneSpec, centres: &[DataCentre]) -> Result<Zone, Diagnostic> {
        if zone.origin.is_empty() || zone.hosts.is_empty() {
            let what = if zone.hosts.is_empty() { "hosts" } else { "origin" };
            let message = format!("zone \"{}\" has no {what}", zone.name.get_ref());
            return Err(self.document.mistake(zone.name.span(), message));
        }
        if let Some(acme) = zone.acme.as_ref().filter(|acme| *acme.get_ref()) {
            tls::check_hosts(self.document, self.has_acme, acme, &zone.hosts)?;
        }
        let written = (zone.tiers.as_ref(), zone.regional.as_ref());
        let origin_request = origin_request::read(
            self.document,
            zone.origin_host.as_ref(),
            &zone.origin_headers,
            zone.origin_auth.as_ref(),
        )?;
        let server_name = origin_request.host.server_name();
        let origin = |origin| self.origin(origin).map(|url| url.with_server_name(server_name));
        let (tiers, regional) = tiers::read(self.document, self.purpose, written, centres)?;
        let hosts: Vec<_> = zone.hosts.iter().map(|host| self.host(host)).collect::<Result<_, _>>()?;
        let reader = RuleReader { document: self.document, purpose: self.purpose, hosts: &hosts };
        let rules = zone.rule.iter().map(|rule| reader.rule(rule)).collect::<Result<_, _>>()?;
        let site = reader.site(zone.https_only, zone.canonical_host.as_ref(), zone.hsts.as_ref())?;
        Ok(Zone {
            tiers,
            regional,
            detours: zone.detours,
            detour_statuses: links::detour_statuses(self.document, zone.detours, &zone.detour_statuses)?,
            cut_off: zone.cut_off,
            cut_off_limit: zone.cut_off_limit,
            name: zone.name.get_ref().clone(),
            acme: zone.acme.as_ref().is_some_and(|acme| *acme.get_ref()),
            origins: zone.origin.iter().map(origin).collect::<Result<_, _>>()?,
            rate_limits: rate_limit::read(self.document, &zone.rate_limit)?,
            balancing: balancing::read(self.document, &zone.balancing())?,
            origin_request,
            rules: RuleSet::new(rules, site),
            hosts,
            stale_if_error: zone.stale_if_error,
            stale_after: zone.stale_after,
            obeys_clients: zone.requests_decide,
            first_byte: zone.first_byte,
            next_byte: zone.next_byte,
            largest: zone.largest.0,
            max_request_body: zone.max_request_body.map(|most| most.0),
            set_cookie: if zone.store_set_cookie { SetCookie::Shared } else { SetCookie::Personal },
            cache_statuses: by_status::cache_statuses(self.document, &zone.cache_statuses)?,
            error_pages: by_status::error_pages(self.document, self.purpose, &zone.error_pages)?,
            deception_armor: zone.deception_armor,
            targets: zone.targets.iter().map(|name| self.field(name)).collect::<Result<_, _>>()?,
            compress: zone.compress.iter().map(|name| self.coding(name)).collect::<Result<_, _>>()?,
        })
    }

    fn origin(&self, origin: &Spanned<OriginSpec>) -> Result<OriginUrl, Diagnostic> {
        let url = origin.get_ref().url();
        url.parse().map_err(|error| {
            self.document.mistake(origin.span(), format!("\"{url}\" is not an origin: {error}"))
        })
    }

    fn host(&self, host: &Spanned<String>) -> Result<String, Diagnostic> {
        check_host(host.get_ref()).map_err(|message| self.document.mistake(host.span(), message))
    }

    fn field(&self, name: &Spanned<String>) -> Result<HeaderName, Diagnostic> {
        let parsed = name.get_ref().parse();
        parsed.map_err(|_| {
            self.document.mistake(name.span(), format!("\"{}\" is not a field's name", name.get_ref()))
        })
    }

    fn coding(&self, name: &Spanned<String>) -> Result<Coding, Diagnostic> {
        let found = Coding::ALL.into_iter().find(|coding| coding.token() == name.get_ref());
        found.ok_or_else(|| {
            let similar = suggestion(name.get_ref(), Coding::ALL.map(Coding::token));
            let message = format!(
                "\"{}\" is not a coding: expected \"zstd\", \"br\" or \"gzip\"{similar}",
                name.get_ref()
            );
            self.document.mistake(name.span(), message)
        })
    }

    fn token_name(&self, name: &Spanned<String>) -> Result<String, Diagnostic> {
        let is_token = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
        if !name.get_ref().is_empty() && name.get_ref().bytes().all(is_token) {
            return Ok(name.get_ref().clone());
        }
        let message =
            format!("\"{}\" is not a name: expected letters, digits, \"-\", \"_\" and \".\"", name.get_ref());
        Err(self.document.mistake(name.span(), message))
    }

    fn are_different<'a>(
        &self,
        names: impl Iterator<Item = &'a Spanned<String>>,
        what: &str,
    ) -> Result<(), Diagnostic> {
        let mut seen: Vec<String> = Vec::new();
        for name in names {
            let lower = name.get_ref().to_ascii_lowercase();
            if seen.contains(&lower) {
                return Err(self.document.mistake(name.span(), format!("{what} \"{lower}\" is there twice")));
            }
            seen.push(lower);
        }
        if seen.is_empty() {
            return Err(self.document.mistake(0..0, format!("the network has no {what}")));
        }
        Ok(())
    }
}

impl Network {
    /// Returns the data centre with this name.
    /// # Errors
    /// If no data centre has this name. The message lists the known names.
    pub fn data_centre(&self, name: &str) -> Result<&DataCentre, String> {
        let found = self.data_centres.iter().find(|centre| centre.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.data_centres.iter().map(|centre| centre.name.as_str()).collect();
            let similar = suggestion(name, names.iter().copied());
            format!("the network has no data centre \"{name}\", only {}{similar}", names.join(", "))
        })
    }
}
