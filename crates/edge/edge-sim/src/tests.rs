//! Tests with small networks, and a comparison of eviction with another simulator.

mod eviction;

use config_file::Document;
use edge::{Network, config::Purpose};
use proptest::prelude::*;
use world::{
    gazetteer,
    geography::{great_circle_km, propagation},
};

use crate::{Place, Plan, Policy, Progress, Side, Simulation, Source, Synthetic, Trace, Zipf, run};

/// Two of the data centres are in the same region.
const NETWORK: &str = r#"
[network]
name = "example"

[[data_centre]]
name = "lhr"
city = "london"
region = "weur"

[[data_centre]]
name = "fra"
city = "frankfurt"
region = "weur"

[[data_centre]]
name = "nyc"
city = "newyork"
region = "enam"

[[zone]]
name = "shop"
hosts = ["*"]
origin = ["https://origin.shop.example"]
tiers = { lhr = "fra" }

[[zone.rule]]
path = "/private/*"
bypass = true

[[zone.rule]]
path = "/v/*"
edge_ttl = "10s"
key = { query = ["v"] }
"#;

fn plan(network: &str, origin: &str) -> Plan {
    let network = Network::read_for(&Document::new("n.toml", network), Purpose::Simulation).unwrap();
    Plan::new(network, None, Place::City(origin.to_owned())).unwrap()
}

fn simulate(plan: &Plan, source: &mut dyn Source) -> Simulation {
    run(plan, source, &Progress::default()).unwrap()
}

fn over(plan: &Plan, table: &str, fresh_s: u64) -> Simulation {
    let trace = Trace::csv(table.as_bytes(), "t.csv".as_ref(), fresh_s.saturating_mul(1_000_000_000), 1);
    simulate(plan, &mut trace.unwrap())
}

fn side<'s>(result: &'s Simulation, name: &str) -> &'s Side {
    result.topologies.iter().find(|side| side.name == name).unwrap()
}

fn tier(side: &Side, name: &str) -> (u64, u64) {
    side.tier(name).map_or((0, 0), |tier| (tier.asked, tier.hits))
}

/// As on the default world map.
fn rtt_ms(a: &str, b: &str) -> f64 {
    let place = |name| gazetteer::find(name).unwrap().place();
    2.0 * propagation(great_circle_km(place(a), place(b)), 1.5).as_secs_f64() * 1e3
}

/// Histograms of two digits have an error of at most 1 %.
#[track_caller]
fn is_about(found_ms: f64, expected_ms: f64) {
    assert!((found_ms - expected_ms).abs() <= 0.01 * expected_ms, "{found_ms} for {expected_ms}");
}

#[test]
fn each_topology_asks_those_that_it_should() {
    // Two visitors in London and one in New York request the same object, one second apart.
    let plan = plan(NETWORK, "frankfurt");
    let result = over(&plan, "0,a,1000,london\n1,a,1000,london\n2,a,1000,newyork\n", 3600);
    let names: Vec<_> = result.topologies.iter().map(|side| side.name.as_str()).collect();
    assert_eq!(names, ["none", "generic", "smart", "smart+regional", "custom"]);
    assert_eq!((result.requests, result.bytes, result.span_s), (3, 3000, 2.0));

    let none = side(&result, "none");
    assert_eq!((none.origin.requests, none.origin.bytes, none.between_bytes), (2, 2000, 0));
    assert_eq!(tier(none, "lower"), (3, 1));
    // Two round trips for handshakes, one for the request, and one to the visitor.
    let far = 3.0 * rtt_ms("newyork", "frankfurt") + rtt_ms("newyork", "newyork");
    is_about(none.cities.iter().find(|city| city.name == "newyork").unwrap().latency.mean_ms, far);

    let smart = side(&result, "smart");
    assert!(smart.reason.as_ref().unwrap().starts_with("fra connects to the origin in 0.3 ms"));
    assert_eq!((smart.origin.requests, smart.between_bytes), (1, 2000));
    assert_eq!((tier(smart, "lower"), tier(smart, "upper")), ((3, 1), (2, 1)));
    let links: Vec<_> =
        smart.links.iter().map(|link| (link.from.as_str(), link.to.as_str(), link.bytes)).collect();
    assert_eq!(links, [("fra", "lhr", 1000), ("fra", "nyc", 1000), ("origin", "fra", 1000)]);
    // From Frankfurt, over an existing connection.
    let near = rtt_ms("newyork", "frankfurt") + rtt_ms("newyork", "newyork");
    is_about(smart.cities.iter().find(|city| city.name == "newyork").unwrap().latency.mean_ms, near);

    let custom = side(&result, "custom");
    assert_eq!((custom.origin.requests, tier(custom, "upper")), (2, (1, 0)));
    // nyc is the only data centre in its region; fra is in the region of lhr.
    assert_eq!(tier(side(&result, "smart+regional"), "regional"), (0, 0));
}

#[test]
fn who_asks_for_what_is_on_its_way_waits_for_it() {
    let plan = plan(NETWORK, "sydney");
    let result = over(&plan, "0,a,1000,london\n0.1,a,1000,london\n", 3600);
    let none = side(&result, "none");
    assert_eq!(none.origin.requests, 1);
    assert_eq!(none.tiers[0].joined, 1);
    // The second request waits 100 ms less than the first.
    let first = 3.0 * rtt_ms("london", "sydney") + rtt_ms("london", "london");
    is_about(none.latency.mean_ms, first - 50.0);
}

