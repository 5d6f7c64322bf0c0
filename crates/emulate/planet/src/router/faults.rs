//! The active faults, and their effect on each edge.

use std::collections::{BTreeMap, BTreeSet};

use world::{AnycastId, Change, CityId, Effect, HostDown, HostId, Layout, LinkDown, PortId, file::Transient};

use super::edge::Edge;

/// Merged; if two faults affect the same property, the later one applies.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Faults {
    links: BTreeMap<(CityId, CityId), Change>,
    lines: BTreeMap<PortId, Change>,
    cities: BTreeSet<CityId>,
    partitions: Vec<Vec<usize>>,
    withdrawn: BTreeMap<(AnycastId, HostId), Option<Transient>>,
}

impl Faults {
    pub(crate) fn new(layout: &Layout, active: &[Effect]) -> Self {
        let mut faults = Self::default();
        for effect in active {
            match effect {
                Effect::Link { between, change } => faults.change_link(*between, change),
                Effect::Lines { ports, change } => faults.change_lines(ports.iter().copied(), change),
                Effect::Partition(groups) => faults.partitions.push(groups.clone()),
                Effect::City(city) => {
                    faults.cities.insert(*city);
                    let hosts = (0..layout.hosts.len()).filter(|&host| layout.hosts[host].city == *city);
                    faults.silence(layout, hosts);
                }
                Effect::Host { host, how: HostDown::Killed } => {
                    let no_carrier = Change { down: Some(LinkDown::Carrier), ..Change::default() };
                    faults.change_lines(layout.hosts[*host].ports.clone(), &no_carrier);
                    faults.silence(layout, std::iter::once(*host));
                }
                Effect::Host { how: HostDown::Frozen, .. } => {}
                Effect::Withdraw { anycast, hosts, transient } => {
                    faults.withdrawn.extend(hosts.iter().map(|&host| ((*anycast, host), *transient)));
                }
            }
        }
        // A host detects the missing carrier of its device, and withdraws its announcements over
        // it.
        let cut: Vec<_> = (0..layout.hosts.len())
            .filter(|&host| faults.line_down(layout, host) == Some(LinkDown::Carrier))
            .collect();
        faults.silence(layout, cut.into_iter());
        faults
    }

    pub(crate) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// No partition, city or link on the path is down, and the site's line has no failure that the
    /// city's router detects. A city that is down ignores announcements.
    pub(crate) fn reaches(&self, layout: &Layout, from: CityId, site: HostId) -> bool {
        if self.cities.contains(&from) {
            return true;
        }
        let is_down = |pair: &[CityId]| self.change(layout, Edge::Between(pair[0], pair[1])).down.is_some();
        let route = layout.route(from, layout.hosts[site].city);
        !route.windows(2).any(is_down) && self.line_down(layout, site) != Some(LinkDown::Unreachable)
    }

    /// Of the first device, over which the host announces its prefixes.
    fn line_down(&self, layout: &Layout, host: HostId) -> Option<LinkDown> {
        self.lines.get(&layout.hosts[host].ports.start)?.down
    }

    pub(crate) fn change(&self, layout: &Layout, edge: Edge) -> Change {
        let (own, ends) = match edge {
            Edge::Up(port) | Edge::Down(port) => (self.lines.get(&port), [layout.city_of(port); 2]),
            Edge::Between(a, b) => (self.links.get(&(a.min(b), a.max(b))), [a, b]),
        };
        let mut change = own.cloned().unwrap_or_default();
        let is_cut = self.partitions.iter().any(|groups| groups[ends[0]] != groups[ends[1]]);
        if is_cut || ends.iter().any(|city| self.cities.contains(city)) {
            change.down = change.down.or(Some(LinkDown::Silent));
        }
        change
    }

    pub(crate) fn withdrawn(&self, anycast: AnycastId, host: HostId) -> Option<Option<Transient>> {
        self.withdrawn.get(&(anycast, host)).copied()
    }

    pub(crate) fn has_line(&self, port: PortId) -> bool {
        self.lines.contains_key(&port)
    }

    pub(crate) fn without_carrier(&self) -> BTreeSet<PortId> {
        let has_none = |change: &Change| change.down == Some(LinkDown::Carrier);
        self.lines.iter().filter(|(_, change)| has_none(change)).map(|(&port, _)| port).collect()
    }

    fn change_link(&mut self, between: (CityId, CityId), change: &Change) {
        let link = self.links.entry(between).or_default();
        *link = change.over(link);
    }

    fn change_lines(&mut self, ports: impl Iterator<Item = PortId>, change: &Change) {
        for port in ports {
            let line = self.lines.entry(port).or_default();
            *line = change.over(line);
        }
    }

    fn silence(&mut self, layout: &Layout, hosts: impl Iterator<Item = HostId>) {
        for host in hosts {
            for (anycast, described) in layout.anycast.iter().enumerate() {
                if described.hosts.contains(&host) {
                    self.withdrawn.insert((anycast, host), Some(Transient::Blackhole));
                }
            }
        }
    }
}
