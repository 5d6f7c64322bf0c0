//! The peers of a data centre: their health, the choice of the next tier for a key, and
//! measurements of routes to origins.
//!
//! The crate `tier_routing` makes the decisions. This module holds their inputs under locks that
//! are not held across waits. A cache hit takes none of these locks.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard},
    time::Duration,
};

use ::tier_routing::{
    Asked, DataCentreId, Health, Hop, KeyHash, Regional, Role, Smart, Topology, Tuning, Zone as TiersOf,
};
use http_stack::{
    Credentials, MeshIdentity, Origin, Replaced,
    clock::{Clock, wall_ns},
};
use kv::Placement;
use tokio::task::AbortHandle;

use super::{
    connections::PeerConnections, heartbeat::MAX_ORIGINS, origin_routes::OriginRoutes, peer::Peer,
    tcp_stats::TcpInfoSource,
};
use crate::{
    Error,
    config::{DataCentre, Detours, Network, Tiers},
};

pub(crate) type PeersHandle = Arc<RwLock<Option<Arc<Peers>>>>;

pub(crate) struct Peers {
    pub(super) clock: Clock,
    #[cfg(test)]
    ahead: Mutex<Duration>,
    pub(super) name: String,
    /// Differs from earlier processes of the same data centre.
    pub(super) process: u64,
    own_id: DataCentreId,
    data_centres: ::tier_routing::Network,
    kv_places: Option<Placement>,
    /// The index is the number. Includes this data centre, which never receives a request.
    peers: Vec<Arc<Peer>>,
    pub(crate) membership: MeshIdentity,
    pub(crate) connections: PeerConnections,
    pub(super) tcp_info: TcpInfoSource,
    pub(super) zones: RwLock<HashMap<String, TiersOf>>,
    pub(super) origins: RwLock<Vec<Origin>>,
    pub(super) peer_choices: Mutex<HashMap<String, BTreeMap<DataCentreId, DataCentreId>>>,
    health: RwLock<Health>,
    origin_routes: Mutex<OriginRoutes>,
    pub(super) tasks: Mutex<Vec<AbortHandle>>,
}

impl Peers {
    pub(crate) fn new(
        network: &Network,
        here: &str,
        workers: usize,
        previous: Option<&Self>,
    ) -> Result<Option<Arc<Self>>, Error> {
        let centres = network.tiers();
        let number = network.data_centres.iter().position(|centre| centre.name == here);
        let found =
            number.and_then(|number| Some((centres.ids().nth(number)?, &network.data_centres[number])));
        let Some((here, own)) = found else { return Ok(None) };
        let Some(link) = own.link.as_ref().filter(|_| centres.len() > 1) else { return Ok(None) };
        let Some(credentials) = credentials(network, own)? else { return Ok(None) };
        let membership = match previous {
            Some(previous) => {
                previous.membership.replace(&credentials)?;
                previous.membership.clone()
            }
            None => MeshIdentity::with(&credentials)?,
        };
        let linked = network.data_centres.iter().filter_map(|centre| Some((centre, centre.link.as_ref()?)));
        let addresses: Vec<_> = linked.map(|(centre, link)| (centre.name.clone(), link.address)).collect();
        let peers = addresses.iter().map(|(name, address)| {
            let existing = previous.and_then(|previous| previous.matching_peer(name, *address));
            existing.unwrap_or_else(|| Arc::new(Peer::new(name.clone(), *address)))
        });
        let places = network.kv.as_ref().map(|kv| {
            let has_store = |id: &DataCentreId| kv.place_of(&centres.centre(*id).name).is_some();
            Placement::new(centres.clone(), &centres.ids().filter(has_store).collect::<Vec<_>>())
        });
        let peers = Self {
            clock: previous.map_or_else(Clock::start, |previous| previous.clock),
            #[cfg(test)]
            ahead: Mutex::default(),
            name: network.name.clone(),
            process: previous.map_or_else(|| wall_ns().unsigned_abs(), |previous| previous.process),
            own_id: here,
            peers: peers.collect(),
            connections: PeerConnections::new(&membership, &addresses, workers)?,
            tcp_info: TcpInfoSource::new(link.address),
            membership,
            zones: RwLock::default(),
            origins: RwLock::default(),
            peer_choices: Mutex::default(),
            health: RwLock::default(),
            origin_routes: Mutex::new(OriginRoutes::new(centres.len(), here)),
            data_centres: centres,
            kv_places: places,
            tasks: Mutex::default(),
        };
        if let Some(previous) = previous {
            peers.inherit(previous);
        }
        peers.set_zones(network);
        Ok(Some(Arc::new(peers)))
    }

