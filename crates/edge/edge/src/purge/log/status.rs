//! The status of purge replication for the operator.

use super::{PurgeLog, State};
use crate::admin::api::{HeardFrom, LogOf, PurgesStatus};

impl PurgeLog {
    pub(crate) fn report<'n>(&self, own: &str, names: impl Iterator<Item = &'n str>) -> PurgesStatus {
        let (now, state) = (self.now(), self.state());
        let position = state.ledger.position();
        let log = |(log, purges): (::tier_routing::LogId, u64)| LogOf {
            log: format!("{:x}", log.0),
            data_centre: log_owner(&state, own, log),
            purges,
        };
        let peer_status = |name: &str| {
            let peer = state.peers.get(name);
            let synced_peer = peer.filter(|peer| peer.log.is_some());
            let peer_status = peer.and_then(|peer| peer.current_at);
            HeardFrom {
                data_centre: name.to_owned(),
                behind: synced_peer.map(|peer| position.ahead_of(&peer.position)),
                ahead: synced_peer.map(|peer| peer.reported.ahead_of(&position)),
                heard_s: peer_status.map(|at| now.saturating_sub(at).as_secs()),
            }
        };
        PurgesStatus {
            log: format!("{:x}", state.ledger.own().0),
            position: position.logs().map(log).collect(),
            data_centres: names.map(peer_status).collect(),
            remembered: state.ledger.remembered() as u64,
            cut_off: self.is_partitioned(),
            bus: None,
        }
    }
}

fn log_owner(state: &State, own: &str, log: ::tier_routing::LogId) -> Option<String> {
    if log == state.ledger.own() {
        return Some(own.to_owned());
    }
    state.peers.iter().find(|(_, peer)| peer.log == Some(log)).map(|(name, _)| name.clone())
}
