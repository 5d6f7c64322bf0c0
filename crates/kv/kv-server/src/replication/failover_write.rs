//! Hedged requests for operations that either of two stores can do: the other store is requested
//! when the first one fails or takes longer than usual.
//!
//! A write gets its version before it is sent, so it is idempotent. If a store has a newer version
//! of the key, the write is repeated.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Request, Response, StatusCode, body::Frames as _};
use kv::{Hedge, Next, Side, Version};
use tier_routing::DataCentreId;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{PeerError, Replication, wire};
use crate::{
    service::{Service, now},
    value::VERSION,
};

pub(super) struct StoreRequest {
    pub(super) head: Request<()>,
    pub(super) body: Body,
    pub(super) keys: usize,
}

/// The store that responded, or failed last, with the result.
pub(super) type Outcome = (DataCentreId, Result<Response<Body>, PeerError>);

impl Replication {
    /// An available one, and of two the faster one.
    pub(super) fn first_of(&self, stores: [DataCentreId; 2], now: Duration) -> Side {
        let rank = |store: DataCentreId| {
            (!self.links.is_up(store), self.usual().entry(store).or_default().rank(now))
        };
        if rank(stores[1]) < rank(stores[0]) { Side::Right } else { Side::Left }
    }
}

impl Service {
    pub(super) async fn done_by_either(
        &self,
        linked: &Arc<Replication>,
        stores: [DataCentreId; 2],
        errand: StoreRequest,
        longest: Duration,
    ) -> Outcome {
        let StoreRequest { head, body, keys } = errand;
        let again = body.again();
        let mut first = Some(body);
        for _ in 0..MOST_VERSIONS {
            let mut head = head.clone();
            if keys > 0 {
                let version = linked.clock().next_several(now(), keys);
                wire::write_proposed(head.headers_mut(), &version);
            }
            let Some(body) = first.take().or_else(|| again.as_ref()?.again()) else { break };
            let asked = timeout(longest, self.ask_either(linked, stores, &head, body)).await;
            let (store, answered) = asked.unwrap_or_else(|_| {
                (stores[0], Err(PeerError::NotHeard("it does not respond in time".to_owned())))
            });
            let known = match &answered {
                Ok(response) if response.status() == StatusCode::CONFLICT => version_of(response),
                _ => None,
            };
            let Some(known) = known else { return (store, answered) };
            linked.clock().hear(&known);
        }
        let why =
            "other clients write the same key concurrently, or the body cannot be sent again: try again";
        (stores[0], Err(PeerError::NotAsked(why.to_owned())))
    }

    /// A body that cannot be repeated is sent to one store only.
    async fn ask_either(
        &self,
        linked: &Arc<Replication>,
        stores: [DataCentreId; 2],
        head: &Request<()>,
        body: Body,
    ) -> Outcome {
        let store = |side: Side| stores[side.place()];
        let first = linked.first_of(stores, self.elapsed());
        let (mut asking, again, size) = (JoinSet::new(), body.again(), body.size_hint().exact());
        let mut asked = Asked { hedge: Hedge::asking(first), is_twice: again.is_some(), failed: None };
        let ask = |asking: &mut JoinSet<_>, side: Side, body: Body| {
            let (linked, head, store, start) =
                (Arc::clone(linked), head.clone(), store(side), self.elapsed());
            asking.spawn(async move { (store, start, linked.send_with(store, head, body).await) });
        };
        ask(&mut asking, first, body);
        let mut late = Box::pin(sleep(linked.late_after(store(first))));
        // The duration of a long body depends on the bandwidth.
        let mut is_late = again.is_none() || size.is_none_or(|size| size > SHORT as u64);
        loop {
            let next = tokio::select! {
                biased;
                done = asking.join_next() => {
                    let Some(Ok((store, start, answered))) = done else {
                        return (store(first), Err(PeerError::NotHeard("its response was truncated".to_owned())));
                    };
                    if answered.is_ok() {
                        let took = self.elapsed().saturating_sub(start);
                        linked.usual().entry(store).or_default().hear(took);
                    }
                    match asked.hear((store, answered)) {
                        Heard::Answer(outcome) => return outcome,
                        Heard::Next(next) => next,
                    }
                }
                () = &mut late, if !is_late => {
                    is_late = true;
                    linked.usual().entry(store(first)).or_default().late(self.elapsed());
                    let other = asked.hedge.late();
                    self.counts.asked_both.add(usize::from(other.is_some()));
                    other
                }
            };
            if let Some((next, body)) = next.zip(again.as_ref().and_then(Body::again)) {
                ask(&mut asking, next, body);
            }
        }
    }
}

