//! The part of a final response's head that is recorded, or needed for the next request.

use http_cache::CacheOutcome;
use http_stack::{HeaderMap, HeaderName, StatusCode, client::Reply, header};

use super::Field;

#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) status: Option<StatusCode>,
    pub(crate) location: Option<String>,
    pub(crate) server_timing: Option<String>,
    pub(crate) told: Option<CacheOutcome>,
    pub(crate) recorded: Vec<(HeaderName, String)>,
}

impl Head {
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap, record: &[Field]) -> Self {
        let timings: Vec<&str> =
            headers.get_all("server-timing").iter().filter_map(|value| value.to_str().ok()).collect();
        Self {
            status: Some(status),
            location: headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned),
            told: CacheOutcome::read(headers),
            recorded: record.iter().filter_map(|field| field.read(headers)).collect(),
            server_timing: (!timings.is_empty()).then(|| timings.join(", ")),
        }
    }

    /// `None` if fields other than the status matter.
    pub(crate) fn of_plain(reply: &Reply<'_>, record: &[Field]) -> Option<Self> {
        let says_more = |name: &str| {
            SAY_MORE.iter().any(|other| name.eq_ignore_ascii_case(other))
                || record.iter().any(|field| field.is(name))
        };
        let is_plain = !reply.fields().any(|(name, _)| says_more(name));
        is_plain.then(|| Self { status: Some(reply.status), ..Self::default() })
    }
}

/// Fields that must be parsed: the recorded ones, and Alt-Svc for the client.
const SAY_MORE: [&str; 4] = ["location", "server-timing", "cache-status", "alt-svc"];
