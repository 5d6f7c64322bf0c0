//! Runs a plan: starts the planet and the programs, measures while faults occur, stops the planet,
//! and judges the claims.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use claim::Doubt;
use planet::{Awake, Fidelity, Life, Planet, Running};
use report::Partial;
use tracing::{debug, info};
use world::file::Fault;

use crate::{
    clock::{Clock, pause},
    emulator::{Emulator, Ran},
    error::Error,
    evaluate::evaluate,
    folder::Folder,
    kind::Measurement,
    measurement::Task,
    outcome::Outcome,
    output::Output,
    plan::Plan,
    prepare::prepare,
    program::{Job, Process},
};
use measuring::Measuring;

mod measuring;

/// Paths.
#[derive(Debug, Clone)]
pub struct Options {
    /// Created if missing; existing recordings of the same name are replaced.
    pub out: PathBuf,
    /// The `longhaul` program.
    pub longhaul: PathBuf,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Creating the planet and starting programs.
    Preparing,
    /// Measuring.
    Measuring {
        /// Time since the measurements started.
        elapsed: Duration,
        /// The total duration.
        total: Duration,
    },
    /// Ending the measurements after an interruption by the user.
    Ending,
    /// Reading the recordings.
    Evaluating,
}

/// If `watch` breaks, returns an error. The planet dies with the calling thread.
pub fn run(
    plan: &Plan,
    options: &Options,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    perform(plan, options, Interruption::Fails, watch)
}

/// As [`run`], but an interruption during the measurements returns all results so far
/// ([`Outcome::partial`]).
pub fn run_until_interrupted(
    plan: &Plan,
    options: &Options,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    perform(plan, options, Interruption::EndsInOrder, watch)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    Fails,
    EndsInOrder,
}

fn perform(
    plan: &Plan,
    options: &Options,
    interruption: Interruption,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let folder = Folder(&options.out);
    let logs = folder.logs();
    fs::create_dir_all(&logs).map_err(|source| Error::Access { path: logs, source })?;
    let interrupted = || Error::Interrupted { out: options.out.clone() };
    let mut look = |progress| match watch(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(interrupted()),
    };

    look(Progress::Preparing)?;
    prepare(&plan.prepare, &options.longhaul, &folder, || look(Progress::Preparing))?;
    let plain: String =
        plan.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let name = format!("run-{plain}-{}", std::process::id());
    let mut running = Running::start(&plan.world, &name, Life::WithStarter)?;
    let mut stage = Stage {
        plan,
        planet: running.planet(),
        longhaul: &options.longhaul,
        interruption,
        programs: Vec::new(),
        outputs: Vec::new(),
    };
    let performed = stage.perform(&folder, &mut look);
    let outputs = std::mem::take(&mut stage.outputs);
    drop(stage);
    let (partial, fidelity, emulator) = performed.map_err(|error| match error {
        Error::Interrupted { .. } => error,
        // A process that died with the planet did not cause the failure.
        error => running.ended().map_or(error, |ending| ending.into_error(&name).into()),
    })?;
    drop(running);

    let cut = conclude(outputs, &options.out)?;
    if partial.is_none() {
        look(Progress::Evaluating)?;
    }
    let mut outcome = evaluate(plan, fidelity, &emulator, &folder, partial)?;
    outcome.doubts.extend(cut);
    Ok(outcome)
}

fn conclude(outputs: Vec<(String, Output)>, out: &Path) -> Result<Vec<Doubt>, Error> {
    let mut doubts = Vec::new();
    for (what, kept) in outputs {
        let name = kept.path().strip_prefix(out).unwrap_or(kept.path()).display().to_string();
        doubts.extend(kept.conclude(&name));
        if kept.is_too_much() {
            return Err(Error::TooMuch { what, limit: kept.limit() });
        }
    }
    Ok(doubts)
}

struct Stage<'p> {
    plan: &'p Plan,
    planet: &'p Planet,
    longhaul: &'p Path,
    interruption: Interruption,
    programs: Vec<Process>,
    outputs: Vec<(String, Output)>,
}

