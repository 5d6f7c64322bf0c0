//! Load balancing of a zone's origins and their health.

use std::{fmt, num::NonZero, time::Duration};

use config_file::{Diagnostic, Document};
use http_stack::{StatusCode, uri::Authority};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use toml::Spanned;

use super::RequestKey;

/// How the requests of a zone are distributed to its origins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadBalancing {
    /// The method.
    pub balance: Balance,
    /// The part of a request that selects its origin with [`Balance::Hash`]; `None` for the cache key.
    pub by: Option<RequestKey>,
    /// Weights and limits, in the order of the zone's origins.
    pub origins: Vec<OriginSettings>,
    /// Requests to each origin that show whether it works.
    pub health_check: Option<HealthCheck>,
    /// Statuses with which a safe request is sent to another origin.
    pub failover_statuses: Vec<StatusCode>,
    /// Time in which the weight of an origin grows after its recovery.
    pub slow_start: Option<Duration>,
    /// Consecutive failures that eject an origin, and the duration of the first ejection.
    pub ejection: Option<(u32, Duration)>,
}

/// A method of load balancing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// The first origin that works.
    #[default]
    First,
    /// Each origin in turn, in proportion to the weights.
    RoundRobin,
    /// The origin with the fewest requests in flight per weight.
    LeastConnections,
    /// The same origin for the same key.
    Hash,
}

/// Weight and limit of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginSettings {
    /// Relative share of the requests.
    pub weight: u32,
    /// Maximum number of requests in flight.
    pub max_connections: Option<u32>,
}

/// Active health checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    /// Path and query.
    pub path: String,
    /// Time between checks.
    pub interval: Duration,
    /// Timeout of a check.
    pub timeout: Duration,
    /// Statuses of an origin that works.
    pub statuses: Vec<StatusCode>,
    /// Number of consecutive successes after which an origin is used again.
    pub healthy: u32,
    /// Number of consecutive failures after which an origin is down.
    pub unhealthy: u32,
    /// The Host field; `None` for that of the zone's requests.
    pub host: Option<String>,
}

#[derive(Debug)]
pub(super) enum OriginSpec {
    Url(String),
    Table(OriginTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OriginTable {
    url: String,
    weight: Option<NonZero<u32>>,
    max_connections: Option<NonZero<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HealthCheckSpec {
    path: Spanned<String>,
    #[serde(default = "interval", with = "units::duration")]
    interval: Duration,
    #[serde(default = "timeout", with = "units::duration")]
    timeout: Duration,
    #[serde(default)]
    statuses: Vec<Spanned<u16>>,
    #[serde(default = "healthy")]
    healthy: NonZero<u32>,
    #[serde(default = "unhealthy")]
    unhealthy: NonZero<u32>,
    host: Option<Spanned<String>>,
}

/// The keys of a zone that concern load balancing.
pub(super) struct BalancingSpec<'f> {
    pub(super) origins: &'f [Spanned<OriginSpec>],
    pub(super) balance: Option<&'f Spanned<Balance>>,
    pub(super) by: Option<&'f Spanned<String>>,
    pub(super) health_check: Option<&'f Spanned<HealthCheckSpec>>,
    pub(super) failover_statuses: &'f [Spanned<u16>],
    pub(super) slow_start: Option<&'f Spanned<String>>,
    pub(super) eject_after: Option<&'f Spanned<NonZero<u32>>>,
    pub(super) eject_for: Option<&'f Spanned<String>>,
}

fn interval() -> Duration {
    Duration::from_secs(5)
}

fn timeout() -> Duration {
    Duration::from_secs(2)
}

fn healthy() -> NonZero<u32> {
    NonZero::<u32>::MIN.saturating_add(1)
}

fn unhealthy() -> NonZero<u32> {
    NonZero::<u32>::MIN.saturating_add(2)
}

const EJECT_FOR: Duration = Duration::from_secs(30);
/// Checks of several data centres and zones add up.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

impl OriginSpec {
    pub(super) fn url(&self) -> &str {
        match self {
            Self::Url(url) | Self::Table(OriginTable { url, .. }) => url,
        }
    }

    fn settings(&self) -> OriginSettings {
        match self {
            Self::Url(_) => OriginSettings::default(),
            Self::Table(table) => OriginSettings {
                weight: table.weight.map_or(1, NonZero::get),
                max_connections: table.max_connections.map(NonZero::get),
            },
        }
    }

    fn has_weight(&self) -> bool {
        matches!(self, Self::Table(OriginTable { weight: Some(_), .. }))
    }
}

/// Not `untagged`, because serde would lose the reason of a mistake in a table.
impl<'de> Deserialize<'de> for OriginSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OriginVisitor;
        impl<'de> Visitor<'de> for OriginVisitor {
            type Value = OriginSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a URL such as \"http://10.0.0.1:8000\", or { url = \"http://10.0.0.1:8000\", weight = 2 }")
            }

            fn visit_str<E>(self, url: &str) -> Result<OriginSpec, E> {
                Ok(OriginSpec::Url(url.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OriginSpec, A::Error> {
                OriginTable::deserialize(MapAccessDeserializer::new(map)).map(OriginSpec::Table)
            }
        }
        deserializer.deserialize_any(OriginVisitor)
    }
}

impl Default for OriginSettings {
    fn default() -> Self {
        Self { weight: 1, max_connections: None }
    }
}

impl Balance {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::RoundRobin => "round-robin",
            Self::LeastConnections => "least-connections",
            Self::Hash => "hash",
        }
    }
}

