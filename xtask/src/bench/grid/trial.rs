//! Measures one planet of the grid: one round trip and rate, with a pair of hosts for each loss rate.

use std::thread;

use anyhow::Context;
use units::Bitrate;

use super::cell::Cell;
use crate::bench::{
    iperf,
    lab::{self, Planet},
};

pub(super) fn run(rtt_ms: u64, rate: &'static str, losses: &[f64], seed: u32) -> anyhow::Result<Vec<Cell>> {
    let wire = Wire::new(rtt_ms, rate)?;
    let planet = Planet::up("grid", &wire.world(losses, seed))?;
    let pings =
        at_once(losses.len(), |pair| planet.ping(&format!("c{pair}"), &format!("s{pair}"), 60, 0.01))?;
    let counts = at_once(losses.len(), |pair| udp(&planet, pair, &wire))?;
    let before_tcp = planet.fidelity()?;
    let goodput = tcp(&planet, &wire)?;
    let at_the_end = planet.fidelity()?;
    let cells = losses.iter().zip(pings).zip(counts).enumerate().map(|(pair, ((&loss, ping_ms), count))| {
        let fidelity = if pair == 0 { &at_the_end } else { &before_tcp };
        let mut reasons = fidelity.reasons();
        if count.overflowed > 0 {
            reasons.push(format!("the receiver had no room for {} packets", count.overflowed));
        }
        Cell {
            rtt_ms,
            rate,
            loss,
            expected_ping_ms: wire.ping_ms(),
            ping_ms,
            sent: count.sent,
            lost: count.lost,
            goodput: (pair == 0).then_some([goodput, wire.rate * GOODPUT_SHARE]),
            valid: reasons.is_empty(),
            reasons,
        }
    });
    Ok(cells.collect())
}

fn at_once<T: Send>(
    pairs: usize,
    work: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..pairs).map(|pair| scope.spawn(move || work(pair))).collect();
        running.into_iter().map(|each| each.join().expect("no panic")).collect()
    })
}

struct Count {
    sent: u64,
    lost: u64,
    /// Dropped by the receive buffer of the receiver's socket, not by the link.
    overflowed: u64,
}

/// Sends well below the rate, so that only the configured loss drops packets.
fn udp(planet: &Planet, pair: usize, wire: &Wire) -> anyhow::Result<Count> {
    let (server, client) = (format!("s{pair}"), format!("c{pair}"));
    let rate = wire.udp_rate().to_string();
    let size = UDP_PAYLOAD.to_string();
    let arguments = ["-u", "-b", &rate, "-l", &size, "-t", "3"];
    let run = iperf::run(&|| planet.exec(&server), &|| planet.exec(&client), &server, &arguments)?;
    let counters = String::from_utf8(planet.exec(&server).args(["cat", "/proc/net/snmp"]).output()?.stdout)?;
    let line = counters.lines().filter(|line| line.starts_with("Udp:")).nth(1);
    let overflowed = line.and_then(|line| line.split(' ').nth(5)?.parse().ok()).context("no RcvbufErrors")?;
    let (sent, lost) = run.lost()?;
    Ok(Count { sent, lost, overflowed })
}

fn tcp(planet: &Planet, wire: &Wire) -> anyhow::Result<f64> {
    // Slow start from ten segments to the window of 300 ms at 5 Gbit/s takes 14 round trips, 4.2 s.
    let skip = 2 + usize::from(wire.rtt_s > 0.1) * 5;
    // A slow link needs a longer run before one segment is less than a thousandth of the total.
    let take = if wire.rate < 5e6 { 8 } else { 5 };
    let seconds = (skip + take + 1).to_string();
    let size = if wire.rate < 50e6 { "1448" } else { "131072" };
    let arguments = ["-C", "reno", "-l", size, "-t", &seconds];
    iperf::run(&|| planet.exec("s0"), &|| planet.exec("c0"), "s0", &arguments)?.steady(skip, take)
}

struct Wire {
    text: &'static str,
    rate: f64,
    rtt_s: f64,
}

impl Wire {
    #[expect(clippy::cast_precision_loss, reason = "rates and delays are far below 2^53")]
    fn new(rtt_ms: u64, text: &'static str) -> anyhow::Result<Self> {
        Ok(Self { text, rate: text.parse::<Bitrate>()?.bits_per_second() as f64, rtt_s: rtt_ms as f64 / 1e3 })
    }

    /// The round trip of a ping with the serialisation time of 84 bytes (IP) and 38 bytes (Ethernet) in each
    /// direction.
    fn ping_ms(&self) -> f64 {
        (self.rtt_s + 2.0 * 122.0 * 8.0 / self.rate) * 1e3
    }

    /// 80 % of the link, but at most 5000 packets per second, which a busy receiver does not drop.
    fn udp_rate(&self) -> f64 {
        let packets = (0.8 * self.rate / (f64::from(UDP_PAYLOAD + 28 + 38) * 8.0)).min(5000.0);
        (packets * f64::from(UDP_PAYLOAD) * 8.0).round()
    }

    /// The window exceeds the bandwidth-delay product (B), but is smaller than B plus the queue: the send
    /// buffer is 1.4 B + S and the queue B + 2 S, where S is 50 ms, or the minimum that a kernel needs.
    fn world(&self, losses: &[f64], seed: u32) -> String {
        let on_the_way = self.rate * self.rtt_s / 8.0;
        let some = (self.rate * 0.05 / 8.0).max(65_536.0);
        let window = on_the_way * 1.4 + some;
        let queue = on_the_way + 2.0 * some;
        let settings = format!(
            "seed = {seed}\nsysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 {window:.0} {window:.0}\", \
             \"net.ipv4.tcp_rmem\" = \"4096 1048576 {:.0}\" }}",
            (window * 4.0).max(4e6)
        );
        let link = |loss: &f64| {
            let rtt_ms = self.rtt_s * 1e3;
            let rate = self.text;
            format!("rtt = \"{rtt_ms:.0}ms\"\nrate = \"{rate}\"\nqueue = \"{queue:.0}B\"\nloss = \"{loss}\"")
        };
        lab::pairs(&settings, losses.iter().map(link))
    }
}

/// Small, so that a slow link carries enough packets for the statistics.
const UDP_PAYLOAD: u32 = 100;

/// 1448 bytes of payload in 1448 + 52 (IP, TCP with timestamps) + 38 (Ethernet) bytes.
const GOODPUT_SHARE: f64 = 1448.0 / 1538.0;
