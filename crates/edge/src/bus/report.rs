//! The status of purge replication for the operator.

use super::{Bus, State};
use crate::operator::{HeardFrom, LogOf, PurgesStatus};

impl Bus {
    pub(crate) fn report<'n>(&self, own: &str, names: impl Iterator<Item = &'n str>) -> PurgesStatus {
        let (now, state) = (self.now(), self.state());
        let position = state.ledger.position();
        let log = |(log, purges): (::tiers::LogId, u64)| LogOf {
            log: format!("{:x}", log.0),
            data_centre: whose(&state, own, log),
            purges,
        };
        let heard = |name: &str| {
            let known = state.others.get(name);
            let told = known.filter(|known| known.log.is_some());
            let heard = known.and_then(|known| known.heard);
            HeardFrom {
                data_centre: name.to_owned(),
                behind: told.map(|known| position.ahead_of(&known.position)),
                ahead: told.map(|known| known.said.ahead_of(&position)),
                heard_s: heard.map(|at| now.saturating_sub(at).as_secs()),
            }
        };
        PurgesStatus {
            log: format!("{:x}", state.ledger.own().0),
            position: position.logs().map(log).collect(),
            data_centres: names.map(heard).collect(),
            remembered: state.ledger.remembered() as u64,
            cut_off: self.is_cut_off(),
            bus: None,
        }
    }
}

/// The data centre that writes a log; `None` if the log has ended.
fn whose(state: &State, own: &str, log: ::tiers::LogId) -> Option<String> {
    if log == state.ledger.own() {
        return Some(own.to_owned());
    }
    state.others.iter().find(|(_, known)| known.log == Some(log)).map(|(name, _)| name.clone())
}
