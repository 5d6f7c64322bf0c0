//! Runs a plan: planet up, programs, measurements and faults, planet down, judgement.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use claim::Doubt;
use planet::{Awake, Life, Planet, Running};
use report::Partial;
use tracing::{debug, info};
use world::file::Fault;

use crate::{
    clock::{Clock, pause},
    error::Error,
    evaluate::evaluate,
    folder::Folder,
    kept::Kept,
    kind::Measurement,
    measurement::Task,
    outcome::Outcome,
    plan::Plan,
    program::{Job, Process},
};
use measuring::Measuring;

mod measuring;

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
    /// Asking what measures to end, because somebody wants the run to end.
    Ending,
    /// Reading what was recorded.
    Evaluating,
}

/// Runs `plan`. `watch` is called many times a second and ends the run by breaking, which is an error. To be called from a
/// thread that lives until it returns: the planet dies with that thread.
pub fn run(
    plan: &Plan,
    options: &Options,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    perform(plan, options, Interruption::Fails, watch)
}

/// As [`run`], but what is interrupted while it measures has an outcome too: of what was measured until then
/// ([`Outcome::partial`]). What measures is asked to end in order, which takes some seconds at most, and less when `watch`
/// breaks again.
pub fn run_until_interrupted(
    plan: &Plan,
    options: &Options,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    perform(plan, options, Interruption::EndsInOrder, watch)
}

/// What becomes of a run that is interrupted while it measures.
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
    // Two runs of one scenario are two planets. A file may be called what no planet can be.
    let plain: String =
        plan.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let name = format!("run-{plain}-{}", std::process::id());
    let running = Running::start(&plan.world, &name, Life::WithStarter)?;
    let mut stage = Stage {
        plan,
        planet: running.planet(),
        longhaul: &options.longhaul,
        interruption,
        programs: Vec::new(),
        outputs: Vec::new(),
    };
    let awake = Awake::hold();
    stage.start_programs(&folder, &mut look)?;
    info!(scenario = plan.name, programs = plan.programs.len(), "every program is ready");
    let partial = stage.measure(&folder, &mut look)?;
    info!(partial = partial.is_some(), "measuring ended");
    let fidelity = stage.planet.brief_status()?.fidelity;
    drop(awake);
    let outputs = std::mem::take(&mut stage.outputs);
    drop(stage);
    drop(running);

    // With the planet everybody is gone who could write more.
    let cut = conclude(outputs, &options.out)?;
    if partial.is_none() {
        look(Progress::Evaluating)?;
    }
    let mut outcome = evaluate(plan, fidelity, &folder, partial)?;
    outcome.doubts.extend(cut);
    Ok(outcome)
}

/// Sees all outputs to their ends; what is missing in them.
fn conclude(outputs: Vec<(String, Kept)>, out: &Path) -> Result<Vec<Doubt>, Error> {
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

/// A planet, and what runs on it.
struct Stage<'p> {
    plan: &'p Plan,
    planet: &'p Planet,
    longhaul: &'p Path,
    interruption: Interruption,
    programs: Vec<Process>,
    /// Of all that was started: what it is, and what is kept of what it puts out.
    outputs: Vec<(String, Kept)>,
}

impl Stage<'_> {
    fn start(&mut self, job: Job) -> Result<Process, Error> {
        let process = Process::start(self.longhaul, self.planet.name(), job)?;
        debug!(what = process.what, "started");
        self.outputs.extend(process.outputs().map(|kept| (process.what.clone(), kept.clone())));
        Ok(process)
    }

    /// Starts all programs, then waits for those that say when they are ready.
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

    /// Starts all that measures, each when it is its turn, and waits until all of it is done. Faults happen meanwhile. If
    /// somebody wants an end: how much of it was measured.
    fn measure(
        &mut self,
        folder: &Folder<'_>,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<Option<Partial>, Error> {
        let (mut measuring, clock) = self.prepare(folder, look)?;
        let total = self.plan.duration;
        while !measuring.is_over() {
            while let Some(next) = measuring.next() {
                let process = self.start(next.job.clone())?;
                measuring.started(next, process, clock.elapsed());
                if let Err(interrupted) = look(Progress::Measuring { elapsed: clock.elapsed(), total }) {
                    return self.wind_up(measuring, interrupted, clock.elapsed(), look).map(Some);
                }
            }
            for program in &mut self.programs {
                if let Some(status) = program.ended()?
                    && !self.plan.is_killed(&program.host, clock.elapsed())
                {
                    return Err(program.died(status));
                }
            }
            measuring.look(clock.elapsed())?;
            if let Err(interrupted) = look(Progress::Measuring { elapsed: clock.elapsed(), total }) {
                return self.wind_up(measuring, interrupted, clock.elapsed(), look).map(Some);
            }
            pause();
        }
        Ok(None)
    }

    /// Asks what measures to end: it sends nothing more and waits for what is in flight. What takes too long is asked again,
    /// which it takes for less patience, and ended in the end. How much was measured.
    fn wind_up(
        &self,
        mut measuring: Measuring,
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

    /// What must be there when measuring starts: tells the planet what goes wrong and when, and starts programs that wait
    /// until they ping, for hundreds that start keep the machine busy. Returns when measuring starts, with its clock.
    fn prepare(
        &mut self,
        folder: &Folder<'_>,
        look: &mut impl FnMut(Progress) -> Result<(), Error>,
    ) -> Result<(Measuring, Clock), Error> {
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
        Ok((measuring, Clock::start()))
    }
}

/// How long what was asked to end may wait for answers that are under way: for one SYN that is lost on a long path.
const IN_ORDER: Duration = Duration::from_secs(3);

/// How long what was asked again may take to write down what it has.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A program that takes longer than this to listen has a problem that more waiting does not solve.
const READY_WITHIN: Duration = Duration::from_secs(15);

/// Telling a planet what goes wrong takes some milliseconds each, and it takes nothing that is past.
const AHEAD: Duration = Duration::from_millis(500);

/// A program takes some 20 ms of a slow processor to start.
const AHEAD_EACH: Duration = Duration::from_millis(25);
