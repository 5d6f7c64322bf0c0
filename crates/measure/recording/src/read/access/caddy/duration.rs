//! Lengths of time as Go writes them: "1.2ms", "1m2.5s", "0s".

/// In nanoseconds; `None` for anything else, and for a negative one.
pub(super) fn parse(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut nanos = 0_u64;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (value, after) = rest.split_at(number);
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        nanos = nanos.checked_add(scaled(value, scale(unit)?)?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(nanos)
}

fn scale(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Digits below a nanosecond are cut off.
fn scaled(value: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let mut nanos = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut scale = scale;
    for digit in fraction.bytes() {
        scale /= 10;
        nanos = nanos.checked_add(u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?) * scale)?;
    }
    Some(nanos)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn as_go_writes_them() {
        assert_eq!(parse("1.2ms"), Some(1_200_000));
        assert_eq!(parse("350\u{b5}s"), Some(350_000));
        assert_eq!(parse("1m2.5s"), Some(62_500_000_000));
        assert_eq!(parse("1h0m0.000000001s"), Some(3_600_000_000_001));
        assert_eq!((parse("0s"), parse("17ns")), (Some(0), Some(17)));
    }

    #[test]
    fn what_is_none() {
        for text in
            ["", "5", "-5ms", "ms", "1.2.3s", "1 s", "5 parsecs", "99999999999999999999s", "9999999999h"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
