//! Hashes of cache keys, identical in all data centres, so that all map a key to the same one.

/// A hash of a cache key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash(pub u64);

impl KeyHash {
    /// Hashes the bytes of a key, independently of the process and the machine.
    pub fn of(key: &[u8]) -> Self {
        let mut state = fold(key.len() as u64 ^ START, FACTOR);
        let mut words = key.chunks_exact(8);
        for word in &mut words {
            let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
            state = fold(state ^ word, FACTOR);
        }
        let mut rest = [0; 8];
        rest[..words.remainder().len()].copy_from_slice(words.remainder());
        // Folded again, because the last bytes would be mixed less.
        Self(fold(fold(state ^ u64::from_le_bytes(rest), FACTOR), START))
    }
}

/// Each bit of the result depends on all bits of both numbers.
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// Odd, without a pattern: fractional parts of the golden ratio and of the square root of 2.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const START: u64 = 0x6a09_e667_f3bc_c909;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_same_hash_for_ever() {
        // A change of these numbers is a change of the protocol. They were computed in Python.
        assert_eq!(KeyHash::of(b"").0, 0x4fa5_8170_7f93_f007);
        assert_eq!(KeyHash::of(b"https://www.shop.example/static/app.js").0, 0x7c29_2bca_926c_ef23);
    }

    #[test]
    fn keys_that_differ_in_one_bit_differ_in_half_of_the_hash() {
        let base = *b"http://shop.example/1234";
        let mut differing = 0;
        for bit in 0..base.len() * 8 {
            let mut other = base;
            other[bit / 8] ^= 1 << (bit % 8);
            differing += (KeyHash::of(&base).0 ^ KeyHash::of(&other).0).count_ones();
        }
        // 192 pairs of 64 bits, half of which differ: a standard deviation of 4 / sqrt(192) = 0.29.
        let mean = f64::from(differing) / 192.0;
        assert!((mean - 32.0).abs() < 4.0 * 0.29, "{mean}");
    }
}
