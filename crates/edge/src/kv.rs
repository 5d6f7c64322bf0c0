//! Key-value store of a data centre: opens the service of the crate `values` from the network's file and
//! connects it to the links.

use std::sync::{Arc, PoisonError};

use ::tiers::{CentreId, KeyHash};
use http::{
    Body, HeaderValue, Method, Request, Response,
    client::{Once, Trace},
    header,
};
use kv::{StoreName, Tier};
use values::{Access, Company, Config, Links, Sending, Service, Unreached};

use crate::{
    Error, Network,
    came::{BULK, KIND, LANE, LARGE, NODE, VALUES},
    network::Kv,
    others::{Lane, Linked, Others, is_of_link, until_gone},
};

/// Blocks.
pub(crate) fn open(network: &Network, centre: &str, linked: Linked) -> Result<Option<Arc<Service>>, Error> {
    let Some(kv) = &network.kv else { return Ok(None) };
    // Data centre names have the same alphabet as store names but may be longer.
    let start = centre.get(..centre.len().min(64)).unwrap_or("store");
    let name = StoreName::new(start).expect("a data centre's name has no other letters");
    let place = kv.place_of(centre).cloned();
    let company = if kv.stores.len() > 1 { Company::Paired } else { Company::Alone };
    let disk = disk(network, kv, centre);
    let streams = network.streams_directory(centre);
    let config = Config { place, name, memory: kv.memory, disk, streams, company, largest: kv.largest };
    let service = Service::open(config, access(network))?;
    let is_alone = network.data_centres.len() < 2;
    Ok(Some(Arc::new(if is_alone { service } else { service.linked_by(Arc::new(OverLinks(linked))) })))
}

/// Values on disk are stored next to the cached objects.
fn disk(network: &Network, kv: &Kv, centre: &str) -> Option<disk::Config> {
    let disk = network.data_centres.iter().find(|one| one.name == centre)?.disk.as_ref()?;
    let bytes = kv.disk_size.unwrap_or(disk.bytes / 10).max(disk::Config::SMALLEST);
    Some(disk::Config::new(disk.path.join("kv"), bytes))
}

/// Access rights from the network's file.
pub(crate) fn access(network: &Network) -> Access {
    let namespaces = network.kv.as_ref().map_or_else(Vec::new, |kv| kv.namespaces.clone());
    Access::of_file(namespaces, network.tokens.clone())
}

/// Links of a data centre, for its key-value store.
struct OverLinks(Linked);

impl OverLinks {
    fn others(&self) -> Option<Arc<Others>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether a data centre is considered reachable.
fn answers(others: &Others, centre: CentreId) -> bool {
    centre == others.here() || others.peer(centre).why_lost().is_none()
}

impl Links for OverLinks {
    fn next(&self, key: KeyHash, asked_as: Tier) -> Option<(CentreId, Tier)> {
        let others = self.others()?;
        others.places()?.next(key, (others.here(), asked_as), |centre| answers(&others, centre))
    }

    fn store(&self) -> Option<CentreId> {
        let others = self.others()?;
        others.places()?.far_store(others.here(), |centre| answers(&others, centre))
    }

    fn stores(&self) -> Vec<CentreId> {
        let stores = |others: Arc<Others>| others.places().map(|places| places.stores().to_vec());
        self.others().and_then(stores).unwrap_or_default()
    }

    fn answers(&self, centre: CentreId) -> bool {
        self.others().is_some_and(|others| others.is_one(centre) && answers(&others, centre))
    }

    fn told(&self, key: KeyHash) -> Vec<CentreId> {
        let Some(others) = self.others() else { return Vec::new() };
        others.places().map_or_else(Vec::new, |places| places.told(key, |centre| answers(&others, centre)))
    }

    fn here(&self) -> CentreId {
        self.others().map_or(CentreId(0), |others| others.here())
    }

