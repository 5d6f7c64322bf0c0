//! What came of a simulation, as data: `edge simulate --json`.

use experience::Distribution;
use recording::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use world::gazetteer;

use crate::{LeftOut, Place, Plan, side::Run, tally::NAMES};

/// All topologies side by side, over the same requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Simulation {
    /// The network's name.
    pub network: String,
    /// The zone's.
    pub zone: String,
    /// The city of the origin, or "anywhere".
    pub origin: String,
    /// How many data centres there are.
    pub data_centres: u64,
    /// By which rule stores give up objects.
    pub policy: String,
    /// Bytes that all stores have together.
    pub store_bytes: u64,
    /// Visitors' requests.
    pub requests: u64,
    /// Bytes of all their responses.
    pub bytes: u64,
    /// From the first request to the last, in virtual time.
    pub span_s: f64,
    /// Requests of the trace that were left out.
    pub left_out: u64,
    /// How many for which reason: "12 requests: 10 with another status than 200, 2 of another zone". Absent if there are none.
    pub why_left_out: Option<String>,
    /// What of the trace could not be read.
    pub warnings: Vec<String>,
    /// The topologies.
    pub topologies: Vec<Side>,
}

/// One topology.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// "none", "generic", "smart", "smart+regional", "custom" or "custom+regional".
    pub name: String,
    /// Why its upper tier is the one that it is, if it was chosen.
    pub reason: Option<String>,
    /// The share of visitors' requests for which no origin was asked.
    pub hit_ratio: f64,
    /// The share of bytes for which none was.
    pub byte_hit_ratio: f64,
    /// What data centres were asked for, and had; by the role in which they were.
    pub tiers: Vec<Tier>,
    /// What the origin did.
    pub origin: Origin,
    /// Bytes between data centres.
    pub between_bytes: u64,
    /// Bytes on each link that carried any, the most first.
    pub links: Vec<Link>,
    /// What visitors waited for the first byte, from all cities.
    pub latency: Latency,
    /// The same by city, those with the most requests first.
    pub cities: Vec<City>,
}

/// Data centres in one role.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Tier {
    /// "lower" for visitors, "regional", "upper".
    pub name: String,
    /// Requests to data centres in this role.
    pub asked: u64,
    /// Those that they had, or were getting already.
    pub hits: u64,
    /// Of these, the ones that waited for what was on its way.
    pub joined: u64,
    /// The share of hits.
    pub hit_ratio: f64,
}

/// The origin's part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Origin {
    /// Requests to it.
    pub requests: u64,
    /// Bytes of its responses.
    pub bytes: u64,
    /// Connections that were opened to it.
    pub connections: u64,
}

/// Bytes in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Link {
    /// A data centre, or "origin".
    pub from: String,
    /// The data centre that asked.
    pub to: String,
    /// Bytes of responses.
    pub bytes: u64,
}

/// Times to first byte: the round trip to the data centre, and what that waited.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// The mean.
    pub mean_ms: f64,
    /// Half are not slower.
    pub p50_ms: f64,
    /// Nine tenths are not slower.
    pub p90_ms: f64,
    /// 99 of 100 are not slower.
    pub p99_ms: f64,
}

/// The visitors of one city.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct City {
    /// Its name.
    pub name: String,
    /// The data centre that serves it.
    pub data_centre: String,
    /// Their requests.
    pub requests: u64,
    /// What they waited.
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

    /// The tier of that name, if any request came to it.
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
    // Links with equal bytes stay in the order of the file.
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
        // There is none without requests, and a source has at least one.
        Err(_) => Latency { mean_ms: 0.0, p50_ms: 0.0, p90_ms: 0.0, p99_ms: 0.0 },
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
