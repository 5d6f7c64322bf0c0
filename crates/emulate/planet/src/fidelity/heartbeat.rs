//! Periodic threads that measure scheduling delays of the machine.
//!
//! A thread on each processor sends a packet to the switch and waits for its return. A late wake-up
//! of the thread means a stalled processor; a late reply means that the switch did not run. Without
//! real-time priority, the time in the run queue is subtracted.

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

#[derive(Debug)]
pub(crate) struct Beat {
    pub bell: Echo,
    rung_ns: AtomicU64,
}

#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<Found>);

#[derive(Debug)]
struct Found {
    /// From the bell to the arrival of the reply, including the wake-up of the switch and a
    /// program, ns.
    wake_ns: Histogram<u64>,
    stalls: Delays,
}

impl Beat {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { bell: Echo::new()?, rung_ns: AtomicU64::new(0) })
    }

    /// The earliest arrival time of a packet that is read at `now`. A bell that waited longer than
    /// a normal wake-up shows that the switch did not run, possibly since the previous heartbeat.
    pub(crate) fn waits_since(&self, now: Duration) -> Option<Duration> {
        let rung = Some(self.rung_ns.load(Ordering::Acquire)).filter(|&rung| rung > 0);
        let rung = Duration::from_nanos(rung?);
        let is_stalled = now.saturating_sub(rung) > PERIOD;
        Some(if is_stalled { rung.saturating_sub(BETWEEN_RINGS) } else { rung })
    }

    pub(crate) fn answer(&self) -> io::Result<()> {
        self.bell.answer(|| self.rung_ns.store(0, Ordering::Release))
    }

    fn ring(&self, now: Duration, number: u64) -> io::Result<()> {
        self.rung_ns.store(nanoseconds(now).max(1), Ordering::Release);
        self.bell.go_round(number)
    }
}

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
        // A late heartbeat does not catch up on missed ones.
        due = clock.now().max(due + PERIOD);
        let due_in = due.saturating_sub(clock.now());
        crate::clock::sleep(due_in);
        let woke = clock.now();
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
            if took > PERIOD {
                pulse.stalled_at(rung, heard, took);
            }
        }
    }
}

impl Pulse {
    fn woken(&self, time: Duration) {
        self.found().wake_ns.saturating_record(nanoseconds(time));
    }

    fn stalled_at(&self, due: Duration, woke: Duration, stalled: Duration) {
        if stalled > LONG {
            // The stall may have started at any time since the previous heartbeat, and stalls
            // shorter than LONG are not detected.
            let (from, extra) = (due.saturating_sub(PERIOD), stalled.min(PERIOD) + LONG);
            self.found().stalls.push(from, woke + LONG, stalled + extra);
        }
    }

    pub(crate) fn wake(&self, percentile: f64) -> Duration {
        Duration::from_nanos(self.found().wake_ns.value_at_percentile(percentile))
    }

    pub(crate) fn stalled(&self) -> Duration {
        self.found().stalls.total()
    }

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

/// On a virtual machine with two processors, a heartbeat thread used 4 % of a processor, and the
/// switch 3 % for its replies.
const PERIOD: Duration = Duration::from_millis(1);
const RING_EVERY: u32 = 5;
const BETWEEN_RINGS: Duration = PERIOD.saturating_mul(RING_EVERY);

/// A normal wake-up takes less.
const LONG: Duration = Duration::from_micros(200);

const MOST_BEATS: usize = 8;
