//! Decides which runs are concurrent. Pure.
//!
//! An INVALID concurrent run is repeated alone after all others, and lowers the limit by one.

use std::{collections::VecDeque, fmt, num::NonZero, str::FromStr, time::Duration};

use units::Bitrate;

/// Number of concurrent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jobs {
    /// Estimated from the processors and link rates.
    #[default]
    Auto,
    /// At most this number.
    Most(NonZero<usize>),
}

impl FromStr for Jobs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse()
            .map(Self::Most)
            .map_err(|_| format!("expected auto or a number of 1 or more, not \"{text}\""))
    }
}

impl fmt::Display for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Most(most) => most.fmt(f),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Final,
    Invalid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    Kept,
    Again,
}

#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    waiting: VecDeque<Waiting>,
    again: VecDeque<usize>,
    running: Vec<Running>,
    most: usize,
}

#[derive(Debug, Clone)]
struct Waiting {
    run: usize,
    load: f64,
}

#[derive(Debug, Clone)]
struct Running {
    run: usize,
    load: f64,
    company: usize,
}

impl Schedule {
    pub(crate) fn new(
        runs: impl IntoIterator<Item = (usize, Bitrate)>,
        jobs: Jobs,
        processors: NonZero<usize>,
    ) -> Self {
        let load = |rate| match jobs {
            Jobs::Auto => load(rate, processors),
            Jobs::Most(_) => 0.0,
        };
        let most = match jobs {
            Jobs::Auto => usize::MAX,
            Jobs::Most(most) => most.get(),
        };
        let waiting = runs.into_iter().map(|(run, rate)| Waiting { run, load: load(rate) }).collect();
        Self { waiting, again: VecDeque::new(), running: Vec::new(), most }
    }

    pub(crate) fn next(&mut self) -> Option<usize> {
        let (run, load) = if let Some(first) = self.waiting.front() {
            let taken: f64 = self.running.iter().map(|running| running.load).sum();
            let fits = self.running.len() < self.most && taken + first.load <= 1.0;
            if !fits && !self.running.is_empty() {
                return None;
            }
            let Waiting { run, load } = self.waiting.pop_front()?;
            (run, load)
        } else if self.running.is_empty() {
            (self.again.pop_front()?, 1.0)
        } else {
            return None;
        };
        self.running.push(Running { run, load, company: 0 });
        let all = self.running.len();
        for running in &mut self.running {
            running.company = running.company.max(all);
        }
        Some(run)
    }

    pub(crate) fn ended(&mut self, run: usize, verdict: Verdict) -> Worth {
        let Some(index) = self.running.iter().position(|running| running.run == run) else {
            return Worth::Kept;
        };
        let Running { company, .. } = self.running.swap_remove(index);
        if verdict == Verdict::Final || company == 1 {
            return Worth::Kept;
        }
        self.most = self.most.min(company - 1);
        self.again.push_back(run);
        Worth::Again
    }

