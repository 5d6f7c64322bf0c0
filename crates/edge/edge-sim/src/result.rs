//! The result of a simulation as data: `edge simulate --json`.

use recording::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use statistics::Distribution;
use world::gazetteer;

use crate::{LeftOut, Place, Plan, counters::NAMES, topology_run::Run};

/// The results of all topologies over the same requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Simulation {
    /// The network's name.
    pub network: String,
    /// The zone's name.
    pub zone: String,
    /// The city of the origin, or "anywhere".
    pub origin: String,
    /// Number of data centres.
    pub data_centres: u64,
    /// The eviction policy.
    pub policy: String,
    /// Total size of all stores in bytes.
    pub store_bytes: u64,
    /// Visitors' requests.
    pub requests: u64,
    /// Bytes of the responses.
    pub bytes: u64,
    /// Virtual time from the first request to the last one.
    pub span_s: f64,
    /// Requests of the trace that were skipped.
    pub left_out: u64,
    /// The number of skipped requests by reason: "12 requests: 10 with another status than 200, 2 of another
    /// zone". Absent if no requests were skipped.
    pub why_left_out: Option<String>,
    /// Warnings about unreadable parts of the trace.
    pub warnings: Vec<String>,
    /// The topologies.
    pub topologies: Vec<Side>,
}

/// The result of one topology.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// "none", "generic", "smart", "smart+regional", "custom" or "custom+regional".
    pub name: String,
    /// Why the upper tier was chosen, if it was chosen automatically.
    pub reason: Option<String>,
    /// The share of visitors' requests that were served without a request to the origin.
    pub hit_ratio: f64,
    /// The share of bytes that were served without a request to the origin.
    pub byte_hit_ratio: f64,
    /// Requests and hits of data centres by their role.
    pub tiers: Vec<Tier>,
    /// Requests to the origin.
    pub origin: Origin,
    /// Bytes between data centres.
    pub between_bytes: u64,
    /// Bytes per link, descending, without unused links.
    pub links: Vec<Link>,
    /// Time to first byte of all visitors.
    pub latency: Latency,
    /// Time to first byte by city, in descending order of requests.
    pub cities: Vec<City>,
}

/// The counters of data centres in one role.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Tier {
    /// "lower" for visitors, "regional", "upper".
    pub name: String,
    /// Requests to data centres in this role.
    pub asked: u64,
    /// Hits, including requests that joined one in flight.
    pub hits: u64,
    /// Hits that joined a request in flight.
    pub joined: u64,
    /// The share of hits.
    pub hit_ratio: f64,
}

/// The counters of the origin.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Origin {
    /// Requests to the origin.
    pub requests: u64,
    /// Bytes of its responses.
    pub bytes: u64,
    /// Connections that were opened to it.
    pub connections: u64,
}

/// The traffic of a link in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Link {
    /// The sending data centre, or "origin".
    pub from: String,
    /// The requesting data centre.
    pub to: String,
    /// Bytes of responses.
    pub bytes: u64,
}

/// The distribution of the time to first byte, including the round trip between visitor and data centre.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// The mean.
    pub mean_ms: f64,
    /// The median.
    pub p50_ms: f64,
    /// The 90th percentile.
    pub p90_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
}

/// The visitors of one city.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct City {
    /// The city.
    pub name: String,
    /// The data centre that serves it.
    pub data_centre: String,
    /// The number of requests.
    pub requests: u64,
    /// The time to first byte.
    pub latency: Latency,
}

