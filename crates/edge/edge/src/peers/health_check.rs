//! Monitoring of links and origins. Live traffic is the first source; heartbeats and probes cover
//! idle periods.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use ::tier_routing::{DataCentreId, Fault, Measurements};
use http_stack::{
    Body, Bytes, Failure, HeaderValue, Method, Origin, Request, StatusCode, Uri, client::Trace, clock::nanos,
    header,
};
use tokio::{
    net::{TcpStream, lookup_host},
    task::AbortHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    connections::TrafficClass,
    heartbeat::{HeartbeatReply, HeartbeatRequest},
    table::{Peers, lock},
};
use crate::{
    config::Network,
    peers::headers::{KIND_PURGES, PEER_NODE, REQUEST_KIND},
};

impl Peers {
    /// Ends when this is dropped. Must be called in a tokio runtime with I/O and time.
    pub(crate) fn start(self: &Arc<Self>, zones: impl Fn() -> Option<Arc<Network>> + Send + Sync + 'static) {
        let tasks = spawn_tasks(&Arc::downgrade(self), zones);
        lock(&self.tasks).extend(tasks);
    }

    pub(crate) fn record_connection(&self, name: &str, from: SocketAddr) {
        if let Some(centre) = self.id(name) {
            self.peer(centre).connections.record(from);
        }
    }

    pub(crate) fn heartbeat_reply(&self, heartbeat: &HeartbeatRequest) -> HeartbeatReply {
        // The sender has no samples of this process.
        let from = if heartbeat.process == self.process { heartbeat.from } else { 0 };
        let (origins, next) = self.origin_routes().samples_since(self.now(), from);
        HeartbeatReply {
            network: self.name.clone(),
            process: self.process,
            next,
            origins,
            choices: self.own_choices(),
        }
    }
}

/// Weak, so that tasks end when the peers are replaced.
type WeakPeers = Weak<Peers>;

fn spawn_tasks(
    peers: &WeakPeers,
    network: impl Fn() -> Option<Arc<Network>> + Send + Sync + 'static,
) -> Vec<AbortHandle> {
    let Some(now) = peers.upgrade() else { return Vec::new() };
    let links = now.all().map(|(centre, _)| tokio::spawn(watch_peer(peers.clone(), centre)).abort_handle());
    let mut tasks: Vec<_> = links.collect();
    tasks.push(tokio::spawn(probe_origins(peers.clone())).abort_handle());
    tasks.push(tokio::spawn(review_periodically(peers.clone(), network)).abort_handle());
    tasks
}

async fn watch_peer(peers: WeakPeers, centre: DataCentreId) {
    let (mut process, mut from) = (0, 0);
    let mut told_at: Option<Instant> = None;
    while let Some(peers) = peers.upgrade() {
        let period = TICK + TICK_PER_PEER * u32::try_from(peers.data_centres().len()).unwrap_or(u32::MAX);
        let is_due = told_at.is_none_or(|at| at.elapsed() >= HEARTBEAT_INTERVAL);
        let is_silent = peers.peer(centre).is_silent_since(peers.clock.now().saturating_sub(nanos(period)));
        if is_due || is_silent {
            let heartbeat = HeartbeatRequest { network: peers.network_name().to_owned(), process, from };
            match peers.send_heartbeat(centre, TrafficClass::Small, &heartbeat).await {
                Ok(reply) => {
                    peers.mark_up(centre);
                    peers.origin_routes().merge_samples(peers.now(), centre, &reply.origins);
                    peers.set_peer_choices(centre, &reply.choices);
                    (process, from) = (reply.process, reply.next);
                    told_at = Some(instant());
                    if is_due {
                        let heartbeat = HeartbeatRequest { network: heartbeat.network, process, from };
                        tokio::spawn(keep_warm(Arc::clone(&peers), centre, heartbeat));
                    }
                }
                Err(why) => peers.mark_down(centre, &why),
            }
        }
        drop(peers);
        sleep(period).await;
    }
}

/// Its round-trip time depends on load and is not recorded.
async fn keep_warm(peers: Arc<Peers>, centre: DataCentreId, heartbeat: HeartbeatRequest) {
    let _ = peers.send_heartbeat(centre, TrafficClass::Bulk, &heartbeat).await;
}

