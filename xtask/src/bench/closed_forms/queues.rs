//! Queueing delay: with Poisson arrivals, and with a bulk flow with and without CoDel.

use std::{thread, time::Duration};

use link::{Arrival, Config, Discipline, Ecn, Link, Packet, Rate, Verdict};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    Reference,
    packets::{self, Pace, Seen, uniform},
    reno::{self, Flow},
    row,
    shapes::{count, world},
};
use crate::bench::{iperf, lab::Planet};

/// M/D/1 at 80 % load: packets with service time S wait S * 0.8 / (2 * (1 - 0.8)) = 2 S on average
/// (Pollaczek-Khinchine).
pub(super) fn poisson() -> anyhow::Result<()> {
    let config = || -> anyhow::Result<Config> {
        Ok(Config {
            rate: Rate::Constant("10Mbit".parse()?),
            overhead: 38,
            queue: "1s".parse()?,
            ..Config::default()
        })
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut at = 0.0;
    let arrivals = (0..1_000_000).map(|_| {
        at -= uniform(&mut random).ln() / f64::from(PER_SECOND);
        Duration::from_secs_f64(at)
    });
    let engine = mean_sojourn_ms(config()?, arrivals) - SERVICE_MS;
    println!("| M/D/1, 10 Mbit/s at 80 %: mean wait of 10^6 packets | 2 ms = 2 S | {engine:.3} ms | | |");

    let planet = Planet::up("forms", &world("rate = \"10Mbit\"\nqueue = \"1s\"\n"))?;
    let seen = packets::exchange(&planet, ["visitor", "origin"], Pace::Poisson, PAYLOAD, PER_SECOND, 40)?;
    let seen_ms = seen.iter().map(one_way_ms).sum::<f64>() / count(seen.len());
    let first = seen.first().map_or(Duration::ZERO, |seen| seen.sent);
    let engine = mean_sojourn_ms(config()?, seen.iter().map(|seen| seen.sent - first)) - SERVICE_MS;
    let planet = seen_ms - ONE_WAY_MS - SERVICE_MS;
    row(
        &format!("the {} packets that were really sent, compared with the engine on the same", seen.len()),
        "2 ms, give or take 5 % of chance",
        [engine, planet],
        "ms",
        &Reference::Exactly(engine),
    );
    Ok(())
}

fn one_way_ms(seen: &Seen) -> f64 {
    seen.received.saturating_sub(seen.sent).as_secs_f64() * 1e3
}

fn mean_sojourn_ms(config: Config, arrivals: impl Iterator<Item = Duration>) -> f64 {
    let mut link = Link::new(config, 1);
    let (mut total, mut packets) = (0.0, 0);
    let mut each = |at: &Duration, verdict: Verdict| {
        if let Verdict::Deliver { due, .. } = verdict {
            total += (due - *at).as_secs_f64() * 1e3;
            packets += 1;
        }
    };
    let bytes = u32::try_from(PAYLOAD + 28).unwrap_or(u32::MAX);
    let mut last = Duration::ZERO;
    for at in arrivals {
        let arrival = Arrival { packet: Packet::single(bytes), flow: 0, ecn: Ecn::NotCapable, tag: at };
        link.offer(at, arrival, &mut each);
        last = at;
    }
    link.advance(last + Duration::from_secs(10), &mut each);
    total / count(packets)
}

pub(super) fn standing() -> anyhow::Result<()> {
    for (discipline, expected, reference) in [
        (Discipline::DropTail, "80 to 200 ms, a saw-tooth to the limit", Reference::Between(80.0, 200.0)),
        (Discipline::CODEL, "no more than twice the target of 5 ms", Reference::Between(0.0, 10.0)),
    ] {
        let config = Config {
            rate: Rate::Constant("10Mbit".parse()?),
            queue: "200ms".parse()?,
            discipline: discipline.clone(),
            propagation: Duration::from_millis(20),
            overhead: 38,
            ..Config::default()
        };
        let engine = reno::run(config, Flow { back: Duration::from_millis(20), seconds: 600 }).wait_ms;
        let planet = standing_queue_ms(&discipline)?;
        row(
            &format!("the queue of one Reno flow at 10 Mbit/s, 40 ms, {discipline}"),
            expected,
            [engine, planet],
            "ms",
            &reference,
        );
    }
    Ok(())
}

fn standing_queue_ms(discipline: &Discipline) -> anyhow::Result<f64> {
    let link = format!("rate = \"10Mbit\"\nqueue = \"200ms\"\naqm = \"{discipline}\"\n");
    let world = world(&link).replace("10ms", "40ms");
    let planet = Planet::up("forms", &world)?;
    let alone = planet.ping("visitor", "origin", 100, 0.02)?;
    let bulk = || {
        let arguments = ["-t", "65", "-C", "reno"];
        iperf::run(&|| planet.exec("origin"), &|| planet.exec("visitor"), "origin", &arguments)
    };
    thread::scope(|scope| {
        let flow = scope.spawn(bulk);
        // Few of the pings are sent during slow start; the run covers three periods of the sawtooth.
        let beside = planet.ping("visitor", "origin", 3000, 0.02)?;
        flow.join().expect("no panic")?;
        Ok(beside - alone)
    })
}

/// 1184 + 28 (IP, UDP) + 38 (Ethernet) = 1250 bytes, which take 1 ms at 10 Mbit/s.
const PAYLOAD: usize = 1184;
const SERVICE_MS: f64 = 1.0;
/// 80 % of the 1000 packets per second that the link carries.
const PER_SECOND: u32 = 800;
const ONE_WAY_MS: f64 = 5.0;
