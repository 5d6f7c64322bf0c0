//! The other data centres of a network, as one of them sees them: which can be asked, who is next for a key, and what all of them
//! measured of the ways to origins.
//!
//! What is decided is the engine's (`tiers`); here are its inputs, under locks that nobody holds while waiting. Nobody takes one for a hit.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard},
    time::Duration,
};

use ::tiers::{
    Asked, CentreId, Health, Hop, KeyHash, Regional, Role, Smart, Topology, Tuning, Zone as TiersOf,
};
use http::{
    Credentials, Membership, Origin, Replaced,
    clock::{Clock, wall_ns},
};
use kv::Places;
use tokio::task::AbortHandle;

use super::{carried::Kernel, hello::MOST_ORIGINS, lanes::Lanes, peer::Peer, ways::Ways};
use crate::{
    Error,
    network::{DataCentre, Detours, Network, Tiers},
};

/// The other data centres at this moment, for whoever asks them.
pub(crate) type Linked = Arc<RwLock<Option<Arc<Others>>>>;

/// The other data centres.
pub(crate) struct Others {
    pub(super) clock: Clock,
    /// How far a test has moved the time ahead.
    #[cfg(test)]
    ahead: Mutex<Duration>,
    pub(super) name: String,
    /// Tells this process from those before it.
    pub(super) process: u64,
    here: CentreId,
    centres: ::tiers::Network,
    /// Of keys, if the network has a store.
    places: Option<Places>,
    /// By their numbers; this one is among them, and never asked.
    peers: Vec<Arc<Peer>>,
    pub(crate) membership: Membership,
    pub(crate) lanes: Lanes,
    pub(super) kernel: Kernel,
    pub(super) zones: RwLock<HashMap<String, TiersOf>>,
    /// Origins that are worth a measurement.
    pub(super) origins: RwLock<Vec<Origin>>,
    /// By zone, who says that which one is its upper tier.
    pub(super) told: Mutex<HashMap<String, BTreeMap<CentreId, CentreId>>>,
    health: RwLock<Health>,
    ways: Mutex<Ways>,
    pub(super) watching: Mutex<Vec<AbortHandle>>,
}

impl Others {
    /// What the data centre `here`, which works on so many cores, has to do with the others; `None` where there are none, or no links to them.
    /// `before` are those of an earlier state of the network, if there are any.
    pub(crate) fn new(
        network: &Network,
        here: &str,
        cores: usize,
        before: Option<&Self>,
    ) -> Result<Option<Arc<Self>>, Error> {
        let centres = network.tiers();
        let number = network.data_centres.iter().position(|centre| centre.name == here);
        let found =
            number.and_then(|number| Some((centres.ids().nth(number)?, &network.data_centres[number])));
        let Some((here, own)) = found else { return Ok(None) };
        let Some(link) = own.link.as_ref().filter(|_| centres.len() > 1) else { return Ok(None) };
        let Some(credentials) = credentials(network, own)? else { return Ok(None) };
        let membership = match before {
            // The running servers keep using it.
            Some(before) => {
                before.membership.replace(&credentials)?;
                before.membership.clone()
            }
            None => Membership::with(&credentials)?,
        };
        let linked = network.data_centres.iter().filter_map(|centre| Some((centre, centre.link.as_ref()?)));
        let addresses: Vec<_> = linked.map(|(centre, link)| (centre.name.clone(), link.address)).collect();
        let peers = addresses.iter().map(|(name, address)| {
            let known = before.and_then(|before| before.peer_like(name, *address));
            known.unwrap_or_else(|| Arc::new(Peer::new(name.clone(), *address)))
        });
        let places = network.kv.as_ref().map(|kv| {
            let has_store = |id: &CentreId| kv.place_of(&centres.centre(*id).name).is_some();
            Places::new(centres.clone(), &centres.ids().filter(has_store).collect::<Vec<_>>())
        });
        let others = Self {
            clock: before.map_or_else(Clock::start, |before| before.clock),
            #[cfg(test)]
            ahead: Mutex::default(),
            name: network.name.clone(),
            process: before.map_or_else(|| wall_ns().unsigned_abs(), |before| before.process),
            here,
            peers: peers.collect(),
            lanes: Lanes::new(&membership, &addresses, cores)?,
            kernel: Kernel::new(link.address),
            membership,
            zones: RwLock::default(),
            origins: RwLock::default(),
            told: Mutex::default(),
            health: RwLock::default(),
            ways: Mutex::new(Ways::new(centres.len(), here)),
            centres,
            places,
            watching: Mutex::default(),
        };
        if let Some(before) = before {
            others.inherit(before);
        }
        others.take(network);
        Ok(Some(Arc::new(others)))
    }

