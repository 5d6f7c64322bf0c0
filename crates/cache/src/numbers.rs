//! Tables by keys or by objects' numbers, which are hashes already: to hash those again as text is hashed takes longer than the look-up.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Spreads numbers over a table by a factor of its own, so that who chooses numbers does not know which of them come to lie together.
#[derive(Debug, Clone)]
pub struct Spread {
    factor: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { factor: RandomState::new().hash_one(()) | 1 }
    }
}

impl BuildHasher for Spread {
    type Hasher = Spreading;

    fn build_hasher(&self) -> Spreading {
        Spreading { factor: self.factor, state: 0 }
    }
}

/// One number on its way into a table.
#[derive(Debug)]
pub struct Spreading {
    factor: u64,
    state: u64,
}

impl Hasher for Spreading {
    fn write_u64(&mut self, number: u64) {
        // The upper bits of the product depend on all of the number's, and tables take the lower ones.
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
            let (spread, mut counts) = (Spread::default(), [0_u32; 256]);
            for number in 0..65_536_u64 {
                let hash = spread.hash_one(number << shift);
                counts[usize::try_from(hash % 256).unwrap()] += 1;
            }
            // 256 on average each. Multiples of a factor near a simple fraction leave some places empty, which costs nothing.
            assert!(counts.iter().all(|&count| count < 2048), "{shift}: {counts:?}");
        }
    }
}
