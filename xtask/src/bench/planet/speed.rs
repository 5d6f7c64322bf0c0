//! Throughput of a planet: long and short paths, super-packets and single segments, one and two switch
//! threads.

use crate::bench::{iperf, lab::Planet, row, veth::Veth};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    far()?;
    near()?;
    segments()?;
    threads()
}

fn judge(planet: &Planet) -> anyhow::Result<()> {
    for reason in planet.fidelity()?.reasons() {
        println!("| in the rows above, INVALID: {reason} | | | | | |");
    }
    Ok(())
}

fn far() -> anyhow::Result<()> {
    let planet = Planet::up("bench", &world("300ms", LARGE_BUFFERS))?;
    let (mut after, mut with) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let run = flow(&planet, &["-t", "15", "-O", "10", "-C", "bbr"])?;
        after.push(run.bits_per_second()? / 1e9);
        with.push(run.steady(0, 15)? / 1e9);
    }
    row("one flow, 300 ms, 15 s after a ramp of 10 s", ">= 8 Gbit/s", "Gbit/s", after);
    row("its first 15 s, with the ramp", "", "Gbit/s", with);
    judge(&planet)
}

fn near() -> anyhow::Result<()> {
    let planet = Planet::up("bench", &world("0.3ms", LARGE_BUFFERS))?;
    let veth = Veth::up()?;
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let their = veth.iperf(FIVE_SECONDS)?.bits_per_second()? / 1e9;
        let our = flow(&planet, FIVE_SECONDS)?.bits_per_second()? / 1e9;
        ratios.push(our / their);
        ours.push(our);
        theirs.push(their);
    }
    row("one flow, 0.3 ms", "", "Gbit/s", ours);
    row("one flow, veth and nothing between", "", "Gbit/s", theirs);
    row("0.3 ms / veth, interleaved pairs", ">= 0.5", "", ratios);
    judge(&planet)
}

/// Each segment of 1500 bytes is delivered separately. The window has its default size: a larger window would
/// only overflow the queue of the sender's device.
fn segments() -> anyhow::Result<()> {
    let planet = Planet::up("bench", &world("0.3ms", "receive = \"segment\""))?;
    let mut speeds = Vec::new();
    for _ in 0..5 {
        speeds.push(flow(&planet, FIVE_SECONDS)?.bits_per_second()? / 1e9);
    }
    row("one flow, 0.3 ms, receive = \"segment\"", ">= 3 Gbit/s", "Gbit/s", speeds);
    judge(&planet)
}

fn threads() -> anyhow::Result<()> {
    let planets = [
        Planet::up("bench-one", &world("0.3ms", &format!("threads = 1\n{LARGE_BUFFERS}")))?,
        Planet::up("bench-two", &world("0.3ms", &format!("threads = 2\n{LARGE_BUFFERS}")))?,
    ];
    for (what, arguments) in [
        ("one flow", FIVE_SECONDS),
        ("four flows each way", &["-t", "5", "-C", "cubic", "-P", "4", "--bidir"]),
    ] {
        let mut speeds = [Vec::new(), Vec::new()];
        for _ in 0..5 {
            for (planet, speeds) in planets.iter().zip(&mut speeds) {
                speeds.push(flow(planet, arguments)?.bits_per_second()? / 1e9);
            }
        }
        let [one, two] = speeds;
        row(&format!("{what}, 0.3 ms, threads = 1"), "", "Gbit/s", one);
        row(&format!("{what}, 0.3 ms, threads = 2"), "", "Gbit/s", two);
    }
    for (planet, threads) in planets.iter().zip([1, 2]) {
        let lateness = planet.fidelity()?.lateness_us("99.9");
        row(&format!("lateness in all of these, threads = {threads}, p99.9"), "", "us", vec![lateness]);
    }
    Ok(())
}

fn flow(planet: &Planet, arguments: &[&str]) -> anyhow::Result<iperf::Outcome> {
    iperf::run(&|| planet.exec("london"), &|| planet.exec("far"), "london", arguments)
}

fn world(rtt: &str, setting: &str) -> String {
    format!(
        r#"
[world]
{setting}

[[host]]
name = "london"
city = "london"

[[host]]
name = "far"
city = "sydney"

[[link]]
between = ["london", "sydney"]
rtt = "{rtt}"
"#
    )
}

/// On short paths, they keep a flow busy while the switch and the programs share the same
/// processors.
const LARGE_BUFFERS: &str = r#"sysctl = { "net.ipv4.tcp_rmem" = "4096 1048576 1073741824", "net.ipv4.tcp_wmem" = "4096 1048576 1073741824" }"#;

const FIVE_SECONDS: &[&str] = &["-t", "5", "-C", "cubic"];