impl Simulation {
    pub(crate) fn of(
        plan: &Plan,
        runs: &[Run<'_>],
        span_ns: u64,
        (left_out, warnings): (LeftOut, Vec<String>),
    ) -> Self {
        let first = runs.first().map(|run| &run.tally);
        let stores = plan.network.data_centres.iter().map(|centre| plan.store.unwrap_or(centre.memory));
        Self {
            network: plan.network.name.clone(),
            zone: plan.zone().name.clone(),
            origin: match &plan.origin {
                Place::City(name) => name.clone(),
                Place::Anywhere => "anywhere".to_owned(),
            },
            data_centres: plan.network.data_centres.len() as u64,
            policy: plan.policy.name().to_owned(),
            store_bytes: stores.sum(),
            requests: first.map_or(0, |tally| tally.requests),
            bytes: first.map_or(0, |tally| tally.bytes),
            span_s: span_ns as f64 / 1e9,
            left_out: left_out.total(),
            why_left_out: (left_out.total() > 0).then(|| left_out.sentence()),
            warnings,
            topologies: runs.iter().map(|run| Side::of(plan, run)).collect(),
        }
    }
}

impl Side {
    fn of(plan: &Plan, run: &Run<'_>) -> Self {
        let tally = &run.tally;
        let tiers = tally.roles.iter().zip(NAMES).filter(|(counts, _)| counts.asked > 0);
        let tiers = tiers.map(|(counts, name)| Tier {
            name: name.to_owned(),
            asked: counts.asked,
            hits: counts.hits,
            joined: counts.joined,
            hit_ratio: share(counts.hits, counts.asked),
        });
        let mut all = Histogram::new(2);
        tally.cities.iter().for_each(|city| all.merge(city));
        Self {
            name: run.name.to_owned(),
            reason: run.reason.clone(),
            hit_ratio: share(tally.saved, tally.requests),
            byte_hit_ratio: share(tally.saved_bytes, tally.bytes),
            tiers: tiers.collect(),
            origin: Origin {
                requests: tally.origin_requests,
                bytes: tally.origin_bytes,
                connections: run.connections(),
            },
            between_bytes: tally.links.iter().sum(),
            links: links(plan, run),
            latency: latency(&all),
            cities: cities(plan, &tally.cities),
        }
    }

    /// The tier with this name, if it received requests.
    pub fn tier(&self, name: &str) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.name == name)
    }
}

fn links(plan: &Plan, run: &Run<'_>) -> Vec<Link> {
    let names: Vec<_> = plan.network.data_centres.iter().map(|centre| centre.name.as_str()).collect();
    let link = |from: &str, to: &str, bytes| Link { from: from.to_owned(), to: to.to_owned(), bytes };
    let between = run.tally.links.iter().enumerate();
    let between = between.map(|(at, &bytes)| link(names[at % names.len()], names[at / names.len()], bytes));
    let origin = run.tally.from_origin.iter().zip(&names).map(|(&bytes, to)| link("origin", to, bytes));
    let mut links: Vec<_> = between.chain(origin).filter(|link| link.bytes > 0).collect();
    // The sort is stable: links with equal bytes keep the order of the file.
    links.sort_by_key(|link| std::cmp::Reverse(link.bytes));
    links
}

fn cities(plan: &Plan, histograms: &[Histogram]) -> Vec<City> {
    let counted = gazetteer::cities().iter().zip(histograms).zip(0_u16..);
    let counted = counted.filter(|((_, histogram), _)| histogram.count() > 0);
    let mut cities: Vec<_> = counted
        .map(|((city, histogram), number)| City {
            name: city.name.clone(),
            data_centre: plan.network.data_centres[usize::from(plan.places.nearest(number).0.0)].name.clone(),
            requests: histogram.count(),
            latency: latency(histogram),
        })
        .collect();
    cities.sort_by_key(|city| std::cmp::Reverse(city.requests));
    cities
}

fn latency(histogram: &Histogram) -> Latency {
    let distribution = Distribution::from_counts(histogram.buckets(), histogram.relative_error());
    match distribution {
        Ok(all) => Latency {
            mean_ms: all.mean(),
            p50_ms: all.quantile(0.5),
            p90_ms: all.quantile(0.9),
            p99_ms: all.quantile(0.99),
        },
        // Unreachable: a source has at least one request.
        Err(_) => Latency { mean_ms: 0.0, p50_ms: 0.0, p90_ms: 0.0, p99_ms: 0.0 },
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
