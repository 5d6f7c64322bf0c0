//! A hasher for keys and object numbers, which are hashes already.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Multiplies by a random factor, so that clients cannot cause collisions.
#[derive(Debug, Clone)]
pub struct U64Hasher {
    factor: u64,
}

impl Default for U64Hasher {
    fn default() -> Self {
        Self { factor: RandomState::new().hash_one(()) | 1 }
    }
}

impl BuildHasher for U64Hasher {
    type Hasher = Spreading;

    fn build_hasher(&self) -> Spreading {
        Spreading { factor: self.factor, state: 0 }
    }
}

/// The hasher of a single number.
#[derive(Debug)]
pub struct Spreading {
    factor: u64,
    state: u64,
}

impl Hasher for Spreading {
    fn write_u64(&mut self, number: u64) {
        // The upper bits depend on all bits of the number, and tables use the lower bits: swap.
        self.state = (self.state ^ number).wrapping_mul(self.factor).swap_bytes();
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_anywhere_are_spread() {
        for shift in [0, 20, 48] {
            let (spread, mut counts) = (U64Hasher::default(), [0_u32; 256]);
            for number in 0..65_536_u64 {
                let hash = spread.hash_one(number << shift);
                counts[usize::try_from(hash % 256).unwrap()] += 1;
            }
            assert!(counts.iter().all(|&count| count < 2048), "{shift}: {counts:?}");
        }
    }
}
