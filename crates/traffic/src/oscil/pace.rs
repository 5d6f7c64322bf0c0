//! The engine of a reader: how much it may read until when, and the account of what it has read. In the caller's time,
//! which begins at 0 and never goes back.
//!
//! Seconds are counted from the beginning of each phase, so that none belongs to two; the last one of a phase may be
//! shorter.

use std::time::Duration;

use super::programme::{Kind, Phase, Programme, Rate};

/// A programme on its way.
#[derive(Debug)]
pub struct Pace {
    phases: Vec<Phase>,
    end: Duration,
    /// What is going on. None after the end.
    current: Option<Current>,
    /// The most bytes in any second that is over.
    best: u64,
    /// Since when the reader would take a byte if there were one.
    wanting: Option<Duration>,
    account: Account,
}

/// How much may be read until when. If that is nothing, the reader sleeps until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allow {
    /// Bytes that may be read.
    pub bytes: u64,
    /// Until then.
    pub until: Duration,
}

/// What was read, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Each second.
    pub seconds: Vec<Second>,
    /// Each time a phase was gone through.
    pub runs: Vec<Run>,
    /// When the first byte was read.
    pub first_byte: Option<Duration>,
}

/// A second of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Second {
    /// When it began.
    pub at: Duration,
    /// How long it was: a second, or what was left of its phase.
    pub length: Duration,
    /// Bytes read in it.
    pub bytes: u64,
    /// Its phase, by its number in the programme.
    pub phase: usize,
}

/// One time that a phase was gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The phase, by its number in the programme.
    pub phase: usize,
    /// When it began.
    pub at: Duration,
    /// How long it was.
    pub length: Duration,
    /// Bytes read in it.
    pub bytes: u64,
    /// The longest time that the reader would have taken a byte and there was none. That before the first byte of all
    /// does not count, unless the phase has ended before it came.
    pub longest_pause: Duration,
}

/// The phase and the second that are going on, and the step of the rate within them.
#[derive(Debug)]
struct Current {
    run: Run,
    run_end: Duration,
    second: Second,
    second_end: Duration,
    step: Allow,
}

impl Pace {
    /// Begins a programme. With a `length` it is repeated, or cut, as that takes.
    ///
    /// # Panics
    /// If the programme has no phase, which none that was read from a file has.
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

    /// What may be read now; none when the programme is over.
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

    /// The phase that is going on, by its number in the programme.
    pub fn phase(&self) -> Option<usize> {
        self.current.as_ref().map(|current| current.run.phase)
    }

    /// What the rate of the phase that is going on is like.
    pub fn kind(&self) -> Option<Kind> {
        self.phase().map(|phase| self.phases[phase].rate.kind())
    }

    /// Bytes have been read, which count for when they were allowed: with the latest [`Self::next`].
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

    /// The account of all until now, to be asked for when reading has ended, as planned or not.
    pub fn finish(mut self, now: Duration) -> Account {
        self.advance(now);
        self.end_second(now);
        self.end_phase(now);
        self.account
    }

    /// Ends what is over at `now`, and begins what has begun.
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

    /// Allows what the rate of the phase allows from now on.
    fn begin_step(&mut self, now: Duration) {
        let Some(current) = &mut self.current else { return };
        let until = current.second_end;
        current.step = match self.phases[current.run.phase].rate {
            Rate::Unlimited => Allow { bytes: u64::MAX, until },
            Rate::Stop => Allow { bytes: 0, until: current.run_end },
            Rate::OfBest(share) => Allow { bytes: share_of(share.get(), self.best), until },
            Rate::Limited(rate) => {
                // Steps begin at multiples of their length, and what they allow adds up to the rate.
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
    reason = "a share of at most 1 of what a second can bring, far below 2^53"
)]
fn share_of(share: f64, bytes: u64) -> u64 {
    (share * bytes as f64) as u64
}

const SECOND: Duration = Duration::from_secs(1);

/// How finely a limited rate is spread: as far apart as an application's own ticks are, and far enough apart that waking up
/// is not what is measured.
const STEP: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