pub(crate) struct ControlRequest {
    pub(crate) kind: HeaderValue,
    pub(crate) body: Vec<u8>,
    pub(crate) max_reply_bytes: usize,
}

impl Peers {
    async fn send_heartbeat(
        &self,
        centre: DataCentreId,
        class: TrafficClass,
        heartbeat: &HeartbeatRequest,
    ) -> Result<HeartbeatReply, String> {
        let target = heartbeat.target().parse().unwrap_or_else(|_| Uri::from_static("/"));
        let question = ControlRequest {
            kind: HeaderValue::from_static("hello"),
            body: Vec::new(),
            max_reply_bytes: HeartbeatReply::MAX_BYTES,
        };
        let (text, trace) = self.exchange(centre, class, target, question).await?;
        let reply = HeartbeatReply::read(&text).ok_or("its response is malformed")?;
        if reply.network != self.network_name() {
            return Err(format!("it belongs to another network, \"{}\"", truncate(&reply.network)));
        }
        if let (TrafficClass::Small, Some(sent), Some(received_at), Some(true)) =
            (class, trace.first_write(), trace.final_headers, trace.reused)
        {
            self.peer(centre).record_round_trip(Duration::from_nanos(received_at.saturating_sub(sent)));
        }
        Ok(reply)
    }

    pub(crate) async fn send_control(
        &self,
        centre: DataCentreId,
        class: TrafficClass,
        question: ControlRequest,
    ) -> Result<Bytes, String> {
        Ok(self.exchange(centre, class, Uri::from_static("/"), question).await?.0)
    }

    async fn exchange(
        &self,
        centre: DataCentreId,
        class: TrafficClass,
        target: Uri,
        ControlRequest { kind, body, max_reply_bytes }: ControlRequest,
    ) -> Result<(Bytes, Trace), String> {
        let (peer, client) = (self.peer(centre), self.connections.client(class));
        let mut request = Request::new(if body.is_empty() { Body::empty() } else { Body::whole(body) });
        *request.uri_mut() = target;
        if kind == KIND_PURGES {
            *request.method_mut() = Method::POST;
        }
        let headers = request.headers_mut();
        headers.insert(REQUEST_KIND, kind);
        for (name, value) in [(PEER_NODE, self.name(self.own_id())), (header::HOST, peer.name.as_str())] {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        }
        let mut trace = Trace::start(client.clock().now());
        let asked = async {
            let response = client.send(&peer.origin, request, &mut trace).await?;
            let status = response.status();
            Ok((status, response.into_body().collect(max_reply_bytes).await?))
        };
        let (status, text) = match self.response_unless_silent(centre, asked).await {
            Some(Ok(answered)) => answered,
            Some(Err(failure)) => return Err(Failure::to_string(&failure)),
            None => return Err("it does not respond".to_owned()),
        };
        if status != StatusCode::OK {
            let why = String::from_utf8_lossy(&text);
            return Err(format!("it refused the request: {}", truncate(why.trim_end())));
        }
        Ok((text, trace))
    }

    /// `None` if nothing was received from the data centre for [`RESPONSE_TIMEOUT`], or if this
    /// response takes three times as long: under load it may be queued behind others.
    async fn response_unless_silent<T>(
        &self,
        centre: DataCentreId,
        response: impl Future<Output = T>,
    ) -> Option<T> {
        let (began, mut response) = (instant(), pin!(response));
        let mut wait = RESPONSE_TIMEOUT;
        loop {
            let wake_at = instant() + wait;
            if let Ok(received) = timeout(wait, response.as_mut()).await {
                return Some(received);
            }
            let now = instant();
            // After a stall of this process, received data may still be unread.
            let was_stalled = now > wake_at + STALL_THRESHOLD;
            let silent_since = self.clock.now().saturating_sub(nanos(RESPONSE_TIMEOUT));
            let is_silent = self.peer(centre).is_silent_since(silent_since) && !was_stalled;
            if is_silent || now > began + RESPONSE_TIMEOUT * 3 {
                return None;
            }
            wait = STALL_THRESHOLD;
        }
    }
}

