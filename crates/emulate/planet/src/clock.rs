//! The planet's clock: monotonic time since the switch started. No other module of this crate reads
//! a clock.

#![expect(clippy::disallowed_methods, reason = "this is the one place of this shell that reads clocks")]

use std::time::{Duration, Instant, SystemTime};

use nix::time::{ClockId, clock_gettime};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

pub(crate) fn monotonic() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// Fits into a u64 for 584 years.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

pub(crate) fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[derive(Debug, Default)]
pub(crate) struct RunQueue {
    /// Opened on first use, because it refers to the calling thread.
    account: Option<tcp::RunQueue>,
    seen: Option<Turns>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    waited: Duration,
    turns: u64,
}

impl RunQueue {
    pub(crate) fn read(&mut self) -> Turns {
        let account = self.account.get_or_insert_with(tcp::RunQueue::of_this_thread);
        account.account().map_or(Turns::default(), |(waited, turns)| Turns { waited, turns })
    }

    pub(crate) fn read_on(&mut self) -> (Turns, Duration) {
        let now = self.read();
        let before = self.seen.replace(now);
        (now, before.map_or(Duration::ZERO, |before| now.waited_since(before)))
    }

    pub(crate) fn waited(&mut self) -> Duration {
        self.read_on().1
    }
}

impl Turns {
    pub(crate) fn waited_since(self, earlier: Self) -> Duration {
        self.waited.saturating_sub(earlier.waited)
    }

    /// Scheduled exactly once since, so that the whole wait belongs to this time slice.
    pub(crate) fn is_next_after(self, earlier: Self) -> bool {
        self.turns == earlier.turns + 1
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct MachineCpu {
    busy: u64,
    total: u64,
    stolen: u64,
}

impl MachineCpu {
    pub(crate) fn read() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let ticks: Vec<u64> =
            text.lines().next()?.split_whitespace().skip(1).map(str::parse).collect::<Result<_, _>>().ok()?;
        // user nice system idle iowait irq softirq steal; guest time is part of user time
        // (proc_stat(5)).
        let total = ticks.iter().take(8).sum();
        let [nice, idle, iowait] = [*ticks.get(1)?, *ticks.get(3)?, *ticks.get(4)?];
        // Low-priority processes yield, so their time was available.
        let stolen = ticks.get(7).copied().unwrap_or(0);
        Some(Self { busy: total - nice - idle - iowait, total, stolen })
    }

    /// Of all cores, with a resolution of a tick: 10 ms.
    pub(crate) fn stolen_since(&self, earlier: &Self) -> Duration {
        // USER_HZ is 100 on nearly all architectures (time(7)).
        Duration::from_millis(self.stolen.saturating_sub(earlier.stolen) * 10)
    }

    #[expect(clippy::cast_precision_loss, reason = "ticks of years are far below 2^53")]
    pub(crate) fn share_since(&self, earlier: &Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|&total| total > 0)?;
        Some(self.busy.saturating_sub(earlier.busy) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_one_turn_if_there_was_no_other() {
        let at = |waited, turns| Turns { waited: Duration::from_micros(waited), turns };
        let before = at(100, 7);
        assert_eq!(at(350, 8).waited_since(before), Duration::from_micros(250));
        assert!(at(350, 8).is_next_after(before));
        assert!(!at(100, 7).is_next_after(before) && !at(350, 9).is_next_after(before));
        assert!(!Turns::default().is_next_after(Turns::default()));
    }

    #[test]
    fn a_thread_that_sleeps_gets_a_processor_once_more() {
        let mut queue = RunQueue::default();
        // The second reading uses an open file: opening it may block.
        let before = [queue.read(), queue.read()][1];
        sleep(Duration::from_millis(1));
        let after = queue.read();
        let counts = before != Turns::default();
        assert!(!counts || after.turns > before.turns, "{before:?} {after:?}");
    }
}
