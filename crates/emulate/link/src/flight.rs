//! Propagation, jitter and the order of arrival.

use std::time::Duration;

use units::Probability;

use crate::{Config, Order, random::Random};

#[derive(Debug)]
pub(crate) struct Flight {
    jitter: Random,
    last_due: Duration,
}

impl Flight {
    pub(crate) fn new(seed: u64) -> Self {
        Self { jitter: Random::new(seed, *b"jitter  "), last_due: Duration::ZERO }
    }

    /// An `early` segment skips the propagation delay and overtakes earlier segments.
    pub(crate) fn due(&mut self, config: &Config, departure: Duration, early: bool) -> Duration {
        if early {
            return departure;
        }
        let (delay, order) = match &config.jitter {
            Some(jitter) => (jitter.draw(config.propagation, &mut self.jitter), jitter.order),
            None => (config.propagation, Order::Kept),
        };
        let due = departure.saturating_add(delay);
        self.last_due = self.last_due.max(due);
        match order {
            Order::Kept => self.last_due,
            Order::Free => due,
        }
    }
}

pub(crate) fn least(config: &Config) -> Duration {
    match &config.jitter {
        _ if config.reorder > Probability::ZERO => Duration::ZERO,
        Some(jitter) => jitter.least(config.propagation),
        None => config.propagation,
    }
}
