//! Synthetic requests: objects by Zipf's law, visitors distributed like the world's Internet users,
//! and a Poisson process in time.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tier_routing::KeyHash;

use crate::{Error, Request, Source, Zipf, geography::Population, request::BLOCK, zipf::uniform};

/// A synthetic trace. It is deterministic.
#[derive(Debug, Clone)]
pub struct Synthetic {
    law: Zipf,
    requests: u64,
    left: u64,
    gap_ns: f64,
    median_bytes: f64,
    fresh_ns: u64,
    crowd: Population,
    random: Xoshiro256PlusPlus,
    at_ns: f64,
}

impl Synthetic {
    /// A number of requests for objects by this law. Arrivals are a Poisson process with this mean
    /// rate.
    pub fn new(law: Zipf, requests: u64, per_second: f64, seed: u64) -> Self {
        Self {
            law,
            requests,
            left: requests,
            gap_ns: 1e9 / per_second,
            median_bytes: 16_000.0,
            fresh_ns: u64::MAX,
            crowd: Population::world(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            at_ns: 0.0,
        }
    }

    /// Sets the median length of objects, 16 KB by default. The logarithm of the length is normally
    /// distributed with standard deviation [`SPREAD`].
    #[must_use]
    pub fn sized(mut self, median_bytes: u64) -> Self {
        self.median_bytes = median_bytes as f64;
        self
    }

    /// Sets the freshness lifetime of responses, unlimited by default.
    #[must_use]
    pub fn fresh(mut self, fresh_ns: u64) -> Self {
        self.fresh_ns = fresh_ns;
        self
    }

    /// Places all visitors in one city.
    ///
    /// # Errors
    /// Fails if the gazetteer does not contain the city.
    pub fn from_city(mut self, name: &str) -> Result<Self, Error> {
        self.crowd = Population::city(name)?;
        Ok(self)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times and lengths are positive"
    )]
    fn request(&mut self) -> Request {
        let random = &mut self.random;
        // 1 - u is never 0.
        self.at_ns -= (1.0 - uniform(random.next_u64())).ln() * self.gap_ns;
        let rank = self.law.draw(|| uniform(random.next_u64()));
        let key = KeyHash::of(&rank.to_le_bytes()).0;
        let bytes = (self.median_bytes * (SPREAD * normal(key)).exp()).max(1.0) as u64;
        let city = self.crowd.draw(random.next_u64());
        Request { at_ns: self.at_ns as u64, key, bytes, fresh_ns: self.fresh_ns, city }
    }
}

impl Source for Synthetic {
    fn next_block(&mut self) -> Result<Option<Vec<Request>>, Error> {
        let count = self.left.min(BLOCK as u64);
        self.left -= count;
        let block: Vec<_> = (0..count).map(|_| self.request()).collect();
        Ok((!block.is_empty()).then_some(block))
    }

    fn expected(&self) -> Option<u64> {
        Some(self.requests)
    }
}

/// Box and Muller 1958.
fn normal(key: u64) -> f64 {
    let other = KeyHash::of(&key.to_le_bytes()).0;
    let radius = (-2.0 * (1.0 - uniform(other)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(key)).cos()
}

/// The standard deviation of the logarithms of lengths.
pub const SPREAD: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_times_and_cities_are_as_asked_for() {
        let mut source = Synthetic::new(Zipf::new(1_000_000, 0.0), 50_000, 1000.0, 7).sized(10_000);
        let block = source.next_block().unwrap().unwrap();
        assert!(source.next_block().unwrap().is_none());
        assert_eq!(block.len(), 50_000);
        assert!(block.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
        // 50 000 gaps of a millisecond: 50 s, with a deviation of sqrt(50 000) ms = 0.22 s.
        let end = block[49_999].at_ns as f64 / 1e9;
        assert!((end - 50.0).abs() < 5.0 * 0.224, "{end}");
        // Half are below the median, with a deviation of sqrt(50 000) / 2 = 112. 15.87 % are above
        // e^1.5 times the median: 7933 with a deviation of 82.
        let below = block.iter().filter(|request| request.bytes < 10_000).count();
        assert!(below.abs_diff(25_000) < 5 * 112, "{below}");
        let above = block.iter().filter(|request| request.bytes > 44_817).count();
        assert!(above.abs_diff(7933) < 5 * 82, "{above}");
        let again = Synthetic::new(Zipf::new(1_000_000, 0.0), 50_000, 1000.0, 7).sized(10_000).next_block();
        assert_eq!(again.unwrap().unwrap(), block);
    }
}