#[test]
fn what_is_no_longer_fresh_is_asked_for_again_and_its_age_counts_in_all_tiers() {
    let plan = plan(NETWORK, "frankfurt");
    // fra has it until 10 s. nyc gets it at 6 s, and it is stale there at 11 s too.
    let table = "0,a,1000,frankfurt\n6,a,1000,newyork\n9,a,1000,newyork\n11,a,1000,newyork\n";
    let result = over(&plan, table, 10);
    let smart = side(&result, "smart");
    assert_eq!(tier(smart, "lower"), (4, 1));
    assert_eq!(tier(smart, "upper"), (2, 1));
    assert_eq!(smart.origin.requests, 2);
}

#[test]
fn connections_are_kept_for_a_minute() {
    let plan = plan(NETWORK, "frankfurt");
    let table = "0,a,1,london\n10,b,1,london\n80,c,1,london\n80,d,1,london\n";
    let none = over(&plan, table, 3600);
    // b uses the connection of a, c arrives 70 s later, and d while c is in flight.
    assert_eq!(side(&none, "none").origin.connections, 3);
}

#[test]
fn a_full_store_asks_again() {
    let plan = plan(NETWORK, "frankfurt").with_policy(Policy::Fifo).with_stores(2500);
    let result = over(&plan, "0,a,1000,london\n1,b,1000,london\n2,c,1000,london\n3,a,1000,london\n", 3600);
    assert_eq!(side(&result, "none").origin.requests, 4);
    assert_eq!((result.policy.as_str(), result.store_bytes), ("fifo", 7500));
    // Longer than the store, so it is never stored.
    let result = over(&plan, "0,a,2501,london\n1,a,2501,london\n", 3600);
    assert_eq!(side(&result, "none").origin.requests, 2);
}

#[test]
fn the_same_seed_is_the_same_result() {
    let plan = plan(NETWORK, "tokyo");
    let of = |seed| simulate(&plan, &mut Synthetic::new(Zipf::new(500, 0.9), 3000, 100.0, seed));
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn an_origin_that_is_everywhere_has_no_nearest_data_centre() {
    let network = Network::read_for(&Document::new("n.toml", NETWORK), Purpose::Simulation).unwrap();
    let plan = Plan::new(network, None, Place::Anywhere).unwrap();
    let result = simulate(&plan, &mut Synthetic::new(Zipf::new(50, 0.9), 300, 100.0, 1));
    let (smart, generic) = (side(&result, "smart"), side(&result, "generic"));
    assert!(smart.reason.as_ref().unwrap().contains("the origin is in several places"), "{:?}", smart.reason);
    assert_eq!(
        (&smart.tiers, &smart.origin, &smart.links),
        (&generic.tiers, &generic.origin, &generic.links)
    );
}

#[test]
fn the_tables_name_all_that_matters() {
    let plan = plan(NETWORK, "frankfurt");
    let text = crate::table(&over(&plan, "0,a,1000,london\n1,a,1000,london\n2,a,1000,newyork\n", 3600));
    for expected in [
        "example, zone shop: 3 requests in 2.0 s, 3.00 KB\n3 data centres with 768 MB of store in all (s3-fifo), origin frankfurt\n",
        "smart: fra connects to the origin in 0.3 ms, the median of 5; lhr, the next, in 9.",
        "smart+regional",
        "london (lhr)",
        "hits of each tier",
        "fra → lhr",
    ] {
        assert!(text.contains(expected), "no {expected} in\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Each request ends with one hit or one request to the origin, and byte counts are consistent.
    #[test]
    fn nothing_is_lost(
        seed in any::<u64>(),
        exponent in 0.0..1.4_f64,
        store in 20_000_u64..2_000_000,
        fresh_s in 1_u64..1000,
        origin in prop_oneof![Just("tokyo"), Just("london"), Just("newyork")],
        policy in prop::sample::select(&Policy::ALL),
    ) {
        let plan = plan(NETWORK, origin).with_policy(policy).with_stores(store);
        let source = Synthetic::new(Zipf::new(300, exponent), 2000, 10.0, seed).sized(5000);
        let result = simulate(&plan, &mut source.fresh(fresh_s * 1_000_000_000));
        for side in &result.topologies {
            let hits: u64 = side.tiers.iter().map(|tier| tier.hits).sum();
            let lower = side.tier("lower").unwrap();
            prop_assert_eq!(lower.asked, 2000);
            prop_assert_eq!(lower.asked, hits + side.origin.requests, "{}", side.name);
            let of_origin: u64 = side.links.iter().filter(|link| link.from == "origin").map(|link| link.bytes).sum();
            let all: u64 = side.links.iter().map(|link| link.bytes).sum();
            prop_assert_eq!(of_origin, side.origin.bytes);
            prop_assert_eq!(all, side.origin.bytes + side.between_bytes);
            prop_assert!(side.origin.connections <= side.origin.requests);
            prop_assert_eq!(side.cities.iter().map(|city| city.requests).sum::<u64>(), 2000);
            let saved = 1.0 - side.origin.requests as f64 / 2000.0;
            prop_assert!((side.hit_ratio - saved).abs() < 1e-9);
        }
    }
}
