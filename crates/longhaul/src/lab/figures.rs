//! Amounts, rates and times of a running planet as a person reads them: three digits that count, and a unit.

/// "12.3 MB".
pub(crate) fn bytes(bytes: u64) -> String {
    scaled(whole(bytes), &[("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)])
}

/// "94.1 Mbit/s".
pub(crate) fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, &[("bit/s", 1.0), ("Kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)])
}

/// "36.3 ms", of microseconds.
pub(crate) fn delay(microseconds: f64) -> String {
    scaled(microseconds, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)])
}

/// "8.2 s", "12 min 03 s", "3 h 05 min".
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a planet's age is far below 2^53 s"
)]
pub(super) fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        _ if seconds < 60.0 => format!("{seconds:.1} s"),
        ..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// "0", "0.4", "12".
pub(super) fn number(number: f64) -> String {
    let decimals = usize::from(number > 0.0 && number < 10.0);
    format!("{number:.decimals$}")
}

/// "1 host", "2 hosts".
pub(crate) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A counter as a number that can be divided.
#[expect(clippy::cast_precision_loss, reason = "what is shown has three digits")]
pub(crate) fn whole(counter: u64) -> f64 {
    counter as f64
}

/// `value` in the largest of ascending units of which it is at least one.
fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    // What would be rounded to 1000 of a unit is 1 of the next.
    let unit = units.iter().rev().find(|(_, scale)| value >= 0.9995 * scale).or(units.first());
    let &(name, scale) = unit.unwrap_or(&("", 1.0));
    let value = value / scale;
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ if scale > 1.0 => 2,
        _ => usize::from(value.fract() != 0.0),
    };
    format!("{value:.decimals$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(
            [0, 1, 999, 1000, 12_345, 999_499, 999_999].map(bytes),
            ["0 B", "1 B", "999 B", "1.00 KB", "12.3 KB", "999 KB", "1.00 MB"]
        );
        assert_eq!(
            [0.0, 94_123_456.0, 1e9, 2.5e12].map(rate),
            ["0 bit/s", "94.1 Mbit/s", "1.00 Gbit/s", "2500 Gbit/s"]
        );
        assert_eq!([150.0, 36_250.0, 2.0, 0.5].map(delay), ["150 us", "36.2 ms", "2 us", "0.5 us"]);
    }

    #[test]
    fn a_span_is_said_as_clocks_do() {
        assert_eq!(
            [0.0, 8.24, 59.9, 723.0, 11_100.0].map(span),
            ["0.0 s", "8.2 s", "59.9 s", "12 min 03 s", "3 h 05 min"]
        );
    }
}
