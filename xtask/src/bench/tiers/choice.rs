//! Time of the next-hop selection among 300 data centres in seven regions: all topologies in turn, with the
//! same keys per round.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tier_routing::{
    Asked, Centre, Custom, DataCentreId, Health, KeyHash, Measurements, Network, Regional, Role, Smart,
    Topology, Tuning, Zone,
};

use crate::bench::row;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn bench() {
    let network = network(|id| if id % 5 == 0 { 4 + u32::from(id % 3) } else { 1 });
    let equal = network_of_equals();
    let spread = |topology, regional| Zone::new(&network, topology, regional);
    let map = network.ids().skip(10).map(|id| (id, DataCentreId(id.0 % 10)));
    let custom = Custom::new(&network, map).map_or(Topology::None, Topology::Custom);
    let arms = [
        ("smart", &network, spread(Topology::Smart(smart(&network).into()), Regional::Skipped)),
        (
            "smart, regional: one of 43",
            &network,
            spread(Topology::Smart(smart(&network).into()), Regional::Asked),
        ),
        ("custom", &network, spread(custom, Regional::Skipped)),
        ("generic: one of 60, three weights", &network, spread(Topology::Generic, Regional::Skipped)),
        ("generic: one of 300, one weight", &equal, Zone::new(&equal, Topology::Generic, Regional::Skipped)),
    ];
    let keys: Vec<_> = (0..KEYS).map(|key| KeyHash::of(&key.to_le_bytes())).collect();
    let health = Health::default();
    let mut rounds = vec![Vec::new(); arms.len()];
    for round in 0..ROUNDS {
        let mut order: Vec<_> = (0..arms.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for arm in order {
            let (_, network, zone) = &arms[arm];
            let start = Instant::now();
            for (key, here) in keys.iter().zip((0..300).cycle()) {
                let asked = Asked { here: DataCentreId(here), role: Role::Lower, key: *key, through: &[] };
                black_box(zone.next(Duration::ZERO, network, asked, &health));
            }
            rounds[arm].push(start.elapsed().as_secs_f64() * 1e9 / f64::from(KEYS));
        }
    }
    for ((name, ..), times) in arms.iter().zip(rounds) {
        row(&format!("next hop, {name}"), "<= 200", "ns", times);
    }
}

fn network(weight: impl Fn(u16) -> u32) -> Network {
    let centre = |id| Centre { name: format!("dc{id}"), region: format!("r{}", id % 7), weight: weight(id) };
    Network::new((0..300).map(centre).collect(), |_, _| Duration::ZERO)
}

fn network_of_equals() -> Network {
    network(|_| 1)
}

fn smart(network: &Network) -> Smart {
    let mut measured = Measurements::new(network.len());
    for id in network.ids() {
        let connect = Duration::from_millis(5 + u64::from(id.0));
        (0..Measurements::FEWEST).for_each(|_| measured.add(Duration::ZERO, id, connect));
    }
    let mut smart = Smart::new(Tuning::default());
    smart.review(Duration::ZERO, network, (&measured, &[]), &Health::default());
    smart
}

const KEYS: u32 = 20_000;
const ROUNDS: usize = 51;
