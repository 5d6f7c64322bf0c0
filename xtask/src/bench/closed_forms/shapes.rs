//! Loss and throughput of a link: overload, bursts of loss, and a recorded rate.

use std::{fmt::Write as _, time::Duration};

use link::{Arrival, Config, Ecn, Limit, Link, Packet, Rate, Trace, Verdict};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    Reference,
    packets::{self, Pace, uniform},
    row,
};
use crate::bench::{iperf, lab::Planet};

/// UDP at 1.1 times the rate of the link: 1 - 1 / 1.1 is lost.
pub(super) fn overload() -> anyhow::Result<()> {
    let rate: units::Bitrate = "100Mbit".parse()?;
    let config =
        Config { rate: Rate::Constant(rate), queue: "50ms".parse()?, overhead: 38, ..Config::default() };
    let gap = Duration::from_secs_f64(1538.0 * 8.0 / 1.1 / 100e6);
    let passed = survivors(config, 1500, 200_000, |number| gap * number);
    let engine =
        1.0 - count(passed.iter().filter(|number| **number >= FILLED).count()) / f64::from(200_000 - FILLED);

    let planet = Planet::up("forms", &world("rate = \"100Mbit\"\nqueue = \"50ms\"\n"))?;
    // 1448 bytes of payload are 1514 bytes on the wire.
    let offered = (110e6 * 1448.0_f64 / 1514.0).round().to_string();
    let run = flow(&planet, &["-u", "-b", &offered, "-l", "1448", "-t", "23"])?;
    let planet = run.steady_loss(2, 20)?;
    row(
        "UDP at 1.1 x rate, share lost",
        "9.091 % = 1 - 1 / 1.1",
        [engine * 100.0, planet * 100.0],
        "%",
        &Reference::Exactly(100.0 / 11.0),
    );
    Ok(())
}

/// Gilbert-Elliott: a bad state that ends with probability r after each packet lasts 1 / r packets on
/// average.
pub(super) fn bursts() -> anyhow::Result<()> {
    let config = Config { loss: "gemodel 1% 25%".parse()?, ..Config::default() };
    let (engine, _) =
        mean_gap(&survivors(config, 100, 1_000_000, |number| Duration::from_millis(1) * number));

    let planet = Planet::up("forms", &world("loss = \"gemodel 1% 25%\"\n"))?;
    let seen = packets::exchange(&planet, ["visitor", "origin"], Pace::Even, 64, 4000, 40)?;
    let numbers: Vec<_> = seen.iter().filter_map(|seen| u32::try_from(seen.number).ok()).collect();
    let (mean, bursts) = mean_gap(&numbers);
    row(
        &format!("Gilbert-Elliott, p = 1 %, r = 25 %: length of {bursts} bursts"),
        "4 = 1 / r",
        [engine, mean],
        "packets",
        &Reference::Exactly(4.0),
    );
    Ok(())
}

/// A bursty trace in mahimahi's format with a mean of 5.028 Mbit/s, like the well-known Verizon LTE
/// recording.
pub(super) fn trace() -> anyhow::Result<()> {
    let text = recording();
    let rate = Rate::Trace(std::sync::Arc::new(Trace::parse(text.as_bytes())?));
    let config = Config { rate, queue: Limit::Time(Duration::from_secs(2)), ..Config::default() };
    // Full packets at 20 Mbit/s, four times the mean rate: the queue is never empty. Measures the second and
    // the third pass of the trace.
    let gap = Duration::from_secs_f64(1500.0 * 8.0 / 20e6);
    let (from, to) = (LENGTH, LENGTH * 3);
    let passed = departures(config, 1500, 60_000, |number| gap * number);
    let engine = count(passed.iter().filter(|due| (from..to).contains(*due)).count()) * 12_000.0 / 20.0;

    let planet = Planet::up_with(
        "forms",
        &world("trace = \"lte.down\"\noverhead = 0\nqueue = \"2s\"\n"),
        &[("lte.down", &text)],
    )?;
    let run = flow(&planet, &["-u", "-b", "20M", "-l", "1448", "-t", "26"])?;
    // An opportunity carries 1500 bytes, regardless of packet boundaries: 1476 bytes per packet with headers,
    // back to back.
    let planet = run.steady(4, 20)? * 1476.0 / 1448.0;
    row(
        "a trace of 4190 x 1500 bytes in 10 s, mean rate of IP",
        "5.028 Mbit/s",
        [engine / 1e6, planet / 1e6],
        "Mbit/s",
        &Reference::Exactly(5.028),
    );
    Ok(())
}

/// 4190 opportunities in 10 s, in bursts like those of a shared cell: the weight of each interval is between
/// 1 and 9.
fn recording() -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let weights: Vec<f64> = (0..100).map(|_| 1.0 + 8.0 * uniform(&mut random)).collect();
    let total: f64 = weights.iter().sum();
    let (mut text, mut passed, mut written) = (String::new(), 0.0, 0);
    for (index, weight) in weights.iter().enumerate() {
        passed += weight;
        let until =
            if index == 99 { OPPORTUNITIES } else { to_count(passed / total * f64::from(OPPORTUNITIES)) };
        let (here, start) = (until - written, 100 * u32::try_from(index).unwrap_or(u32::MAX));
        for number in 1..=here {
            let _ = writeln!(text, "{}", start + 100 * number / here);
        }
        written = until;
    }
    text
}

fn survivors(config: Config, bytes: u32, packets: u32, at: impl Fn(u32) -> Duration) -> Vec<u32> {
    let mut passed = Vec::new();
    through(config, bytes, packets, at, |number, _| passed.push(number));
    passed
}

fn departures(config: Config, bytes: u32, packets: u32, at: impl Fn(u32) -> Duration) -> Vec<Duration> {
    let mut dues = Vec::new();
    through(config, bytes, packets, at, |_, due| dues.push(due));
    dues
}

pub(super) fn through(
    config: Config,
    bytes: u32,
    packets: u32,
    at: impl Fn(u32) -> Duration,
    mut delivered: impl FnMut(u32, Duration),
) {
    let mut link = Link::new(config, 1);
    let mut each = |number: &u32, verdict: Verdict| {
        if let Verdict::Deliver { due, .. } = verdict {
            delivered(*number, due);
        }
    };
    for number in 0..packets {
        let arrival = Arrival { packet: Packet::single(bytes), flow: 0, ecn: Ecn::NotCapable, tag: number };
        link.offer(at(number), arrival, &mut each);
    }
    link.advance(Duration::MAX / 1_000_000, &mut each);
}

fn mean_gap(numbers: &[u32]) -> (f64, usize) {
    let gaps: Vec<_> = numbers.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|gap| *gap > 0).collect();
    (f64::from(gaps.iter().sum::<u32>()) / count(gaps.len()), gaps.len())
}

fn flow(planet: &Planet, arguments: &[&str]) -> anyhow::Result<iperf::Outcome> {
    iperf::run(&|| planet.exec("origin"), &|| planet.exec("visitor"), "origin", arguments)
}

pub(super) fn world(link: &str) -> String {
    format!(
        "[[host]]\nname = \"origin\"\ncity = \"newyork\"\n[[host]]\nname = \"visitor\"\ncity = \"london\"\n\
         [[link]]\nbetween = [\"newyork\", \"london\"]\nrtt = \"10ms\"\n{link}"
    )
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of thousands")]
fn to_count(number: f64) -> u32 {
    number as u32
}

const LENGTH: Duration = Duration::from_secs(10);
const OPPORTUNITIES: u32 = 4190;
const FILLED: u32 = 17_880;
