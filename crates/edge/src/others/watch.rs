//! Monitoring of links and origins. Live traffic is the first source; heartbeats and probes cover idle
//! periods.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use ::tiers::{CentreId, Fault, Measurements};
use http::{
    Body, Bytes, Failure, HeaderValue, Method, Origin, Request, StatusCode, Uri, client::Trace, clock::nanos,
    header,
};
use tokio::{
    net::{TcpStream, lookup_host},
    task::AbortHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    hello::{Hello, Told},
    lanes::Lane,
    view::{Others, lock},
};
use crate::{
    came::{KIND, NODE, PURGES},
    network::Network,
};

impl Others {
    /// Starts to monitor links and origins until this is dropped. Must be called in a tokio runtime with I/O
    /// and time.
    pub(crate) fn begin(self: &Arc<Self>, zones: impl Fn() -> Option<Arc<Network>> + Send + Sync + 'static) {
        let tasks = tasks(&Arc::downgrade(self), zones);
        lock(&self.watching).extend(tasks);
    }

    pub(crate) fn see(&self, name: &str, from: SocketAddr) {
        if let Some(centre) = self.id(name) {
            self.peer(centre).connections.see(from);
        }
    }

    pub(crate) fn told(&self, hello: &Hello) -> Told {
        // The sender has no samples of this process.
        let from = if hello.process == self.process { hello.from } else { 0 };
        let (origins, next) = self.ways().told(self.now(), from);
        Told { network: self.name.clone(), process: self.process, next, origins, choices: self.choices() }
    }
}

/// A weak reference, so that tasks end when the peers are replaced.
type Watched = Weak<Others>;

fn tasks(
    others: &Watched,
    network: impl Fn() -> Option<Arc<Network>> + Send + Sync + 'static,
) -> Vec<AbortHandle> {
    let Some(now) = others.upgrade() else { return Vec::new() };
    let links = now.all().map(|(centre, _)| tokio::spawn(link(others.clone(), centre)).abort_handle());
    let mut tasks: Vec<_> = links.collect();
    tasks.push(tokio::spawn(origins(others.clone())).abort_handle());
    tasks.push(tokio::spawn(choices(others.clone(), network)).abort_handle());
    tasks
}

/// Sends heartbeats to a peer until the peers are replaced.
async fn link(others: Watched, centre: CentreId) {
    let (mut process, mut from) = (0, 0);
    let mut told_at: Option<Instant> = None;
    while let Some(others) = others.upgrade() {
        let period = TICK + TICK_EACH * u32::try_from(others.centres().len()).unwrap_or(u32::MAX);
        let is_due = told_at.is_none_or(|at| at.elapsed() >= TELLING);
        let is_silent = others.peer(centre).is_silent_since(others.clock.now().saturating_sub(nanos(period)));
        if is_due || is_silent {
            let hello = Hello { network: others.network_name().to_owned(), process, from };
            match others.ask(centre, Lane::Small, &hello).await {
                Ok(told) => {
                    others.heard(centre);
                    others.ways().take(others.now(), centre, &told.origins);
                    others.take_choices(centre, &told.choices);
                    (process, from) = (told.process, told.next);
                    told_at = Some(instant());
                    if is_due {
                        let hello = Hello { network: hello.network, process, from };
                        tokio::spawn(keep_warm(Arc::clone(&others), centre, hello));
                    }
                }
                Err(why) => others.lost(centre, &why),
            }
        }
        drop(others);
        sleep(period).await;
    }
}

/// Keeps the connection for large bodies open. Its round-trip time depends on load and is not recorded.
async fn keep_warm(others: Arc<Others>, centre: CentreId, hello: Hello) {
    let _ = others.ask(centre, Lane::Bulk, &hello).await;
}

/// A request that is not for an object.
pub(crate) struct Question {
    pub(crate) kind: HeaderValue,
    pub(crate) body: Vec<u8>,
    /// The maximum size of its response, bytes.
    pub(crate) longest: usize,
}

impl Others {
    async fn ask(&self, centre: CentreId, lane: Lane, hello: &Hello) -> Result<Told, String> {
        let target = hello.target().parse().unwrap_or_else(|_| Uri::from_static("/"));
        let question =
            Question { kind: HeaderValue::from_static("hello"), body: Vec::new(), longest: Told::LONGEST };
        let (text, trace) = self.exchange(centre, lane, target, question).await?;
        let told = Told::read(&text).ok_or("its response is malformed")?;
        if told.network != self.network_name() {
            return Err(format!("it belongs to another network, \"{}\"", shortened(&told.network)));
        }
        if let (Lane::Small, Some(sent), Some(came), Some(true)) =
            (lane, trace.first_write(), trace.final_headers, trace.reused)
        {
            self.peer(centre).measured(Duration::from_nanos(came.saturating_sub(sent)));
        }
        Ok(told)
    }

    pub(crate) async fn question(
        &self,
        centre: CentreId,
        lane: Lane,
        question: Question,
    ) -> Result<Bytes, String> {
        Ok(self.exchange(centre, lane, Uri::from_static("/"), question).await?.0)
    }

