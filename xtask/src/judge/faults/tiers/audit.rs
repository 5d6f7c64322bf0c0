//! Checks the responses to clients of a cache: no object from before an acknowledged purge may be served
//! after it, and a request may fail only if no data centre can reach the origin.
//!
//! Times are relative to the start of the run.

use std::time::Duration;

use crate::judge::faults::{
    cluster::{CENTRES, ORIGIN_CITY},
    timeline::{Fault, What},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) centre: usize,
    pub(super) is_one_life: bool,
    pub(super) object: u64,
    pub(super) sent: Duration,
    pub(super) answered: Duration,
    pub(super) came: Result<u64, String>,
    pub(super) how: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Purge {
    pub(super) what: String,
    /// The purged objects, with the minimum version allowed afterwards.
    pub(super) least: Vec<(u64, u64)>,
    pub(super) acknowledged: Duration,
    pub(super) done_in: Vec<usize>,
}

impl Purge {
    pub(super) fn is_broken_by(&self, visit: &Visit) -> bool {
        let Ok(version) = visit.came else { return false };
        let is_after = self.acknowledged < visit.sent && self.done_in.contains(&visit.centre);
        is_after && self.least.iter().any(|(object, least)| *object == visit.object && version < *least)
    }
}

/// Whether a request had to succeed because a path to the origin was available. `faults` have their real
/// times.
///
/// The direct path is available if no fault affects it during the request. A path through another data centre
/// must also have been intact for [`SETTLED`] before: silence is detected within four seconds, and a link
/// reconnects within four seconds.
pub(super) fn has_way(faults: &[Fault], visit: &Visit) -> bool {
    let here = visit.centre;
    if !visit.is_one_life {
        return false;
    }
    let is_calm = |before: Duration, is_about: &dyn Fn(What) -> bool| {
        let from = visit.sent.saturating_sub(before);
        !faults.iter().any(|fault| fault.from <= visit.answered && fault.to >= from && is_about(fault.what))
    };
    let city = |centre: usize| CENTRES[centre].city;
    let cuts = |what: What, a: &str, b: &str| match what {
        What::Cut(c, d) => (a, b) == (c, d) || (a, b) == (d, c),
        What::Alone(centre) => city(centre) == a || city(centre) == b,
        _ => false,
    };
    if is_calm(Duration::ZERO, &|what| cuts(what, city(here), ORIGIN_CITY)) {
        return true;
    }
    let mut others = (0..CENTRES.len()).filter(|other| *other != here);
    others.any(|other| {
        is_calm(SETTLED, &|what| {
            cuts(what, city(here), city(other))
                || cuts(what, city(other), ORIGIN_CITY)
                || what == What::Killed(other)
                || what == What::Killed(here)
        })
    })
}

pub(super) const SETTLED: Duration = Duration::from_secs(8);

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn visit(came: Result<u64, String>) -> Visit {
        Visit {
            centre: 1,
            is_one_life: true,
            object: 3,
            sent: 20 * SECOND,
            answered: 21 * SECOND,
            came,
            how: String::new(),
        }
    }

    #[test]
    fn what_was_there_before_a_purge_is_found() {
        let purge = Purge {
            what: String::new(),
            least: vec![(3, 5)],
            acknowledged: 19 * SECOND,
            done_in: vec![0, 1],
        };
        assert!(purge.is_broken_by(&visit(Ok(4))));
        assert!(!purge.is_broken_by(&visit(Ok(5))) && !purge.is_broken_by(&visit(Err(String::new()))));
        assert!(!purge.is_broken_by(&Visit { object: 2, ..visit(Ok(4)) }));
        assert!(!purge.is_broken_by(&Visit { centre: 2, ..visit(Ok(4)) }), "it was not reached");
        let later = Purge { acknowledged: 20 * SECOND, ..purge };
        assert!(!later.is_broken_by(&visit(Ok(4))), "acknowledged while the request was under way");
    }

    #[test]
    fn a_request_may_fail_only_if_every_way_was_broken() {
        let failed = visit(Err("503".to_owned()));
        let fault = |what, from: u32, to: u32| Fault { what, from: from * SECOND, to: to * SECOND };
        let direct = fault(What::Cut(CENTRES[1].city, ORIGIN_CITY), 20, 25);
        assert!(has_way(&[], &failed) && has_way(std::slice::from_ref(&direct), &failed), "there are others");
        let all = |from, to| {
            let others = [0, 2, 3].map(|other| fault(What::Killed(other), from, to));
            [vec![direct.clone()], others.to_vec()].concat()
        };
        assert!(
            !has_way(&all(19, 22), &failed) && !has_way(&all(10, 12), &failed),
            "they have to be found again"
        );
        assert!(has_way(&all(10, 11), &failed) && has_way(&all(22, 23), &failed));
        assert!(has_way(&all(19, 22)[1..], &failed), "the direct way is whole");
        assert!(!has_way(&[fault(What::Alone(1), 19, 20)], &failed));
        assert!(has_way(&[fault(What::Killed(1), 18, 19)], &failed), "it was started");
        assert!(!has_way(&[], &Visit { is_one_life: false, ..failed }));
    }
}
