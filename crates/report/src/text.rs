//! Numbers and labels as text: every figure on the terminal, in Markdown and in the drawings is written here, so that
//! the same value looks the same everywhere.

pub(crate) use units::show::{count, grouped, plain, plural};

use crate::model::{Certainty, Ci, Page};

/// A latency in milliseconds with three or four digits that count, without its unit.
pub(crate) fn latency(ms: f64) -> String {
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

/// [`latency`] with its unit.
pub(crate) fn milliseconds(ms: f64) -> String {
    format!("{} ms", latency(ms))
}

/// A difference of latencies with its sign.
pub(crate) fn difference(ms: f64) -> String {
    let sign = if ms > 0.0 { "+" } else { "" };
    format!("{sign}{}", latency(ms))
}

/// A difference with the decimals that suit the largest of its table: "+13.0" and "0.0" beside "\u{2212}412.5".
pub(crate) fn difference_beside(ms: f64, largest: f64) -> String {
    let decimals = match largest.abs() {
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        _ => 4,
    };
    let digits = format!("{:.decimals$}", ms.abs());
    let is_zero = digits.chars().all(|digit| matches!(digit, '0' | '.'));
    let sign = if is_zero {
        ""
    } else if ms > 0.0 {
        "+"
    } else {
        MINUS
    };
    format!("{sign}{digits}")
}

/// "[141.2, 142.7]"; an end that the samples cannot bound is "..".
pub(crate) fn interval(ci: &Ci) -> String {
    let end = |end: Option<f64>| end.map_or_else(|| "..".to_owned(), latency);
    format!("[{}, {}]", end(ci[0]), end(ci[1]))
}

/// "141.9 [141.2, 142.7]", or without the interval if there is none.
pub(crate) fn with_interval(ms: f64, ci: Option<&Ci>) -> String {
    ci.map_or_else(|| latency(ms), |ci| format!("{} {}", latency(ms), interval(ci)))
}

/// A number with so many digits that count.
pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// "page of 180 requests, 50 % required: 90 effective".
pub(crate) fn page(page: &Page) -> String {
    let requests = format!("page of {}", plural(page.requests.into(), "request"));
    if page.effective_requests == page.requests {
        return requests;
    }
    format!(
        "{requests}, {} % required: {} effective",
        percent(page.required * 100.0),
        page.effective_requests
    )
}

/// A percentage with as many digits as tell it from 0 and from 100: 50, 97.1, 99.986.
pub(crate) fn percent(percent: f64) -> String {
    let room = percent.min(100.0 - percent);
    // One digit more than the first that counts; a billionth of a percent is nobody.
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

/// How sure it is, in percent; a thousand resamples that all agree leave a doubt of one in a thousand.
pub(crate) fn sure(share: f64) -> String {
    if share > 0.999 { "over 99.9".to_owned() } else { percent(share * 100.0) }
}

/// How sure a verdict is, in words and in percent: "sure (99.8 %)", "borderline (97.4 %)", "likely, but not sure (93 %)",
/// "undecided (61 %)".
pub(crate) fn certainty(certainty: Certainty, share: f64) -> String {
    let words = match certainty {
        Certainty::Sure => "sure",
        Certainty::Borderline => "borderline",
        Certainty::Likely => "likely, but not sure",
        Certainty::Undecided => "undecided",
    };
    format!("{words} ({} %)", sure(share))
}

/// A share of a number as a percentage with two or three digits that count: "26.2 %", "0.81 %".
pub(crate) fn relative(share: f64) -> String {
    let percent = (share * 100.0).abs();
    let decimals = match percent {
        1.0.. => 1,
        0.1.. => 2,
        _ => 3,
    };
    format!("{}{percent:.decimals$} %", if share < 0.0 { MINUS } else { "" })
}

/// [`relative`] with its sign.
pub(crate) fn signed_relative(share: f64) -> String {
    format!("{}{}", if share > 0.0 { "+" } else { "" }, relative(share))
}

/// "a", "a and b", "a, b and c".
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// "91st", "50th", "97.1th".
pub(crate) fn ordinal(of: f64) -> String {
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

/// A label in one line of up to `most` characters: what is too long loses its middle, as names tell apart at both ends.
pub(crate) fn label(text: &str, most: usize) -> String {
    let text = plain(text);
    let length = text.chars().count();
    if length <= most {
        return text;
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{}\u{2026}{}", start.trim_end(), end.trim_start())
}

/// A minus as wide as a plus.
const MINUS: &str = "\u{2212}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_has_three_or_four_digits() {
        let text = [0.0, 1234.5, 281.84, 9.876, 0.25, 0.0421, 0.000_042, -71.94].map(latency);
        assert_eq!(text, ["0", "1234", "281.8", "9.88", "0.250", "0.0421", "4.20e-5", "\u{2212}71.9"]);
        assert_eq!([12.0, -12.0, 0.0].map(difference), ["+12.0", "\u{2212}12.0", "0"]);
        let beside = [13.0, 0.01, -412.5, -0.01].map(|ms| difference_beside(ms, 412.5));
        assert_eq!(beside, ["+13.0", "0.0", "\u{2212}412.5", "0.0"]);
        assert_eq!(difference_beside(-0.25, 0.25), "\u{2212}0.250");
    }

    #[test]
    fn doubt_is_named() {
        assert_eq!(certainty(Certainty::Sure, 1.0), "sure (over 99.9 %)");
        assert_eq!(certainty(Certainty::Sure, 0.993), "sure (99.3 %)");
        assert_eq!(certainty(Certainty::Borderline, 0.975), "borderline (97.5 %)");
        assert_eq!(certainty(Certainty::Likely, 0.93), "likely, but not sure (93 %)");
        assert_eq!(certainty(Certainty::Undecided, 0.61), "undecided (61 %)");
    }

    #[test]
    fn a_share_of_a_number_has_the_digits_that_count() {
        let text = [0.262_1, 1.5, 0.0081, 0.000_31, -0.051].map(relative);
        assert_eq!(text, ["26.2 %", "150.0 %", "0.81 %", "0.031 %", "\u{2212}5.1 %"]);
        assert_eq!([0.051, -0.051].map(signed_relative), ["+5.1 %", "\u{2212}5.1 %"]);
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([list(&parts[..1]), list(&parts[..2]), list(&parts)], ["a", "a and b", "a, b and c"]);
    }

    #[test]
    fn an_end_without_a_bound_is_two_dots() {
        assert_eq!(with_interval(141.9, Some(&[Some(141.2), Some(142.7)])), "141.9 [141.2, 142.7]");
        assert_eq!(with_interval(900.0, Some(&[Some(850.0), None])), "900.0 [850.0, ..]");
        assert_eq!(with_interval(900.0, None), "900.0");
    }

    #[test]
    fn numbers_of_things_are_grouped_and_agree_with_their_noun() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!(grouped("12345.678", ' '), "12 345.678");
        assert_eq!(grouped("\u{2212}1234", ' '), "\u{2212}1 234");
        assert_eq!(
            (plural(1, "request").as_str(), plural(2, "request").as_str()),
            ("1 request", "2 requests")
        );
    }

    #[test]
    fn a_percentile_has_the_digits_that_tell_it_from_100() {
        let text = [0.0, 50.0, 55.000_000_000_000_01, 97.12, 99.986_2, 0.123, 100.0].map(percent);
        assert_eq!(text, ["0", "50", "55", "97.1", "99.986", "0.12", "100"]);
        assert_eq!([1.0, 12.0, 22.0, 93.0, 97.1].map(ordinal), ["1st", "12th", "22nd", "93rd", "97.1th"]);
    }

    #[test]
    fn a_label_is_one_short_line() {
        assert_eq!(label("short", 10), "short");
        assert_eq!(label("measurements-2031-london", 12), "measur\u{2026}ondon");
        assert_eq!(label("measurements-2031-london", 12).chars().count(), 12);
        assert_eq!(label("\u{1b}[31mred\nline\u{202e}", 40), "\u{fffd}[31mred\u{fffd}line\u{fffd}");
    }
}
