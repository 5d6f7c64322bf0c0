//! Computes how much a reader may read until when, and accounts for the bytes read. Time is
//! supplied by the caller; it starts at 0 and is monotonic.

use std::time::Duration;

use super::pattern::{Kind, Phase, Programme, Rate};

#[derive(Debug)]
pub struct Pace {
    phases: Vec<Phase>,
    end: Duration,
    current: Option<Current>,
    best: u64,
    wanting: Option<Duration>,
    account: Account,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allow {
    pub bytes: u64,
    pub until: Duration,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    pub seconds: Vec<Second>,
    pub runs: Vec<Run>,
    pub first_byte: Option<Duration>,
}

/// A second of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Second {
    /// Start of the second.
    pub at: Duration,
    /// One second, or the rest of the phase.
    pub length: Duration,
    /// Bytes read in this second.
    pub bytes: u64,
    /// Index of the phase in the programme.
    pub phase: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub phase: usize,
    pub at: Duration,
    pub length: Duration,
    pub bytes: u64,
    /// Excludes the wait for the first byte of the connection, unless the phase ended before it
    /// arrived.
    pub longest_pause: Duration,
}

#[derive(Debug)]
struct Current {
    run: Run,
    run_end: Duration,
    second: Second,
    second_end: Duration,
    step: Allow,
}

impl Pace {
    /// With a `length` the programme is repeated or truncated to it.
    ///
    /// # Panics
    /// If the programme has no phase. A programme read from a file has at least one.
    pub fn new(programme: &Programme, length: Option<Duration>) -> Self {
        let end = length.or(programme.duration()).unwrap_or(Duration::MAX);
        let mut pace = Self {
            phases: programme.phases.clone(),
            end,
            current: None,
            best: 0,
            wanting: None,
            account: Account::default(),
        };
        if !end.is_zero() {
            pace.begin_phase(0, Duration::ZERO);
        }
        pace
    }

    pub fn next(&mut self, now: Duration) -> Option<Allow> {
        self.advance(now);
        let step = self.current.as_ref()?.step;
        if step.bytes == 0 {
            self.wanting = None;
        } else {
            self.wanting.get_or_insert(now);
        }
        Some(step)
    }

    pub fn phase(&self) -> Option<usize> {
        self.current.as_ref().map(|current| current.run.phase)
    }

    pub fn kind(&self) -> Option<Kind> {
        self.phase().map(|phase| self.phases[phase].rate.kind())
    }

    /// The bytes count for the time of the last call to [`Self::next`].
    pub fn add(&mut self, now: Duration, bytes: u64) {
        let waited_since = self.wanting.replace(now);
        if self.account.first_byte.is_none() {
            self.account.first_byte = Some(now);
        } else if let Some(since) = waited_since {
            self.note_pause(now - since);
        }
        if let Some(current) = &mut self.current {
            current.step.bytes = current.step.bytes.saturating_sub(bytes);
            current.second.bytes += bytes;
            current.run.bytes += bytes;
        }
    }

    /// Call it when reading has ended, for any reason.
    pub fn finish(mut self, now: Duration) -> Account {
        self.advance(now);
        self.end_second(now);
        self.end_phase(now);
        self.account
    }

    fn advance(&mut self, now: Duration) {
        while let Some(current) = &self.current
            && now >= current.second_end
        {
            let (phase, end, run_end) = (current.run.phase, current.second_end, current.run_end);
            self.end_second(end);
            if end < run_end {
                self.begin_second(end);
                continue;
            }
            self.end_phase(end);
            if end < self.end {
                self.begin_phase((phase + 1) % self.phases.len(), end);
            }
        }
        if let Some(current) = &self.current
            && now >= current.step.until
        {
            self.begin_step(now);
        }
    }

    fn begin_phase(&mut self, phase: usize, at: Duration) {
        let run = Run { phase, at, length: Duration::ZERO, bytes: 0, longest_pause: Duration::ZERO };
        let second = Second { at, length: Duration::ZERO, bytes: 0, phase };
        let run_end = (at + self.phases[phase].duration).min(self.end);
        let step = Allow { bytes: 0, until: at };
        self.current = Some(Current { run, run_end, second, second_end: at, step });
        self.begin_second(at);
    }

    fn begin_second(&mut self, at: Duration) {
        let Some(current) = &mut self.current else { return };
        current.second = Second { at, length: Duration::ZERO, bytes: 0, phase: current.run.phase };
        current.second_end = (at + SECOND).min(current.run_end);
        self.begin_step(at);
    }

    fn begin_step(&mut self, now: Duration) {
        let Some(current) = &mut self.current else { return };
        let until = current.second_end;
        current.step = match self.phases[current.run.phase].rate {
            Rate::Unlimited => Allow { bytes: u64::MAX, until },
            Rate::Stop => Allow { bytes: 0, until: current.run_end },
            Rate::OfBest(share) => Allow { bytes: share_of(share.get(), self.best), until },
            Rate::Limited(rate) => {
                // Steps start at multiples of their length, and their bytes add up to the rate.
                let number = (now - current.second.at).as_nanos() / STEP.as_nanos();
                let begin = STEP * u32::try_from(number).unwrap_or(u32::MAX);
                let bytes = rate.bytes_in(begin + STEP) - rate.bytes_in(begin);
                Allow { bytes, until: (current.second.at + begin + STEP).min(until) }
            }
        };
    }

    fn end_second(&mut self, at: Duration) {
        let Some(current) = &mut self.current else { return };
        current.second.length = at - current.second.at;
        if !current.second.length.is_zero() {
            self.best = self.best.max(current.second.bytes);
            self.account.seconds.push(current.second);
        }
    }

    fn end_phase(&mut self, at: Duration) {
        if let Some(since) = self.wanting {
            self.note_pause(at.saturating_sub(since));
        }
        let Some(Current { mut run, .. }) = self.current.take() else { return };
        run.length = at - run.at;
        if !run.length.is_zero() {
            self.account.runs.push(run);
        }
    }

    fn note_pause(&mut self, pause: Duration) {
        if let Some(current) = &mut self.current {
            current.run.longest_pause = current.run.longest_pause.max(pause);
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most the bytes of one second, far below 2^53"
)]
fn share_of(share: f64, bytes: u64) -> u64 {
    (share * bytes as f64) as u64
}

const SECOND: Duration = Duration::from_secs(1);

/// Similar to an application timer, and long enough that wake-ups do not dominate.
const STEP: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
