//! The mapping of data centre numbers when the network's list changes, so that state is kept.

use std::collections::BTreeMap;

use crate::{DataCentreId, Network};

/// The new numbers of data centres, matched by name.
#[derive(Debug, Clone)]
pub struct Renumbering {
    new: Vec<Option<DataCentreId>>,
    count: usize,
}

impl Renumbering {
    /// The mapping from one network to another.
    pub fn new(before: &Network, after: &Network) -> Self {
        let by_name: BTreeMap<&str, DataCentreId> =
            after.ids().map(|id| (after.centre(id).name.as_str(), id)).collect();
        let new = before.ids().map(|id| by_name.get(before.centre(id).name.as_str()).copied());
        Self { new: new.collect(), count: after.len() }
    }

    /// The new number of a data centre; `None` if the new network does not contain it.
    pub fn of(&self, before: DataCentreId) -> Option<DataCentreId> {
        self.new.get(usize::from(before.0)).copied().flatten()
    }

    /// The number of data centres in the new network.
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use std::{net::SocketAddr, time::Duration};

    use super::*;
    use crate::{
        Basis, Centre, Fault, Health, Measurements, Next, Replay, Route, RouteInputs, RouteSelector, Smart,
        State, Tuning,
    };

    fn network(names: &[&str]) -> Network {
        let centre = |name: &&str| Centre { name: (*name).to_owned(), region: "r".to_owned(), weight: 1 };
        Network::new(names.iter().map(centre).collect(), |_, _| Duration::ZERO)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_data_centre_keeps_what_is_known_of_it() {
        let (before, after) = (network(&["lhr", "fra", "syd"]), network(&["ams", "syd", "lhr"]));
        let to = Renumbering::new(&before, &after);
        let [lhr, fra, syd] = [0, 1, 2].map(DataCentreId);
        assert_eq!([lhr, fra, syd].map(|id| to.of(id)), [Some(DataCentreId(2)), None, Some(DataCentreId(1))]);

        let mut health = Health::default();
        health.set(fra, State::Down);
        health.set(syd, State::Down);
        let health = health.renumbered(&to);
        assert_eq!([0, 1, 2].map(|id| health.is_up(DataCentreId(id))), [true, false, true]);

        let mut measured = Measurements::new(3);
        for (id, connect) in [(lhr, 30), (fra, 20), (syd, 10)] {
            (0..5).for_each(|_| measured.add(ms(0), id, ms(connect)));
        }
        let mut smart = Smart::new(Tuning::default());
        smart.review(ms(0), &before, (&measured, &[]), &Health::default());
        assert_eq!(smart.choice().basis, Basis::Nearest(syd));
        let measured = measured.renumbered(&to);
        let connects = [0, 1, 2].map(|id| measured.typical(ms(0), DataCentreId(id)).map(|t| t.connect));
        assert_eq!(connects, [None, Some(ms(10)), Some(ms(30))]);
        let mut smart = smart.renumbered(&to);
        smart.review(ms(1), &after, (&measured, &[]), &Health::default());
        assert_eq!(smart.choice().basis, Basis::Nearest(DataCentreId(1)));
    }

    #[test]
    fn a_choice_that_is_gone_is_made_anew_without_waiting() {
        let (before, after) = (network(&["lhr", "fra", "syd"]), network(&["lhr", "syd", "ams"]));
        let to = Renumbering::new(&before, &after);
        let mut measured = Measurements::new(3);
        for (id, connect) in [(0, 30), (1, 10), (2, 20)] {
            (0..5).for_each(|_| measured.add(ms(0), DataCentreId(id), ms(connect)));
        }
        let mut smart = Smart::new(Tuning::default());
        smart.review(ms(0), &before, (&measured, &[]), &Health::default());
        let later = ms(20_000);
        smart.review(later, &before, (&measured, &[]), &Health::default());
        assert_eq!(smart.choice().basis, Basis::Nearest(DataCentreId(1)));
        let mut smart = smart.renumbered(&to);
        smart.review(later, &after, (&measured.renumbered(&to), &[]), &Health::default());
        assert_eq!(smart.choice().basis, Basis::Nearest(DataCentreId(1)), "syd");
    }

    #[test]
    fn failed_paths_stay_unless_their_data_centre_is_gone() {
        let (before, after) = (network(&["lhr", "fra", "syd"]), network(&["syd", "lhr"]));
        let to = Renumbering::new(&before, &after);
        let origin = SocketAddr::from(([192, 0, 2, 1], 443));
        let mut reach = RouteSelector::new(4);
        let measured = Measurements::new(0);
        let around = RouteInputs {
            here: DataCentreId(0),
            network: &before,
            health: &Health::default(),
            through: &[],
            links: &[],
            measured: &measured,
            allows_detours: true,
        };
        let (mut tries, Next { route, .. }) = reach.begin(ms(0), origin, &around);
        let mut next = Some(route);
        while let Some(route) = next {
            let failed = (route, Some(Fault::ConnectionTerminated));
            next = reach.failed(ms(0), &mut tries, failed, Replay::Harmless, &around);
        }
        let mut reach = reach.renumbered(&to);
        let left: Vec<_> = reach.failures().listed(ms(1)).map(|listed| listed.route).collect();
        assert_eq!(left, [Route::Direct, Route::Through(DataCentreId(0))]);
        let around = RouteInputs { here: DataCentreId(1), network: &after, ..around };
        assert_eq!(reach.begin(ms(1), origin, &around).1.route, Route::Direct);
        let met: Vec<_> = reach.failures().listed(ms(1)).map(|listed| listed.requests).collect();
        assert_eq!(met, [1, 1]);
    }
}
