//! Parsers for values of options.

use std::ops::Range;

use recording::{Metric, Moment};
use report::Blocks;
use units::{Probability, duration};

pub(super) type Period = Range<Moment>;

pub(crate) fn metric(name: &str) -> Result<Metric, String> {
    named("metric", name, &Metric::ALL)
}

pub(super) fn phase(name: &str) -> Result<Metric, String> {
    named("phase", name, &Metric::PHASES)
}

fn named(what: &str, name: &str, known: &[Metric]) -> Result<Metric, String> {
    let found = known.iter().copied().find(|metric| metric.name() == name);
    found.ok_or_else(|| {
        let known: Vec<_> = known.iter().map(|metric| metric.name()).collect();
        let hint = config_file::suggestion(name, known.iter().copied());
        format!("unknown {what} \"{name}\"{hint}; expected one of {}", known.join(", "))
    })
}

pub(super) fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(duration) = duration::parse(text) {
        return Ok(Moment::SinceStart(duration.as_secs_f64()));
    }
    recording::unix_seconds(text).map(Moment::Unix).ok_or_else(|| {
        format!(
            "\"{text}\" is not a moment; expected a time since the recording's start such as 30s or 5min, or a date such as \
             2025-03-14T09:30:00Z"
        )
    })
}

pub(super) fn period(text: &str) -> Result<Period, String> {
    let (start, end) = text
        .split_once("..")
        .ok_or_else(|| format!("\"{text}\" is not a period; expected two moments such as 240s..330s"))?;
    let period = moment(start)?..moment(end)?;
    if is_backwards(period.start, period.end) {
        return Err(format!("\"{text}\" ends before it begins"));
    }
    Ok(period)
}

/// False if one is relative and the other absolute.
pub(super) fn is_backwards(from: Moment, to: Moment) -> bool {
    match (from, to) {
        (Moment::SinceStart(from), Moment::SinceStart(to)) | (Moment::Unix(from), Moment::Unix(to)) => {
            from >= to
        }
        _ => false,
    }
}

pub(super) fn level(text: &str) -> Result<f64, String> {
    let level: Probability = text.parse().map_err(|error| format!("{error}"))?;
    let level = level.get();
    // Tolerance: 99.9/100 rounds to slightly more than 0.999.
    if (0.5..=0.999 + 1e-9).contains(&level) {
        return Ok(level.min(0.999));
    }
    Err(format!("\"{text}\" is not a level of confidence; expected 50% to 99.9%"))
}

pub(super) fn block(text: &str) -> Result<Blocks, String> {
    match text {
        "auto" => Ok(Blocks::Automatic),
        "none" => Ok(Blocks::None),
        _ => match text.parse() {
            Ok(length) if length > 0 => Ok(Blocks::Length(length)),
            _ => Err(format!("\"{text}\" is not a block; expected auto, none or a number of samples")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_periods() {
        assert_eq!(moment("1.5min"), Ok(Moment::SinceStart(90.0)));
        assert_eq!(moment("1970-01-01T00:01:00Z"), Ok(Moment::Unix(60.0)));
        assert!(moment("noon").unwrap_err().contains("expected a time since"));
        assert_eq!(period("1s..2s"), Ok(Moment::SinceStart(1.0)..Moment::SinceStart(2.0)));
        assert!(period("2s..1s").unwrap_err().contains("ends before it begins"));
        assert!(period("1s-2s").unwrap_err().contains("240s..330s"));
    }

    #[test]
    fn levels_and_blocks() {
        assert_eq!((level("95%"), level("0.9")), (Ok(0.95), Ok(0.9)));
        assert_eq!(level("99.9%"), Ok(0.999));
        assert!(level("100%").is_err() && level("0.2").is_err());
        assert_eq!(block("38"), Ok(Blocks::Length(38)));
        assert!(block("0").is_err());
    }
}
