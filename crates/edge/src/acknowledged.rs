//! Acknowledgement of a purge: the state of each data centre, after a bounded time.

use std::{collections::BTreeMap, future::pending, sync::Arc, time::Duration};

use ::tiers::CentreId;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};

use crate::{centre::Edge, operator::PurgedIn};

impl Edge {
    /// Sends the last own purge to all peers and waits until they have applied it, for at most [`PATIENCE`].
    /// `began` is the time of the operator's request.
    pub(crate) async fn acknowledged(self: &Arc<Self>, began: Instant) -> Vec<PurgedIn> {
        let Some(others) = self.others() else { return Vec::new() };
        let place = self.bus.last_own();
        let (tell, mut told) = mpsc::unbounded_channel();
        let mut waiting = BTreeMap::new();
        for (centre, peer) in others.all() {
            waiting.insert(peer.name.clone(), centre);
            let (edge, others, tell) = (Arc::clone(self), Arc::clone(&others), tell.clone());
            // Continues after the wait has ended.
            let exchanging = tokio::spawn({
                let (edge, name) = (Arc::clone(&edge), peer.name.clone());
                async move {
                    // Many purges may queue for a peer that does not respond. Drop them after the deadline;
                    // the periodic exchange delivers them later.
                    let is_needless = || edge.bus.has(&name, place) || began.elapsed() > PATIENCE;
                    edge.exchange(&others, centre, is_needless).await
                }
            });
            let name = peer.name.clone();
            tokio::spawn(async move {
                let has = async {
                    if edge.is_on_bus() {
                        edge.bus.until_has(&name, place).await;
                    } else {
                        pending::<()>().await;
                    }
                };
                let exchanged = tokio::select! {
                    exchanged = exchanging => exchanged.unwrap_or(Ok(())),
                    // The stream has delivered it.
                    () = has => Ok(()),
                };
                if edge.hears_on_bus(&name) {
                    let _ = timeout_at(began + PATIENCE, edge.bus.until_has(&name, place)).await;
                }
                let why = || exchanged.err().unwrap_or_else(too_late);
                let why = (!edge.bus.has(&name, place)).then(why);
                let _ = tell.send((name, why, began.elapsed()));
            });
        }
        drop(tell);
        let deadline = began + PATIENCE;
        let mut done = BTreeMap::new();
        // Stop when only peers remain that were already unreachable.
        let may_answer = |(name, centre): (&String, &CentreId)| {
            !others.peer(*centre).seen().is_lost || self.hears_on_bus(name)
        };
        while waiting.iter().any(may_answer) {
            let Ok(Some((name, why, after))) = timeout_at(deadline, told.recv()).await else { break };
            waiting.remove(&name);
            let applied_ms = why.is_none().then_some(after.as_secs_f64() * 1000.0);
            done.insert(name.clone(), PurgedIn { data_centre: name, applied_ms, unreachable: why });
        }
        for (name, centre) in waiting {
            let why = others.peer(centre).seen().why;
            let why = why.unwrap_or_else(too_late);
            let unreachable = Some(why);
            done.insert(name.clone(), PurgedIn { data_centre: name, applied_ms: None, unreachable });
        }
        done.into_values().collect()
    }
}

fn too_late() -> String {
    format!("it did not respond within {} s", PATIENCE.as_secs())
}

/// How long a purge waits for peers: about ten of the longest round-trip times on Earth.
const PATIENCE: Duration = Duration::from_secs(3);
