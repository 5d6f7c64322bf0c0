//! Exchange of purges between data centres: immediately after a purge, and every few seconds for
//! peers that were unreachable.
//!
//! A request contains the position of the sender and the entries that the receiver lacks; the
//! response contains the same for the other direction. Requests are repeated until both have the
//! same entries. A request for an object carries the position of its sender; a receiver that does
//! not cover this position first catches up.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};

use ::tier_routing::DataCentreId;
use http_stack::{Body, HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};

use crate::{
    Error,
    config::Network,
    peers::{
        ControlRequest, Peers, TrafficClass,
        headers::{KIND_PURGES, PURGE_EPOCH},
    },
    purge::{apply::HandoverInProgress, log::SyncMessage},
    server::node::Node,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CatchUpError {
    /// Purges that the sender has applied could not be received in time.
    PurgesMissing,
    Malformed,
}

impl Node {
    /// Must be called in a tokio runtime with I/O and time.
    pub(crate) fn start_peers(self: &Arc<Self>, peers: Option<Arc<Peers>>) {
        self.set_peers(peers);
        let Some(peers) = self.peers() else { return };
        let node = Arc::downgrade(self);
        peers.start(move || Some(node.upgrade()?.network()));
        for (centre, _) in peers.all() {
            tokio::spawn(sync_periodically(Arc::downgrade(self), Arc::downgrade(&peers), centre));
        }
        tokio::spawn(review_periodically(Arc::downgrade(self), Arc::downgrade(&peers)));
    }

    fn has_current_peers(&self, peers: &Arc<Peers>) -> bool {
        self.peers().is_some_and(|now| Arc::ptr_eq(&now, peers))
    }

    pub(crate) fn update_peers(self: &Arc<Self>, network: &Network) -> Result<(), Error> {
        match self.peers().filter(|peers| peers.has_same_peers(&self.network(), network)) {
            Some(peers) => {
                peers.reload_credentials(network)?;
                peers.set_zones(network);
            }
            None => {
                let previous = self.peers();
                self.start_peers(Peers::new(
                    network,
                    &self.data_centre,
                    self.workers(),
                    previous.as_deref(),
                )?);
            }
        }
        Ok(())
    }

    /// Repeats until both have the same entries; at most two exchanges per peer run concurrently.
    /// Ends early if `is_needless` returns true after the wait for a turn.
    pub(crate) async fn sync_with(
        self: &Arc<Self>,
        peers: &Peers,
        centre: DataCentreId,
        is_needless: impl Fn() -> bool,
    ) -> Result<(), String> {
        let peer = peers.peer(centre);
        let _turn = peer.sync_permits.acquire().await.map_err(|_| "this data centre is shutting down")?;
        for _ in 0..MAX_ROUNDS {
            if is_needless() {
                return Ok(());
            }
            let previous = self.purge_log.progress(&peer.name);
            let message = self.purge_log.sync_message_for(&peer.name, peers.network_name());
            let question = ControlRequest {
                kind: KIND_PURGES,
                body: message.write(),
                max_reply_bytes: SyncMessage::MAX_BYTES,
            };
            let text = peers.send_control(centre, TrafficClass::Small, question).await?;
            let answer = SyncMessage::read(&text).ok_or("its response is malformed")?;
            if answer.network != peers.network_name() {
                return Err("it belongs to another network".to_owned());
            }
            peers.mark_up(centre);
            let taken = self.apply_message(&peer.name, answer).await;
            taken.map_err(|HandoverInProgress| "a handover to another process is in progress".to_owned())?;
            if self.purge_log.is_in_sync_with(&peer.name) {
                return Ok(());
            }
            if self.purge_log.progress(&peer.name) == previous {
                return Err("the exchange made no progress although entries are missing".to_owned());
            }
        }
        Err("the exchange exceeded the maximum number of rounds".to_owned())
    }

    pub(crate) async fn apply_message(
        self: &Arc<Self>,
        name: &str,
        message: SyncMessage,
    ) -> Result<(), HandoverInProgress> {
        if self.disk.is_none() {
            return self.apply_sync(name, message);
        }
        let (node, name) = (Arc::clone(self), name.to_owned());
        spawn_blocking(move || node.apply_sync(&name, message)).await.unwrap_or(Err(HandoverInProgress))
    }

    pub(crate) async fn answer_sync(
        self: &Arc<Self>,
        peers: &Peers,
        name: &str,
        body: Body,
    ) -> Result<Response<Body>, String> {
        let text = body.collect(SyncMessage::MAX_BYTES).await;
        let text = text.map_err(|_| "the message is truncated or longer than 4 MiB".to_owned())?;
        let message = SyncMessage::read(&text).ok_or("the message is malformed")?;
        if message.network != peers.network_name() {
            return Err(format!("this data centre belongs to the network \"{}\"", peers.network_name()));
        }
        if message.log == self.purge_log.last_own_entry().0 {
            return Err("the message is from this data centre itself".to_owned());
        }
        let (position, ended) = (message.position.clone(), message.ended_logs.clone());
        if self.apply_message(name, message).await == Err(HandoverInProgress) {
            return Err("a handover to another process is in progress: retry in a moment".to_owned());
        }
        let answer = self.purge_log.sync_reply((&position, &ended), peers.network_name());
        let mut response = Response::new(Body::whole(answer.write()));
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(response)
    }

    /// The response must contain no object that the sender has purged.
    pub(crate) async fn catch_up(
        self: &Arc<Self>,
        peers: &Peers,
        sender: &str,
        headers: &HeaderMap,
    ) -> Result<(), CatchUpError> {
        let Some(claimed) = headers.get(PURGE_EPOCH) else { return Ok(()) };
        let covers = || self.purge_log.covers(claimed);
        if covers().map_err(|_| CatchUpError::Malformed)? {
            return Ok(());
        }
        if let Some(centre) = peers.id(sender) {
            let exchange = self.sync_with(peers, centre, || covers() == Ok(true));
            if let Ok(Err(why)) = timeout(CATCH_UP_TIMEOUT, exchange).await {
                tracing::info!(data_centre = sender, why, "missing purges could not be received");
            }
        }
        if covers() == Ok(true) { Ok(()) } else { Err(CatchUpError::PurgesMissing) }
    }

    pub(crate) fn sync_if_behind(
        self: &Arc<Self>,
        peers: &Arc<Peers>,
        centre: DataCentreId,
        claimed: &HeaderValue,
    ) {
        if self.purge_log.covers(claimed) != Ok(false)
            || peers.peer(centre).sync_permits.available_permits() == 0
        {
            return;
        }
        let (node, peers, claimed) = (Arc::clone(self), Arc::clone(peers), claimed.clone());
        tokio::spawn(async move {
            let covers = || node.purge_log.covers(&claimed) != Ok(false);
            let _ = node.sync_with(&peers, centre, covers).await;
        });
    }
}

async fn sync_periodically(node: Weak<Node>, peers: Weak<Peers>, centre: DataCentreId) {
    while let (Some(now), Some(live_peers)) = (node.upgrade(), peers.upgrade()) {
        if !now.has_current_peers(&live_peers) {
            return;
        }
        let exchanged = now.sync_with(&live_peers, centre, || false).await;
        let name = &live_peers.peer(centre).name;
        if let Err(why) = exchanged {
            tracing::debug!(data_centre = name, why, "an exchange of purges failed");
        }
        let count = live_peers.data_centres().len();
        now.purge_log.mark_synced(name, count - 1);
        let period = sync_interval(count);
        drop((now, live_peers));
        sleep(period).await;
    }
}

pub(crate) fn sync_interval(data_centres: usize) -> Duration {
    SYNC_INTERVAL + SYNC_INTERVAL_PER_PEER * u32::try_from(data_centres).unwrap_or(u32::MAX)
}

async fn review_periodically(node: Weak<Node>, peers: Weak<Peers>) {
    while let (Some(now), Some(live_peers)) = (node.upgrade(), peers.upgrade()) {
        if !now.has_current_peers(&live_peers) {
            return;
        }
        let names: BTreeSet<_> = live_peers.all().map(|(_, peer)| peer.name.as_str()).collect();
        let ended = now.purge_log.review_peers(&names);
        if let Some(on_disk) = now.disk.as_ref().filter(|_| !ended.is_empty()) {
            on_disk.forget_logs(&ended);
        }
        drop((now, live_peers));
        sleep(REVIEW_INTERVAL).await;
    }
}

pub(crate) fn unavailable(why: &str) -> Response<Body> {
    let mut response = Response::new(Body::whole(format!("{why}\n")));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

pub(crate) fn is_sync_request(request: &Request<Body>) -> bool {
    request.headers().get(crate::peers::headers::REQUEST_KIND).is_some_and(|kind| *kind == KIND_PURGES)
}

/// Purges are sent immediately; this is for late joiners.
const SYNC_INTERVAL: Duration = Duration::from_secs(3);
/// Keeps a network of 300 data centres from being busy with exchanges.
const SYNC_INTERVAL_PER_PEER: Duration = Duration::from_millis(10);
const REVIEW_INTERVAL: Duration = Duration::from_secs(1);
/// Longer than one exchange with a data centre that responds.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(5);
/// Messages of a thousand purges each: enough for 4096 full logs.
const MAX_ROUNDS: usize = 50_000;
