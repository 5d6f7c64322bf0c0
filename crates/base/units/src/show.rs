//! Formats measured values for the terminal, Markdown and drawings.
//!
//! Three significant digits, a space, and the usual unit: "94.1 Mbit/s", "65.5 KB", "36.2 ms".
//! Units are decimal (KB is 1000 bytes).
//!
//! The web page's `format.ts` is tested against the same `show/cases.json`. Text that must parse
//! again ("64KB") is written by [`Bytes`](crate::Bytes), [`Bitrate`](crate::Bitrate) and
//! [`duration`](crate::duration).

/// A number of bytes: "999 B", "12.3 KB", "1.00 MB".
pub fn bytes(bytes: u64) -> String {
    scaled(as_f64(bytes), &[("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)])
}

/// A rate in bits per second: "94.1 Mbit/s".
pub fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, &[("bit/s", 1.0), ("Kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)])
}

/// A time in seconds: "150 us", "36.2 ms", "1.07 s", "312 s".
pub fn time(seconds: f64) -> String {
    scaled(seconds * 1e6, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)])
}

/// A long duration: "8.2 s", "12 min 03 s", "3 h 05 min".
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and an age is far below 2^53 s"
)]
pub fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        _ if seconds < 59.95 => format!("{:.1} s", seconds.max(0.0)),
        ..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// An estimated duration: "about 8 s", "about 12 min", "about 3.1 h".
pub fn roughly(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("about {:.0} s", seconds.max(0.0).floor()),
        ..5400.0 => format!("about {:.0} min", (seconds / 60.0).round()),
        _ => format!("about {:.1} h", seconds / 3600.0),
    }
}

/// A number with three significant digits and all digits before the point, without unit, for tables
/// with the unit in the heading.
pub fn digits(number: f64) -> String {
    let decimals = match number.abs() {
        0.0 => 0,
        ..0.995 => 3,
        ..9.95 => 2,
        ..99.5 => 1,
        _ => 0,
    };
    grouped(&format!("{number:.decimals$}"), ' ').replacen('-', MINUS, usize::from(number < 0.0))
}

/// A number without unit: an integer in full, any other with three significant digits.
pub fn number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        grouped(&format!("{:.0}", number.abs()), ' ').replacen("", if number < 0.0 { MINUS } else { "" }, 1)
    } else {
        latency(number)
    }
}

/// An event rate: "300/s", "0.42/s".
pub fn frequency(per_second: f64) -> String {
    if per_second.fract() == 0.0 {
        format!("{}/s", number(per_second))
    } else {
        format!("{}/s", digits(per_second))
    }
}

/// A ratio: "2.31x", "200x".
pub fn times(factor: f64) -> String {
    format!("{}x", digits(factor))
}

/// A latency in milliseconds with three or four significant digits, without unit, for tables with
/// the unit in the heading.
pub fn latency(ms: f64) -> String {
    let text = match ms.abs() {
        0.0 => "0".to_owned(),
        1000.0.. => format!("{ms:.0}"),
        10.0.. => format!("{ms:.1}"),
        1.0.. => format!("{ms:.2}"),
        0.1.. => format!("{ms:.3}"),
        0.001.. => format!("{ms:.4}"),
        _ => format!("{ms:.2e}"),
    };
    text.replacen('-', MINUS, usize::from(ms < 0.0))
}

/// A latency difference in milliseconds with its sign, without unit.
pub fn difference(ms: f64) -> String {
    let sign = if ms > 0.0 { "+" } else { "" };
    format!("{sign}{}", latency(ms))
}

/// An integer with spaces as thousands separators.
pub fn count(number: u64) -> String {
    grouped(&number.to_string(), ' ')
}

/// Inserts `space` between the thousands of the integer part.
pub fn grouped(digits: &str, space: char) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::with_capacity(digits.len() + 4);
    for (index, digit) in digits.char_indices() {
        let begins_three = index > 0 && index < whole && (whole - index).is_multiple_of(3);
        if begins_three && text.ends_with(|before: char| before.is_ascii_digit()) {
            text.push(space);
        }
        text.push(digit);
    }
    text
}

