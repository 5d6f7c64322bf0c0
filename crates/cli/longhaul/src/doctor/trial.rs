//! Runs a small planet for some seconds: pings between two hosts at a known distance, idle and
//! during a bulk transfer.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use planet::{
    Awake, Life, Running,
    doctor::{Errors, Trial},
};
use serde_json::Value;
use world::{Document, World};

pub(super) fn run() -> anyhow::Result<Trial> {
    let world = World::read(&Document::new("the trial's world", WORLD))?.0;
    let planet = Running::start(&world, &format!("doctor-{}", std::process::id()), Life::WithStarter)?;
    let stage = Stage { planet: planet.planet().name() };
    let _awake = Awake::hold();
    let idle = stage.ping()?;
    let mut serving = stage.start("busy-b", &["transfer", "serve", "--listen", SERVER])?;
    let busy = stage.wait_for_server(&planet).and_then(|()| {
        let sending = stage.start("busy-a", &["transfer", "send", "busy-b:5201", "--for", BULK, "--json"])?;
        let busy = stage.ping();
        Ok((busy?, sending.wait_with_output()?))
    });
    // On errors too. The end of the planet would also end the server.
    let _ = serving.kill();
    let _ = serving.wait();
    let (busy, sent) = busy?;
    let mbps =
        serde_json::from_slice::<Value>(&sent.stdout).ok().and_then(|sent| sent["goodput_mbps"].as_f64());
    Ok(Trial::of(ROUND_TRIP_MS, idle, busy, mbps))
}

struct Stage<'p> {
    planet: &'p str,
}

impl Stage<'_> {
    fn start(&self, host: &str, arguments: &[&str]) -> anyhow::Result<Child> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        Command::new(&program)
            .args(["lab", "exec", "--planet", self.planet, host, "--"])
            .arg(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start a program of the trial")
    }

    fn ping(&self) -> anyhow::Result<Errors> {
        let pinging =
            self.start("here", &["ping", "-4", "there", "--count", PINGS, "--interval", "10ms", "--json"])?;
        let output = pinging.wait_with_output()?;
        let summary: Value =
            serde_json::from_slice(&output.stdout).context("the trial's pings printed no result")?;
        let target = &summary["targets"][0];
        let (Some(sent), Some(answered), Some(p50), Some(p99)) = (
            target["sent"].as_u64(),
            target["received"].as_u64(),
            target["rtt_ms"]["p50"].as_f64(),
            target["rtt_ms"]["p99"].as_f64(),
        ) else {
            bail!("the trial's pings received no reply");
        };
        Ok(Errors::of(ROUND_TRIP_MS, sent, answered, p50, p99))
    }

    fn wait_for_server(&self, planet: &Running) -> anyhow::Result<()> {
        for _ in 0..LOOKS {
            if planet.planet().listening("busy-b")?.contains(&PORT) {
                return Ok(());
            }
            pause();
        }
        bail!("the trial's server on planet \"{}\" did not come up", self.planet)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a loop without a pause takes the processor from what it waits for"
)]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}

const ROUND_TRIP_MS: f64 = 20.0;

/// At 10 ms these take two seconds.
const PINGS: &str = "200";

const BULK: &str = "2200ms";

const SERVER: &str = "0.0.0.0:5201";
const PORT: u16 = 5201;

/// These take five seconds.
const LOOKS: u32 = 250;

/// The bulk flow shares no link with the pings: only the load of the machine can delay them.
const WORLD: &str = r#"
[[host]]
name = "here"
city = "london"

[[host]]
name = "there"
city = "paris"

[[host]]
name = "busy-a"
city = "madrid"

[[host]]
name = "busy-b"
city = "rome"

[[link]]
between = ["london", "paris"]
rtt = "20ms"

[[link]]
between = ["madrid", "rome"]
rtt = "20ms"
rate = "1Gbit"
queue = "50ms"
"#;
