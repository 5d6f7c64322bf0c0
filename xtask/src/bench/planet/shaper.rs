//! Accuracy of a link's rate, by the byte count of the receiver.

use std::thread;

use units::Bitrate;

use crate::bench::{iperf, lab::Planet, row};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    let slow = thread::scope(|scope| {
        let running = ["1Mbit", "10Mbit", "100Mbit"].map(|rate| scope.spawn(move || errors(rate)));
        running.map(|errors| errors.join().expect("no panic"))
    });
    for (rate, errors) in ["1Mbit", "10Mbit", "100Mbit"].into_iter().zip(slow) {
        show(rate, errors?);
    }
    for rate in ["1Gbit", "5Gbit"] {
        show(rate, errors(rate)?);
    }
    Ok(())
}

fn show(rate: &str, errors: Vec<f64>) {
    row(&format!("rate of {rate} a second: off by"), "-0.5 to 0.5 %", "%", errors);
}

fn errors(rate: &str) -> anyhow::Result<Vec<f64>> {
    let bits = rate.parse::<Bitrate>()?.bits_per_second();
    let planet = Planet::up(&format!("bench-{}", rate.to_lowercase()), &world(rate))?;
    (0..3).map(|_| error_percent(&planet, bits)).collect()
}

/// Up to 100 Mbit/s with UDP at 1.2 times the rate. Above that with TCP, because the processor
/// would limit the rate of single UDP packets.
fn error_percent(planet: &Planet, rate: u64) -> anyhow::Result<f64> {
    let offered = (rate * 12 / 10).to_string();
    let (arguments, share): (&[&str], f64) = if rate <= 100_000_000 {
        // 1448 bytes of payload + 28 (IP, UDP) + 38 (Ethernet) on the wire.
        (&["-u", "-b", &offered, "-l", "1448", "-t", "22"], 1448.0 / 1514.0)
    } else {
        // 1448 bytes of payload + 52 (IP, TCP with timestamps) + 38 (Ethernet) on the wire.
        (&["-C", "cubic", "-t", "13"], 1448.0 / 1538.0)
    };
    let run = iperf::run(&|| planet.exec("london"), &|| planet.exec("paris"), "london", arguments)?;
    Ok((run.steady(2, 20)? / (bits(rate) * share) - 1.0) * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
fn bits(rate: u64) -> f64 {
    rate as f64
}

/// A round trip of 2 ms and a queue of 100 ms, which never drains when CUBIC reduces its window to 70 %.
fn world(rate: &str) -> String {
    format!(
        r#"
[world]
sysctl = {{ "net.ipv4.tcp_rmem" = "4096 1048576 268435456", "net.ipv4.tcp_wmem" = "4096 1048576 268435456" }}

[[host]]
name = "london"
city = "london"

[[host]]
name = "paris"
city = "paris"

[[link]]
between = ["london", "paris"]
rtt = "2ms"
rate = "{rate}"
queue = "100ms"
"#
    )
}
