//! A number as data files write it: stricter than Rust, which also reads "inf", "nan" and "infinity".

/// The value of a plain or scientific decimal: finite, not negative. `None` for anything else.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    plain(text).or_else(|| any(text))
}

/// The fast case, digits with perhaps a point. Up to 2^53 and 10^22 both the digits and the power of ten are exact in
/// f64, so that one division rounds correctly (Clinger 1990, "How to read floating point numbers accurately").
fn plain(text: &[u8]) -> Option<f64> {
    // 15 digits stay below 2^53; the point makes 16 bytes.
    if text.len() > 16 {
        return None;
    }
    let (mut digits, mut point) = (0_u64, None);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let count = text.len() - usize::from(point.is_some());
    if count == 0 || count > 15 {
        return None;
    }
    let decimals = point.map_or(0, |at| text.len() - 1 - at);
    Some(digits as f64 / POWERS_OF_TEN[decimals])
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
}
