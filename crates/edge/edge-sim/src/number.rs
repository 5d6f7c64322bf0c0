//! Maps whose keys are hashes already, so that they are not hashed again.

use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type ByNumber = BuildHasherDefault<Number>;

/// Uses a number as its own hash.
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
