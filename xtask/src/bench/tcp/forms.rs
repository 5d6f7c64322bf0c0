//! Throughput limit by window and round trip, compared with the rate that the reader measures on a planet.

use std::thread;

use super::{
    admit,
    oscil::{Recording, Sender, reader},
};
use crate::bench::{
    lab::{Planet, pairs},
    row,
};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    windows()?;
    fixed_buffer()
}

fn windows() -> anyhow::Result<()> {
    let links = RTTS_MS.map(link);
    let sysctl = format!(
        "sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 {RMEM}\", \"net.ipv4.tcp_wmem\" = \"4096 16384 67108864\" }}"
    );
    let planet = Planet::up("bench", &pairs(&sysctl, links))?;
    let rates = thread::scope(|scope| {
        let planet = &planet;
        let running = [0, 1].map(|pair| {
            scope.spawn(move || -> anyhow::Result<Vec<f64>> {
                (0..RUNS).map(|_| read(planet, pair, &[], &["--for", "40s"])?.steady(RAMP_S)).collect()
            })
        });
        running.map(|rates| rates.join().expect("no panic"))
    });
    for (rtt_ms, rates) in RTTS_MS.into_iter().zip(rates) {
        let rates = rates?;
        let expected = WINDOW * 8.0 / (f64::from(rtt_ms) / 1e3);
        let errors = rates.iter().map(|rate| (rate / expected - 1.0) * 100.0).collect();
        let rates = rates.into_iter().map(|rate| rate / 1e6).collect();
        let what = format!("a window of 4 MiB at {rtt_ms} ms");
        row(&what, &format!("{:.0} Mbit/s", expected / 1e6), "Mbit/s", rates);
        row(&format!("{what}: off by"), "-2 to 2 %", "%", errors);
    }
    admit(&planet.fidelity()?.reasons());
    Ok(())
}

fn fixed_buffer() -> anyhow::Result<()> {
    let planet = Planet::up("bench", &pairs("", [link(110)]))?;
    let (mut fixed, mut tuned, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let seconds = |arguments: &[&str]| {
            read(&planet, 0, &["--bytes", "10MB"], &[&["--for", "60s"], arguments].concat())?.seconds()
        };
        let (slow, fast) = (seconds(&["--rcvbuf", "64KiB"])?, seconds(&[])?);
        ratios.push(slow / fast);
        fixed.push(slow);
        tuned.push(fast);
    }
    row("10 MB at 110 ms, SO_RCVBUF 65536", "", "s", fixed);
    row("10 MB at 110 ms, tuned by the kernel", "", "s", tuned);
    row("how many times longer SO_RCVBUF takes", ">= 8", "x", ratios);
    admit(&planet.fidelity()?.reasons());
    Ok(())
}

fn read(planet: &Planet, pair: usize, serve: &[&str], arguments: &[&str]) -> anyhow::Result<Recording> {
    let (far, near) = (format!("s{pair}"), format!("c{pair}"));
    let serve = [&["--listen", "0.0.0.0:5203", "--congestion", "cubic"], serve].concat();
    let _sender = Sender::start_at(planet.exec(&far), &serve)?;
    Recording::of(reader(planet.exec(&near), &far, arguments))
}

fn link(rtt_ms: u32) -> String {
    format!("rtt = \"{rtt_ms}ms\"\nrate = \"1Gbit\"")
}

const RTTS_MS: [u32; 2] = [121, 282];

/// The receiver may use 170/256 of its buffer for data: measured on Linux 6.6 and later with full
/// packets of 1500 bytes.
const WINDOW: f64 = 4.0 * 1024.0 * 1024.0;
const RMEM: u32 = ((4_u32 << 20) * 256).div_ceil(170);

/// By then the sender's window is as large as the receiver's.
const RAMP_S: usize = 20;
const RUNS: usize = 3;
