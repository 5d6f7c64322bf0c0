//! Something that is always due: a thread on each processor that wakes on a schedule, sends a packet to the switch and waits
//! until it is back. What it has to wait for, packets and programs have to wait for as well, and nobody else can tell:
//!
//! - it wakes late: its processor was taken by the hypervisor, or interrupts kept it busy;
//! - the switch answers late: it slept, was stopped, or did something else, while packets waited to be read;
//! - the answer wakes it late: a program that gets a packet is woken in the same way.
//!
//! Where it may, it runs before all programs, and each wait is the machine's. Elsewhere its time in the run queue does not count,
//! in which it may have waited for another program: programs of the planet have accounts of their own for that (`programs`).

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use claim::Delay;
use hdrhistogram::Histogram;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

use super::{delays::Delays, echo::Echo};
use crate::{
    clock::{Clock, RunQueue, nanoseconds},
    sys::{poll, priority},
};

/// A bell at the switch, and its answer.
#[derive(Debug)]
pub(crate) struct Beat {
    /// Readable for the shard when it was rung.
    pub bell: Echo,
    /// When it was rung, in ns; 0 when it was answered.
    rung_ns: AtomicU64,
}

/// What all beats have found so far.
#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<Found>);

#[derive(Debug)]
struct Found {
    /// From the bell to the answer's arrival: waking the switch and a program, ns.
    wake_ns: Histogram<u64>,
    /// When a processor stood still.
    stalls: Delays,
}

impl Beat {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { bell: Echo::new()?, rung_ns: AtomicU64::new(0) })
    }

    /// Since when a packet that is read at `now` may have been there, as far as this bell can tell: a bell that has waited for
    /// longer than waking up takes says that the switch did not run, maybe since the beat before.
    pub(crate) fn waits_since(&self, now: Duration) -> Option<Duration> {
        let rung = Some(self.rung_ns.load(Ordering::Acquire)).filter(|&rung| rung > 0);
        let rung = Duration::from_nanos(rung?);
        let is_stalled = now.saturating_sub(rung) > PERIOD;
        Some(if is_stalled { rung.saturating_sub(BETWEEN_RINGS) } else { rung })
    }

    /// The switch has heard it.
    pub(crate) fn answer(&self) -> io::Result<()> {
        self.bell.answer(|| self.rung_ns.store(0, Ordering::Release))
    }

    fn ring(&self, now: Duration, number: u64) -> io::Result<()> {
        self.rung_ns.store(nanoseconds(now).max(1), Ordering::Release);
        self.bell.go_round(number)
    }
}

/// Starts a thread on each processor that this process may use, each with a bell of the switch, which they share in turn.
pub(crate) fn start(beats: &[Arc<Beat>], clock: Clock) -> io::Result<Arc<Pulse>> {
    let pulse = Arc::new(Pulse::default());
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    let processors = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap_or(false));
    for (cpu, beat) in processors.zip(beats) {
        let (beat, pulse) = (Arc::clone(beat), Arc::clone(&pulse));
        std::thread::spawn(move || go_on(cpu, &beat, clock, &pulse));
    }
    Ok(pulse)
}

/// How many beats there are: one for each processor, as long as they cost little.
pub(crate) fn count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_BEATS)
}

fn go_on(cpu: usize, beat: &Beat, clock: Clock, pulse: &Pulse) -> io::Result<()> {
    let mut here = CpuSet::new();
    here.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &here)?;
    poll::wake_on_time()?;
    let mut run_queue = RunQueue::default();
    let is_first = priority::can_run_first();
    let mut for_programs = || if is_first { Duration::ZERO } else { run_queue.waited() };
    for_programs();
    let mut due = clock.now();
    let mut beats: u64 = 0;
    loop {
        // One that comes late does not make up for what it missed.
        due = clock.now().max(due + PERIOD);
        let due_in = due.saturating_sub(clock.now());
        crate::clock::sleep(due_in);
        let woke = clock.now();
        // Most are on time, and ask no further.
        if woke.saturating_sub(due) > LONG {
            pulse.stalled_at(due, woke, woke.saturating_sub(due).saturating_sub(for_programs()));
        }
        beats = beats.wrapping_add(1);
        if beats.is_multiple_of(RING_EVERY.into()) {
            for_programs();
            let rung = clock.now();
            beat.ring(rung, beats)?;
            let heard = clock.now();
            let took = heard.saturating_sub(rung).saturating_sub(for_programs());
            pulse.woken(took);
            // Beats were due in the meantime.
            if took > PERIOD {
                pulse.stalled_at(rung, heard, took);
            }
        }
    }
}

impl Pulse {
    /// Waking the switch and a program took so long.
    fn woken(&self, time: Duration) {
        self.found().wake_ns.saturating_record(nanoseconds(time));
    }

    /// What was due woke so late that its processor must have stood still.
    fn stalled_at(&self, due: Duration, woke: Duration, stalled: Duration) {
        if stalled > LONG {
            // It may have begun at any time since the beat before, and what is shorter than LONG is not noticed at all.
            let (from, extra) = (due.saturating_sub(PERIOD), stalled.min(PERIOD) + LONG);
            self.found().stalls.push(from, woke + LONG, stalled + extra);
        }
    }

    /// How long waking the switch and a program takes, at this percentile; zero before the first beat.
    pub(crate) fn wake(&self, percentile: f64) -> Duration {
        Duration::from_nanos(self.found().wake_ns.value_at_percentile(percentile))
    }

    /// For how long processors stood still.
    pub(crate) fn stalled(&self) -> Duration {
        self.found().stalls.total()
    }

    /// When processors stood still.
    pub(crate) fn stalls(&self) -> Vec<Delay> {
        self.found().stalls.all()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Found {
    fn default() -> Self {
        let wake_ns = Histogram::new_with_bounds(1, 60_000_000_000, 2).expect("constants in range");
        Self { wake_ns, stalls: Delays::default() }
    }
}

/// On a virtual machine whose host took a sixth of its two processors, a thread of beats used 4 % of one, and the switch, which
/// answers, 3 %.
const PERIOD: Duration = Duration::from_millis(1);
const RING_EVERY: u32 = 5;
const BETWEEN_RINGS: Duration = PERIOD.saturating_mul(RING_EVERY);

/// Waking from sleep takes less.
const LONG: Duration = Duration::from_micros(200);

const MOST_BEATS: usize = 8;
