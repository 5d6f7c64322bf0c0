//! Key-value store of a data centre: opens the service of the crate `kv_server` from the network's
//! file and connects it to the links.

use std::sync::{Arc, PoisonError};

use ::tier_routing::{DataCentreId, KeyHash};
use http_stack::{
    Body, HeaderValue, Method, Request, Response,
    client::{Once, Trace},
    header,
};
use kv::{StoreName, Tier};
use kv_server::{Access, Config, Pairing, PeerError, PeerLinks, Sending, Service};

use crate::{
    Error, Network,
    config::Kv,
    peers::{
        Peers, PeersHandle, TrafficClass, abort_when_down,
        headers::{BULK_THRESHOLD, FILL_PRIORITY, KIND_VALUES, PEER_NODE, PRIORITY_BULK, REQUEST_KIND},
        is_link_failure,
    },
};

/// Blocks.
pub(crate) fn open(
    network: &Network,
    centre: &str,
    linked: PeersHandle,
) -> Result<Option<Arc<Service>>, Error> {
    let Some(kv) = &network.kv else { return Ok(None) };
    // Data centre names have the same alphabet as store names but may be longer.
    let start = centre.get(..centre.len().min(64)).unwrap_or("store");
    let name = StoreName::new(start).expect("a data centre's name has no other letters");
    let place = kv.place_of(centre).cloned();
    let company = if kv.stores.len() > 1 { Pairing::Paired } else { Pairing::Alone };
    let disk = value_directory(network, kv, centre);
    let streams = network.streams_directory(centre);
    let config = Config { place, name, memory: kv.memory, disk, streams, company, largest: kv.largest };
    let service = Service::open(config, access(network))?;
    let is_alone = network.data_centres.len() < 2;
    Ok(Some(Arc::new(if is_alone {
        service
    } else {
        service.with_replication(Arc::new(PeerTransport(linked)))
    })))
}

fn value_directory(network: &Network, kv: &Kv, centre: &str) -> Option<segment_store::Config> {
    let disk = network.data_centres.iter().find(|one| one.name == centre)?.disk.as_ref()?;
    let bytes = kv.disk_size.unwrap_or(disk.bytes / 10).max(segment_store::Config::SMALLEST);
    Some(segment_store::Config::new(disk.path.join("kv"), bytes))
}

pub(crate) fn access(network: &Network) -> Access {
    let namespaces = network.kv.as_ref().map_or_else(Vec::new, |kv| kv.namespaces.clone());
    Access::of_file(namespaces, network.tokens.clone())
}

struct PeerTransport(PeersHandle);

impl PeerTransport {
    fn peers(&self) -> Option<Arc<Peers>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answers(peers: &Peers, centre: DataCentreId) -> bool {
    centre == peers.own_id() || peers.peer(centre).down_reason().is_none()
}

impl PeerLinks for PeerTransport {
    fn next(&self, key: KeyHash, asked_as: Tier) -> Option<(DataCentreId, Tier)> {
        let peers = self.peers()?;
        peers.kv_places()?.next(key, (peers.own_id(), asked_as), |centre| answers(&peers, centre))
    }

    fn store(&self) -> Option<DataCentreId> {
        let peers = self.peers()?;
        peers.kv_places()?.far_store(peers.own_id(), |centre| answers(&peers, centre))
    }

    fn stores(&self) -> Vec<DataCentreId> {
        let stores = |peers: Arc<Peers>| peers.kv_places().map(|places| places.stores().to_vec());
        self.peers().and_then(stores).unwrap_or_default()
    }

    fn is_up(&self, centre: DataCentreId) -> bool {
        self.peers().is_some_and(|peers| peers.is_valid_id(centre) && answers(&peers, centre))
    }

    fn subscribers(&self, key: KeyHash) -> Vec<DataCentreId> {
        let Some(peers) = self.peers() else { return Vec::new() };
        peers.kv_places().map_or_else(Vec::new, |places| places.told(key, |centre| answers(&peers, centre)))
    }

    fn local(&self) -> DataCentreId {
        self.peers().map_or(DataCentreId(0), |peers| peers.own_id())
    }

