//! From the packet that a host sent to the verdicts of the link it takes: the switch without its devices.
//!
//! Pure: logical time goes in, due times come out.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    time::Duration,
};

use link::{Link, Verdict};

use world::{Change, CityId, HostId, Layout, PortId};

use crate::{fidelity::allowance, wire::Frame};

/// Knows the way from any host to any address.
pub(crate) struct Router {
    layout: Layout,
    addresses: HashMap<IpAddr, PortId>,
    paths: HashMap<(PortId, PortId), Path>,
    links: HashMap<(CityId, CityId), Link>,
    changes: BTreeMap<(CityId, CityId), Change>,
}

/// What two hosts' way has beyond the link between their cities.
#[derive(Debug, Clone, Copy)]
struct Path {
    detour: Duration,
    allowance: Duration,
}

/// What becomes of some of a packet's segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The link's verdict, its due time that of the whole way.
    pub verdict: Verdict,
    /// What they occupy on the wire.
    pub wire_bytes: u64,
    /// By how much the due time may be missed.
    pub allowance: Duration,
}

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// To a host, which may be the sender itself.
    Host(PortId),
    /// Nowhere: no host has the address.
    Nobody,
}

impl Router {
    pub(crate) fn new(layout: Layout) -> Self {
        let addresses = layout.addresses();
        Self { layout, addresses, paths: HashMap::new(), links: HashMap::new(), changes: BTreeMap::new() }
    }

    /// Host and number of each device.
    pub(crate) fn ports(&self) -> Vec<(HostId, usize)> {
        self.layout.ports.iter().map(|port| (port.host, port.number)).collect()
    }

    /// Whom an address reaches.
    pub(crate) fn route(&self, to: IpAddr) -> Route {
        self.addresses.get(&to).map_or(Route::Nobody, |&host| Route::Host(host))
    }

    /// Sends a packet on its way at `now`; `each` is told the fate of every run of its segments.
    pub(crate) fn send(
        &mut self,
        now: Duration,
        from: PortId,
        to: PortId,
        frame: &Frame,
        mut each: impl FnMut(Fate),
    ) {
        let layout = &self.layout;
        let path = *self.paths.entry((from, to)).or_insert_with(|| Path {
            detour: layout.detour(from, to),
            allowance: allowance(layout.one_way(from, to) + layout.one_way(to, from), layout.lateness),
        });
        let cities = (layout.city_of(from), layout.city_of(to));
        let changes = &self.changes;
        let link = self.links.entry(cities).or_insert_with(|| {
            let config = layout.link(cities.0, cities.1);
            let config = changes.get(&ordered(cities)).map_or(config, |change| change.apply(config));
            Link::new(config, layout.link_seed(cities.0, cities.1))
        });
        let overhead = link.config().overhead;
        link.offer(now, frame.packet, |mut verdict| {
            if let Verdict::Deliver { due, .. } = &mut verdict {
                *due += path.detour;
            }
            let (Verdict::Deliver { segments, .. } | Verdict::Drop { segments, .. }) = &verdict;
            let packet = frame.packet;
            let wire_bytes =
                packet.wire_bytes(segments.end, overhead) - packet.wire_bytes(segments.start, overhead);
            each(Fate { verdict, wire_bytes, allowance: path.allowance });
        });
    }

    /// Changes the link between two cities, both ways, from `now` on; an empty change restores it.
    pub(crate) fn change(&mut self, now: Duration, a: CityId, b: CityId, change: Change) {
        for cities in [(a, b), (b, a)] {
            let config = change.apply(self.layout.link(cities.0, cities.1));
            if let Some(link) = self.links.get_mut(&cities) {
                link.reconfigure(now, config);
            }
        }
        self.changes.insert(ordered((a, b)), change);
    }
}

fn ordered((a, b): (CityId, CityId)) -> (CityId, CityId) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use world::{Document, World};

    const WORLD: &str = "
[[host]]
name = 'origin'
city = 'newyork'
[[host]]
name = 'visitor'
city = 'london'
network = 'access'
[[link]]
between = ['newyork', 'london']
rtt = '72ms'
overhead = 38
";

    fn router() -> Router {
        Router::new(World::read(&Document::new("w.toml", WORLD)).unwrap().1)
    }

    /// A plain IPv4 packet of 100 bytes for the second host.
    fn frame() -> Frame {
        let mut bytes = vec![0; 110];
        bytes[10] = 0x45;
        bytes[26..30].copy_from_slice(&[10, 0, 0, 2]);
        Frame::parse(&bytes).unwrap()
    }

    fn fate(router: &mut Router, now: Duration) -> Fate {
        let mut all = Vec::new();
        router.send(now, 0, 1, &frame(), |fate| all.push(fate));
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn a_packet_takes_the_link_and_the_last_mile() {
        let mut router = router();
        assert_eq!(router.route(frame().to), Route::Host(1));
        assert_eq!(router.route("10.0.0.9".parse().unwrap()), Route::Nobody);
        // 36 ms of ocean and half of a 10 ms last mile. 1 % of the whole round trip of 82 ms may be late.
        let verdict = Verdict::Deliver { segments: 0..1, due: Duration::from_millis(41) };
        let expected = Fate { verdict, wire_bytes: 138, allowance: Duration::from_micros(820) };
        assert_eq!(fate(&mut router, Duration::ZERO), expected);
    }

    #[test]
    fn a_change_holds_for_links_that_exist_and_those_to_come() {
        let down = Change { down: Some(world::LinkDown::Silent), ..Change::default() };
        let (mut used, mut fresh) = (router(), router());
        fate(&mut used, Duration::ZERO);
        for router in [&mut used, &mut fresh] {
            router.change(Duration::ZERO, 1, 0, down.clone());
            assert!(matches!(fate(router, Duration::from_secs(1)).verdict, Verdict::Drop { .. }));
            router.change(Duration::from_secs(1), 0, 1, Change::default());
            assert!(matches!(fate(router, Duration::from_secs(2)).verdict, Verdict::Deliver { .. }));
        }
    }
}
