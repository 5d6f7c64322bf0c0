//! Runs a plan: planet up, programs, probes and faults, planet down, judgement.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use experience::Distribution;
use planet::{Awake, Fidelity, Life, Planet, Running};
use recording::{Wanted, read_series};
use world::Change;

use crate::{
    claim::judge,
    clock::{Clock, pause},
    error::Error,
    outcome::{FaultMark, Outcome, Side},
    plan::{Fault, Plan, Probe},
    program::Process,
};

/// Where things are.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder for recordings and logs. Made if it is not there; recordings of the same name are replaced.
    pub out: PathBuf,
    /// The `longhaul` program.
    pub longhaul: PathBuf,
}

/// What the runner is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Making the planet and starting programs.
    Preparing,
    /// Measuring.
    Measuring {
        /// Since measuring started.
        elapsed: Duration,
        /// How long it takes in all.
        total: Duration,
    },
    /// Reading what was recorded.
    Evaluating,
}

/// Runs `plan`. `watch` is called many times a second and ends the run by breaking. To be called from a thread that lives
/// until it returns: the planet dies with that thread.
pub fn run(
    plan: &Plan,
    options: &Options,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let logs = options.out.join("logs");
    fs::create_dir_all(&logs).map_err(|source| Error::Access { path: logs.clone(), source })?;
    let mut look = |progress| match watch(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted { out: options.out.clone() }),
    };

    look(Progress::Preparing)?;
    // Two runs of one scenario are two planets. A file may be called what no planet can be.
    let plain: String =
        plan.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let name = format!("run-{plain}-{}", std::process::id());
    let running = Running::start(&plan.world, &name, Life::WithStarter)?;
    let planet = running.planet();
    let mut stage = Stage { planet, longhaul: &options.longhaul, logs: &logs };
    let awake = Awake::hold();
    let mut programs = stage.start_programs(plan, &mut look)?;
    measure(plan, &mut stage, &mut programs, &options.out, &mut look)?;
    let fidelity = planet.status()?.fidelity;
    drop(awake);
    drop(programs);
    drop(running);

    look(Progress::Evaluating)?;
    evaluate(plan, fidelity, &options.out)
}

/// Where processes are started.
struct Stage<'p> {
    planet: &'p Planet,
    longhaul: &'p Path,
    logs: &'p Path,
}

impl Stage<'_> {
    fn start(&self, host: &str, command: &[String], log: &str) -> Result<Process, Error> {
        Process::start(self.longhaul, self.planet.name(), host, command, self.logs.join(log))
    }

    /// Starts all programs, then waits for those that say when they are ready.
    fn start_programs(
        &self,
        plan: &Plan,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<Vec<Process>, Error> {
        let mut processes = Vec::new();
        for (index, program) in plan.programs.iter().enumerate() {
            processes.push(self.start(
                &program.host,
                &program.command,
                &format!("{}-{}.log", program.host, index + 1),
            )?);
        }
        let clock = Clock::start();
        for (index, program) in plan.programs.iter().enumerate() {
            let Some(port) = program.ready else { continue };
            while !self.planet.listening(&program.host)?.contains(&port) {
                let process = &mut processes[index];
                if let Some(status) = process.ended()? {
                    return Err(process.died(status));
                }
                if clock.elapsed() > READY_WITHIN {
                    return Err(Error::NotReady {
                        what: process.what.clone(),
                        port,
                        seconds: READY_WITHIN.as_secs(),
                        last_words: process.last_words(),
                    });
                }
                look(Progress::Preparing)?;
                pause();
            }
        }
        Ok(processes)
    }
}

/// Starts the probes, lets the faults happen in time, and waits until every probe is done.
fn measure(
    plan: &Plan,
    stage: &mut Stage<'_>,
    programs: &mut [Process],
    out: &Path,
    look: &mut impl FnMut(Progress) -> Result<(), Error>,
) -> Result<(), Error> {
    let clock = Clock::start();
    let mut probes = Vec::new();
    for probe in &plan.probes {
        let file = recording_path(out, probe);
        let mut command: Vec<String> =
            ["longhaul", "probe", &probe.url, "--quiet", "--label", &probe.side, "--output"]
                .map(str::to_owned)
                .to_vec();
        command.push(file.display().to_string());
        command.extend(probe.arguments.iter().cloned());
        probes.push(stage.start(
            &probe.host,
            &command,
            &format!("probe-{}-from-{}.log", probe.side, probe.host),
        )?);
    }

    let mut events = timeline(plan);
    let mut numbers = BTreeMap::new();
    loop {
        let elapsed = clock.elapsed();
        while let Some((_, between, change)) = events.pop_if(|(at, _, _)| *at <= elapsed) {
            if let Some(number) = numbers.remove(&between) {
                stage.planet.lift(Some(number))?;
            }
            if !change.is_empty() {
                let Change { loss, rtt, rate, down } = change;
                let down = down.map(|_| world::file::Down::Plain(true));
                let between_them = Some(between.clone());
                let fault =
                    world::file::Fault { between: between_them, loss, rtt, rate, down, ..Default::default() };
                numbers.insert(between, stage.planet.fault(&fault)?);
            }
        }
        for program in programs.iter_mut() {
            if let Some(status) = program.ended()? {
                return Err(program.died(status));
            }
        }
        let mut all_done = true;
        for probe in &mut probes {
            match probe.ended()? {
                // Exit code 1 is a recording that calls itself invalid; it is read and says why.
                Some(status) if matches!(status.code(), Some(0 | 1)) => {}
                Some(status) => return Err(probe.died(status)),
                None => all_done = false,
            }
        }
        if all_done {
            return Ok(());
        }
        look(Progress::Measuring { elapsed, total: plan.duration() })?;
        pause();
    }
}