async fn probe_origins(peers: WeakPeers) {
    while let Some(peers) = peers.upgrade() {
        let origins = peers.origins.read().map(|origins| origins.clone()).unwrap_or_default();
        peers.origin_routes().retain_origins(&origins);
        let probes: Vec<_> = origins
            .into_iter()
            .filter(|origin| peers.is_probe_due(origin))
            .map(|origin| {
                let peers = Arc::downgrade(&peers);
                tokio::spawn(async move {
                    let outcome = probe_origin(&peers, &origin).await;
                    if let Some((peers, outcome)) = peers.upgrade().zip(outcome) {
                        peers.origin_routes().record_probe(peers.now(), &origin, outcome);
                    }
                })
            })
            .collect();
        drop(peers);
        sleep(TICK).await;
        for probe in probes {
            let _ = probe.await;
        }
    }
}

impl Peers {
    fn is_probe_due(&self, origin: &Origin) -> bool {
        let (now, routes) = (self.now(), self.origin_routes());
        let failed = routes
            .address(origin)
            .and_then(|address| routes.reach.failures().last(now, address, ::tier_routing::Route::Direct));
        let waits = if failed.is_some() {
            PROBE_RETRY_INTERVAL
        } else if routes.samples(now, origin) < Measurements::FEWEST {
            Duration::ZERO
        } else {
            PROBE_INTERVAL
        };
        // A failed probe is no sample, but counts for the interval.
        let last = routes.last(origin).max(failed);
        last.is_none_or(|last| now.saturating_sub(last) >= waits)
    }
}

async fn probe_origin(peers: &WeakPeers, origin: &Origin) -> Option<Result<Duration, Fault>> {
    let addresses = resolve_all(origin).await?;
    // If there are several addresses, keep the known one.
    let previous = peers.upgrade()?.origin_address(origin).filter(|address| addresses.contains(address));
    let address = previous.or_else(|| addresses.first().copied())?;
    peers.upgrade()?.origin_routes().record_address(origin, address);
    Some(measure_connect(address).await)
}

pub(crate) async fn resolve(origin: &Origin) -> Option<SocketAddr> {
    resolve_all(origin).await?.into_iter().next()
}

async fn resolve_all(origin: &Origin) -> Option<Vec<SocketAddr>> {
    let found = timeout(RESPONSE_TIMEOUT, lookup_host((origin.host.as_str(), origin.port))).await;
    Some(found.ok()?.ok()?.collect())
}

pub(crate) async fn measure_connect(address: SocketAddr) -> Result<Duration, Fault> {
    let began = instant();
    match timeout(RESPONSE_TIMEOUT, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(began.elapsed()),
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionReset => Err(Fault::ConnectionTerminated),
        Ok(Err(_)) => Err(Fault::ConnectionRefused),
        Err(_) => Err(Fault::ConnectionTimeout),
    }
}

async fn review_periodically(peers: WeakPeers, network: impl Fn() -> Option<Arc<Network>> + Send + Sync) {
    while let Some(peers) = peers.upgrade() {
        let Some(network) = network() else { return };
        peers.review_choices(&network);
        drop(peers);
        sleep(TICK).await;
    }
}

fn instant() -> Instant {
    Instant::now()
}

fn truncate(text: &str) -> String {
    text.chars().take(200).collect()
}

/// A lost data centre is detected after this interval plus [`RESPONSE_TIMEOUT`].
const TICK: Duration = Duration::from_secs(1);
/// Keeps a network of 300 data centres from being busy with heartbeats.
const TICK_PER_PEER: Duration = Duration::from_millis(10);
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
/// Three of the longest round trips under bad conditions.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// A timer that is late by this much shows that the process was not scheduled. Also the poll
/// interval after `RESPONSE_TIMEOUT`.
const STALL_THRESHOLD: Duration = Duration::from_millis(250);
/// Without requests, this gives in ten minutes twice the samples that a median needs.
const PROBE_INTERVAL: Duration = Duration::from_secs(60);
const PROBE_RETRY_INTERVAL: Duration = Duration::from_secs(10);
