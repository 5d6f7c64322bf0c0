//! Runs a sweep: several runs concurrently, each in its own emulated network.

use std::{
    num::NonZero,
    ops::ControlFlow,
    panic::resume_unwind,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, Scope, ScopedJoinHandle},
    time::Duration,
};

use scenario::{
    Error,
    clock::{Clock, pause},
};

use super::{
    Plan,
    cell::Run,
    record::{Inputs, Read, Record},
    result::{Ended, Sweep},
    schedule::{Jobs, Schedule, Verdict, Worth},
    store::Store,
};

/// Folder, program and concurrency of a sweep.
#[derive(Debug, Clone)]
pub struct Options {
    /// Valid results in this folder with the same inputs are reused.
    pub out: PathBuf,
    /// Path of the `longhaul` program.
    pub longhaul: PathBuf,
    /// Number of concurrent runs.
    pub jobs: Jobs,
}

/// Progress of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of runs.
    pub runs: usize,
    /// Runs with a result.
    pub done: usize,
    /// Runs in progress.
    pub running: usize,
    /// Estimated remaining time.
    pub left: Duration,
}

/// Measures all runs without a valid result, until `watch` breaks. The calling thread must live
/// until this returns.
pub fn run(
    plan: &Plan,
    options: &Options,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Sweep, Error> {
    let store = Store::of(&options.out);
    store.create()?;
    let ended = kept(plan, &store);
    let stop = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        let conductor = Conductor::new(Field { plan, options, store: &store, stop: &stop }, ended);
        conductor.conduct(scope, watch)
    })?;
    Ok(Sweep::new(plan, ended))
}

/// Preview of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview {
    /// Runs with a valid result.
    pub kept: usize,
    /// Runs to measure.
    pub missing: usize,
    /// Estimated duration of those runs.
    pub lasts: Duration,
}

/// The work that [`run`] would do. Starts and writes nothing.
pub fn preview(plan: &Plan, options: &Options) -> Preview {
    let store = Store::of(&options.out);
    let missing = missing(&kept(plan, &store));
    let lasts = schedule(plan, &missing, options.jobs).left(|run| lasts(&plan.runs[run]));
    Preview { kept: plan.runs.len() - missing.len(), missing: missing.len(), lasts }
}

#[derive(Clone, Copy)]
struct Field<'f> {
    plan: &'f Plan,
    options: &'f Options,
    store: &'f Store,
    stop: &'f AtomicBool,
}

struct Conductor<'f, 'scope> {
    field: Field<'f>,
    schedule: Schedule,
    ended: Vec<Ended>,
    running: Vec<Running<'scope>>,
    left: (Duration, Clock),
}

/// The processes die with the thread that started them, so each run has a thread.
struct Running<'scope> {
    run: usize,
    since: Clock,
    thread: ScopedJoinHandle<'scope, Result<Record, Error>>,
}

