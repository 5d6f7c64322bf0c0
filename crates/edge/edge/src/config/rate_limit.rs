//! Rate limits of a zone.

use std::num::NonZero;

use config_file::{Diagnostic, Document};
use http_stack::StatusCode;
use serde::Deserialize;
use toml::Spanned;

use super::RequestKey;
use crate::rules::path_pattern::PathPattern;

/// A limit of requests per key.
#[derive(Debug, Clone)]
pub struct RateLimit {
    path: Option<PathPattern>,
    /// Each value of this part of a request has a separate limit.
    pub by: RequestKey,
    /// Nanoseconds between two requests at the rate.
    pub interval_ns: u64,
    /// Maximum number of requests at one moment.
    pub burst: u64,
    /// Status of the response to a request beyond the limit.
    pub status: StatusCode,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateLimitSpec {
    path: Option<Spanned<String>>,
    by: Option<Spanned<String>>,
    rate: Spanned<String>,
    burst: Option<NonZero<u32>>,
    status: Option<Spanned<u16>>,
}

impl RateLimit {
    /// Expects a path in normal form. Also covers a path that an origin may interpret
    /// as a match.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|pattern| pattern.may_match(path))
    }
}

pub(super) fn read(
    document: &Document,
    written: &[Spanned<RateLimitSpec>],
) -> Result<Vec<RateLimit>, Diagnostic> {
    written.iter().map(|limit| read_limit(document, limit.get_ref())).collect()
}

fn read_limit(document: &Document, limit: &RateLimitSpec) -> Result<RateLimit, Diagnostic> {
    let RateLimitSpec { path, by, rate, burst, status } = limit;
    if let Some(path) = path.as_ref().filter(|path| !path.get_ref().starts_with(['/', '*'])) {
        let message = format!("\"{}\" matches no path: expected one such as \"/api/*\"", path.get_ref());
        return Err(document.mistake(path.span(), message));
    }
    let by = by
        .as_ref()
        .map(|by| RequestKey::parse(by.get_ref()).map_err(|message| document.mistake(by.span(), message)));
    let Some((number, unit_ns)) = parse_rate(rate.get_ref()) else {
        let message = format!(
            "\"{}\" is not a rate: expected one such as \"10/s\", \"600/min\" or \"5000/h\"",
            rate.get_ref()
        );
        return Err(document.mistake(rate.span(), message));
    };
    let status = match status {
        None => StatusCode::TOO_MANY_REQUESTS,
        Some(status) => match StatusCode::from_u16(*status.get_ref()) {
            Ok(code) if code.is_client_error() || code.is_server_error() => code,
            _ => {
                let message = format!("{} is not an error status: expected 400 to 599", status.get_ref());
                return Err(document.mistake(status.span(), message));
            }
        },
    };
    Ok(RateLimit {
        path: path.as_ref().map(|path| PathPattern::new(path.get_ref())),
        by: by.transpose()?.unwrap_or(RequestKey::Client),
        interval_ns: unit_ns / u64::from(number.get()),
        burst: u64::from(burst.unwrap_or(number).get()),
        status,
    })
}

/// At most a thousand million per second, so that the interval is at least a nanosecond.
fn parse_rate(text: &str) -> Option<(NonZero<u32>, u64)> {
    let (number, unit) = text.split_once('/')?;
    let unit_ns = match unit.trim() {
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let number: NonZero<u32> = number.trim().parse().ok()?;
    (u64::from(number.get()) <= unit_ns).then_some((number, unit_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_has_a_number_and_a_unit() {
        let parsed = |text: &str| parse_rate(text).map(|(number, unit)| unit / u64::from(number.get()));
        assert_eq!(parsed("10/s"), Some(100_000_000));
        assert_eq!(parsed("600 / min"), Some(100_000_000));
        assert_eq!(parsed("36/h"), Some(100_000_000_000));
        for text in ["", "10", "/s", "0/s", "-1/s", "10/d", "10/s/s", "1.5/s", "4294967295/s"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
