//! Header maps like those of clients and origins, with one or two internal fields.

use anyhow::ensure;
use http_cache::internal_headers::{NAMES, is_internal};
use http_types::{HeaderMap, HeaderName, HeaderValue};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::arms::Clear;

#[expect(clippy::cast_possible_truncation, reason = "the rest is less than the limit")]
pub(super) fn random(count: usize) -> Vec<HeaderMap> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
    (0..count)
        .map(|_| {
            let (fields, internal) = (20 + below(3), 1 + below(2));
            let mut headers = HeaderMap::new();
            while headers.len() < internal {
                headers.insert(HeaderName::from_static(NAMES[below(NAMES.len())]), value());
            }
            while headers.len() < fields {
                headers.insert(HeaderName::from_static(OTHERS[below(OTHERS.len())]), value());
            }
            headers
        })
        .collect()
}

pub(super) fn prove(maps: &[HeaderMap], clear: &Clear) -> anyhow::Result<()> {
    for map in maps {
        let mut headers = map.clone();
        clear(&mut headers);
        let others: Vec<_> = map.keys().filter(|name| !is_internal(name.as_str().as_bytes())).collect();
        let all_left = others.iter().all(|name| headers.contains_key(*name));
        ensure!(all_left, "a field that is not internal was removed");
        ensure!(headers.len() == others.len(), "an internal field was not removed");
    }
    Ok(())
}

fn value() -> HeaderValue {
    HeaderValue::from_static("0123456789abcdef")
}

const OTHERS: [&str; 60] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "access-control-allow-origin",
    "age",
    "alt-svc",
    "authorization",
    "cache-control",
    "cache-status",
    "cache-tag",
    "cdn-cache-control",
    "cdn-loop",
    "connection",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-security-policy",
    "content-type",
    "cookie",
    "cross-origin-opener-policy",
    "date",
    "dnt",
    "etag",
    "expires",
    "forwarded",
    "host",
    "if-modified-since",
    "if-none-match",
    "last-modified",
    "link",
    "origin",
    "permissions-policy",
    "pragma",
    "priority",
    "range",
    "referer",
    "referrer-policy",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "server",
    "server-timing",
    "set-cookie",
    "strict-transport-security",
    "traceparent",
    "upgrade-insecure-requests",
    "user-agent",
    "vary",
    "via",
    "x-content-type-options",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-frame-options",
    "x-request-id",
];