/// A count with its noun; the plural appends an s: "1 request", "2 requests".
pub fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A count with its noun and an irregular plural: "1 city", "2 cities".
pub fn plural_of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A percentage with enough digits to distinguish it from 0 and 100, without the sign: 50, 97.1,
/// 99.986.
pub fn percent(percent: f64) -> String {
    let room = percent.min(100.0 - percent);
    // One digit more than the first significant one; less than a billionth of a percent is 0.
    let decimals = if room > 0.0 {
        (0..9_usize)
            .find(|&digits| room * 10_f64.powi(i32::try_from(digits).unwrap_or(0)) >= 9.999_999)
            .unwrap_or(9)
    } else {
        3
    };
    let text = format!("{percent:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share from 0 to 1 as a percentage: "93 %", "0.45 %".
pub fn share(share: f64) -> String {
    format!("{} %", percent(share * 100.0))
}

/// A relative difference as a percentage with two or three significant digits: "26.2 %", "0.81 %".
pub fn relative(share: f64) -> String {
    let percent = (share * 100.0).abs();
    let decimals = match percent {
        1.0.. => 1,
        0.1.. => 2,
        _ => 3,
    };
    format!("{}{percent:.decimals$} %", if share < 0.0 { MINUS } else { "" })
}

/// [`relative`] with its sign.
pub fn signed_relative(share: f64) -> String {
    format!("{}{}", if share > 0.0 { "+" } else { "" }, relative(share))
}

/// A percentile as an ordinal: "91st", "50th", "97.1th".
pub fn ordinal(of: f64) -> String {
    let text = percent(of);
    let suffix = match text.parse::<u64>() {
        Ok(11..=13) | Err(_) => "th",
        Ok(whole) => match whole % 10 {
            1 => "st",
            2 => "nd",
            3 => "rd",
            _ => "th",
        },
    };
    text + suffix
}

/// "a", "a and b", "a, b and c".
pub fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// Replaces control characters and text direction marks, so that text from files prints safely on
/// one line.
pub fn plain(text: &str) -> String {
    let is_control = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect()
}

/// `units` is in ascending order.
fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    // A value that would round to 1000 of a unit is 1 of the next unit.
    let unit = units.iter().rev().find(|(_, scale)| value.abs() >= 0.9995 * scale).or(units.first());
    let &(name, scale) = unit.unwrap_or(&("", 1.0));
    let value = value / scale;
    let decimals = match value.abs() {
        99.95.. => 0,
        // Integers of the smallest unit have no decimals: 12 B, 12 us.
        _ if scale <= 1.0 => usize::from((value - value.round()).abs() > 1e-9),
        9.995.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {name}").replacen('-', MINUS, usize::from(value < 0.0))
}

#[expect(clippy::cast_precision_loss, reason = "what is shown has three digits")]
fn as_f64(counter: u64) -> f64 {
    counter as f64
}

/// U+2212 minus sign, as wide as a plus.
pub const MINUS: &str = "\u{2212}";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn cases(of: &str) -> Vec<(f64, String)> {
        let all: Value = serde_json::from_str(include_str!("show/cases.json")).unwrap();
        let cases = all[of]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| (case[0].as_f64().unwrap(), case[1].as_str().unwrap().to_owned()));
        cases.collect()
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cases are whole")]
    fn every_case_is_written_as_the_page_writes_it() {
        type Show = fn(f64) -> String;
        let shows: [(&str, Show); 9] = [
            ("bytes", |value| bytes(value as u64)),
            ("rate", rate),
            ("time", time),
            ("latency", latency),
            ("difference", difference),
            ("count", |value| count(value as u64)),
            ("percent", percent),
            ("share", share),
            ("ordinal", ordinal),
        ];
        for (name, show) in shows {
            assert!(cases(name).len() > 2, "{name}");
            for (value, text) in cases(name) {
                assert_eq!(show(value), text, "{name} of {value}");
            }
        }
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        let shown = [0.0, 0.0042, 0.99, 1.0, 9.949, 9.95, 42.04, 508.4, 1234.5].map(digits);
        assert_eq!(shown, ["0", "0.004", "0.990", "1.00", "9.95", "9.9", "42.0", "508", "1 234"]);
    }

    #[test]
    fn plain_numbers_are_whole_or_have_the_digits_that_count() {
        let shown = [0.0, -3.0, 12_345.0, 0.5, 1234.56, 0.0421].map(number);
        assert_eq!(shown, ["0", "\u{2212}3", "12 345", "0.500", "1235", "0.0421"]);
        assert_eq!([0.0, 10.0, 0.42, 1999.6].map(frequency), ["0/s", "10/s", "0.420/s", "2 000/s"]);
        assert_eq!([2.314, 200.0].map(times), ["2.31x", "200x"]);
    }

    #[test]
    fn a_span_is_said_as_clocks_do() {
        assert_eq!(
            [0.0, 8.24, 59.9, 59.96, 723.0, 11_100.0].map(span),
            ["0.0 s", "8.2 s", "59.9 s", "1 min 00 s", "12 min 03 s", "3 h 05 min"]
        );
    }

    #[test]
    fn a_time_that_is_guessed_has_no_more_than_it_knows() {
        assert_eq!([0.0, 89.9].map(roughly), ["about 0 s", "about 89 s"]);
        assert_eq!([90.0, 248.0, 5399.0].map(roughly), ["about 2 min", "about 4 min", "about 90 min"]);
        assert_eq!([5400.0, 36_000.0].map(roughly), ["about 1.5 h", "about 10.0 h"]);
    }

    #[test]
    fn thousands_are_apart_and_nouns_agree() {
        assert_eq!(grouped("12345.6789", ' '), "12 345.6789");
        assert_eq!(grouped("\u{2212}1234", ' '), "\u{2212}1 234");
        assert_eq!([plural(1, "request"), plural(2000, "request")], ["1 request", "2 000 requests"]);
        assert_eq!([1, 2].map(|n| plural_of(n, "city", "cities")), ["1 city", "2 cities"]);
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([list(&parts[..1]), list(&parts[..2]), list(&parts)], ["a", "a and b", "a, b and c"]);
    }

    #[test]
    fn a_share_of_a_number_has_the_digits_that_count() {
        let text = [0.262_1, 1.5, 0.0081, 0.000_31, -0.051].map(relative);
        assert_eq!(text, ["26.2 %", "150.0 %", "0.81 %", "0.031 %", "\u{2212}5.1 %"]);
        assert_eq!([0.051, -0.051].map(signed_relative), ["+5.1 %", "\u{2212}5.1 %"]);
    }
}
