//! Next hops, in tables and in random networks.

use proptest::prelude::*;

use super::*;
use crate::{Centre, Measurements, State, Tuning, proptest_cases};

const NAMES: [(&str, &str); 5] =
    [("lhr", "weur"), ("fra", "weur"), ("ams", "weur"), ("nyc", "enam"), ("bos", "enam")];

fn network() -> Network {
    let centre =
        |(name, region): (&str, &str)| Centre { name: name.into(), region: region.into(), weight: 1 };
    Network::new(NAMES.map(centre).into(), |_, _| Duration::ZERO)
}

fn id(name: &str) -> DataCentreId {
    let position = NAMES.iter().position(|(other, _)| *other == name).unwrap();
    DataCentreId(u16::try_from(position).unwrap())
}

/// Connect times in milliseconds.
fn smart(network: &Network, connects: &[u64]) -> Smart {
    let mut smart = Smart::new(Tuning::default());
    let mut measured = Measurements::new(network.len());
    for (id, &connect) in network.ids().zip(connects) {
        (0..5).for_each(|_| measured.add(Duration::ZERO, id, Duration::from_millis(connect)));
    }
    smart.review(Duration::ZERO, network, (&measured, &[]), &Health::default());
    smart
}

fn down(names: &[&str]) -> Health {
    let mut health = Health::default();
    names.iter().for_each(|name| health.set(id(name), State::Down));
    health
}

fn asked(zone: &Zone, here: &str, role: Role, key: u64, health: &Health) -> String {
    let network = network();
    let asked = Asked { here: id(here), role, key: KeyHash(key), through: &[] };
    match zone.next(Duration::ZERO, &network, asked, health) {
        Hop::Origin => "origin".to_owned(),
        Hop::Centre { centre, role } => format!("{}:{role:?}", network.centre(centre).name),
    }
}

#[test]
fn smart_asks_the_nearest_through_the_region() {
    let network = network();
    let topology = || Topology::Smart(smart(&network, &[9, 3, 5, 80, 85]).into());
    let zone = Zone::new(&network, topology(), Regional::Asked);
    let key =
        (0..).find(|&key| network.hubs(id("nyc")).first(KeyHash(key), |_| true) == Some(id("bos"))).unwrap();
    for (here, role, dead, expected) in [
        ("lhr", Role::Lower, &[][..], "fra:Upper(1)"),
        ("fra", Role::Lower, &[], "origin"),
        ("nyc", Role::Lower, &[], "bos:Regional"),
        ("bos", Role::Lower, &[], "fra:Upper(1)"),
        ("bos", Role::Regional, &[], "fra:Upper(1)"),
        ("nyc", Role::Lower, &["bos"], "fra:Upper(1)"),
        ("fra", Role::Upper(1), &[], "origin"),
        ("lhr", Role::Lower, &["fra"], "ams:Upper(1)"),
        ("ams", Role::Lower, &["fra"], "origin"),
        ("lhr", Role::Lower, &["fra", "ams", "nyc", "bos"], "origin"),
        ("nyc", Role::Detour, &[], "origin"),
    ] {
        assert_eq!(asked(&zone, here, role, key, &down(dead)), expected, "{here} {role:?} without {dead:?}");
    }
    let zone = Zone::new(&network, topology(), Regional::Skipped);
    assert_eq!(asked(&zone, "nyc", Role::Lower, key, &Health::default()), "fra:Upper(1)");
}

#[test]
fn an_upper_tier_asks_the_one_whose_place_it_took() {
    let network = network();
    let mut smart = smart(&network, &[9, 3, 5, 80, 85]);
    let mut measured = Measurements::new(network.len());
    let later = |seconds| Duration::from_secs(seconds);
    for seconds in [1000, 1300] {
        for (id, connect) in network.ids().zip([1, 30, 30, 80, 85]) {
            (0..5).for_each(|_| measured.add(later(seconds), id, Duration::from_millis(connect)));
        }
        smart.review(later(seconds), &network, (&measured, &[]), &Health::default());
    }
    let zone = Zone::new(&network, Topology::Smart(smart.into()), Regional::Skipped);
    let ask = |now, here: &str, role, through: &[DataCentreId], health: &Health| {
        let asked = Asked { here: id(here), role, key: KeyHash(1), through };
        zone.next(later(now), &network, asked, health)
    };
    let former = Hop::Centre { centre: id("fra"), role: Role::Former };
    let up = Health::default();
    assert_eq!(
        ask(1300, "nyc", Role::Lower, &[], &up),
        Hop::Centre { centre: id("lhr"), role: Role::Upper(1) }
    );
    assert_eq!(ask(1300, "lhr", Role::Upper(1), &[id("nyc")], &up), former);
    assert_eq!(ask(1300, "lhr", Role::Lower, &[], &up), former);
    assert_eq!(ask(1300, "fra", Role::Former, &[], &up), Hop::Origin);
    // The fill there waits for this response.
    assert_eq!(ask(1300, "lhr", Role::Upper(1), &[id("fra")], &up), Hop::Origin);
    assert_eq!(ask(1300, "lhr", Role::Upper(1), &[], &down(&["fra"])), Hop::Origin);
    assert_eq!(ask(1300 + 3600, "lhr", Role::Upper(1), &[], &up), Hop::Origin);
}

