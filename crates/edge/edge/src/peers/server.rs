//! Requests of peers over links: object requests, heartbeats, purges and KV requests.

use std::sync::Arc;

use http_stack::{
    Body, CompleteBody, Failure, HeaderName, HeaderValue, Method, PeerIdentity, Request, Response,
    StatusCode, header,
    server::{Handler, Peer, RequestView},
};

use crate::{
    peers::{
        HeartbeatRequest, Peers,
        headers::{
            BULK_THRESHOLD, CACHE_TIER, FILL_PRIORITY, ForwardedRequest, KIND_VALUES, ORIGIN_PROTOCOL,
            PEER_NODE, PRIORITY_BULK, PURGE_EPOCH, REQUEST_KIND, ROUTE_REASON, StoredMarker,
            forwarded_request_ref::ForwardedRequestRef,
        },
        tunnel,
    },
    purge::sync::{CatchUpError, is_sync_request, unavailable},
    request::{context::RequestContext, rejection::Rejection},
    server::worker_state::WorkerState,
    telemetry::{access_log::UpstreamTiming, counters::CacheResult},
};

pub(crate) struct PeerHandler(pub(crate) Arc<WorkerState>);

impl Handler for PeerHandler {
    const HAS_FAST_PATH: bool = true;

    type Observer = ();

    fn try_respond_h1(
        &self,
        request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<()>)> {
        Some((self.0.try_fast_peer_hit(request, head)?, None))
    }

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        Ok(self.0.serve_peer(request).await)
    }
}

impl WorkerState {
    pub(crate) async fn serve_peer(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let Some(peers) = self.peers() else { return forbidden("this data centre has no links") };
        if is_sync_request(&request) {
            return self.receive_purges(&peers, request).await;
        }
        if request.headers().get(REQUEST_KIND).is_some_and(|kind| *kind == KIND_VALUES) {
            return self.serve_values(&peers, request).await;
        }
        if request.headers().contains_key(REQUEST_KIND) {
            return self.answer_heartbeat(&peers, &request);
        }
        let forwarded = match ForwardedRequest::read(request.headers()) {
            Ok(forwarded) => forwarded,
            Err(wrong) => return forbidden(&wrong.to_string()),
        };
        if let Err(why) = verify_peer(&peers, request.extensions().get(), forwarded.sender()) {
            return forbidden(&why);
        }
        if forwarded.through.iter().any(|name| name.eq_ignore_ascii_case(&self.data_centre)) {
            return with_route_reason(self.reject(LOOP));
        }
        match self.node.catch_up(&peers, forwarded.sender(), request.headers()).await {
            Ok(()) => {}
            Err(CatchUpError::PurgesMissing) => return with_route_reason(self.reject(BEHIND)),
            Err(CatchUpError::Malformed) => return forbidden("its field lh-purge-epoch is malformed"),
        }
        let may_come_back = request.method() == Method::GET
            && request.headers().get(FILL_PRIORITY).is_none_or(|priority| *priority != PRIORITY_BULK);
        let [switch, position] =
            [ORIGIN_PROTOCOL, PURGE_EPOCH].map(|name| request.headers().get(name).cloned());
        let (mut context, body) =
            match RequestContext::admit_from_peer(&self.network(), &self.data_centre, request, forwarded) {
                Ok(admitted) => admitted,
                Err(rejection) => return with_route_reason(self.reject(rejection)),
            };
        let upstream_timing: Arc<UpstreamTiming> = Arc::default();
        context.upstream_timing = Some(Arc::clone(&upstream_timing));
        let mut response = match switch {
            Some(protocol) => {
                tunnel::answer(self.upgrade(&context, Body::empty(), &protocol).await, protocol, body)
            }
            None => self.handle_admitted(context, body).await,
        };
        let is_large = content_length(&response) > BULK_THRESHOLD
            && response.extensions().get::<StoredMarker>().is_some();
        if is_large && may_come_back {
            return redirect_to_bulk();
        }
        if let Some(tier) =
            upstream_timing.source().or_else(|| upstream_timing.times().map(|_| "origin".to_owned()))
        {
            set_header(&mut response, CACHE_TIER, &tier);
        }
        if let Some(done) = self.position_unless_equal(position.as_ref().map(HeaderValue::as_bytes)) {
            response.headers_mut().insert(PURGE_EPOCH, done);
        }
        with_route_reason(response)
    }

