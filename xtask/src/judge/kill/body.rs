//! Contents of the bodies: each eight bytes are a function of the object's number and their position.

pub(super) const OBJECTS: u64 = 400;

/// One object in four is up to 6 MB long, the others up to 100 kB.
pub(super) fn length(object: u64) -> u64 {
    let draw = mix(object ^ 0x6c65_6e67_7468);
    if object.is_multiple_of(4) { 500_000 + draw % 5_500_000 } else { draw % 100_000 }
}

pub(super) fn bytes(object: u64, first: u64, end: u64) -> Vec<u8> {
    let words = first / 8..end.div_ceil(8);
    let bytes = words.flat_map(|word| mix(object << 32 | word).to_le_bytes());
    let before = usize::try_from(first % 8).unwrap_or(0);
    let count = usize::try_from(end - first).unwrap_or(usize::MAX);
    bytes.skip(before).take(count).collect()
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
