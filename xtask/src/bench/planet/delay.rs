//! Lateness of packets according to the switch and to ping, without load and with 1 Gbit/s of load.

use std::thread;

use crate::bench::{iperf, lab::Planet, row, veth::Veth};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    let floor_ms = Veth::up()?.ping(PINGS, 0.01)?;
    let (mut idle, mut loaded) = (Run::default(), Run::default());
    for _ in 0..5 {
        let planet = Planet::up("bench", WORLD)?;
        idle.add(&planet, floor_ms)?;
    }
    for _ in 0..5 {
        let planet = Planet::up("bench", WORLD)?;
        let load = || {
            let arguments = ["-t", "8", "-b", "900M", "-C", "cubic"];
            iperf::run(&|| planet.exec("london"), &|| planet.exec("madrid"), "london", &arguments)
        };
        thread::scope(|scope| {
            let flow = scope.spawn(load);
            loaded.add(&planet, floor_ms)?;
            flow.join().expect("no panic")
        })?;
    }
    row("ping through veth, mean of 500", "", "ms", vec![floor_ms]);
    idle.show("without load");
    loaded.show("beside 900 Mbit/s in a link of 1 Gbit/s");
    Ok(())
}

#[derive(Default)]
struct Run {
    mean: Vec<f64>,
    p999: Vec<f64>,
    ping: Vec<f64>,
}

impl Run {
    fn add(&mut self, planet: &Planet, floor_ms: f64) -> anyhow::Result<()> {
        let ping_ms = planet.ping("rome", "paris", PINGS, 0.01)?;
        self.ping.push((ping_ms - RTT_MS - floor_ms) * 1000.0);
        let fidelity = planet.fidelity()?;
        self.mean.push(fidelity.lateness_us("mean"));
        self.p999.push(fidelity.lateness_us("99.9"));
        Ok(())
    }

    fn show(self, load: &str) {
        row(&format!("lateness of a packet {load}, mean"), "<= 18 us", "us", self.mean);
        row(&format!("lateness {load}, p99.9"), "<= 250 us", "us", self.p999);
        row(&format!("ping - 20 ms - ping through veth {load}, mean of 500"), "", "us", self.ping);
    }
}

const PINGS: u32 = 500;
const RTT_MS: f64 = 20.0;

const WORLD: &str = r#"
[[host]]
name = "london"
city = "london"

[[host]]
name = "madrid"
city = "madrid"

[[host]]
name = "paris"
city = "paris"

[[host]]
name = "rome"
city = "rome"

[[link]]
between = ["*", "*"]
rtt = "20ms"

[[link]]
between = ["london", "madrid"]
rtt = "20ms"
rate = "1Gbit"
queue = "50ms"
"#;
