//! The status of tiers, links and routes for the operator.

use std::time::Duration;

use ::tier_routing::{Listed, Route, Topology, Zone as TiersOf};

use super::{origin_routes::RouteContext, peer::Peer, table::Peers, tcp_stats::TcpStats};
use crate::{
    admin::api::{Candidate, LinkStatus, RouteStatus, TierStatus},
    config::{Detours, Network, Zone},
};

impl Peers {
    pub(crate) fn report_tiers(&self, network: &Network) -> Vec<TierStatus> {
        let of = |zone: &Zone| self.with_tiers(&zone.name, |tiers| self.report_tier(zone, tiers));
        network.zones.iter().filter_map(of).collect()
    }

    fn report_tier(&self, zone: &Zone, tiers: &TiersOf) -> TierStatus {
        let name = |id| self.name(id).to_owned();
        let large = || self.data_centres().large().members().map(name).collect::<Vec<_>>().join(", ");
        let (mode, upper, why) = match tiers.topology() {
            Topology::None => ("none", None, "each data centre requests from the origin".to_owned()),
            Topology::Generic => {
                ("generic", None, format!("each key belongs to a large data centre: {}", large()))
            }
            Topology::Custom(map) => {
                let upper = map.above(self.own_id()).map(name);
                let why = match &upper {
                    Some(upper) => format!("by configuration, {} requests from {upper}", name(self.own_id())),
                    None => format!("by configuration, {} requests from the origin", name(self.own_id())),
                };
                ("custom", upper, why)
            }
            Topology::Smart(smart) => {
                let choice = smart.choice();
                ("smart", choice.basis.nearest().map(name), choice.reason.clone())
            }
        };
        let (now, routes) = (self.now(), self.origin_routes());
        let measured = zone.origins.first().and_then(|origin| routes.measured(origin));
        let candidate = |id| {
            let typical = measured?.typical(now, id)?;
            Some(Candidate {
                data_centre: name(id),
                connect_ms: ms(typical.connect),
                n: typical.samples as u64,
            })
        };
        let mut candidates: Vec<_> = self.data_centres().ids().filter_map(candidate).collect();
        candidates.sort_by(|a, b| a.connect_ms.total_cmp(&b.connect_ms));
        TierStatus { zone: zone.name.clone(), mode: mode.to_owned(), upper, why, candidates }
    }

    pub(crate) fn report_links(&self) -> Vec<LinkStatus> {
        let of = |(_, peer): (_, &Peer)| {
            let snapshot = peer.snapshot();
            let carried = self.tcp_info.stats(&peer.connections);
            let since = self.now().saturating_sub(Duration::from_nanos(snapshot.since));
            LinkStatus {
                to: peer.name.clone(),
                rtt_ms: snapshot.round_trip.map(ms),
                loss: carried.map(TcpStats::loss),
                throughput_bps: carried.and_then(TcpStats::throughput),
                up: snapshot.is_up,
                since_s: since.as_secs(),
                error: snapshot.why,
                requests: snapshot.requests,
                failures: snapshot.failures,
            }
        };
        self.all().map(of).collect()
    }

    pub(crate) fn report_routes(&self, network: &Network) -> Vec<RouteStatus> {
        let (now, health, round_trips) = (self.now(), self.health(), self.round_trips());
        let mut routes = self.origin_routes();
        let listed: Vec<_> = routes.reach.failures().listed(now).collect();
        let of = |listed: Listed| {
            let origin = routes.origin_at(listed.address).cloned();
            let forbids = |zone: &Zone| {
                origin.as_ref().is_some_and(|origin| zone.origins.iter().any(|url| url.origin() == origin))
                    && zone.detours == Detours::Off
            };
            let around = RouteContext {
                network: self.data_centres(),
                health: &health,
                through: &[],
                round_trips: &round_trips,
                allows_detours: !network.zones.iter().any(forbids),
            };
            let detour = origin.as_ref().and_then(|origin| {
                routes.search(origin, &around, |reach, around| reach.detour(now, listed.address, around))
            });
            RouteStatus {
                origin: origin.map_or_else(|| listed.address.to_string(), |origin| origin.to_string()),
                address: listed.address.to_string(),
                route: self.route(listed.route),
                reason: listed.fault.into(),
                error: listed.fault.sentence().to_owned(),
                since_s: now.saturating_sub(listed.since).as_secs(),
                requests: listed.requests,
                next_test_at: listed.next_test_at(),
                detour: detour.map(|route| self.route(route)),
            }
        };
        listed.into_iter().map(of).collect()
    }

    fn route(&self, route: Route) -> String {
        match route {
            Route::Direct => "direct".to_owned(),
            Route::Through(centre) => self.name(centre).to_owned(),
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
