//! Text about a comparison in any output format: adds intervals, certainty and labels to
//! [`units::show`].

pub(crate) use units::show::{
    MINUS, count, difference, digits, grouped, latency, list, ordinal, percent, plain, plural, relative,
    share, signed_relative, time,
};

use crate::model::{Certainty, Ci, Page};

pub(crate) fn milliseconds(ms: f64) -> String {
    format!("{} ms", latency(ms))
}

/// As many decimals as suit the largest difference of a table.
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

/// An end that the samples cannot bound is "..".
pub(crate) fn interval(ci: &Ci) -> String {
    let end = |end: Option<f64>| end.map_or_else(|| "..".to_owned(), latency);
    format!("[{}, {}]", end(ci[0]), end(ci[1]))
}

pub(crate) fn with_interval(ms: f64, ci: Option<&Ci>) -> String {
    ci.map_or_else(|| latency(ms), |ci| format!("{} {}", latency(ms), interval(ci)))
}

pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

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

/// A thousand resamples that all agree still leave a doubt of one in a thousand.
pub(crate) fn sure(share: f64) -> String {
    if share > 0.999 { "over 99.9".to_owned() } else { percent(share * 100.0) }
}

pub(crate) fn certainty(certainty: Certainty, share: f64) -> String {
    let words = match certainty {
        Certainty::Sure => "sure",
        Certainty::Borderline => "borderline",
        Certainty::Likely => "likely, but not sure",
        Certainty::Undecided => "undecided",
    };
    format!("{words} ({} %)", sure(share))
}

/// Cuts the middle, because names often differ at both ends.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_decimals_of_its_table() {
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
    fn an_end_without_a_bound_is_two_dots() {
        assert_eq!(with_interval(141.9, Some(&[Some(141.2), Some(142.7)])), "141.9 [141.2, 142.7]");
        assert_eq!(with_interval(900.0, Some(&[Some(850.0), None])), "900.0 [850.0, ..]");
        assert_eq!(with_interval(900.0, None), "900.0");
    }

    #[test]
    fn a_label_is_one_short_line() {
        assert_eq!(label("short", 10), "short");
        assert_eq!(label("measurements-2031-london", 12), "measur\u{2026}ondon");
        assert_eq!(label("measurements-2031-london", 12).chars().count(), 12);
        assert_eq!(label("\u{1b}[31mred\nline\u{202e}", 40), "\u{fffd}[31mred\u{fffd}line\u{fffd}");
    }
}
