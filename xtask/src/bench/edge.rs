//! Processor time per request of `longhaul edge` and of other caching proxies, under the same load in the
//! same run.
//!
//! All servers of a scenario stay running and are loaded in turn. Each round reverses the order of
//! the previous round.

mod client;
pub(super) mod cpu;
mod guard;
mod idle;
mod latency;
mod load;
mod options;
mod origin;
mod report;
mod round;
mod scenario;
mod server;
pub(crate) mod tls;

use std::{fs, thread};

use anyhow::{Context, ensure};
use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};
use planet::Awake;

use self::options::{Arm, Options};
use super::{
    conditions,
    program::{is_installed, target},
};
use crate::release;

pub(super) fn bench(words: &[&str]) -> anyhow::Result<()> {
    let options = Options::read(words)?;
    for (program, package) in
        [("nginx", "nginx-light, as the origin"), ("wrk", "wrk"), ("taskset", "util-linux")]
    {
        ensure!(is_installed(program), "{program} is not installed; on Debian: apt-get install {package}");
    }
    if let Some(program) = &options.before {
        server::BEFORE.get_or_init(|| program.clone());
    }
    let cores = Cores::of_this_process()?;
    release::build()?;
    let conditions = conditions();
    println!("{conditions}");
    println!(
        "{} rounds of {} s for each server, {} connections; servers on core {}, load and origin on core {}; an access log only in scenarios that name it",
        options.rounds,
        options.seconds,
        load::CONNECTIONS,
        cores.server,
        cores.load
    );
    let _awake = Awake::hold();
    let (mut outcomes, mut others) = (Vec::new(), serde_json::Map::new());
    for arm in &options.arms {
        match arm {
            Arm::Load(scenario) => {
                let outcome = round::measure(scenario, &options, cores)
                    .with_context(|| format!("scenario {}", scenario.name))?;
                println!(
                    "\n## {}: {}\n\n{}",
                    scenario.name,
                    scenario.what,
                    report::table(&outcome).trim_end()
                );
                outcomes.push(outcome);
            }
            Arm::Latency => {
                let works = latency::measure(&options, cores)?;
                println!(
                    "\n## latency: at half of the load that the slower of both can carry, or 20 000 requests a second"
                );
                works.iter().for_each(|work| println!("\n{}", work.table().trim_end()));
                others.insert("latency".into(), works.iter().map(latency::Latency::json).collect());
            }
            Arm::Idle => {
                let idle = idle::measure(options.rounds)?;
                println!("\n## idle: with TLS, HTTP/3 and an operator's address\n\n{}", idle.table());
                others.insert("idle".into(), idle.json());
            }
        }
    }
    let file = target().join("bench/edge.json");
    fs::create_dir_all(target().join("bench"))?;
    let mut json = report::json(&conditions, &options, &outcomes);
    if let Some(json) = json.as_object_mut() {
        json.extend(others);
    }
    fs::write(&file, serde_json::to_string_pretty(&json)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!("\nall figures of all rounds: {}", file.display());
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct Cores {
    server: usize,
    load: usize,
}

impl Cores {
    fn of_this_process() -> anyhow::Result<Self> {
        let allowed = sched_getaffinity(Pid::from_raw(0)).context("which cores may be used")?;
        let mut cores = (0..CpuSet::count()).filter(|&core| allowed.is_set(core).unwrap_or(false));
        match (cores.next(), cores.next()) {
            (Some(server), Some(load)) => Ok(Self { server, load }),
            _ => anyhow::bail!(
                "one core is not enough: the server under test needs one, the load another; this process may use {}",
                thread::available_parallelism().map_or(0, usize::from)
            ),
        }
    }
}