    pub(crate) fn left(&self, lasts: impl Fn(usize) -> Duration) -> Duration {
        let mut rest = self.clone();
        let mut now = Duration::ZERO;
        let mut ends: Vec<(Duration, usize)> =
            rest.running.iter().map(|running| (lasts(running.run), running.run)).collect();
        loop {
            while let Some(run) = rest.next() {
                ends.push((now + lasts(run), run));
            }
            let Some(first) = (0..ends.len()).min_by_key(|&index| ends[index]) else { return now };
            let (end, run) = ends.swap_remove(first);
            now = end;
            rest.ended(run, Verdict::Final);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn load(rate: Bitrate, processors: NonZero<usize>) -> f64 {
    let rate = rate.bits_per_second() as f64 / A_PROCESSOR_CARRIES;
    (A_PLANET_TAKES + rate) / processors.get() as f64
}

/// Bits per second. Leaves three quarters of the processor free, so that packets are on time.
const A_PROCESSOR_CARRIES: f64 = 1e9;

/// Processors for a planet, its programs and sampling, independent of the rate.
const A_PLANET_TAKES: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn schedule(rates: &[&str], jobs: &str) -> Schedule {
        let runs = rates.iter().map(|rate| rate.parse().unwrap()).enumerate();
        Schedule::new(runs, jobs.parse().unwrap(), NonZero::new(2).unwrap())
    }

    fn all_that_may_begin(schedule: &mut Schedule) -> Vec<usize> {
        std::iter::from_fn(|| schedule.next()).collect()
    }

    #[test]
    fn as_many_begin_as_the_machine_bears() {
        // Two processors: (0.2 + 0.1) / 2 is a share of 0.15 each, and six of them are 0.9.
        assert_eq!(all_that_may_begin(&mut schedule(&["100Mbit"; 9], "auto")).len(), 6);
        // (0.2 + 1) / 2 is 0.6 each.
        assert_eq!(all_that_may_begin(&mut schedule(&["1Gbit"; 9], "auto")), [0]);
        assert_eq!(all_that_may_begin(&mut schedule(&["10Gbit", "1Mbit"], "auto")), [0]);
        assert_eq!(all_that_may_begin(&mut schedule(&["10Gbit"; 9], "3")), [0, 1, 2]);
    }

    #[test]
    fn what_was_invalid_in_company_runs_again_alone_and_one_fewer_at_once() {
        let mut schedule = schedule(&["1Mbit"; 5], "3");
        assert_eq!(all_that_may_begin(&mut schedule), [0, 1, 2]);
        assert_eq!(schedule.ended(1, Verdict::Invalid), Worth::Again);
        assert!(all_that_may_begin(&mut schedule).is_empty());
        assert_eq!(schedule.ended(0, Verdict::Final), Worth::Kept);
        assert_eq!(all_that_may_begin(&mut schedule), [3]);
        assert_eq!(schedule.ended(2, Verdict::Final), Worth::Kept);
        assert_eq!(all_that_may_begin(&mut schedule), [4]);
        assert_eq!(schedule.ended(3, Verdict::Final), Worth::Kept);
        assert!(all_that_may_begin(&mut schedule).is_empty());
        assert_eq!(schedule.ended(4, Verdict::Final), Worth::Kept);
        assert_eq!(all_that_may_begin(&mut schedule), [1]);
        assert_eq!(schedule.ended(1, Verdict::Invalid), Worth::Kept);
        assert!(all_that_may_begin(&mut schedule).is_empty());
    }

    #[test]
    fn who_had_company_only_for_a_while_had_company() {
        let mut schedule = schedule(&["1Mbit"; 2], "2");
        assert_eq!(all_that_may_begin(&mut schedule), [0, 1]);
        assert_eq!(schedule.ended(0, Verdict::Final), Worth::Kept);
        assert_eq!(schedule.ended(1, Verdict::Invalid), Worth::Again);
    }

    #[test]
    fn the_time_left_is_that_of_what_still_runs_and_waits() {
        let lasts = |run| SECOND * [10, 20, 30, 40][run];
        let mut schedule = schedule(&["1Mbit"; 4], "2");
        assert_eq!(schedule.left(lasts), SECOND * 60);
        schedule.next();
        schedule.next();
        schedule.ended(0, Verdict::Final);
        assert_eq!(schedule.left(lasts), SECOND * 60);
        schedule.ended(1, Verdict::Final);
        assert_eq!(schedule.left(lasts), SECOND * 40);
    }

    #[test]
    fn jobs_are_a_number_or_auto() {
        assert_eq!("auto".parse(), Ok(Jobs::Auto));
        assert_eq!("3".parse::<Jobs>().unwrap().to_string(), "3");
        for text in ["0", "-1", "many", ""] {
            assert!(text.parse::<Jobs>().unwrap_err().contains("auto or a number"), "{text}");
        }
    }
}