    /// If a certificate has changed, new requests use new connections.
    pub(crate) fn reload_credentials(&self, network: &Network) -> Result<(), Error> {
        let own = network.data_centres.iter().find(|centre| centre.name == self.name(self.own_id));
        let Some(credentials) = own.map(|own| credentials(network, own)).transpose()?.flatten() else {
            return Ok(());
        };
        if self.membership.replace(&credentials)? == Replaced::Changed {
            self.all().for_each(|(_, peer)| self.connections.reconnect_all(&peer.origin));
        }
        Ok(())
    }

    /// If the data centres are identical, their state remains valid.
    pub(crate) fn has_same_peers(&self, previous: &Network, now: &Network) -> bool {
        previous.name == now.name
            && previous.data_centres.len() == now.data_centres.len()
            && previous.data_centres.iter().zip(&now.data_centres).all(|(previous, now)| {
                let address = |centre: &DataCentre| centre.link.as_ref().map(|link| link.address);
                (&previous.name, address(previous), &previous.region, &previous.city, previous.weight)
                    == (&now.name, address(now), &now.region, &now.city, now.weight)
            })
    }

    pub(crate) fn set_zones(&self, network: &Network) {
        let mut zones = write(&self.zones);
        let previous = std::mem::take(&mut *zones);
        for zone in &network.zones {
            let topology = match &zone.tiers {
                Tiers::None => Topology::None,
                Tiers::Generic => Topology::Generic,
                Tiers::Custom(map) => Topology::Custom(map.clone()),
                Tiers::Smart => match previous.get(&zone.name).map(TiersOf::topology) {
                    Some(Topology::Smart(smart)) => Topology::Smart(smart.clone()),
                    _ => Topology::Smart(Smart::new(Tuning::default()).into()),
                },
            };
            let regional = if zone.regional { Regional::Asked } else { Regional::Skipped };
            zones.insert(zone.name.clone(), TiersOf::new(&self.data_centres, topology, regional));
        }
        let measured =
            network.zones.iter().filter(|zone| zone.tiers == Tiers::Smart || zone.detours != Detours::Off);
        let mut origins: Vec<_> =
            measured.flat_map(|zone| &zone.origins).map(|url| url.origin().clone()).collect();
        origins.sort_by_key(|origin| (origin.to_string(), origin.server_name.clone()));
        origins.dedup();
        origins.truncate(MAX_ORIGINS);
        *write(&self.origins) = origins;
    }

    pub(crate) fn now(&self) -> Duration {
        let now = Duration::from_nanos(self.clock.now());
        #[cfg(test)]
        let now = now + *lock(&self.ahead);
        now
    }

    #[cfg(test)]
    pub(crate) fn move_ahead(&self, by: Duration) {
        *lock(&self.ahead) += by;
    }

    pub(crate) fn own_id(&self) -> DataCentreId {
        self.own_id
    }

    pub(crate) fn network_name(&self) -> &str {
        &self.name
    }

    pub(crate) fn data_centres(&self) -> &::tier_routing::Network {
        &self.data_centres
    }

    pub(crate) fn kv_places(&self) -> Option<&Placement> {
        self.kv_places.as_ref()
    }

    pub(crate) fn name(&self, centre: DataCentreId) -> &str {
        &self.data_centres.centre(centre).name
    }

    /// A number from another network file may not exist.
    pub(crate) fn is_valid_id(&self, centre: DataCentreId) -> bool {
        usize::from(centre.0) < self.peers.len()
    }

