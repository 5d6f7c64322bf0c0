//! How long a request waits for the direct route before it races another one: the smoothed connect
//! time plus four times its deviation, as the TCP retransmission timeout (RFC 6298).

use std::time::Duration;

/// The connect times of one origin address.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Patience {
    /// The smoothed time and deviation in seconds; `None` before the first connect.
    learned: Option<(f64, f64)>,
}

impl Patience {
    /// Records the duration of a connect.
    pub fn learn(&mut self, took: Duration) {
        let took = took.as_secs_f64();
        self.learned = Some(match self.learned {
            None => (took, took / 2.0),
            Some((mean, deviation)) => {
                (mean + (took - mean) / 8.0, deviation + ((took - mean).abs() - deviation) / 4.0)
            }
        });
    }

    /// How long to wait for the direct route before racing another one.
    pub fn delay(&self) -> Duration {
        let Some((mean, deviation)) = self.learned else { return UNKNOWN };
        Duration::from_secs_f64(mean + (4.0 * deviation).max(LEAST.as_secs_f64())).min(MOST)
    }
}

/// The connection attempt delay of Happy Eyeballs (RFC 8305, section 8).
const UNKNOWN: Duration = Duration::from_millis(250);

/// Schedulers and queues cause delays of this size (G in RFC 6298). With constant connect times,
/// the deviation is 0, and each slight delay would start a race.
const LEAST: Duration = Duration::from_millis(10);

/// A lost SYN is retransmitted after a second; a detour must connect before that.
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
        // The deviation is 30.
        patience.learn(ms(80));
        assert_eq!(patience.delay(), ms(200));
        // The deviation is 30 + (80 - 30) / 4 = 42.5, the mean 90.
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
