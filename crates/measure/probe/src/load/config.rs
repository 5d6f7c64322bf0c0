//! Number and schedule of requests, and the end of a run. The only place of the run's defaults.

use std::{num::NonZeroU32, time::Duration};

use units::Frequency;

use super::{replay::Replay, schedule::Arrival};
use crate::{Catalogue, client};

/// Number and schedule of requests, and the end of a run.
#[derive(Debug, Clone)]
pub struct Config {
    /// Determines when a request starts.
    pub pace: Pace,
    /// No request starts after this. `None`: no limit.
    pub duration: Option<Duration>,
    /// Requests per start: those of a page are sent concurrently on separate connections. `None`:
    /// one request.
    pub page: Option<NonZeroU32>,
    /// Selects an object for each request; its number replaces the placeholder in the URL. `None`:
    /// the URL is used unchanged.
    pub catalogue: Option<Catalogue>,
    /// Maximum number of starts, each a page or a request with its redirects. `None`: no limit.
    /// Without any limit, the run lasts until it is stopped.
    pub count: Option<u64>,
    /// How long requests in flight may take after the last start; then they are aborted and fail.
    pub grace: Duration,
    /// Seed of a Poisson schedule; the same seed makes the same schedule.
    pub seed: u64,
    /// Delay of an open loop's schedule, to interleave concurrent runs.
    pub offset: Duration,
    /// Maximum number of requests in flight. A request beyond it, or beyond the limit of open
    /// files, is not sent, which makes the run invalid.
    pub max_in_flight: usize,
    /// The run is invalid if more than one request in a thousand starts later than this after its
    /// intended time.
    pub lateness_limit: Duration,
    /// The run is invalid if the generator's thread uses more than this share of a core.
    pub cpu_limit: f64,
    /// How each request is made.
    pub client: client::Config,
}

/// Determines when a request starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// Open loop: a schedule that is independent of earlier requests, like users.
    Open {
        /// Requests per second.
        rate: Frequency,
        /// Their spacing.
        arrival: Arrival,
    },
    /// Open loop: the schedule of a recording. The run ends with it, unless another limit ends it
    /// first.
    Replay(Replay),
    /// Closed loop: each worker starts a request when its last one is done. Measures throughput,
    /// but hides stalls: a stall of a second is one slow sample per worker ("coordinated
    /// omission").
    Closed {
        /// Workers.
        concurrency: usize,
    },
}

impl Config {
    /// Default duration: enough for a hundred requests at the default rate.
    pub const DEFAULT_DURATION: Duration = Duration::from_secs(10);

    /// Default rate of a run that lasts for days.
    pub fn watch_rate() -> Frequency {
        "1/s".parse().expect("1/s is a frequency")
    }

    /// Default rate: few enough requests to do no harm.
    pub fn default_rate() -> Frequency {
        "10/s".parse().expect("10/s is a frequency")
    }

    pub(crate) fn requests_a_start(&self) -> u32 {
        self.page.map_or(1, NonZeroU32::get)
    }

    /// The configuration of one of several concurrent runs, counted from 0: constant schedules are
    /// interleaved, random ones independent.
    #[must_use]
    pub fn turn(&self, number: u32, of: u32) -> Self {
        let mut config = self.clone();
        match self.pace {
            Pace::Open { rate, arrival: Arrival::Constant } => {
                let interval = Duration::try_from_secs_f64(1.0 / rate.per_second()).unwrap_or_default();
                config.offset = interval * number / of.max(1);
            }
            Pace::Open { arrival: Arrival::Poisson, .. } => {
                config.seed = self.seed.wrapping_add(number.into());
            }
            Pace::Replay(_) | Pace::Closed { .. } => {}
        }
        config
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            pace: Pace::Open { rate: Self::default_rate(), arrival: Arrival::default() },
            duration: Some(Self::DEFAULT_DURATION),
            page: None,
            catalogue: None,
            count: None,
            grace: Duration::from_secs(30),
            seed: 1,
            offset: Duration::ZERO,
            max_in_flight: 10_000,
            lateness_limit: Duration::from_millis(5),
            cpu_limit: 0.9,
            client: client::Config::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_side_by_side_take_turns() {
        let config = |pace| Config { pace, ..Config::default() };
        let rate = "100/s".parse().unwrap();
        let constant = config(Pace::Open { rate, arrival: Arrival::Constant });
        let offsets = [0, 1, 2, 3].map(|number| constant.turn(number, 4).offset.as_micros());
        assert_eq!(offsets, [0, 2500, 5000, 7500]);
        assert_eq!(constant.turn(3, 4).seed, 1);
        let poisson = config(Pace::Open { rate, arrival: Arrival::Poisson });
        let turns = [0, 1].map(|number| poisson.turn(number, 2)).map(|turn| (turn.seed, turn.offset));
        assert_eq!(turns, [(1, Duration::ZERO), (2, Duration::ZERO)]);
    }
}
