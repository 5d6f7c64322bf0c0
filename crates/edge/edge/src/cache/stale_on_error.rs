//! Stale objects while the origin fails or is slow: stale-if-error (RFC 5861 section 4).

use std::{sync::Arc, time::Duration};

use http_cache::Time;
use http_stack::StatusCode;

use crate::{purge::log::PurgeLog, request::context::RequestContext, store::memory::Object};

pub(crate) fn may_serve_stale_on_error(
    purge_log: &PurgeLog,
    context: &RequestContext,
    object: &Object,
    now: Time,
) -> bool {
    let operators = context.zone().stale_if_error;
    // A fresh object may be served without stale-if-error, unless revalidation is mandatory.
    let has_leave = !operators.is_zero() || object.stored.terms.control.stale_if_error.is_some();
    !is_withheld_from_peer(context, object)
        && (has_leave || !must_revalidate(purge_log, context))
        && object.stored.may_serve_stale(operators, now)
}

pub(crate) fn must_revalidate(purge_log: &PurgeLog, context: &RequestContext) -> bool {
    purge_log.must_revalidate(context.zone().cut_off, context.zone().cut_off_limit)
}

pub(crate) fn is_withheld_from_peer(context: &RequestContext, object: &Object) -> bool {
    context.forwarded.is_some() && object.stored.terms.outdated.is_some()
}

pub(crate) fn is_origin_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}

/// Waits for at most `max_wait` if `fallback` can be served instead.
pub(crate) async fn within_stale_timeout<T>(
    follower: impl Future<Output = T>,
    max_wait: Duration,
    fallback: Option<Arc<Object>>,
) -> Result<T, Arc<Object>> {
    match fallback {
        Some(fallback) => tokio::time::timeout(max_wait, follower).await.map_err(|_| fallback),
        None => Ok(follower.await),
    }
}
