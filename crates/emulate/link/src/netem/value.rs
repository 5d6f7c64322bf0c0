//! Quantities in tc's spelling, which is not ours: see `tc(8)`, PARAMETERS.

use std::time::Duration;

use units::{Bitrate, Probability};

/// Without a unit: microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just above")]
pub(super) fn time(text: &str) -> Option<Duration> {
    let nanos = scaled(text, "us", TIMES)?;
    // An hour: netem itself holds 2^32 ticks, some minutes.
    (nanos <= 3.6e12).then(|| Duration::from_nanos(nanos.round() as u64))
}

/// "1mbps" is bytes, "64000" bits per second.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just above")]
pub(super) fn rate(text: &str) -> Option<Bitrate> {
    let bits = scaled(text, "bit", RATES)?;
    if bits > 1e12 {
        return None;
    }
    Bitrate::from_bits_per_second(bits.round() as u64)
}

/// "0.1%" equals "0.1".
pub(super) fn percent(text: &str) -> Option<Probability> {
    Probability::new(plain(text.strip_suffix('%').unwrap_or(text))? / 100.0)
}

pub(super) fn integer<N: std::str::FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}

fn scaled(text: &str, without_unit: &str, units: &[(&str, f64)]) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = if unit.is_empty() { without_unit } else { unit };
    let (_, scale) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    Some(plain(number)? * scale)
}

/// No sign, no exponent, no infinity.
fn plain(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

/// In nanoseconds.
const TIMES: &[(&str, f64)] = &[
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
    ("ms", 1e6),
    ("msec", 1e6),
    ("msecs", 1e6),
    ("us", 1e3),
    ("usec", 1e3),
    ("usecs", 1e3),
    ("ns", 1.0),
    ("nsec", 1.0),
    ("nsecs", 1.0),
];

/// In bits per second. Units ending in "bps" are bytes per second.
const RATES: &[(&str, f64)] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("tbit", 1e12),
    ("kibit", 1024.0),
    ("mibit", 1_048_576.0),
    ("gibit", 1_073_741_824.0),
    ("bps", 8.0),
    ("kbps", 8e3),
    ("mbps", 8e6),
    ("gbps", 8e9),
    ("kibps", 8.0 * 1024.0),
    ("mibps", 8.0 * 1_048_576.0),
    ("gibps", 8.0 * 1_073_741_824.0),
];
