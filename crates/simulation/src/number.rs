//! Maps by numbers that are hashes already, so that nothing is hashed twice.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys are hashes.
pub(crate) type ByNumber = BuildHasherDefault<Number>;

/// The hash of a number is the number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
