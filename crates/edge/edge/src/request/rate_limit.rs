//! Rate limits of clients' requests, in this data centre.

mod gcra;
mod table;

use std::{
    collections::HashMap,
    fmt::Write,
    hash::{BuildHasher, RandomState},
    sync::{Mutex, OnceLock, PoisonError},
};

use http_stack::{Body, HeaderName, HeaderValue, Response, StatusCode, header};

use self::{
    gcra::{Bucket, Decision},
    table::BucketTable,
};
use crate::{
    config::{RateLimit, RequestKey},
    request::context::RequestContext,
};

/// The table has a fixed size and exists once there is a limit.
#[derive(Default)]
pub(crate) struct RateLimiter {
    table: OnceLock<BucketTable>,
    hash: RandomState,
    limited: Mutex<HashMap<String, u64>>,
}

/// The header fields of the limits that apply to a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RateLimitFields {
    policy: String,
    state: String,
}

/// A request beyond a limit.
pub(crate) struct LimitExceeded {
    pub(crate) status: StatusCode,
    fields: RateLimitFields,
    wait: u64,
}

impl RateLimiter {
    /// Takes a token from each limit that covers the request as the client sent it. `now` is in
    /// nanoseconds of a monotonic clock.
    pub(crate) fn check(&self, context: &RequestContext, now: u64) -> Result<RateLimitFields, LimitExceeded> {
        let mut fields = RateLimitFields::default();
        for (number, limit) in context.zone().rate_limits.iter().enumerate() {
            if !limit.covers(context.original_url().path()) {
                continue;
            }
            let decision = self.take(context, (number, limit), now);
            fields.add(number, limit, &decision, now);
            if !decision.is_allowed {
                self.count(&context.zone().name);
                return Err(LimitExceeded { status: limit.status, fields, wait: decision.wait });
            }
        }
        Ok(fields)
    }

    /// A changed limit begins with full buckets.
    fn take(&self, context: &RequestContext, (number, limit): (usize, &RateLimit), now: u64) -> Decision {
        let (client, headers) = (context.peer.address.ip(), context.original_headers());
        let value = limit.by.value(client, headers);
        let is_present = value.is_some();
        let value = value.or_else(|| RequestKey::Client.value(client, headers));
        let key = (&context.zone().name, number, limit.interval_ns, limit.burst, is_present, value);
        let bucket = Bucket { interval: limit.interval_ns, burst: limit.burst };
        self.table.get_or_init(BucketTable::new).take(self.hash.hash_one(key), bucket, now)
    }

    fn count(&self, zone: &str) {
        let mut limited = self.limited.lock().unwrap_or_else(PoisonError::into_inner);
        match limited.get_mut(zone) {
            Some(count) => *count += 1,
            None => drop(limited.insert(zone.to_owned(), 1)),
        }
    }

    /// The number of rejected requests of a zone.
    pub(crate) fn limited(&self, zone: &str) -> u64 {
        let limited = self.limited.lock().unwrap_or_else(PoisonError::into_inner);
        limited.get(zone).copied().unwrap_or_default()
    }
}

impl RateLimitFields {
    /// The window is the time in which an empty bucket becomes full.
    fn add(&mut self, number: usize, limit: &RateLimit, decision: &Decision, now: u64) {
        let name = number + 1;
        let separator = if self.policy.is_empty() { "" } else { ", " };
        let window = limit.interval_ns.saturating_mul(limit.burst).div_ceil(NANOS).max(1);
        let reset = decision.full_at.saturating_sub(now).div_ceil(NANOS);
        let _ = write!(self.policy, "{separator}\"{name}\";q={};w={window}", limit.burst);
        let _ = write!(self.state, "{separator}\"{name}\";r={};t={reset}", decision.remaining);
    }

    /// draft-ietf-httpapi-ratelimit-headers-10.
    pub(crate) fn insert_into(&self, response: &mut Response<Body>) {
        if self.policy.is_empty() {
            return;
        }
        for (name, value) in [(POLICY, &self.policy), (STATE, &self.state)] {
            if let Ok(value) = HeaderValue::from_str(value) {
                response.headers_mut().insert(name, value);
            }
        }
    }
}

impl LimitExceeded {
    pub(crate) fn insert_into(&self, response: &mut Response<Body>) {
        let seconds = self.wait.div_ceil(NANOS).max(1);
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        self.fields.insert_into(response);
    }
}

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");
const NANOS: u64 = 1_000_000_000;