impl<'f: 'scope, 'scope> Conductor<'f, 'scope> {
    fn new(field: Field<'f>, ended: Vec<Ended>) -> Self {
        let schedule = schedule(field.plan, &missing(&ended), field.options.jobs);
        Self { field, schedule, ended, running: Vec::new(), left: (Duration::ZERO, Clock::start()) }
    }

    fn conduct(
        mut self,
        scope: &'scope Scope<'scope, '_>,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ended>, Error> {
        let mut failure = None;
        loop {
            self.begin(scope);
            if self.running.is_empty() {
                return failure.map_or(Ok(self.ended), Err);
            }
            // Before collecting results: a terminal sends SIGINT to the measuring programs too.
            if watch(self.progress()).is_break() {
                self.field.stop.store(true, Ordering::Relaxed);
            }
            while let Some(index) = self.running.iter().position(|running| running.thread.is_finished()) {
                let Running { run, thread, .. } = self.running.swap_remove(index);
                let result = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                if let Err(error) = self.note(run, result) {
                    self.field.stop.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                }
            }
            pause();
        }
    }

    fn begin(&mut self, scope: &'scope Scope<'scope, '_>) {
        if self.field.stop.load(Ordering::Relaxed) {
            return;
        }
        while let Some(run) = self.schedule.next() {
            let field = self.field;
            let thread = scope.spawn(move || field.measure(run));
            self.running.push(Running { run, since: Clock::start(), thread });
            self.foretell();
        }
    }

    fn note(&mut self, run: usize, result: Result<Record, Error>) -> Result<(), Error> {
        let ended = match result {
            Ok(record) => Ended::Measured(Box::new(record)),
            Err(Error::Interrupted { .. }) => return Ok(()),
            Err(error) if is_its_own(&error) => Ended::Failed(error.to_string()),
            Err(error) => return Err(error),
        };
        let is_valid = matches!(&ended, Ended::Measured(record) if record.is_valid());
        if !is_valid && self.field.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let verdict = match &ended {
            Ended::Measured(_) if !is_valid => Verdict::Invalid,
            _ => Verdict::Final,
        };
        if self.schedule.ended(run, verdict) == Worth::Kept {
            if let Ended::Measured(record) = &ended {
                self.field.store.keep(&self.field.plan.runs[run], record)?;
            }
            self.ended[run] = ended;
        }
        self.foretell();
        Ok(())
    }

    fn foretell(&mut self) {
        let elapsed = |run| {
            let running = self.running.iter().find(|running| running.run == run);
            running.map_or(Duration::ZERO, |running| running.since.elapsed())
        };
        let runs = &self.field.plan.runs;
        let left = self.schedule.left(|run| lasts(&runs[run]).saturating_sub(elapsed(run)));
        self.left = (left, Clock::start());
    }

    fn progress(&self) -> Progress {
        let (left, since) = self.left;
        let runs = self.ended.len();
        Progress {
            runs,
            done: runs - missing(&self.ended).len(),
            running: self.running.len(),
            left: left.saturating_sub(since.elapsed()),
        }
    }
}

impl Field<'_> {
    fn measure(&self, number: usize) -> Result<Record, Error> {
        let run = &self.plan.runs[number];
        self.store.forget(run)?;
        let mut scenario = scenario::Plan::read(&self.store.scenario(run)?)?;
        // Concurrent planets need distinct names, even for equal cells.
        scenario.name = format!("cell-{}", number + 1);
        let options =
            scenario::Options { out: self.store.folder(run), longhaul: self.options.longhaul.clone() };
        let watch = |_| {
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let outcome = scenario::run(&scenario, &options, watch)?;
        let read = Read::of(&outcome).map_err(|source| Error::NotJson { path: options.out, source })?;
        Ok(Record::new(Inputs::of(run, &self.plan.machine), read, outcome.fidelity))
    }
}

fn is_its_own(error: &Error) -> bool {
    matches!(
        error,
        Error::Ended { .. } | Error::NotReady { .. } | Error::TooLong { .. } | Error::NotJson { .. }
    )
}

fn kept(plan: &Plan, store: &Store) -> Vec<Ended> {
    let kept = |run| match store.kept(run, &Inputs::of(run, &plan.machine)) {
        Some(record) => Ended::Measured(Box::new(record)),
        None => Ended::Missing,
    };
    plan.runs.iter().map(kept).collect()
}

fn missing(ended: &[Ended]) -> Vec<usize> {
    (0..ended.len()).filter(|&run| matches!(ended[run], Ended::Missing)).collect()
}

fn schedule(plan: &Plan, runs: &[usize], jobs: Jobs) -> Schedule {
    let processors = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    Schedule::new(runs.iter().map(|&run| (run, plan.runs[run].rate)), jobs, processors)
}

fn lasts(run: &Run) -> Duration {
    run.duration + AROUND
}

/// Setup, programs and evaluation, in addition to the measurement.
const AROUND: Duration = Duration::from_secs(2);
