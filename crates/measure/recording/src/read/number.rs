//! Numbers in data files: stricter than Rust, which also reads "inf", "nan" and "infinity".

use crate::Unit;

/// Plain or scientific, finite, not negative. `None` for anything else.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    plain(text).or_else(|| any(text))
}

/// Digits with an optional point. Up to 2^53 and 10^22 digits and power of ten are exact in f64, so
/// that one division rounds correctly (Clinger 1990).
fn plain(text: &[u8]) -> Option<f64> {
    leading(text).filter(|&(_, length)| length == text.len()).map(|(value, _)| value)
}

/// Up to seven characters before a "\n", with their length. Processes eight bytes together without
/// branches, because neither the length nor the point is predictable; all other input is left to
/// [`leading`].
pub(super) fn short_line(text: &[u8]) -> Option<(f64, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk()?);
    // In little-endian order the first byte is the lowest.
    let length = place(word, b'\n').filter(|&length| length > 0)?;
    // The number at the upper end, with "0" before it.
    let filled = (word << (64 - 8 * length)) | (ZEROS >> (8 * length));
    let (digits, decimals) = match place(filled, b'.') {
        // The digits before the point move into its place.
        Some(point) => {
            let (before, after) = (filled & ((1 << (8 * point)) - 1), filled >> (8 * point) >> 8);
            ((before << 8) | (after << (8 * point) << 8) | u64::from(b'0'), 7 - point)
        }
        None => (filled, 0),
    };
    let values = digits ^ ZEROS;
    // A digit is 0..=9 now: adding 6 leaves the upper half of its byte empty.
    let is_digits = (values | values.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0 == 0;
    if !is_digits || length == usize::from(decimals > 0 || digits != filled) {
        return None;
    }
    // Pairs, then fours, then all eight.
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    let number = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF;
    Some((number as f64 / POWERS_OF_TEN[decimals], length))
}

fn place(word: u64, byte: u8) -> Option<usize> {
    let different = word ^ (u64::from(byte) * 0x0101_0101_0101_0101);
    // The lowest bit that is set belongs to the first byte that is zero (Mycroft).
    let zeros = different.wrapping_sub(0x0101_0101_0101_0101) & !different & 0x8080_8080_8080_8080;
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

/// Eight times "0".
const ZEROS: u64 = 0x3030_3030_3030_3030;

pub(super) fn leading(text: &[u8]) -> Option<(f64, usize)> {
    let (mut digits, mut point, mut length) = (0_u64, None, 0);
    for &byte in text {
        match byte {
            // 15 digits stay below 2^53; the point makes 16 bytes.
            b'0'..=b'9' if length < 16 => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(length),
            b'0'..=b'9' => return None,
            _ => break,
        }
        length += 1;
    }
    let count = length - usize::from(point.is_some());
    if count == 0 || count > 15 {
        return None;
    }
    let decimals = point.map_or(0, |at| length - 1 - at);
    Some((digits as f64 / POWERS_OF_TEN[decimals], length))
}

/// The nearest, without a detour through f64. `None` for anything else, and for too large numbers.
pub(super) fn nanoseconds(text: &[u8], unit: Unit) -> Option<u64> {
    let mut places = match unit {
        Unit::Ns => 0,
        Unit::Us => 3,
        Unit::Ms => 6,
        Unit::S => 9,
    };
    let point = memchr::memchr(b'.', text);
    let (whole, fraction) = match point {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[][..]),
    };
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let add = |sum: u64, digit: u8| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    let mut sum = whole.iter().try_fold(0, |sum, &digit| add(sum, digit))?;
    let mut rest = fraction.iter();
    while places > 0 {
        sum = add(sum, rest.next().copied().unwrap_or(b'0'))?;
        places -= 1;
    }
    let is_up = rest.next().is_some_and(|&digit| digit >= b'5');
    sum.checked_add(u64::from(is_up))
}