impl LoadBalancing {
    /// Whether the origins are more than a list in order of preference.
    pub(crate) fn needs_pool(&self) -> bool {
        self.balance != Balance::First
            || self.health_check.is_some()
            || self.ejection.is_some()
            || !self.failover_statuses.is_empty()
            || self.origins.iter().any(|origin| origin.max_connections.is_some())
    }

    pub(crate) fn origin(&self, number: usize) -> OriginSettings {
        self.origins.get(number).copied().unwrap_or_default()
    }
}

pub(super) fn read(document: &Document, spec: &BalancingSpec<'_>) -> Result<LoadBalancing, Diagnostic> {
    let balance = spec.balance.map_or_else(Balance::default, |balance| *balance.get_ref());
    let is_weighted = matches!(balance, Balance::RoundRobin | Balance::LeastConnections);
    let name = balance.name();
    let wrong = |span, message: String| Err(document.mistake(span, message));
    if let Some(by) = spec.by.filter(|_| balance != Balance::Hash) {
        return wrong(
            by.span(),
            format!("balance_by has no effect with balance = \"{name}\": expected \"hash\""),
        );
    }
    if balance == Balance::First
        && let Some(origin) = spec.origins.iter().find(|origin| origin.get_ref().has_weight())
    {
        let message = "weight has no effect with balance = \"first\": add balance = \"round-robin\"";
        return wrong(origin.span(), message.to_owned());
    }
    if let Some(slow_start) = spec.slow_start.filter(|_| !is_weighted) {
        let message = format!(
            "slow_start has no effect with balance = \"{name}\": expected \"round-robin\" or \"least-connections\""
        );
        return wrong(slow_start.span(), message);
    }
    if let Some(eject_for) = spec.eject_for.filter(|_| spec.eject_after.is_none()) {
        return wrong(eject_for.span(), "eject_for needs eject_after, such as eject_after = 5".to_owned());
    }
    if spec.origins.len() == 1 {
        let statuses = spec.failover_statuses.first().map(|status| ("failover_statuses", status.span()));
        let ejection = spec.eject_after.map(|after| ("eject_after", after.span()));
        if let Some((key, span)) = statuses.or(ejection) {
            return wrong(span, format!("{key} needs a second origin, to which requests are sent instead"));
        }
    }
    let by = |by: &Spanned<String>| match by.get_ref().as_str() {
        "key" => Ok(None),
        text => RequestKey::parse(text).map(Some).map_err(|message| document.mistake(by.span(), message)),
    };
    let eject_for = spec.eject_for.map(|written| duration(document, written)).transpose()?;
    Ok(LoadBalancing {
        balance,
        by: spec.by.map(by).transpose()?.flatten(),
        origins: spec.origins.iter().map(|origin| origin.get_ref().settings()).collect(),
        health_check: spec.health_check.map(|check| health_check(document, check)).transpose()?,
        failover_statuses: statuses(document, spec.failover_statuses, 400)?,
        slow_start: spec.slow_start.map(|written| duration(document, written)).transpose()?,
        ejection: spec.eject_after.map(|after| (after.get_ref().get(), eject_for.unwrap_or(EJECT_FOR))),
    })
}

fn health_check(document: &Document, check: &Spanned<HealthCheckSpec>) -> Result<HealthCheck, Diagnostic> {
    let (span, check) = (check.span(), check.get_ref());
    if check.interval < SHORTEST_INTERVAL || check.timeout.is_zero() {
        let what = "a health check needs an interval of at least 10ms and a timeout above 0";
        return Err(document.mistake(span, what));
    }
    let path = check.path.get_ref();
    if !path.starts_with('/') || path.parse::<http_stack::uri::PathAndQuery>().is_err() || path.contains('#')
    {
        let message = format!("\"{path}\" is not a path: expected one such as \"/healthz\"");
        return Err(document.mistake(check.path.span(), message));
    }
    let host = |host: &Spanned<String>| match host.get_ref().parse::<Authority>() {
        Ok(authority) if !authority.as_str().contains('@') => Ok(authority.as_str().to_owned()),
        _ => {
            let message =
                format!("\"{}\" is not a host: expected one such as \"shop.example\"", host.get_ref());
            Err(document.mistake(host.span(), message))
        }
    };
    let mut expected = statuses(document, &check.statuses, 200)?;
    if expected.is_empty() {
        expected.push(StatusCode::OK);
    }
    Ok(HealthCheck {
        path: path.clone(),
        interval: check.interval,
        timeout: check.timeout,
        statuses: expected,
        healthy: check.healthy.get(),
        unhealthy: check.unhealthy.get(),
        host: check.host.as_ref().map(host).transpose()?,
    })
}

fn statuses(
    document: &Document,
    written: &[Spanned<u16>],
    least: u16,
) -> Result<Vec<StatusCode>, Diagnostic> {
    let status = |status: &Spanned<u16>| match StatusCode::from_u16(*status.get_ref()) {
        Ok(code) if (least..600).contains(&code.as_u16()) => Ok(code),
        _ => {
            let message = format!("{} is not a status from {least} to 599", status.get_ref());
            Err(document.mistake(status.span(), message))
        }
    };
    written.iter().map(status).collect()
}

fn duration(document: &Document, written: &Spanned<String>) -> Result<Duration, Diagnostic> {
    match units::duration::parse(written.get_ref()) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err(document.mistake(written.span(), "a duration above 0 is needed, such as \"30s\"")),
        Err(error) => Err(document.mistake(written.span(), error.to_string())),
    }
}
