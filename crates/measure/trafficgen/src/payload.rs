//! The payload of bulk transfers: both ends derive each byte from its offset.
//!
//! One block of noise is repeated; the first 8 bytes of each copy are the block number.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) struct Pattern {
    block: Vec<u8>,
    number: u64,
}

impl Pattern {
    pub(crate) fn new() -> Self {
        let mut block = vec![0; BLOCK];
        Xoshiro256PlusPlus::seed_from_u64(SEED).fill_bytes(&mut block);
        let mut pattern = Self { block, number: 0 };
        pattern.turn_to(0);
        pattern
    }

    pub(crate) fn at(&mut self, offset: u64) -> &[u8] {
        let (number, within) = (offset / BLOCK as u64, offset % BLOCK as u64);
        if number != self.number {
            self.turn_to(number);
        }
        &self.block[usize::try_from(within).expect("it is less than BLOCK")..]
    }

    pub(crate) fn count_bad(&mut self, mut offset: u64, mut received: &[u8]) -> u64 {
        let mut bad = 0;
        while !received.is_empty() {
            let expected = self.at(offset);
            let (now, later) = received.split_at(expected.len().min(received.len()));
            let expected = &expected[..now.len()];
            if now != expected {
                bad += now.iter().zip(expected).filter(|(is, must)| is != must).count() as u64;
            }
            offset += now.len() as u64;
            received = later;
        }
        bad
    }

    fn turn_to(&mut self, number: u64) {
        self.number = number;
        self.block[..8].copy_from_slice(&number.to_be_bytes());
    }
}

/// One write. It fits into a core's private cache; blocks of half the size use a fifth more CPU
/// time.
pub(crate) const BLOCK: usize = 256 * 1024;

/// Must be equal at both ends; the value is arbitrary.
const SEED: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn payload() -> Vec<u8> {
        let mut pattern = Pattern::new();
        let mut bytes = Vec::new();
        while bytes.len() < 3 * BLOCK + 100 {
            bytes.extend_from_slice(pattern.at(bytes.len() as u64));
        }
        bytes
    }

    #[test]
    fn what_is_right_is_right_at_any_offset_in_pieces_of_any_size() {
        let payload = payload();
        let mut pattern = Pattern::new();
        for size in [1000, BLOCK - 1, BLOCK, BLOCK + 1, payload.len()] {
            let pieces = payload.chunks(size).enumerate();
            let bad: u64 = pieces.map(|(index, piece)| pattern.count_bad((index * size) as u64, piece)).sum();
            assert_eq!(bad, 0, "{size}");
        }
    }

    #[test]
    fn each_wrong_byte_counts() {
        let mut payload = payload();
        for at in [0, 77, BLOCK - 1, BLOCK, 3 * BLOCK + 99] {
            payload[at] ^= 0x10;
        }
        assert_eq!(Pattern::new().count_bad(0, &payload), 5);
    }

    #[test]
    fn a_block_in_the_place_of_another_is_seen() {
        let payload = payload();
        // Blocks differ only in their number, and numbers below 256 differ in their last byte.
        assert_eq!(Pattern::new().count_bad(0, &payload[BLOCK..2 * BLOCK]), 1);
        // A missing byte shifts all bytes that follow. Two bytes of noise differ with probability 255/256.
        let bad = Pattern::new().count_bad(1000, &payload[1001..BLOCK]);
        assert!(bad > (BLOCK as u64 - 1001) * 99 / 100, "{bad}");
    }
}
