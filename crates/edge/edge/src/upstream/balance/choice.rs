//! The origins that a request tries, in turn.

use std::{sync::Arc, vec};

use http_stack::{Body, Response};
use tier_routing::KeyHash;

use super::{in_flight_permit::InFlightPermit, pool::Outcome, zone_pool::ZonePool};
use crate::{
    config::{Balance, OriginUrl, RequestKey, Zone},
    request::{
        context::RequestContext,
        rejection::{BUSY, INCOMPLETE, Rejection},
    },
};

pub(crate) struct OriginChoice<'z> {
    zone: &'z Zone,
    order: Order<'z>,
}

enum Order<'z> {
    List(vec::IntoIter<&'z OriginUrl>),
    Pool { pool: Arc<ZonePool>, key: KeyHash, tried: Vec<usize> },
}

/// An origin, and its pool if the zone has one.
pub(crate) struct ChosenOrigin<'z> {
    pub(crate) origin: &'z OriginUrl,
    member: Option<(Arc<ZonePool>, usize, InFlightPermit)>,
}

impl<'z> OriginChoice<'z> {
    pub(crate) fn of_list(zone: &'z Zone, origins: Vec<&'z OriginUrl>) -> Self {
        Self { zone, order: Order::List(origins.into_iter()) }
    }

    pub(crate) fn of_pool(pool: Arc<ZonePool>, context: &'z RequestContext) -> Self {
        let zone = context.zone();
        Self { zone, order: Order::Pool { pool, key: hash_key(context), tried: Vec::new() } }
    }

    /// Only the first choice waits until an origin has a free place.
    pub(crate) async fn next(&mut self) -> Result<Option<ChosenOrigin<'z>>, Rejection> {
        match &mut self.order {
            Order::List(list) => Ok(list.next().map(|origin| ChosenOrigin { origin, member: None })),
            Order::Pool { pool, key, tried } => {
                let picked = match tried[..] {
                    [] => pool.pick_or_wait(*key, self.zone.first_byte).await?,
                    _ => pool.pick(tried, *key).unwrap_or_default(),
                };
                let Some((number, lease)) = picked else { return Ok(None) };
                tried.push(number);
                let member = Some((Arc::clone(pool), number, lease));
                Ok(self.zone.origins.get(number).map(|origin| ChosenOrigin { origin, member }))
            }
        }
    }

    /// Whether another origin may be tried after the current one.
    pub(crate) fn has_next(&self) -> bool {
        match &self.order {
            Order::List(list) => list.len() > 0,
            Order::Pool { tried, .. } => tried.len() < self.zone.origins.len().min(MAX_ATTEMPTS),
        }
    }

    /// Whether a request with an unsafe method may go to another origin if no byte of it was sent.
    pub(crate) fn retries_unsent(&self) -> bool {
        matches!(self.order, Order::Pool { .. })
    }

    pub(crate) fn fails_over(&self, response: &Response<Body>) -> bool {
        self.zone.balancing.failover_statuses.contains(&response.status())
    }
}

impl ChosenOrigin<'_> {
    /// The response counts as in flight until the end of its body.
    pub(crate) fn responded(self, response: Response<Body>) -> Response<Body> {
        match self.member {
            None => response,
            Some((pool, number, lease)) => {
                pool.record(number, Outcome::Response { status: response.status().as_u16() });
                lease.hold(response)
            }
        }
    }

    pub(crate) fn failed(self, rejection: Rejection) {
        // These are failures of this data centre or of the client, not of the origin.
        if let Some((pool, number, _)) = self.member.filter(|_| ![BUSY, INCOMPLETE].contains(&rejection)) {
            pool.record(number, Outcome::NoResponse { reason: rejection.code });
        }
    }
}

/// Uses the cache key without `balance_by`, and if the request lacks the field or cookie.
fn hash_key(context: &RequestContext) -> KeyHash {
    let balancing = &context.zone().balancing;
    let value = |by: &RequestKey| {
        let value = by.value(context.peer.address.ip(), &context.headers)?;
        Some(KeyHash::of(&value))
    };
    match balancing.balance {
        Balance::Hash => balancing.by.as_ref().and_then(value).unwrap_or_else(|| context.key_hash()),
        Balance::First | Balance::RoundRobin | Balance::LeastConnections => KeyHash(0),
    }
}

/// Each attempt may take as long as `first_byte`.
const MAX_ATTEMPTS: usize = 5;