#[test]
fn generic_spreads_keys_and_moves_those_of_the_dead_only() {
    let network = network();
    let zone = Zone::new(&network, Topology::Generic, Regional::Asked);
    let up = Health::default();
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for key in 0..1000 {
        let key = KeyHash::of(&u64::to_le_bytes(key)).0;
        let before = asked(&zone, "lhr", Role::Lower, key, &up);
        let after = asked(&zone, "lhr", Role::Lower, key, &down(&["ams"]));
        assert!(before == after || before == "ams:Upper(1)" && after != before, "{before} {after}");
        assert!(!before.contains("Regional"));
        *counts.entry(before).or_default() += 1;
    }
    assert_eq!(counts.len(), 5);
    assert!(counts["origin"] > 100 && counts["ams:Upper(1)"] > 100, "{counts:?}");
    assert_eq!(asked(&zone, "ams", Role::Upper(1), 7, &up), "origin");
}

#[test]
fn what_is_not_known_is_spread() {
    let network = network();
    let smart = Zone::new(&network, Topology::Smart(Smart::new(Tuning::default()).into()), Regional::Asked);
    let generic = Zone::new(&network, Topology::Generic, Regional::Skipped);
    for key in 0..100 {
        let of = |zone| asked(zone, "lhr", Role::Lower, key << 50, &Health::default());
        assert_eq!(of(&smart), of(&generic));
    }
}

#[test]
fn an_operators_map_may_have_several_steps() {
    let network = network();
    let pairs = [("bos", "nyc"), ("nyc", "lhr"), ("lhr", "fra"), ("ams", "fra")];
    let map = Custom::new(&network, pairs.map(|(from, to)| (id(from), id(to)))).unwrap();
    let zone = Zone::new(&network, Topology::Custom(map.clone()), Regional::Skipped);
    for (here, role, dead, expected) in [
        ("bos", Role::Lower, &[][..], "nyc:Upper(1)"),
        ("nyc", Role::Upper(1), &[], "lhr:Upper(2)"),
        ("lhr", Role::Upper(2), &[], "fra:Upper(3)"),
        ("fra", Role::Upper(3), &[], "origin"),
        ("fra", Role::Lower, &[], "origin"),
        ("bos", Role::Lower, &["nyc"], "lhr:Upper(1)"),
        ("bos", Role::Lower, &["nyc", "lhr", "fra"], "origin"),
        ("bos", Role::Detour, &[], "origin"),
    ] {
        assert_eq!(asked(&zone, here, role, 1, &down(dead)), expected, "{here} {role:?} without {dead:?}");
    }
    // In weur, lhr and ams forward to fra, a neighbour. In enam, nyc is its own regional tier.
    let zone = Zone::new(&network, Topology::Custom(map), Regional::Asked);
    for key in 0..50 {
        assert_eq!(asked(&zone, "ams", Role::Lower, key << 57, &Health::default()), "fra:Upper(1)");
        assert_eq!(asked(&zone, "nyc", Role::Lower, key << 57, &Health::default()), "lhr:Upper(1)");
    }
    let map = Custom::new(&network, [("bos", "fra"), ("nyc", "fra")].map(|(a, b)| (id(a), id(b)))).unwrap();
    let zone = Zone::new(&network, Topology::Custom(map), Regional::Asked);
    let hubs: std::collections::BTreeSet<_> = (0..50)
        .map(|key| asked(&zone, "nyc", Role::Lower, KeyHash::of(&[key]).0, &Health::default()))
        .collect();
    assert_eq!(hubs.into_iter().collect::<Vec<_>>(), ["bos:Regional", "fra:Upper(1)"]);
}

fn any_zone() -> impl Strategy<Value = Zone> {
    let regional = prop_oneof![Just(Regional::Asked), Just(Regional::Skipped)];
    let topology = prop_oneof![
        Just(Topology::None),
        Just(Topology::Generic),
        prop::collection::vec(1_u64..100, 5)
            .prop_map(|times| Topology::Smart(smart(&network(), &times).into())),
        prop::collection::vec((0_u16..5, 0_u16..5), 0..5).prop_filter_map("a loop", |pairs| {
            let pairs = pairs.into_iter().map(|(from, to)| (DataCentreId(from), DataCentreId(to)));
            Custom::new(&network(), pairs).ok().map(Topology::Custom)
        }),
    ];
    (topology, regional).prop_map(|(topology, regional)| Zone::new(&network(), topology, regional))
}

proptest! {
    #![proptest_config(proptest_cases::or(256))]

    /// Also if each data centre has another configuration and another view of reachability.
    #[test]
    fn no_request_goes_round(
        zones in prop::collection::vec(any_zone(), 5),
        dead in prop::collection::vec(0_u32..32, 5),
        start in 0_u16..5,
        key in any::<u64>(),
    ) {
        let network = network();
        let (mut here, mut role, mut through) = (DataCentreId(start), Role::Lower, Vec::new());
        loop {
            let mut health = Health::default();
            let seen = dead[usize::from(here.0)];
            let unseen = network.ids().filter(|id| seen >> id.0 & 1 == 1);
            unseen.for_each(|id| health.set(id, State::Down));
            let asked = Asked { here, role, key: KeyHash(key), through: &through };
            let hop = zones[usize::from(here.0)].next(Duration::ZERO, &network, asked, &health);
            let Hop::Centre { centre, role: next } = hop else { break };
            prop_assert!(next > role, "{role:?} asked {next:?}");
            prop_assert!(health.is_up(centre) && centre != here && !through.contains(&centre));
            through.push(here);
            (here, role) = (centre, next);
        }
        prop_assert!(through.len() < 5);
    }
}
