//! Traffic on a planet between two samples.

use std::collections::{BTreeMap, HashSet};

use planet::{LinkStatus, Status};

use crate::lab::figures::whole;

#[derive(Debug)]
pub(super) struct Window {
    /// Absent: rates are averages since the start of the planet.
    pub before: Option<Status>,
    pub now: Status,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Flow<'w> {
    pub link: &'w LinkStatus,
    /// Delivered at the end of the link.
    pub bits_per_second: f64,
    pub drops_per_second: f64,
}

impl Window {
    /// If a planet of the same name was restarted meanwhile, counts from its start.
    pub(super) fn seconds(&self) -> f64 {
        self.now.running_s - self.since_before().map_or(0.0, |before| before.running_s)
    }

    /// `None` if the earlier sample is of another planet.
    pub(super) fn since_before(&self) -> Option<&Status> {
        self.before.as_ref().filter(|before| before.running_s < self.now.running_s)
    }

    /// Links that are down come first, then the busiest by order of magnitude, which keeps the
    /// order stable.
    pub(super) fn flows(&self) -> (Vec<Flow<'_>>, Vec<Flow<'_>>) {
        let earlier: BTreeMap<_, _> = self
            .since_before()
            .into_iter()
            .flat_map(|before| &before.links)
            .map(|link| (key(link), link))
            .collect();
        let flow = |link| self.flow(link, earlier.get(&key(link)).copied());
        let mut flows: Vec<_> = self.now.links.iter().map(flow).filter(Flow::is_shown).collect();
        flows.sort_by_key(|flow| (!flow.link.is_down, -magnitude(flow.bits_per_second), key(flow.link)));
        let homes: HashSet<_> =
            self.now.hosts.iter().map(|host| (host.name.as_str(), host.city.as_str())).collect();
        flows.into_iter().partition(|flow| !is_line(flow.link, &homes))
    }

    fn flow<'w>(&self, link: &'w LinkStatus, earlier: Option<&LinkStatus>) -> Flow<'w> {
        let grown = |count: fn(&LinkStatus) -> u64| {
            let growth = count(link).saturating_sub(earlier.map_or(0, count));
            whole(growth) / self.seconds().max(f64::MIN_POSITIVE)
        };
        Flow {
            link,
            bits_per_second: grown(|link| link.delivered.bytes) * 8.0,
            drops_per_second: grown(drops),
        }
    }
}

impl Flow<'_> {
    fn is_shown(&self) -> bool {
        self.link.is_down || self.bits_per_second > 0.0 || self.drops_per_second > 0.0
    }
}

fn is_line(link: &LinkStatus, homes: &HashSet<(&str, &str)>) -> bool {
    let (from, to) = (link.from.as_str(), link.to.as_str());
    link.access.is_some() || homes.contains(&(from, to)) || homes.contains(&(to, from))
}

pub(super) fn drops(link: &LinkStatus) -> u64 {
    link.lost.segments + link.overflowed.segments + link.managed.segments
}

fn key(link: &LinkStatus) -> (&str, &str, Option<&str>) {
    (&link.from, &link.to, link.access.as_deref())
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms of rates are below 64")]
fn magnitude(bits_per_second: f64) -> i32 {
    bits_per_second.max(1.0).log2() as i32
}