    fn all(&self) -> Vec<DataCentreId> {
        self.peers().map_or_else(Vec::new, |peers| peers.data_centres().ids().collect())
    }

    fn name(&self, centre: DataCentreId) -> String {
        let name = |peers: Arc<Peers>| peers.is_valid_id(centre).then(|| peers.name(centre).to_owned());
        self.peers().and_then(name).unwrap_or_default()
    }

    fn send(&self, centre: DataCentreId, request: Request<Body>) -> Sending<'_> {
        Box::pin(async move {
            let peers = self.peers().ok_or_else(|| not_sent("this data centre no longer has links"))?;
            if !peers.is_valid_id(centre) {
                return Err(not_sent("the data centres of the network have changed"));
            }
            if let Some(why) = peers.peer(centre).down_reason() {
                return Err(PeerError::NotAsked(why));
            }
            let length = request.headers().get(header::CONTENT_LENGTH);
            let length: Option<u64> = length.and_then(|length| length.to_str().ok()?.parse().ok());
            let is_small = length.map_or(request.body().again().is_some(), |length| length <= BULK_THRESHOLD);
            if request.method() != Method::GET {
                let class = if is_small { TrafficClass::Small } else { TrafficClass::Bulk };
                return send(&peers, centre, class, request).await;
            }
            let (parts, body) = request.into_parts();
            let retry = Request::from_parts(parts.clone(), Body::empty());
            let response =
                send(&peers, centre, TrafficClass::Small, Request::from_parts(parts, body)).await?;
            if response.headers().get(FILL_PRIORITY).is_some_and(|class| *class == PRIORITY_BULK) {
                return send(&peers, centre, TrafficClass::Bulk, retry).await;
            }
            Ok(response)
        })
    }
}

async fn send(
    peers: &Peers,
    centre: DataCentreId,
    class: TrafficClass,
    mut request: Request<Body>,
) -> Result<Response<Body>, PeerError> {
    let (client, peer) = (peers.connections.client(class), peers.peer(centre));
    let headers = request.headers_mut();
    headers.insert(REQUEST_KIND, KIND_VALUES);
    for (name, value) in [(PEER_NODE, peers.name(peers.own_id())), (header::HOST, peer.name.as_str())] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    if class == TrafficClass::Bulk {
        headers.insert(FILL_PRIORITY, PRIORITY_BULK);
    }
    if !request.method().is_safe() {
        // Retrying a write would create two versions and overwrite writes in between.
        request.extensions_mut().insert(Once);
    }
    peer.count_request();
    let mut trace = Trace::start(client.clock().now());
    let result = tokio::select! {
        biased;
        result = client.send(&peer.origin, request, &mut trace) => result,
        () = peer.down() => {
            peer.count_failure();
            return Err(PeerError::NotHeard("it no longer responds".to_owned()));
        }
    };
    match result {
        Ok(response) => {
            peers.mark_up(centre);
            Ok(response.map(|body| abort_when_down(body, peer.down())))
        }
        Err(failure) => {
            peer.count_failure();
            let why = failure.to_string();
            if is_link_failure(failure) {
                peers.mark_down(centre, &why);
            }
            Err(failure_kind(why, &trace))
        }
    }
}

/// Without a connection nothing was sent, except on a retry: then the first attempt was sent on a
/// connection that broke.
fn failure_kind(why: String, trace: &Trace) -> PeerError {
    if trace.protocol.is_none() && !trace.retried {
        PeerError::NotAsked(why)
    } else {
        PeerError::NotHeard(why)
    }
}

fn not_sent(why: &str) -> PeerError {
    PeerError::NotAsked(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_on_a_broken_connection_may_have_been_applied() {
        let mut trace = Trace::start(0);
        let of = |trace: &Trace| failure_kind("connection refused".to_owned(), trace);
        assert!(matches!(of(&trace), PeerError::NotAsked(_)));
        trace.protocol = Some("h2");
        assert!(matches!(of(&trace), PeerError::NotHeard(_)));
        (trace.protocol, trace.retried) = (None, true);
        assert!(matches!(of(&trace), PeerError::NotHeard(_)));
    }
}