struct Asked {
    hedge: Hedge,
    /// The body can be repeated.
    is_twice: bool,
    /// The most informative failure.
    failed: Option<Outcome>,
}

enum Heard {
    Answer(Outcome),
    /// The store to be requested now, if any.
    Next(Option<Side>),
}

impl Asked {
    fn hear(&mut self, (store, answered): Outcome) -> Heard {
        if answered.as_ref().is_ok_and(|response| !response.status().is_server_error()) {
            return Heard::Answer((store, answered));
        }
        let outcome = match self.failed.take() {
            Some(before) if weight(&before.1) >= weight(&answered) => before,
            _ => (store, answered),
        };
        match self.hedge.failed() {
            Next::Ask(other) if self.is_twice => {
                self.failed = Some(outcome);
                Heard::Next(Some(other))
            }
            Next::Wait => {
                self.failed = Some(outcome);
                Heard::Next(None)
            }
            Next::Ask(_) | Next::Nobody => Heard::Answer(outcome),
        }
    }
}

/// A write that may have been applied, then a refusal, then a request that was not sent.
fn weight(answered: &Result<Response<Body>, PeerError>) -> u8 {
    match answered {
        Err(PeerError::NotAsked(_)) => 0,
        Ok(response) if response.headers().contains_key(wire::UNSURE) => 2,
        // The disk may have failed after the write was applied.
        Ok(response) if response.status() == StatusCode::INTERNAL_SERVER_ERROR => 2,
        Ok(_) => 1,
        Err(PeerError::NotHeard(_)) => 2,
    }
}

fn version_of(response: &Response<Body>) -> Option<Version> {
    response.headers().get(VERSION)?.to_str().ok()?.parse().ok()
}

/// Bytes of a body that is kept in memory, so that it can be sent twice.
pub(super) const SHORT: usize = 1 << 20;
/// One is enough for a slow clock, unless other clients write the same key concurrently.
const MOST_VERSIONS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: StatusCode) -> Outcome {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        (DataCentreId(0), Ok(response))
    }

    fn status(heard: Heard) -> Result<StatusCode, PeerError> {
        let Heard::Answer((_, answered)) = heard else { panic!("it waits") };
        answered.map(|response| response.status())
    }

    fn asking(is_twice: bool) -> Asked {
        Asked { hedge: Hedge::asking(Side::Left), is_twice, failed: None }
    }

    #[test]
    fn a_store_that_is_full_is_as_good_as_none() {
        let mut asked = asking(true);
        let next = asked.hear(answered(StatusCode::INSUFFICIENT_STORAGE));
        assert!(matches!(next, Heard::Next(Some(Side::Right))));
        assert_eq!(status(asked.hear(answered(StatusCode::OK))), Ok(StatusCode::OK));
        let alone = asking(false).hear(answered(StatusCode::INSUFFICIENT_STORAGE));
        assert_eq!(status(alone), Ok(StatusCode::INSUFFICIENT_STORAGE));
        assert_eq!(status(asking(true).hear(answered(StatusCode::BAD_REQUEST))), Ok(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn what_may_have_been_done_is_said_to_be() {
        let not_heard = || PeerError::NotHeard("gone".to_owned());
        let not_asked = || PeerError::NotAsked("cut".to_owned());
        for [first, second] in [[not_heard(), not_asked()], [not_asked(), not_heard()]] {
            let mut asked = asking(true);
            assert!(matches!(asked.hear((DataCentreId(0), Err(first))), Heard::Next(Some(Side::Right))));
            assert_eq!(status(asked.hear((DataCentreId(1), Err(second)))), Err(not_heard()));
        }
        // A full store has not applied the write, but a store without a confirmation of NATS may
        // have.
        let mut unsure = answered(StatusCode::SERVICE_UNAVAILABLE);
        let response = unsure.1.as_mut().unwrap();
        response.headers_mut().insert(wire::UNSURE, http_stack::HeaderValue::from_static("1"));
        for [first, second] in [
            [answered(StatusCode::INSUFFICIENT_STORAGE), (DataCentreId(1), Err(not_heard()))],
            [unsure, answered(StatusCode::SERVICE_UNAVAILABLE)],
        ] {
            let mut asked = asking(true);
            assert!(matches!(asked.hear(first), Heard::Next(Some(Side::Right))));
            let Heard::Answer((_, last)) = asked.hear(second) else { panic!("it waits") };
            assert_eq!(weight(&last), 2, "{last:?}");
        }
    }
}
