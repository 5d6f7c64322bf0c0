//! Measures a sweep: run by run, some of them side by side, each on a planet of its own.

use std::{
    num::NonZero,
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, Scope},
    time::Duration,
};

use super::{
    Plan,
    cell::Run,
    result::{Ended, Read, Sweep},
    schedule::{Jobs, Schedule, Verdict, Worth},
    store::{Inputs, Record, Store},
};
use crate::{clock::Clock, error::Error};

/// Where things are, and how much is done at once.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder for scenarios and results. Results in it that are valid and were made from the same are not measured again.
    pub out: PathBuf,
    /// The `longhaul` program.
    pub longhaul: PathBuf,
    /// How many runs at once.
    pub jobs: Jobs,
}

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Runs in all.
    pub runs: usize,
    /// Runs whose result is there.
    pub done: usize,
    /// Runs under way.
    pub running: usize,
    /// How long it will take, about.
    pub left: Duration,
}

/// Measures what has no valid result in the folder yet. `watch` is called many times a second and ends the sweep by breaking;
/// then what came out so far is returned, and the rest is missing in it. To be called from a thread that lives until it
/// returns.
pub fn run(
    plan: &Plan,
    options: &Options,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Sweep, Error> {
    let store = Store::of(&options.out);
    store.create()?;
    let ended = kept(plan, &store);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    let ended = thread::scope(|scope| {
        let field = Field { plan, options, store: &store, stop: &stop, sender };
        let mut conductor = Conductor::new(field, ended);
        conductor.conduct(scope, &receiver, watch).map(|()| conductor.ended)
    })?;
    Ok(Sweep::new(plan, ended))
}

/// What a sweep would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview {
    /// Runs that have a valid result already.
    pub kept: usize,
    /// Runs that would be measured.
    pub missing: usize,
    /// How long those take, about.
    pub lasts: Duration,
}

/// What [`run`] would do. Starts and writes nothing.
pub fn preview(plan: &Plan, options: &Options) -> Preview {
    let store = Store::of(&options.out);
    let missing = missing(&kept(plan, &store));
    let lasts = schedule(plan, &missing, options.jobs).left(|run| lasts(&plan.runs[run]));
    Preview { kept: plan.runs.len() - missing.len(), missing: missing.len(), lasts }
}

/// What all runs have in common.
#[derive(Clone)]
struct Field<'s> {
    plan: &'s Plan,
    options: &'s Options,
    store: &'s Store,
    stop: &'s AtomicBool,
    sender: Sender<(usize, Result<Record, Error>)>,
}

/// Decides what begins, and gathers what ends.
struct Conductor<'s> {
    field: Field<'s>,
    schedule: Schedule,
    /// By run.
    ended: Vec<Ended>,
    /// Under way, and since when.
    running: Vec<(usize, Clock)>,
}

impl<'s> Conductor<'s> {
    fn new(field: Field<'s>, ended: Vec<Ended>) -> Self {
        let schedule = schedule(field.plan, &missing(&ended), field.options.jobs);
        Self { field, schedule, ended, running: Vec::new() }
    }

    /// Until all have ended, or those that were under way when `watch` broke. An error of one that would be an error of all
    /// ends the others as well.
    fn conduct<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        endings: &Receiver<(usize, Result<Record, Error>)>,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), Error>
    where
        's: 'scope,
    {
        let mut failure = None;
        loop {
            let stopped = self.field.stop.load(Ordering::Relaxed);
            while let Some(run) = (!stopped).then(|| self.schedule.next()).flatten() {
                self.running.push((run, Clock::start()));
                let field = self.field.clone();
                scope.spawn(move || field.measure(run));
            }
            if self.running.is_empty() {
                return failure.map_or(Ok(()), Err);
            }
            match endings.recv_timeout(LOOK) {
                Ok((run, result)) => {
                    if let Err(error) = self.note(run, result) {
                        self.field.stop.store(true, Ordering::Relaxed);
                        failure.get_or_insert(error);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if watch(self.progress()).is_break() {
                self.field.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn note(&mut self, run: usize, result: Result<Record, Error>) -> Result<(), Error> {
        self.running.retain(|(running, _)| *running != run);
        let ended = match result {
            Ok(record) => Ended::Measured(Box::new(record)),
            Err(Error::Interrupted { .. }) => Ended::Missing,
            Err(error) if is_its_own(&error) => Ended::Failed(error.to_string()),
            Err(error) => return Err(error),
        };
        let verdict = match &ended {
            Ended::Measured(record) if !record.is_valid() => Verdict::Invalid,
            _ => Verdict::Final,
        };
        if self.schedule.ended(run, verdict) == Worth::Kept {
            if let Ended::Measured(record) = &ended {
                self.field.store.keep(&self.field.plan.runs[run], record)?;
            }
            self.ended[run] = ended;
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let elapsed = |run| {
            let since = self.running.iter().find(|(running, _)| *running == run);
            since.map_or(Duration::ZERO, |(_, clock)| clock.elapsed())
        };
        let runs = &self.field.plan.runs;
        Progress {
            runs: runs.len(),
            done: runs.len() - missing(&self.ended).len(),
            running: self.running.len(),
            left: self.schedule.left(|run| lasts(&runs[run]).saturating_sub(elapsed(run))),
        }
    }
}

impl Field<'_> {
    /// Measures one run, and says so. A planet dies with its thread, so the thread lives as long as the planet.
    fn measure(&self, run: usize) {
        let result = self.record(run, &self.plan.runs[run]);
        // Nobody listens only if the sweep has failed already.
        let _ = self.sender.send((run, result));
    }

    fn record(&self, number: usize, run: &Run) -> Result<Record, Error> {
        self.store.forget(run)?;
        let mut scenario = crate::Plan::read(&self.store.scenario(run)?)?;
        // Planets beside each other have different names, however alike their cells are.
        scenario.name = format!("cell-{}", number + 1);
        let options = crate::Options { out: self.store.folder(run), longhaul: self.options.longhaul.clone() };
        let watch = |_| {
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let outcome = crate::run(&scenario, &options, watch)?;
        let read = Read::of(&outcome).map_err(|source| Error::Printed { path: options.out, source })?;
        Ok(Record::new(Inputs::of(run, &self.plan.machine), read, outcome.fidelity))
    }
}

/// Whether an error says something about one run, and not about the machine or all of them.
fn is_its_own(error: &Error) -> bool {
    matches!(
        error,
        Error::Ended { .. } | Error::NotReady { .. } | Error::TooLong { .. } | Error::Printed { .. }
    )
}

/// What the folder has of a plan already.
fn kept(plan: &Plan, store: &Store) -> Vec<Ended> {
    let kept = |run| match store.kept(run, &Inputs::of(run, &plan.machine)) {
        Some(record) => Ended::Measured(Box::new(record)),
        None => Ended::Missing,
    };
    plan.runs.iter().map(kept).collect()
}

/// The runs without a result.
fn missing(ended: &[Ended]) -> Vec<usize> {
    (0..ended.len()).filter(|&run| matches!(ended[run], Ended::Missing)).collect()
}

fn schedule(plan: &Plan, runs: &[usize], jobs: Jobs) -> Schedule {
    let processors = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    Schedule::new(runs.iter().map(|&run| (run, plan.runs[run].rate)), jobs, processors)
}

/// How long a run takes, about.
fn lasts(run: &Run) -> Duration {
    run.duration + AROUND
}

/// A planet, its programs and its evaluation, beside what is measured.
const AROUND: Duration = Duration::from_secs(2);

/// How often is looked at who asks for an end.
const LOOK: Duration = Duration::from_millis(100);