    fn all(&self) -> Vec<CentreId> {
        self.others().map_or_else(Vec::new, |others| others.centres().ids().collect())
    }

    fn name(&self, centre: CentreId) -> String {
        let name = |others: Arc<Others>| others.is_one(centre).then(|| others.name(centre).to_owned());
        self.others().and_then(name).unwrap_or_default()
    }

    fn send(&self, centre: CentreId, request: Request<Body>) -> Sending<'_> {
        Box::pin(async move {
            let others = self.others().ok_or_else(|| not_asked("this data centre no longer has links"))?;
            if !others.is_one(centre) {
                return Err(not_asked("the data centres of the network have changed"));
            }
            if let Some(why) = others.peer(centre).why_lost() {
                return Err(Unreached::NotAsked(why));
            }
            let length = request.headers().get(header::CONTENT_LENGTH);
            let length: Option<u64> = length.and_then(|length| length.to_str().ok()?.parse().ok());
            let is_small = length.map_or(request.body().again().is_some(), |length| length <= LARGE);
            if request.method() != Method::GET {
                let lane = if is_small { Lane::Small } else { Lane::Bulk };
                return send(&others, centre, lane, request).await;
            }
            let (parts, body) = request.into_parts();
            let again = Request::from_parts(parts.clone(), Body::empty());
            let response = send(&others, centre, Lane::Small, Request::from_parts(parts, body)).await?;
            if response.headers().get(LANE).is_some_and(|lane| *lane == BULK) {
                // The value is large, so request it on the bulk connection.
                return send(&others, centre, Lane::Bulk, again).await;
            }
            Ok(response)
        })
    }
}

async fn send(
    others: &Others,
    centre: CentreId,
    lane: Lane,
    mut request: Request<Body>,
) -> Result<Response<Body>, Unreached> {
    let (client, peer) = (others.lanes.of(lane), others.peer(centre));
    let headers = request.headers_mut();
    headers.insert(KIND, VALUES);
    for (name, value) in [(NODE, others.name(others.here())), (header::HOST, peer.name.as_str())] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    if lane == Lane::Bulk {
        headers.insert(LANE, BULK);
    }
    if !request.method().is_safe() {
        // Retrying a write would create two versions and overwrite writes in between.
        request.extensions_mut().insert(Once);
    }
    peer.asked();
    let mut trace = Trace::start(client.clock().now());
    let answered = tokio::select! {
        biased;
        answered = client.send(&peer.origin, request, &mut trace) => answered,
        () = peer.is_gone() => {
            peer.failed();
            return Err(Unreached::NotHeard("it no longer responds".to_owned()));
        }
    };
    match answered {
        Ok(response) => {
            others.heard(centre);
            Ok(response.map(|body| until_gone(body, peer.is_gone())))
        }
        Err(failure) => {
            peer.failed();
            let why = failure.to_string();
            if is_of_link(failure) {
                others.lost(centre, &why);
            }
            Err(unreached(why, &trace))
        }
    }
}

/// Classifies a failed request. Without a connection nothing was sent, except on a retry: then the first
/// attempt was sent on a connection that broke.
fn unreached(why: String, trace: &Trace) -> Unreached {
    if trace.protocol.is_none() && !trace.retried {
        Unreached::NotAsked(why)
    } else {
        Unreached::NotHeard(why)
    }
}

fn not_asked(why: &str) -> Unreached {
    Unreached::NotAsked(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_sent_on_a_connection_that_broke_may_have_been_done() {
        let mut trace = Trace::start(0);
        let of = |trace: &Trace| unreached("connection refused".to_owned(), trace);
        assert!(matches!(of(&trace), Unreached::NotAsked(_)));
        trace.protocol = Some("h2");
        assert!(matches!(of(&trace), Unreached::NotHeard(_)));
        // State after a failed reconnect for a retry.
        (trace.protocol, trace.retried) = (None, true);
        assert!(matches!(of(&trace), Unreached::NotHeard(_)));
    }
}
