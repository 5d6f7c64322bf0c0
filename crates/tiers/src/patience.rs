//! How long a request waits for the direct route before another one is tried beside it, learned from the connects before: their smoothed
//! time and four times its deviation, or a scheduler's lateness where that is more, as TCP computes when to send again (RFC 6298).

use std::time::Duration;

/// What the connects to one origin address took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Patience {
    /// Seconds: the smoothed time and its smoothed deviation; `None` before the first connect.
    learned: Option<(f64, f64)>,
}

impl Patience {
    /// A connect took so long.
    pub fn learn(&mut self, took: Duration) {
        let took = took.as_secs_f64();
        self.learned = Some(match self.learned {
            None => (took, took / 2.0),
            Some((mean, deviation)) => {
                (mean + (took - mean) / 8.0, deviation + ((took - mean).abs() - deviation) / 4.0)
            }
        });
    }

    /// After so long nothing is to be expected of the direct route that another would not bring sooner.
    pub fn delay(&self) -> Duration {
        let Some((mean, deviation)) = self.learned else { return UNKNOWN };
        Duration::from_secs_f64(mean + (4.0 * deviation).max(LEAST.as_secs_f64())).min(MOST)
    }
}

/// As long as Happy Eyeballs waits for an address of which nothing is known (RFC 8305, section 8).
const UNKNOWN: Duration = Duration::from_millis(250);

/// More than the smoothed time: schedulers and queues are late by as much without anything being wrong (G in RFC 6298, and RFC 8305, section 5). Where
/// all connects take the same, a deviation says nothing, and each that is a little late would be one too many.
const LEAST: Duration = Duration::from_millis(10);

/// A SYN that was lost is sent again after a second; a detour is to be there before that.
const MOST: Duration = Duration::from_millis(900);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_delay_is_that_of_rfc_6298() {
        let mut patience = Patience::default();
        assert_eq!(patience.delay(), ms(250));
        // The first: 80 + 4 x 40.
        patience.learn(ms(80));
        assert_eq!(patience.delay(), ms(240));
        // The second, of 80 as well: the deviation is 30.
        patience.learn(ms(80));
        assert_eq!(patience.delay(), ms(200));
        // One of 160: the deviation is 30 + (80 - 30) / 4 = 42.5, the mean 90.
        patience.learn(ms(160));
        assert_eq!(patience.delay(), ms(260));
    }

    #[test]
    fn the_delay_has_bounds() {
        // 1 and 4 x 0.5 ms are less than 1 and 10.
        for (took, expected) in [(ms(1), ms(11)), (ms(5000), MOST)] {
            let mut patience = Patience::default();
            patience.learn(took);
            assert_eq!(patience.delay(), expected);
        }
    }

    #[test]
    fn one_that_is_a_little_late_is_waited_for_where_all_are_alike() {
        let mut patience = Patience::default();
        (0..1000).for_each(|_| patience.learn(ms(115)));
        assert_eq!(patience.delay(), ms(125));
    }
}
