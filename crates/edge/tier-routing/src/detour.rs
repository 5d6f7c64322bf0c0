//! Selects the data centre through which an origin is reached if the direct route fails.
//!
//! With latency l and a share p of successful requests, the expected time is l + cost (1 - p) / p,
//! where cost is the time until a failure is detected. For an untried data centre p is 1/2.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use crate::{DataCentreId, Renumbering};

/// The results of detours, by origin address and data centre.
#[derive(Debug, Clone, Default)]
pub struct Detours {
    known: BTreeMap<SocketAddr, BTreeMap<DataCentreId, Known>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    successes: u32,
    failures: u32,
    latency: Option<Duration>,
    at: Duration,
}

impl Detours {
    /// Records a response after `latency`.
    pub fn worked(&mut self, now: Duration, address: SocketAddr, centre: DataCentreId, latency: Duration) {
        let known = self.known(now, address, centre);
        known.successes += 1;
        known.latency = Some(known.latency.map_or(latency, |before| (before * 7 + latency) / 8));
        known.fade();
    }

    /// Records that no response arrived.
    pub fn failed(&mut self, now: Duration, address: SocketAddr, centre: DataCentreId) {
        let known = self.known(now, address, centre);
        known.failures += 1;
        known.fade();
    }

    pub(crate) fn renumbered(&self, to: &Renumbering) -> Self {
        let renumber = |centres: &BTreeMap<DataCentreId, Known>| {
            centres.iter().filter_map(|(&id, &known)| Some((to.of(id)?, known))).collect()
        };
        Self { known: self.known.iter().map(|(&address, centres)| (address, renumber(centres))).collect() }
    }

    /// The expected time through a data centre. `guess` is the latency assumed before the first
    /// response.
    pub fn expected(
        &self,
        now: Duration,
        address: SocketAddr,
        centre: DataCentreId,
        guess: Duration,
    ) -> Duration {
        let known = self.known.get(&address).and_then(|centres| centres.get(&centre)).copied();
        let known = known.filter(|known| now.saturating_sub(known.at) < LIFETIME).unwrap_or_default();
        let (successes, failures) = (f64::from(known.successes + 1), f64::from(known.failures + 1));
        known.latency.unwrap_or(guess) + FAILURE_COSTS.mul_f64(failures / successes)
    }

    fn known(&mut self, now: Duration, address: SocketAddr, centre: DataCentreId) -> &mut Known {
        if self.known.len() >= MOST && !self.known.contains_key(&address) {
            let newest =
                |centres: &BTreeMap<DataCentreId, Known>| centres.values().map(|known| known.at).max();
            let oldest = self.known.iter().min_by_key(|(_, centres)| newest(centres)).map(|(&key, _)| key);
            oldest.map(|key| self.known.remove(&key));
        }
        let known = self.known.entry(address).or_default().entry(centre).or_default();
        if now.saturating_sub(known.at) >= LIFETIME {
            *known = Known::default();
        }
        known.at = now;
        known
    }
}

impl Known {
    fn fade(&mut self) {
        if self.successes + self.failures >= REMEMBERED {
            self.successes /= 2;
            self.failures /= 2;
        }
    }
}

/// A lost SYN is detected after a second, when it is retransmitted.
const FAILURE_COSTS: Duration = Duration::from_secs(1);

const REMEMBERED: u32 = 64;

const LIFETIME: Duration = Duration::from_secs(600);

const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    const ME: DataCentreId = DataCentreId(1);

    fn origin() -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], 443))
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn latency_and_reliability_are_one_figure() {
        let mut detours = Detours::default();
        // Untried: one failure per success.
        assert_eq!(detours.expected(ms(0), origin(), ME, ms(80)), ms(1080));
        // 9 of 9: (0 + 1) / (9 + 1) failures.
        for _ in 0..9 {
            detours.worked(ms(0), origin(), ME, ms(60));
        }
        assert_eq!(detours.expected(ms(0), origin(), ME, ms(80)), ms(160));
        for _ in 0..4 {
            detours.failed(ms(0), origin(), ME);
        }
        assert_eq!(detours.expected(ms(0), origin(), ME, ms(80)), ms(560));
        assert_eq!(detours.expected(ms(600_000), origin(), ME, ms(80)), ms(1080));
    }

    #[test]
    fn one_that_got_better_is_trusted_again() {
        let mut detours = Detours::default();
        for _ in 0..1000 {
            detours.failed(ms(0), origin(), ME);
        }
        for _ in 0..128 {
            detours.worked(ms(0), origin(), ME, ms(60));
        }
        assert!(detours.expected(ms(0), origin(), ME, ms(60)) < ms(560), "more works than fails");
    }

    #[test]
    fn the_table_is_bounded() {
        let mut detours = Detours::default();
        for number in 0..1500_u32 {
            let address = SocketAddr::from((number.to_be_bytes(), 443));
            detours.worked(ms(number.into()), address, ME, ms(1));
        }
        assert_eq!(detours.known.len(), MOST);
        assert!(!detours.known.contains_key(&SocketAddr::from((499_u32.to_be_bytes(), 443))));
        assert!(detours.known.contains_key(&SocketAddr::from((500_u32.to_be_bytes(), 443))));
    }
}
