//! A request to a peer, and its response.

use std::{fmt, pin::pin, sync::Arc, time::Duration};

use ::tier_routing::{DataCentreId, Role};
use http_stack::{
    Body, Client, Failure, HeaderMap, Method, Request, Response,
    body::Frames,
    client::{OnInterim, Trace},
};
use tokio::time::timeout;

use crate::{
    peers::{
        Peer, PeerDown, Peers, TrafficClass, abort_when_down,
        headers::{
            CACHE_TIER, FILL_PRIORITY, ForwardedRequest, MAX_HOPS, ORIGIN_PROTOCOL, PRIORITY_BULK,
            PURGE_EPOCH, ROUTE_REASON,
        },
        is_link_failure,
    },
    request::context::RequestContext,
    server::worker_state::WorkerState,
    upstream::origins::forward_interim,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PeerError {
    Rejected(String),
    Failed(Failure),
    Down,
    /// The peer responds to heartbeats, but not to this request in time.
    Timeout,
    TooManyHops,
    PositionTooLarge,
    StillSyncing,
}

impl PeerError {
    /// The request may be sent elsewhere, and the route is not at fault.
    pub(crate) fn was_not_sent(&self) -> bool {
        match self {
            Self::Failed(failure) => failure.is_capacity_error(),
            Self::TooManyHops | Self::PositionTooLarge | Self::StillSyncing => true,
            Self::Rejected(_) | Self::Down | Self::Timeout => false,
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(word) => f.write_str(word),
            Self::Failed(failure) => failure.fmt(f),
            Self::Down => f.write_str("it does not respond"),
            Self::Timeout => f.write_str("it did not respond in time"),
            Self::TooManyHops => f.write_str("the request passed too many data centres"),
            Self::StillSyncing => f.write_str("this data centre has not received earlier purges yet"),
            Self::PositionTooLarge => {
                f.write_str("the purge position of this data centre is too long for a field")
            }
        }
    }
}

impl WorkerState {
    pub(crate) async fn fetch_from_peer(
        &self,
        peers: &Arc<Peers>,
        (centre, role): (DataCentreId, Role),
        context: &RequestContext,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response<Body>, PeerError> {
        let through: Vec<_> = context.through().iter().cloned().chain([self.data_centre.clone()]).collect();
        if through.len() > MAX_HOPS {
            return Err(PeerError::TooManyHops);
        }
        let forwarded = ForwardedRequest {
            role,
            through,
            zone: context.zone().name.clone(),
            key: context.key_hash(),
            client: context.peer.address,
            scheme: context.peer.scheme,
            rules: context.rules_for_peer(),
        };
        // A new process may lack purges that the previous one has acknowledged.
        if timeout(STARTUP_SYNC_TIMEOUT, self.purge_log.synced()).await.is_err() {
            return Err(PeerError::StillSyncing);
        }
        let position = self.purge_log.position_header().ok_or(PeerError::PositionTooLarge)?;
        let peer_headers = || {
            let mut peer_headers = headers.clone();
            peer_headers.reserve(PEER_FIELDS);
            forwarded.write(&mut peer_headers);
            peer_headers.insert(PURGE_EPOCH, position.clone());
            peer_headers
        };
        let peer = peers.peer(centre);
        peer.count_request();
        let mut pending = pin!(async {
            let retry = body.again().filter(|_| context.method == Method::GET);
            let client = if headers.contains_key(ORIGIN_PROTOCOL) {
                peers.connections.client(TrafficClass::Tunnel)
            } else {
                peers.connections.small_client(self.index(), &peer.origin, !body.is_end_stream())
            };
            let response = send_to_peer(client, peer, context, peer_headers(), body).await?;
            match retry {
                Some(body)
                    if response.headers().get(FILL_PRIORITY).is_some_and(|class| *class == PRIORITY_BULK) =>
                {
                    let mut peer_headers = peer_headers();
                    peer_headers.insert(FILL_PRIORITY, PRIORITY_BULK);
                    Box::pin(send_to_peer(
                        peers.connections.client(TrafficClass::Bulk),
                        peer,
                        context,
                        peer_headers,
                        body,
                    ))
                    .await
                }
                _ => Ok(response),
            }
        });
        // The sender waits longer than the receiver, which may try several routes and has fewer
        // hops left.
        let hops_left = u32::try_from(MAX_HOPS + 1 - forwarded.through.len()).unwrap_or(1);
        let max_wait = context.zone().first_byte.saturating_mul(MAX_ROUTES) + TIMEOUT_MARGIN * hops_left;
        let mut down = peer.down();
        let result = tokio::select! {
            biased;
            result = timeout(max_wait, pending.as_mut()) => match result {
                Ok(result) => result,
                Err(_) => {
                    peer.count_failure();
                    peers.connections.reconnect(&peer.origin);
                    return Err(PeerError::Timeout);
                }
            },
            () = down.as_mut() => {
                peer.count_failure();
                return Err(PeerError::Down);
            }
        };
        match result {
            Ok(mut response) => {
                peers.mark_up(centre);
                if let Some(done) = response.headers_mut().remove(PURGE_EPOCH) {
                    self.node.sync_if_behind(peers, centre, &done);
                }
                accept_response(response, context, peer, down)
            }
            Err(failure) => {
                // Neither a client that aborts its request nor a lack of capacity here is the fault
                // of the peer.
                if failure != Failure::Source && !failure.is_capacity_error() {
                    peer.count_failure();
                    peers.connections.reconnect(&peer.origin);
                }
                if is_link_failure(failure) {
                    peers.mark_down(centre, &failure.to_string());
                }
                Err(PeerError::Failed(failure))
            }
        }
    }
}

async fn send_to_peer(
    client: &Client,
    peer: &Peer,
    context: &RequestContext,
    headers: HeaderMap,
    body: Body,
) -> Result<Response<Body>, Failure> {
    let mut request = Request::new(body);
    *request.method_mut() = context.method.clone();
    *request.uri_mut() = context.url.clone();
    *request.headers_mut() = headers;
    if let Some(interim) = context.interim.clone() {
        let tell = OnInterim::new(move |code, fields: &HeaderMap| forward_interim(&interim, code, fields));
        request.extensions_mut().insert(tell);
    }
    let mut trace = Trace::start(client.clock().now());
    client.send(&peer.origin, request, &mut trace).await
}

fn accept_response(
    mut response: Response<Body>,
    context: &RequestContext,
    peer: &Peer,
    down: PeerDown,
) -> Result<Response<Body>, PeerError> {
    let headers = response.headers_mut();
    headers.remove(FILL_PRIORITY);
    if let Some(word) = headers.remove(ROUTE_REASON) {
        return Err(PeerError::Rejected(word.to_str().unwrap_or_default().to_owned()));
    }
    let tier = headers.remove(CACHE_TIER);
    if let Some(upstream_timing) = &context.upstream_timing {
        let tier = tier.as_ref().and_then(|tier| tier.to_str().ok());
        upstream_timing.set_source(tier.unwrap_or(&peer.name));
    }
    Ok(response.map(|body| abort_when_down(body, down)))
}

const PEER_FIELDS: usize = 5;

/// Each route has the timeout of the zone's origin.
const MAX_ROUTES: u32 = 4;

const TIMEOUT_MARGIN: Duration = Duration::from_secs(2);
/// Longer than one exchange with a peer that does not respond; then the request is sent to the
/// origin.
const STARTUP_SYNC_TIMEOUT: Duration = Duration::from_secs(8);
