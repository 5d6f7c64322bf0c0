//! A list of delays in bounded memory. Pure.

use std::time::Duration;

use claim::Delay;

use crate::clock::nanoseconds;

#[derive(Debug, Clone, Default)]
pub(crate) struct Delays(Vec<Delay>);

impl Delays {
    pub(crate) fn push(&mut self, from: Duration, until: Duration, delay: Duration) {
        let [from_ns, until_ns, delay_ns] = [from, until, delay].map(nanoseconds);
        self.0.push(Delay { from_ns, until_ns: until_ns.max(from_ns), delay_ns });
        if self.0.len() >= MOST {
            self.halve();
        }
    }

    pub(crate) fn all(&self) -> Vec<Delay> {
        self.0.clone()
    }

    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.0.iter().map(|delay| delay.delay_ns).sum())
    }

    fn halve(&mut self) {
        self.0 = self
            .0
            .chunks(2)
            .map(|pair| Delay {
                from_ns: pair.iter().map(|delay| delay.from_ns).min().unwrap_or(0),
                until_ns: pair.iter().map(|delay| delay.until_ns).max().unwrap_or(0),
                delay_ns: pair.iter().map(|delay| delay.delay_ns).sum(),
            })
            .collect();
    }
}

/// 24 bytes each: at one delay every 10 ms, hours take 1.5 MB per host.
const MOST: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_no_delay_is_lost() {
        let mut delays = Delays::default();
        let us = Duration::from_micros;
        for at in 0..1_000_000 {
            delays.push(us(at * 10), us(at * 10 + 10), us(3));
        }
        assert!(delays.all().len() < MOST);
        assert_eq!(delays.total(), us(3_000_000));
        let all = delays.all();
        assert_eq!((all[0].from_ns, all[all.len() - 1].until_ns), (0, 10_000_000_000));
        assert!(all.windows(2).all(|pair| pair[0].until_ns <= pair[1].from_ns + 1));
    }
}
