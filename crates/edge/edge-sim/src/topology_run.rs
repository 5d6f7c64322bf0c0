//! One topology: the stores, and the processing of requests in the order of their arrival at the
//! first data centre.
//!
//! The few milliseconds of transit between data centres do not change this order. A request for an
//! object in flight waits for it, as in the edge.

use std::time::Duration;

use tier_routing::{Asked, DataCentreId, Health, Hop, KeyHash, Role};

use crate::{
    Request,
    connections::Connections,
    counters::Tally,
    geography::Places,
    plan::{Named, Plan},
    store::{Entry, Store},
};

pub(crate) struct Run<'a> {
    pub(crate) name: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) tally: Tally,
    network: &'a tier_routing::Network,
    places: &'a Places,
    zone: tier_routing::Zone,
    health: Health,
    stores: Vec<Store>,
    connections: Vec<Connections>,
    /// In round trips.
    handshakes: u64,
    through: Vec<DataCentreId>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(plan: &'a Plan, network: &'a tier_routing::Network, named: Named) -> Self {
        let zone = plan.zone();
        let store = |centre: &edge::config::DataCentre| {
            Store::new(plan.policy, plan.store.unwrap_or(centre.memory), zone.largest)
        };
        let is_tls = zone.origins.first().is_some_and(|origin| origin.to_string().starts_with("https:"));
        Self {
            name: named.name,
            reason: named.reason,
            tally: Tally::new(network.len()),
            network,
            places: &plan.places,
            zone: named.zone,
            health: Health::default(),
            stores: plan.network.data_centres.iter().map(store).collect(),
            connections: vec![Connections::default(); network.len()],
            // TCP, and TLS 1.3.
            handshakes: if is_tls { 2 } else { 1 },
            through: Vec::new(),
        }
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.iter().map(Connections::opened).sum()
    }

    pub(crate) fn answer(&mut self, request: &Request) {
        let (centre, rtt) = self.places.nearest(request.city);
        let at_origin = self.tally.origin_requests;
        let entry = self.ask(centre, Role::Lower, request, request.at_ns);
        let latency = rtt + entry.ready_ns.saturating_sub(request.at_ns);
        let tally = &mut self.tally;
        tally.requests += 1;
        tally.bytes += request.bytes;
        if tally.origin_requests == at_origin {
            tally.saved += 1;
            tally.saved_bytes += request.bytes;
        }
        tally.cities[usize::from(request.city)].record(latency);
    }

    /// Returns when the data centre has the first byte, and until when the response is fresh.
    fn ask(&mut self, here: DataCentreId, role: Role, request: &Request, now_ns: u64) -> Entry {
        let is_stored = request.fresh_ns > 0;
        self.tally.role(role).asked += 1;
        let found = is_stored.then(|| self.stores[usize::from(here.0)].find(request.key, now_ns)).flatten();
        if let Some(found) = found {
            let counts = self.tally.role(role);
            counts.hits += 1;
            counts.joined += u64::from(found.ready_ns > now_ns);
            return Entry { ready_ns: found.ready_ns.max(now_ns), ..found };
        }
        let asked = Asked { here, role, key: KeyHash(request.key), through: &self.through };
        let now = Duration::from_nanos(now_ns);
        // Responses that are never stored cannot be in other data centres.
        let hop =
            if is_stored { self.zone.next(now, self.network, asked, &self.health) } else { Hop::Origin };
        let entry = match hop {
            Hop::Origin => self.ask_origin(here, request, now_ns),
            Hop::Centre { centre, role } => {
                let rtt = self.places.between(here, centre);
                self.through.push(here);
                let there = self.ask(centre, role, request, now_ns + rtt / 2);
                self.through.pop();
                self.tally.carried(here, centre, request.bytes);
                Entry { ready_ns: there.ready_ns + rtt - rtt / 2, ..there }
            }
        };
        if is_stored {
            self.stores[usize::from(here.0)].insert(request.key, request.bytes, entry);
        }
        entry
    }

    fn ask_origin(&mut self, here: DataCentreId, request: &Request, now_ns: u64) -> Entry {
        let at = usize::from(here.0);
        let rtt = self.places.to_origin(here);
        let is_new = self.connections[at].take(now_ns);
        let trips = if is_new { 1 + self.handshakes } else { 1 };
        let ready_ns = now_ns + trips * rtt;
        self.connections[at].give_back(ready_ns);
        self.tally.origin_requests += 1;
        self.tally.origin_bytes += request.bytes;
        self.tally.from_origin[at] += request.bytes;
        Entry { ready_ns, until_ns: ready_ns.saturating_add(request.fresh_ns) }
    }
}
