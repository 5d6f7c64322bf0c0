//! Tables for a terminal with 80 columns.

use std::fmt::Write as _;

use report::terminal::table::table as rows;
use units::show::{bytes, count, latency, plural, share, span};

use crate::{Side, Simulation};

/// The plan; hits, traffic and latency of each topology; and the cities with the most requests.
pub fn table(result: &Simulation) -> String {
    let hits = |side: &Side| {
        let tier = |name| side.tier(name).map_or_else(|| "-".to_owned(), |tier| share(tier.hit_ratio));
        vec![
            share(side.hit_ratio),
            share(side.byte_hit_ratio),
            tier("lower"),
            tier("regional"),
            tier("upper"),
        ]
    };
    let traffic = |side: &Side| {
        let origin = &side.origin;
        let busiest =
            side.links.first().map_or_else(String::new, |link| format!("{} → {}", link.from, link.to));
        vec![
            count(origin.requests),
            count(origin.connections),
            bytes(origin.bytes),
            bytes(side.between_bytes),
            busiest,
        ]
    };
    let waits = |side: &Side| {
        let all = &side.latency;
        [all.mean_ms, all.p50_ms, all.p90_ms, all.p99_ms].map(latency).to_vec()
    };
    [
        head(result),
        section(
            result,
            "without the origin, and hits of each tier",
            &["requests", "bytes", "lower", "regional", "upper"],
            &hits,
        ),
        section(
            result,
            "at the origin, and between data centres",
            &["requests", "connections", "bytes", "between", "busiest link"],
            &traffic,
        ),
        section(result, "time to first byte, ms", &["mean", "half", "90 %", "99 %"], &waits),
        cities(result),
    ]
    .join("\n")
}

fn head(result: &Simulation) -> String {
    let Simulation { network, zone, origin, requests, span_s, policy, .. } = result;
    let mut text = format!(
        "{network}, zone {zone}: {} in {}, {}\n{} with {} of store in all ({policy}), origin {origin}\n",
        plural(*requests, "request"),
        span(*span_s),
        bytes(result.bytes),
        plural(result.data_centres, "data centre"),
        bytes(result.store_bytes),
    );
    if let Some(left_out) = &result.why_left_out {
        let _ = writeln!(text, "left out: {left_out}");
    }
    for warning in &result.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    let reason = result.topologies.iter().find_map(|side| side.reason.as_deref());
    if let Some(reason) = reason {
        let _ = writeln!(text, "smart: {reason}");
    }
    text
}

fn section(
    result: &Simulation,
    title: &str,
    columns: &[&str],
    figures: &dyn Fn(&Side) -> Vec<String>,
) -> String {
    let header = std::iter::once(&"").chain(columns).map(|&name| name.to_owned());
    let row = |side: &Side| std::iter::once(side.name.clone()).chain(figures(side)).collect::<Vec<_>>();
    format!("{title}\n{}", rows(header, result.topologies.iter().map(row)))
}

/// All topologies have the same cities with the same requests.
fn cities(result: &Simulation) -> String {
    let Some(first) = result.topologies.first() else { return String::new() };
    let of = |side: &Side, name: &str| {
        let city = side.cities.iter().find(|city| city.name == name);
        city.map_or_else(|| "-".to_owned(), |city| latency(city.latency.mean_ms))
    };
    let named = first.cities.iter().take(SHOWN).map(|city| {
        let name = format!("{} ({})", city.name, city.data_centre);
        let figures = result.topologies.iter().map(|side| of(side, &city.name));
        std::iter::once(name).chain(figures).collect::<Vec<_>>()
    });
    let header = std::iter::once(String::new()).chain(result.topologies.iter().map(|side| side.name.clone()));
    format!("mean by city (and its data centre), those with the most requests, ms\n{}", rows(header, named))
}

/// `--json` contains all cities.
const SHOWN: usize = 10;