/// Such as "12.5ms" or "12.5 ms", in milliseconds: ns, us, ms, s, m (or min) or h.
pub(super) fn with_unit(text: &[u8]) -> Option<f64> {
    let begin = text.iter().position(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)?;
    let (value, unit) = text.split_at(begin);
    let value = parse(value.trim_ascii_end())?;
    let (unit, factor) = match unit {
        b"m" | b"min" => (Unit::S, 60.0),
        b"h" => (Unit::S, 3600.0),
        // The signs for micro and for the Greek letter.
        b"\xC2\xB5s" | b"\xCE\xBCs" => (Unit::Us, 1.0),
        unit => (std::str::from_utf8(unit).ok()?.parse().ok()?, 1.0),
    };
    unit.milliseconds(value * factor)
}

fn any(text: &[u8]) -> Option<f64> {
    let is_of_numbers = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E');
    if !text.iter().all(is_of_numbers) {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

const POWERS_OF_TEN: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings() {
        let cases = [
            ("12", 12.0),
            ("0.1", 0.1),
            ("12.", 12.0),
            (".5", 0.5),
            ("1e3", 1000.0),
            ("+1.5E-3", 0.0015),
            ("123456789012345", 123_456_789_012_345.0),
            ("0.30000000000000004", 0.300_000_000_000_000_04),
            ("1.269999999999999929e+01", 12.7),
        ];
        for (text, value) in cases {
            assert_eq!(parse(text.as_bytes()), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in
            ["", ".", "-1", "nan", "inf", "infinity", "1e999", "1,5", "1_000", "0x10", "12ms", "1 2", "--1"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"1\xff"), None);
    }

    #[test]
    fn numbers_with_units() {
        for (text, ms) in
            [("12ms", 12.0), ("1.5 s", 1500.0), ("880.00us", 0.88), ("5\u{b5}s", 0.005), ("2m", 120_000.0)]
        {
            assert_eq!(with_unit(text.as_bytes()), Some(ms), "{text}");
        }
        for text in ["12", "ms", "12 kg", "-1ms", "1e3", ""] {
            assert_eq!(with_unit(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn whole_nanoseconds() {
        let of = |text: &str, unit| nanoseconds(text.as_bytes(), unit);
        assert_eq!(of("1741944413.123456789", Unit::S), Some(1_741_944_413_123_456_789));
        assert_eq!(of("1741944413", Unit::S), Some(1_741_944_413_000_000_000));
        assert_eq!(
            (of("1.5", Unit::Us), of("0.4", Unit::Ns), of("0.5", Unit::Ns)),
            (Some(1500), Some(0), Some(1))
        );
        assert_eq!((of("2.", Unit::Ms), of("0.0000014999", Unit::Ms)), (Some(2_000_000), Some(1)));
        for text in ["", ".5", "1e3", "-1", "1.2.3", "99999999999999999999", "20000000000"] {
            assert_eq!(of(text, Unit::S), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_case_rounds_as_rust_does(text in "[0-9]{0,9}\\.?[0-9]{0,9}") {
            prop_assert_eq!(parse(text.as_bytes()), text.parse::<f64>().ok(), "{}", text);
        }

        #[test]
        fn every_printed_number_is_read_back(value in 0.0..f64::MAX) {
            prop_assert_eq!(parse(format!("{value:e}").as_bytes()), Some(value));
        }
    }

    proptest::proptest! {
        #[test]
        fn a_short_line_is_what_the_long_way_finds(text in "[0-9.]{0,9}[\\n \\-a0-9]{0,3}\\n[0-9\\n]{8}") {
            let end = text.find('\n').unwrap();
            let found = short_line(text.as_bytes());
            if let Some((value, length)) = found {
                proptest::prop_assert_eq!(length, end);
                proptest::prop_assert_eq!(Some(value), plain(&text.as_bytes()[..end]));
            }
            let is_short = end <= 7 && plain(&text.as_bytes()[..end]).is_some();
            proptest::prop_assert_eq!(found.is_some(), is_short, "{:?}", text);
        }
    }
}