    fn try_fast_peer_hit(&self, request: &RequestView<'_>, head: &mut Vec<u8>) -> Option<CompleteBody> {
        let plain = ForwardedRequestRef::read(request.fields())?;
        let peers = self.peers()?;
        let (sender, here) = (plain.sender(), peers.own_id());
        let caller = request.caller?;
        let is_known = caller.is(sender) && peers.id(sender).is_some_and(|id| id != here);
        // A data centre that lacks purges must catch up first. While it is cut off, it may have to
        // revalidate.
        let is_behind = plain.position.is_some_and(|claimed| !self.purge_log.is_at_position(claimed));
        if !is_known
            || !peers.membership.trusts(caller)
            || plain.has_passed(peers.network_name(), &self.data_centre)
            || is_behind
            || self.purge_log.is_partitioned()
        {
            return None;
        }
        let mut of_visitor = *request;
        of_visitor.peer.scheme = plain.scheme;
        let now = self.now();
        let known_as = (plain.zone, plain.key, plain.rules);
        let found = self.hit_table(self.index()).find_for_peer(&self.store, now, &of_visitor, known_as)?;
        let body = found.write(request, now, head)?;
        self.counters().add(CacheResult::Hit);
        if let Some(done) = self.position_unless_equal(plain.position) {
            for part in [PURGE_EPOCH.as_str().as_bytes(), b": ", done.as_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        Some(body)
    }

    fn position_unless_equal(&self, peer_position: Option<&[u8]>) -> Option<HeaderValue> {
        self.purge_log.applied_header().filter(|done| Some(done.as_bytes()) != peer_position)
    }

    async fn receive_purges(&self, peers: &Peers, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let name = parts.headers.get(PEER_NODE).and_then(|node| node.to_str().ok()).unwrap_or_default();
        if let Err(why) = verify_peer(peers, parts.extensions.get(), name) {
            return forbidden(&why);
        }
        let name = peers.id(name).map(|id| peers.name(id)).unwrap_or_default();
        self.node.answer_sync(peers, name, body).await.unwrap_or_else(|why| unavailable(&why))
    }

    async fn serve_values(&self, peers: &Peers, request: Request<Body>) -> Response<Body> {
        let node = request.headers().get(PEER_NODE).and_then(|node| node.to_str().ok()).unwrap_or_default();
        if let Err(why) = verify_peer(peers, request.extensions().get(), node) {
            return forbidden(&why);
        }
        let Some(kv) = &self.kv else {
            return unavailable("this data centre has no [kv] in its network file");
        };
        let may_come_back = request.method() == Method::GET
            && request.headers().get(FILL_PRIORITY).is_none_or(|priority| *priority != PRIORITY_BULK);
        let response = kv.answer_other(request).await;
        if may_come_back && content_length(&response) > BULK_THRESHOLD {
            redirect_to_bulk()
        } else {
            response
        }
    }

    fn answer_heartbeat(&self, peers: &Peers, request: &Request<Body>) -> Response<Body> {
        let node = request.headers().get(PEER_NODE).and_then(|node| node.to_str().ok()).unwrap_or_default();
        if let Err(why) = verify_peer(peers, request.extensions().get(), node) {
            return forbidden(&why);
        }
        let Some(heartbeat) = request.uri().query().and_then(HeartbeatRequest::read) else {
            return forbidden("the heartbeat is malformed");
        };
        if heartbeat.network != peers.network_name() {
            return forbidden(&format!(
                "this data centre belongs to the network \"{}\"",
                peers.network_name()
            ));
        }
        if let Some(peer) = request.extensions().get::<Peer>() {
            peers.record_connection(node, peer.address);
        }
        let text = serde_json::to_vec(&peers.heartbeat_reply(&heartbeat)).unwrap_or_default();
        let mut response = Response::new(Body::whole(text));
        set_header(&mut response, header::CONTENT_TYPE, "application/json");
        response
    }
}

fn verify_peer(peers: &Peers, caller: Option<&PeerIdentity>, name: &str) -> Result<(), String> {
    let names = || caller.map(|caller| caller.names().collect::<Vec<_>>().join(", ")).unwrap_or_default();
    let why = match peers.id(name) {
        _ if !caller.is_some_and(|caller| caller.is(name)) => {
            format!("it claims to be \"{name}\", but its certificate is for {}", names())
        }
        None => format!("the network has no data centre \"{name}\""),
        Some(id) if id == peers.own_id() => format!("\"{name}\" is this data centre itself"),
        Some(_) if !caller.is_some_and(|caller| peers.membership.trusts(caller)) => {
            format!("the certificate of \"{name}\" is revoked, or its authority is no longer trusted")
        }
        Some(_) => return Ok(()),
    };
    tracing::warn!("a request of a data centre is refused: {why}");
    Err(why)
}

fn with_route_reason(mut response: Response<Body>) -> Response<Body> {
    if let Some(rejection) = response.extensions().get::<Rejection>().copied() {
        set_header(&mut response, ROUTE_REASON, rejection.code);
    }
    response
}

fn forbidden(why: &str) -> Response<Body> {
    let mut response = Response::new(Body::whole(format!("{why}\n")));
    *response.status_mut() = StatusCode::FORBIDDEN;
    set_header(&mut response, ROUTE_REASON, "denied");
    response
}

fn redirect_to_bulk() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(FILL_PRIORITY, PRIORITY_BULK);
    response
}

fn content_length(response: &Response<Body>) -> u64 {
    let length = response.headers().get(header::CONTENT_LENGTH);
    length.and_then(|length| length.to_str().ok()?.parse().ok()).unwrap_or(0)
}

fn set_header<B>(response: &mut Response<B>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

const LOOP: Rejection = Rejection {
    status: StatusCode::LOOP_DETECTED,
    code: "loop",
    message: "The request has already passed this data centre.",
};

const BEHIND: Rejection = Rejection {
    status: StatusCode::SERVICE_UNAVAILABLE,
    code: "behind",
    message: "This data centre could not receive all purges of the sender.",
};