    pub(crate) fn id(&self, name: &str) -> Option<DataCentreId> {
        self.data_centres.ids().find(|&id| self.name(id).eq_ignore_ascii_case(name))
    }

    pub(crate) fn ids(&self, names: &[String]) -> Vec<DataCentreId> {
        names.iter().filter_map(|name| self.id(name)).collect()
    }

    pub(crate) fn peer(&self, centre: DataCentreId) -> &Peer {
        &self.peers[usize::from(centre.0)]
    }

    pub(super) fn shared_peer(&self, centre: DataCentreId) -> Option<Arc<Peer>> {
        self.peers.get(usize::from(centre.0)).cloned()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (DataCentreId, &Peer)> {
        let peers = self.peers.iter().map(|peer| &**peer);
        self.data_centres.ids().zip(peers).filter(|(id, _)| *id != self.own_id)
    }

    /// For a request that is not in the cache. The data centres in `through` are excluded.
    pub(crate) fn next_hop(&self, zone: &str, role: Role, key: KeyHash, through: &[DataCentreId]) -> Hop {
        let zones = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        let Some(zone) = zones.get(zone) else { return Hop::Origin };
        let health = self.health.read().unwrap_or_else(PoisonError::into_inner);
        zone.next(self.now(), &self.data_centres, Asked { here: self.own_id, role, key, through }, &health)
    }

    pub(crate) fn with_tiers<T>(&self, zone: &str, look: impl FnOnce(&TiersOf) -> T) -> Option<T> {
        self.zones.read().unwrap_or_else(PoisonError::into_inner).get(zone).map(look)
    }

    pub(crate) fn health(&self) -> Health {
        self.health.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_health(&self, health: Health) {
        *write(&self.health) = health;
    }

    pub(crate) fn origin_routes(&self) -> MutexGuard<'_, OriginRoutes> {
        lock(&self.origin_routes)
    }

    /// By number; [`DEFAULT_ROUND_TRIP`] if unknown.
    pub(crate) fn round_trips(&self) -> Vec<Duration> {
        self.peers.iter().map(|peer| peer.round_trip().unwrap_or(DEFAULT_ROUND_TRIP)).collect()
    }

    pub(crate) fn mark_up(&self, centre: DataCentreId) {
        if self.peer(centre).mark_up(self.clock.now()) {
            write(&self.health).set(centre, ::tier_routing::State::Up);
            tracing::info!(data_centre = self.name(centre), "a data centre is reachable again");
        }
    }

    pub(crate) fn mark_down(&self, centre: DataCentreId, why: &str) {
        if self.peer(centre).mark_down(self.clock.now(), why) {
            write(&self.health).set(centre, ::tier_routing::State::Down);
            self.connections.reconnect(&self.peer(centre).origin);
            tracing::warn!(data_centre = self.name(centre), why, "a data centre is unreachable");
        }
    }

    pub(crate) fn origin_address(&self, origin: &Origin) -> Option<SocketAddr> {
        self.origin_routes().address(origin)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        lock(&self.tasks).iter().for_each(AbortHandle::abort);
    }
}

fn credentials<'n>(network: &'n Network, own: &'n DataCentre) -> Result<Option<Credentials<'n>>, Error> {
    let (Some(link), Some(authority)) = (&own.link, &network.authority) else { return Ok(None) };
    let (certificate, key) = (&link.certificate, &link.key);
    let names = MeshIdentity::read(authority, certificate, key)?.names();
    if names.iter().any(|name| name.eq_ignore_ascii_case(&own.name)) {
        return Ok(Some(Credentials { authority, certificate, key, revoked: &network.revoked }));
    }
    let why = format!(
        "it is for {}, but data centres authenticate each other by name: it must be for \"{}\" \
         (`longhaul edge ca issue` issues such certificates)",
        names.join(", "),
        own.name
    );
    Err(Error::Authority { path: certificate.clone(), why })
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// The longest round trip on Earth.
const DEFAULT_ROUND_TRIP: Duration = Duration::from_millis(300);
