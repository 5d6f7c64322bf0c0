//! Acknowledgement of a purge: the state of each data centre, after a bounded time.

use std::{collections::BTreeMap, future::pending, sync::Arc, time::Duration};

use ::tier_routing::DataCentreId;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};

use crate::{admin::api::PurgedIn, server::node::Node};

impl Node {
    /// Sends the last own purge to all peers and waits for at most [`ACK_TIMEOUT`]. `began` is the
    /// time of the operator's request.
    pub(crate) async fn send_and_wait_for_acks(self: &Arc<Self>, began: Instant) -> Vec<PurgedIn> {
        let Some(peers) = self.peers() else { return Vec::new() };
        let place = self.purge_log.last_own_entry();
        let (tell, mut told) = mpsc::unbounded_channel();
        let mut waiting = BTreeMap::new();
        for (centre, peer) in peers.all() {
            waiting.insert(peer.name.clone(), centre);
            let (node, peers, tell) = (Arc::clone(self), Arc::clone(&peers), tell.clone());
            let exchanging = tokio::spawn({
                let (node, name) = (Arc::clone(&node), peer.name.clone());
                async move {
                    // Many purges may queue for a peer that does not respond. After the deadline,
                    // the periodic exchange delivers them.
                    let is_needless =
                        || node.purge_log.has_applied(&name, place) || began.elapsed() > ACK_TIMEOUT;
                    node.sync_with(&peers, centre, is_needless).await
                }
            });
            let name = peer.name.clone();
            tokio::spawn(async move {
                let has = async {
                    if node.has_nats() {
                        node.purge_log.wait_for_peer(&name, place).await;
                    } else {
                        pending::<()>().await;
                    }
                };
                let exchanged = tokio::select! {
                    exchanged = exchanging => exchanged.unwrap_or(Ok(())),
                    () = has => Ok(()),
                };
                if node.hears_over_nats(&name) {
                    let _ = timeout_at(began + ACK_TIMEOUT, node.purge_log.wait_for_peer(&name, place)).await;
                }
                let why = || exchanged.err().unwrap_or_else(ack_timeout);
                let why = (!node.purge_log.has_applied(&name, place)).then(why);
                let _ = tell.send((name, why, began.elapsed()));
            });
        }
        drop(tell);
        let deadline = began + ACK_TIMEOUT;
        let mut done = BTreeMap::new();
        // Stop when only peers remain that were already unreachable.
        let may_answer = |(name, centre): (&String, &DataCentreId)| {
            !peers.peer(*centre).snapshot().is_lost || self.hears_over_nats(name)
        };
        while waiting.iter().any(may_answer) {
            let Ok(Some((name, why, after))) = timeout_at(deadline, told.recv()).await else { break };
            waiting.remove(&name);
            let applied_ms = why.is_none().then_some(after.as_secs_f64() * 1000.0);
            done.insert(name.clone(), PurgedIn { data_centre: name, applied_ms, unreachable: why });
        }
        for (name, centre) in waiting {
            let why = peers.peer(centre).snapshot().why;
            let why = why.unwrap_or_else(ack_timeout);
            let unreachable = Some(why);
            done.insert(name.clone(), PurgedIn { data_centre: name, applied_ms: None, unreachable });
        }
        done.into_values().collect()
    }
}

fn ack_timeout() -> String {
    format!("it did not respond within {} s", ACK_TIMEOUT.as_secs())
}

/// About ten of the longest round-trip times on Earth.
const ACK_TIMEOUT: Duration = Duration::from_secs(3);