    async fn exchange(
        &self,
        centre: CentreId,
        lane: Lane,
        target: Uri,
        Question { kind, body, longest }: Question,
    ) -> Result<(Bytes, Trace), String> {
        let (peer, client) = (self.peer(centre), self.lanes.of(lane));
        let mut request = Request::new(if body.is_empty() { Body::empty() } else { Body::whole(body) });
        *request.uri_mut() = target;
        if kind == PURGES {
            *request.method_mut() = Method::POST;
        }
        let headers = request.headers_mut();
        headers.insert(KIND, kind);
        for (name, value) in [(NODE, self.name(self.here())), (header::HOST, peer.name.as_str())] {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        }
        let mut trace = Trace::start(client.clock().now());
        let asked = async {
            let response = client.send(&peer.origin, request, &mut trace).await?;
            let status = response.status();
            Ok((status, response.into_body().collect(longest).await?))
        };
        let (status, text) = match self.response_unless_silent(centre, asked).await {
            Some(Ok(answered)) => answered,
            Some(Err(failure)) => return Err(Failure::to_string(&failure)),
            None => return Err("it does not respond".to_owned()),
        };
        if status != StatusCode::OK {
            let why = String::from_utf8_lossy(&text);
            return Err(format!("it refused the request: {}", shortened(why.trim_end())));
        }
        Ok((text, trace))
    }

    /// Waits for a response of a data centre. Returns `None` if nothing was received from it for
    /// [`PATIENCE`], or if this response takes longer than three times that: under load it may be queued
    /// behind others.
    async fn response_unless_silent<T>(
        &self,
        centre: CentreId,
        response: impl Future<Output = T>,
    ) -> Option<T> {
        let (began, mut response) = (instant(), pin!(response));
        let mut wait = PATIENCE;
        loop {
            let wake_at = instant() + wait;
            if let Ok(received) = timeout(wait, response.as_mut()).await {
                return Some(received);
            }
            let now = instant();
            // After a stall of this process, received data may still be unread.
            let was_stalled = now > wake_at + STALL;
            let silent_since = self.clock.now().saturating_sub(nanos(PATIENCE));
            let is_silent = self.peer(centre).is_silent_since(silent_since) && !was_stalled;
            if is_silent || now > began + PATIENCE * 3 {
                return None;
            }
            wait = STALL;
        }
    }
}

/// Probes the origins to which no recent request has connected.
async fn origins(others: Watched) {
    while let Some(others) = others.upgrade() {
        let origins = others.origins.read().map(|origins| origins.clone()).unwrap_or_default();
        others.ways().keep(&origins);
        let probes: Vec<_> = origins
            .into_iter()
            .filter(|origin| others.is_due(origin))
            .map(|origin| {
                let others = Arc::downgrade(&others);
                tokio::spawn(async move {
                    let outcome = connect(&others, &origin).await;
                    if let Some((others, outcome)) = others.upgrade().zip(outcome) {
                        others.ways().probed(others.now(), &origin, outcome);
                    }
                })
            })
            .collect();
        drop(others);
        sleep(TICK).await;
        for probe in probes {
            let _ = probe.await;
        }
    }
}

impl Others {
    fn is_due(&self, origin: &Origin) -> bool {
        let (now, ways) = (self.now(), self.ways());
        let failed = ways
            .address(origin)
            .and_then(|address| ways.reach.failures().last(now, address, ::tiers::Route::Direct));
        let waits = if failed.is_some() {
            AGAIN
        } else if ways.samples(now, origin) < Measurements::FEWEST {
            Duration::ZERO
        } else {
            EACH
        };
        // A failed probe is no sample, but counts for the interval.
        let last = ways.last(origin).max(failed);
        last.is_none_or(|last| now.saturating_sub(last) >= waits)
    }
}

/// Measures the connect time of an origin; `None` if its name does not resolve.
async fn connect(others: &Watched, origin: &Origin) -> Option<Result<Duration, Fault>> {
    let addresses = addresses(origin).await?;
    // If there are several addresses, keep to the known one.
    let before = others.upgrade()?.address(origin).filter(|address| addresses.contains(address));
    let address = before.or_else(|| addresses.first().copied())?;
    others.upgrade()?.ways().found(origin, address);
    Some(connect_to(address).await)
}

pub(crate) async fn look_up(origin: &Origin) -> Option<SocketAddr> {
    addresses(origin).await?.into_iter().next()
}

async fn addresses(origin: &Origin) -> Option<Vec<SocketAddr>> {
    let found = timeout(PATIENCE, lookup_host((origin.host.as_str(), origin.port))).await;
    Some(found.ok()?.ok()?.collect())
}

/// Measures the connect time of an address. The connection is closed immediately.
pub(crate) async fn connect_to(address: SocketAddr) -> Result<Duration, Fault> {
    let began = instant();
    match timeout(PATIENCE, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(began.elapsed()),
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionReset => Err(Fault::ConnectionTerminated),
        Ok(Err(_)) => Err(Fault::ConnectionRefused),
        Err(_) => Err(Fault::ConnectionTimeout),
    }
}

async fn choices(others: Watched, network: impl Fn() -> Option<Arc<Network>> + Send + Sync) {
    while let Some(others) = others.upgrade() {
        let Some(network) = network() else { return };
        others.review(&network);
        drop(others);
        sleep(TICK).await;
    }
}

fn instant() -> Instant {
    Instant::now()
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The base interval of checks. A lost data centre is detected after this interval plus [`PATIENCE`].
const TICK: Duration = Duration::from_secs(1);
/// Added per data centre, so that a network of 300 is not busy with heartbeats.
const TICK_EACH: Duration = Duration::from_millis(10);
/// The interval of heartbeats that exchange measurements.
const TELLING: Duration = Duration::from_secs(5);
/// The timeout of heartbeats, lookups and probes: three of the longest round trips under bad conditions.
const PATIENCE: Duration = Duration::from_secs(3);
/// A timer that is late by this much shows that the process was not scheduled. Also the poll interval after
/// `PATIENCE`.
const STALL: Duration = Duration::from_millis(250);
/// The interval of probes without requests: in ten minutes, twice the number of samples that a median needs.
const EACH: Duration = Duration::from_secs(60);
/// The interval of probes after a failure.
const AGAIN: Duration = Duration::from_secs(10);