/// What each link is to be changed to and when, latest first. A link's change at a moment is all that the faults active
/// then say of it, the later ones first.
fn timeline(plan: &Plan) -> Vec<(Duration, [String; 2], Change)> {
    let mut moments = BTreeSet::new();
    for fault in &plan.faults {
        moments.insert((fault.at, fault.between.clone()));
        moments.extend(fault.until.map(|until| (until, fault.between.clone())));
    }
    let change = |(at, between): (Duration, [String; 2])| {
        let is_active = |fault: &&Fault| {
            fault.between == between && fault.at <= at && fault.until.is_none_or(|until| at < until)
        };
        let active = plan.faults.iter().filter(is_active);
        let change = active.fold(Change::default(), |earlier, fault| fault.change.over(&earlier));
        (at, between, change)
    };
    moments.into_iter().rev().map(change).collect()
}

fn evaluate(plan: &Plan, fidelity: Fidelity, out: &Path) -> Result<Outcome, Error> {
    let mut sides: Vec<Side> = Vec::new();
    for probe in &plan.probes {
        let mut series = read_series(&recording_path(out, probe), &Wanted::metric(plan.metric))?;
        for sentence in series.invalid.iter_mut().chain(&mut series.warnings) {
            *sentence = format!("from {}: {sentence}", probe.host);
        }
        match sides.iter_mut().find(|side| side.label == probe.side) {
            Some(side) => side.series.append(series)?,
            None => sides.push(Side { label: probe.side.clone(), series }),
        }
    }
    // What was read is finite and not negative, so each side with a sample is a distribution.
    let distribution =
        |side: &Side| Some((side.label.clone(), Distribution::try_from(side.series.values.clone()).ok()?));
    let distributions: BTreeMap<_, _> = sides.iter().filter_map(distribution).collect();
    let claims =
        plan.claims.iter().map(|claim| judge(claim, plan.page, |side| distributions.get(side))).collect();
    let start = sides.first().and_then(|side| side.series.header.as_ref()?.start.clone());
    let faults = plan.faults.iter().map(|fault| FaultMark {
        label: format!("{}-{}: {}", fault.between[0], fault.between[1], fault.change),
        at_s: fault.at.as_secs_f64(),
        until_s: fault.until.map(|until| until.as_secs_f64()),
    });
    Ok(Outcome {
        claims,
        faults: faults.collect(),
        fidelity,
        start,
        conditions: conditions(plan, &sides),
        sides,
    })
}

/// What a reader must know to repeat it.
fn conditions(plan: &Plan, sides: &[Side]) -> Vec<(String, String)> {
    let mut conditions = vec![("scenario".to_owned(), plan.name.clone())];
    for Side { label, series } in sides {
        let probes: Vec<&Probe> = plan.probes.iter().filter(|probe| probe.side == *label).collect();
        let hosts: Vec<&str> = probes.iter().map(|probe| probe.host.as_str()).collect();
        conditions.push((label.clone(), format!("{} from {}", probes[0].url, hosts.join(", "))));
        let header = series.header.iter().flat_map(|header| &header.conditions);
        let how: Vec<String> = header
            .filter(|(name, _)| *name != "url")
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        conditions.push((format!("{label}, how"), how.join(", ")));
    }
    conditions.extend(machine());
    conditions
}

/// The machine that it ran on.
fn machine() -> Vec<(String, String)> {
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [
        ("kernel", read("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"))),
        ("cores", Some(cores.to_string())),
        ("congestion control, machine's default", read("/proc/sys/net/ipv4/tcp_congestion_control")),
        ("longhaul", Some(env!("CARGO_PKG_VERSION").to_owned())),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

fn recording_path(out: &Path, probe: &Probe) -> PathBuf {
    out.join(format!("{}-from-{}.jsonl", probe.side, probe.host))
}

/// A program that takes longer than this to listen has a problem that more waiting does not solve.
const READY_WITHIN: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_that_meet_or_overlap_keep_their_own_times() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.toml");
        let fault = |at: &str, lasts: &str, what: &str| {
            format!("[[fault]]\nat = '{at}'\nfor = '{lasts}'\nbetween = ['paris', 'london']\n{what}\n")
        };
        let text = "[scenario]\ntitle = 'x'\n[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n\
             [[probe]]\nside = 'x'\nfrom = ['a']\nurl = 'http://b/'\n"
            .to_owned()
            + &fault("1s", "2s", "rtt = '100ms'")
            + &fault("3s", "4s", "rtt = '200ms'")
            + &fault("4s", "1s", "loss = '5%'");
        fs::write(&path, text).expect("a file");
        let plan = Plan::read(&path).expect("a plan");
        let told: Vec<_> = timeline(&plan)
            .into_iter()
            .rev()
            .map(|(at, _, change)| (at.as_secs(), change.to_string()))
            .collect();
        let expected = [
            (1, "rtt 100ms"),
            (3, "rtt 200ms"),
            (4, "loss 5%, rtt 200ms"),
            (5, "rtt 200ms"),
            (7, "as the world has it"),
        ];
        assert_eq!(told, expected.map(|(at, change)| (at, change.to_owned())));
    }
}
