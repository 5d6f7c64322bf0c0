//! Configuration of pings. The only place of its defaults.

use std::time::Duration;

use super::Error;

/// How pings are sent.
#[derive(Debug, Clone)]
pub struct Config {
    /// Pings to each target, at least 1.
    pub count: u32,
    /// Delay before the first round.
    pub delay: Duration,
    /// Time between rounds; each target gets one ping per round. More than 0.
    pub interval: Duration,
    /// After this time a ping is lost, even if a reply arrives later.
    pub timeout: Duration,
    /// Bytes of payload after the 8 bytes of ICMP header, at most [`Self::LARGEST_SIZE`].
    pub size: u16,
}

impl Config {
    /// The payload of an IPv4 packet of 65 535 bytes, without its header of 20 bytes and ICMP's of
    /// 8.
    pub const LARGEST_SIZE: u16 = 65_507;

    pub(super) fn check(&self, targets: usize) -> Result<(), Error> {
        if self.interval.is_zero() {
            return Err(Error::Interval);
        }
        // A reply identifies its ping with 16 bits, so no more may be in flight.
        let rounds = self.timeout.as_nanos().div_ceil(self.interval.as_nanos()).min(u128::from(self.count));
        let under_way = rounds.saturating_mul(targets as u128);
        if under_way > REMEMBERED as u128 {
            return Err(Error::TooMany { under_way, most: REMEMBERED });
        }
        Ok(())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            count: 10,
            delay: Duration::ZERO,
            interval: Duration::from_secs(1),
            timeout: Duration::from_secs(2),
            size: 56,
        }
    }
}

/// Pings that a 16-bit sequence number can distinguish.
pub(super) const REMEMBERED: usize = 1 << 16;
