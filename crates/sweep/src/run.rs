//! Measures a sweep: run by run, some of them side by side, each on a planet of its own.

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
    let ended = thread::scope(|scope| {
        let conductor = Conductor::new(Field { plan, options, store: &store, stop: &stop }, ended);
        conductor.conduct(scope, watch)
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
#[derive(Clone, Copy)]
struct Field<'f> {
    plan: &'f Plan,
    options: &'f Options,
    store: &'f Store,
    stop: &'f AtomicBool,
}

/// Decides what begins, and gathers what ends.
struct Conductor<'f, 'scope> {
    field: Field<'f>,
    schedule: Schedule,
    /// By run.
    ended: Vec<Ended>,
    running: Vec<Running<'scope>>,
    /// How long it will take, and since when that is known.
    left: (Duration, Clock),
}

/// A run under way. A planet dies with the thread that started it, so each has its own.
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

    /// Until all have ended, or those that were under way when `watch` broke. An error of one that would be an error of all
    /// ends the others as well.
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
            // Before anything is noted: what a terminal asks to end, it asks of all programs, also of those that measure.
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

    /// Starts what may begin.
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

    /// Notes what came of a run. An error that says something about all of them is handed back.
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
        // Planets beside each other have different names, however alike their cells are.
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

/// Whether an error says something about one run, and not about the machine or all of them.
fn is_its_own(error: &Error) -> bool {
    matches!(
        error,
        Error::Ended { .. } | Error::NotReady { .. } | Error::TooLong { .. } | Error::NotJson { .. }
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