    /// Reads the files of the links again; if anything in them has changed, requests are made on new connections.
    pub(crate) fn renew(&self, network: &Network) -> Result<(), Error> {
        let own = network.data_centres.iter().find(|centre| centre.name == self.name(self.here));
        let Some(credentials) = own.map(|own| credentials(network, own)).transpose()?.flatten() else {
            return Ok(());
        };
        if self.membership.replace(&credentials)? == Replaced::Changed {
            self.all().for_each(|(_, peer)| self.lanes.leave_all(&peer.origin));
        }
        Ok(())
    }

    /// Whether a network has the same data centres, so that what is known of them stands.
    pub(crate) fn are_those_of(&self, before: &Network, now: &Network) -> bool {
        before.name == now.name
            && before.data_centres.len() == now.data_centres.len()
            && before.data_centres.iter().zip(&now.data_centres).all(|(before, now)| {
                let address = |centre: &DataCentre| centre.link.as_ref().map(|link| link.address);
                (&before.name, address(before), &before.region, &before.city, before.weight)
                    == (&now.name, address(now), &now.region, &now.city, now.weight)
            })
    }

    /// Takes the zones of a network with the same data centres. A choice that was made for a zone stays.
    pub(crate) fn take(&self, network: &Network) {
        let mut zones = write(&self.zones);
        let before = std::mem::take(&mut *zones);
        for zone in &network.zones {
            let topology = match &zone.tiers {
                Tiers::None => Topology::None,
                Tiers::Generic => Topology::Generic,
                Tiers::Custom(map) => Topology::Custom(map.clone()),
                Tiers::Smart => match before.get(&zone.name).map(TiersOf::topology) {
                    Some(Topology::Smart(smart)) => Topology::Smart(smart.clone()),
                    _ => Topology::Smart(Smart::new(Tuning::default()).into()),
                },
            };
            let regional = if zone.regional { Regional::Asked } else { Regional::Skipped };
            zones.insert(zone.name.clone(), TiersOf::new(&self.centres, topology, regional));
        }
        let measured =
            network.zones.iter().filter(|zone| zone.tiers == Tiers::Smart || zone.detours != Detours::Off);
        let mut origins: Vec<_> = measured.flat_map(|zone| &zone.origins).cloned().collect();
        origins.sort_by_key(ToString::to_string);
        origins.dedup();
        origins.truncate(MOST_ORIGINS);
        *write(&self.origins) = origins;
    }

    pub(crate) fn now(&self) -> Duration {
        let now = Duration::from_nanos(self.clock.now());
        #[cfg(test)]
        let now = now + *lock(&self.ahead);
        now
    }

    /// Moves the time ahead in which paths are remembered.
    #[cfg(test)]
    pub(crate) fn move_ahead(&self, by: Duration) {
        *lock(&self.ahead) += by;
    }

    pub(crate) fn here(&self) -> CentreId {
        self.here
    }

    pub(crate) fn network_name(&self) -> &str {
        &self.name
    }

    pub(crate) fn centres(&self) -> &::tiers::Network {
        &self.centres
    }

    /// Where keys have copies, if the network has a store.
    pub(crate) fn places(&self) -> Option<&Places> {
        self.places.as_ref()
    }

    /// The name of a data centre.
    pub(crate) fn name(&self, centre: CentreId) -> &str {
        &self.centres.centre(centre).name
    }

    /// Whether there is one with this number, which may be of another network's file.
    pub(crate) fn is_one(&self, centre: CentreId) -> bool {
        usize::from(centre.0) < self.peers.len()
    }