impl Stage<'_> {
    fn perform(
        &mut self,
        folder: &Folder<'_>,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<(Option<Partial>, Fidelity, Emulator), Error> {
        let _awake = Awake::hold();
        self.start_programs(folder, look)?;
        info!(scenario = self.plan.name, programs = self.plan.programs.len(), "every program is ready");
        let (partial, ran) = self.measure(folder, look)?;
        info!(partial = partial.is_some(), "measuring ended");
        let fidelity = self.planet.brief_status()?.fidelity;
        let journal = self.planet.journal()?;
        let fidelity = Fidelity { latest_flows: journal.latest(FEW), ..fidelity };
        Ok((partial, fidelity, Emulator::new(&self.plan.layout, &self.plan.faults, journal, ran)))
    }

    fn start(&mut self, job: Job) -> Result<Process, Error> {
        let process = Process::start(self.longhaul, self.planet.name(), job)?;
        debug!(what = process.what, "started");
        self.outputs.extend(process.outputs().map(|kept| (process.what.clone(), kept.clone())));
        Ok(process)
    }

    fn start_programs(
        &mut self,
        folder: &Folder<'_>,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for job in folder.programs(&self.plan.programs, self.plan.log_limit) {
            let program = self.start(job)?;
            self.programs.push(program);
        }
        let clock = Clock::start();
        for (index, program) in self.plan.programs.iter().enumerate() {
            let Some(port) = program.ready else { continue };
            while !self.planet.listening(&program.host)?.contains(&port) {
                let process = &mut self.programs[index];
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
        Ok(())
    }

    /// Each measurement starts when its dependency has ended. If the user interrupts, returns the
    /// measured part.
    fn measure(
        &mut self,
        folder: &Folder<'_>,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<(Option<Partial>, Ran), Error> {
        let (mut measuring, clock, start) = self.prepare(folder, look)?;
        let total = self.plan.duration;
        while !measuring.is_over() {
            while let Some(next) = measuring.next() {
                let process = self.start(next.job.clone())?;
                measuring.started(next, process, clock.elapsed());
                if let Err(interrupted) = look(Progress::Measuring { elapsed: clock.elapsed(), total }) {
                    let partial = self.wind_up(&mut measuring, interrupted, clock.elapsed(), look)?;
                    return Ok((Some(partial), measuring.into_ran()));
                }
            }
            for program in &mut self.programs {
                if let Some(status) = program.ended()?
                    && !is_killed(self.plan, self.planet, &program.host, (start, clock))?
                {
                    return Err(program.died(status));
                }
            }
            measuring.look(clock.elapsed())?;
            if let Err(interrupted) = look(Progress::Measuring { elapsed: clock.elapsed(), total }) {
                let partial = self.wind_up(&mut measuring, interrupted, clock.elapsed(), look)?;
                return Ok((Some(partial), measuring.into_ran()));
            }
            pause();
        }
        Ok((None, measuring.into_ran()))
    }

    /// A first signal lets requests in flight end; a second one shortens this wait; then the
    /// processes are killed. Returns the measured part.
    fn wind_up(
        &self,
        measuring: &mut Measuring,
        interrupted: Error,
        elapsed: Duration,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<Partial, Error> {
        if self.interruption == Interruption::Fails {
            return Err(interrupted);
        }
        measuring.forget_waiting();
        for patience in [IN_ORDER, AT_ONCE] {
            measuring.ask();
            let clock = Clock::start();
            while !measuring.is_over() && clock.elapsed() < patience && look(Progress::Ending).is_ok() {
                pause();
                measuring.let_go();
            }
        }
        Ok(Partial { after_s: elapsed.as_secs_f64(), of_s: self.plan.duration.as_secs_f64() })
    }

    /// Ping programs start early, because hundreds of processes keep the machine busy. Returns the
    /// start as a runner clock and as time on the planet's clock.
    fn prepare(
        &mut self,
        folder: &Folder<'_>,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<(Measuring, Clock, Duration), Error> {
        let plan = self.plan;
        let (early, at_once): (Vec<_>, Vec<_>) =
            plan.measurements.iter().map(Measurement::measures).partition(|one| one.spread().is_some());
        let ahead = AHEAD + AHEAD_EACH * u32::try_from(early.len()).unwrap_or(u32::MAX);
        let start = Duration::from_secs_f64(self.planet.brief_status()?.running_s) + ahead;
        let clock = Clock::start();
        for fault in &plan.faults {
            let at = Some(start + fault.at);
            self.planet.fault(&Fault { at, ..fault.fault.clone() })?;
        }
        let tasks = at_once.into_iter().map(|one| one.task(folder, Duration::ZERO, plan.log_limit));
        let mut measuring = Measuring::of(tasks.collect());
        for (number, one) in (0_u32..).zip(&early) {
            let between = one.spread().unwrap_or_default();
            let turn = between.mul_f64(f64::from(number) / early.len() as f64);
            let delay = ahead.saturating_sub(clock.elapsed()) + turn;
            let task: Task = one.task(folder, delay, plan.log_limit);
            let process = self.start(task.job.clone())?;
            measuring.started(task, process, Duration::ZERO);
            look(Progress::Preparing)?;
        }
        while clock.elapsed() < ahead {
            look(Progress::Preparing)?;
            pause();
        }
        info!(measurements = plan.measurements.len(), faults = plan.faults.len(), "measuring begins");
        Ok((measuring, Clock::start(), start))
    }
}

/// Faults follow the planet's clock. The measurements started at `start` on it, and some
/// milliseconds later on the runner's clock.
fn is_killed(
    plan: &Plan,
    planet: &Planet,
    host: &str,
    (start, clock): (Duration, Clock),
) -> Result<bool, Error> {
    if plan.is_killed(host, clock.elapsed()) {
        return Ok(true);
    }
    let running = Duration::from_secs_f64(planet.brief_status()?.running_s);
    Ok(plan.is_killed(host, running.saturating_sub(start)))
}

const FEW: usize = 10;

/// For responses in flight: enough for one lost SYN on a long path.
const IN_ORDER: Duration = Duration::from_secs(3);

const AT_ONCE: Duration = Duration::from_secs(2);

/// More waiting does not help a program that takes longer to listen.
const READY_WITHIN: Duration = Duration::from_secs(15);

/// A planet rejects faults in the past, and sending one takes some milliseconds.
const AHEAD: Duration = Duration::from_millis(500);

/// A program takes about 20 ms of a slow processor to start.
const AHEAD_EACH: Duration = Duration::from_millis(25);