    /// The data centre of a name.
    pub(crate) fn id(&self, name: &str) -> Option<CentreId> {
        self.centres.ids().find(|&id| self.name(id).eq_ignore_ascii_case(name))
    }

    /// Those of these names that there are.
    pub(crate) fn ids(&self, names: &[String]) -> Vec<CentreId> {
        names.iter().filter_map(|name| self.id(name)).collect()
    }

    pub(crate) fn peer(&self, centre: CentreId) -> &Peer {
        &self.peers[usize::from(centre.0)]
    }

    pub(super) fn shared_peer(&self, centre: CentreId) -> Option<Arc<Peer>> {
        self.peers.get(usize::from(centre.0)).cloned()
    }

    /// All but this one.
    pub(crate) fn all(&self) -> impl Iterator<Item = (CentreId, &Peer)> {
        let peers = self.peers.iter().map(|peer| &**peer);
        self.centres.ids().zip(peers).filter(|(id, _)| *id != self.here)
    }

    /// Who is asked next for what is not here. `through` are those that are not asked again.
    pub(crate) fn next(&self, zone: &str, role: Role, key: KeyHash, through: &[CentreId]) -> Hop {
        let zones = self.zones.read().unwrap_or_else(PoisonError::into_inner);
        let Some(zone) = zones.get(zone) else { return Hop::Origin };
        let health = self.health.read().unwrap_or_else(PoisonError::into_inner);
        zone.next(self.now(), &self.centres, Asked { here: self.here, role, key, through }, &health)
    }

    /// Looks at the tiers of a zone.
    pub(crate) fn tiers_of<T>(&self, zone: &str, look: impl FnOnce(&TiersOf) -> T) -> Option<T> {
        self.zones.read().unwrap_or_else(PoisonError::into_inner).get(zone).map(look)
    }

    pub(crate) fn health(&self) -> Health {
        self.health.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn put_health(&self, health: Health) {
        *write(&self.health) = health;
    }

    /// What is known of the ways to origins.
    pub(crate) fn ways(&self) -> MutexGuard<'_, Ways> {
        lock(&self.ways)
    }

    /// Round trips to all data centres by their numbers; far ones where it is not known.
    pub(crate) fn round_trips(&self) -> Vec<Duration> {
        self.peers.iter().map(|peer| peer.round_trip().unwrap_or(FAR)).collect()
    }

    /// A data centre answered.
    pub(crate) fn heard(&self, centre: CentreId) {
        if self.peer(centre).heard(self.clock.now()) {
            write(&self.health).set(centre, ::tiers::State::Up);
            tracing::info!(data_centre = self.name(centre), "a data centre can be asked");
        }
    }

    /// A data centre cannot be asked, in these words.
    pub(crate) fn lost(&self, centre: CentreId, why: &str) {
        if self.peer(centre).lost(self.clock.now(), why) {
            write(&self.health).set(centre, ::tiers::State::Down);
            self.lanes.leave(&self.peer(centre).origin);
            tracing::warn!(data_centre = self.name(centre), why, "a data centre cannot be asked");
        }
    }

    /// The address of an origin: what it was when it was last connected to, or looked up.
    pub(crate) fn address(&self, origin: &Origin) -> Option<SocketAddr> {
        self.ways().address(origin)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        lock(&self.watching).iter().for_each(AbortHandle::abort);
    }
}

/// What a data centre needs for its links, if it has any, and its certificate is for its own name.
fn credentials<'n>(network: &'n Network, own: &'n DataCentre) -> Result<Option<Credentials<'n>>, Error> {
    let (Some(link), Some(authority)) = (&own.link, &network.authority) else { return Ok(None) };
    let (certificate, key) = (&link.certificate, &link.key);
    let names = Membership::read(authority, certificate, key)?.names();
    if names.iter().any(|name| name.eq_ignore_ascii_case(&own.name)) {
        return Ok(Some(Credentials { authority, certificate, key, revoked: &network.revoked }));
    }
    let why = format!(
        "it is for {}, and data centres know each other by their names: it has to be for \"{}\" \
         (`longhaul edge ca issue` makes such ones)",
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

/// A round trip that is not known: as far as anything on Earth.
const FAR: Duration = Duration::from_millis(300);
