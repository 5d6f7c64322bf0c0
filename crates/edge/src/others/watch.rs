//! Looks after links and origins while a data centre runs: live traffic tells first how they are, and where there is none, a small question.

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
    /// Begins to watch links and origins, until this is dropped. To be called in a tokio runtime with I/O and time.
    pub(crate) fn begin(self: &Arc<Self>, zones: impl Fn() -> Option<Arc<Network>> + Send + Sync + 'static) {
        let tasks = tasks(&Arc::downgrade(self), zones);
        lock(&self.watching).extend(tasks);
    }

    /// Another data centre asks over a connection from there.
    pub(crate) fn see(&self, name: &str, from: SocketAddr) {
        if let Some(centre) = self.id(name) {
            self.peer(centre).connections.see(from);
        }
    }

    /// What is answered to another data centre.
    pub(crate) fn told(&self, hello: &Hello) -> Told {
        // Whoever knew another process knows nothing of this one.
        let from = if hello.process == self.process { hello.from } else { 0 };
        let (origins, next) = self.ways().told(self.now(), from);
        Told { network: self.name.clone(), process: self.process, next, origins, choices: self.choices() }
    }
}

/// What a task has of the others, so that it ends with them.
type Watched = Weak<Others>;

/// The tasks that do all of it.
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

/// Asks another data centre how it is, for as long as there are others.
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

/// Uses the connection for large bodies, so that it is there when one comes. How long that takes under load says nothing.
async fn keep_warm(others: Arc<Others>, centre: CentreId, hello: Hello) {
    let _ = others.ask(centre, Lane::Bulk, &hello).await;
}

/// A question that is not about an object.
pub(crate) struct Question {
    /// What it is about.
    pub(crate) kind: HeaderValue,
    pub(crate) body: Vec<u8>,
    /// Bytes of its answer at most.
    pub(crate) longest: usize,
}

impl Others {
    /// Asks another data centre how it is, and what it measured.
    async fn ask(&self, centre: CentreId, lane: Lane, hello: &Hello) -> Result<Told, String> {
        let target = hello.target().parse().unwrap_or_else(|_| Uri::from_static("/"));
        let question =
            Question { kind: HeaderValue::from_static("hello"), body: Vec::new(), longest: Told::LONGEST };
        let (text, trace) = self.exchange(centre, lane, target, question).await?;
        let told = Told::read(&text).ok_or("its answer is not as agreed on")?;
        if told.network != self.network_name() {
            return Err(format!("it is of another network, \"{}\"", shortened(&told.network)));
        }
        if let (Lane::Small, Some(sent), Some(came), Some(true)) =
            (lane, trace.first_write(), trace.final_headers, trace.reused)
        {
            self.peer(centre).measured(Duration::from_nanos(came.saturating_sub(sent)));
        }
        Ok(told)
    }

    /// Asks another data centre a question, and returns its answer's text.
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
        let (status, text) = match self.while_heard(centre, asked).await {
            Some(Ok(answered)) => answered,
            Some(Err(failure)) => return Err(Failure::to_string(&failure)),
            None => return Err("it does not answer".to_owned()),
        };
        if status != StatusCode::OK {
            let why = String::from_utf8_lossy(&text);
            return Err(format!("it refuses this data centre: {}", shortened(why.trim_end())));
        }
        Ok((text, trace))
    }
}

impl Others {
    /// Waits for a response of a data centre. `None` if nothing of it was received for [`PATIENCE`], or this response not within three
    /// times as long: under load it may wait behind others of the same data centre.
    async fn while_heard<T>(&self, centre: CentreId, response: impl Future<Output = T>) -> Option<T> {
        let (began, mut response) = (instant(), pin!(response));
        let mut wait = PATIENCE;
        loop {
            let wake_at = instant() + wait;
            if let Ok(received) = timeout(wait, response.as_mut()).await {
                return Some(received);
            }
            let now = instant();
            // A process that was not scheduled has not read what was received meanwhile.
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

/// Connects to origins and closes, where no request did.
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
        // A probe that failed is no sample, and is as good as one here.
        let last = ways.last(origin).max(failed);
        last.is_none_or(|last| now.saturating_sub(last) >= waits)
    }
}

/// What a connection to an origin takes; `None` if nobody knows where it is.
async fn connect(others: &Watched, origin: &Origin) -> Option<Result<Duration, Fault>> {
    let addresses = addresses(origin).await?;
    // Of several, what is remembered is about one.
    let before = others.upgrade()?.address(origin).filter(|address| addresses.contains(address));
    let address = before.or_else(|| addresses.first().copied())?;
    others.upgrade()?.ways().found(origin, address);
    Some(connect_to(address).await)
}

/// An address of an origin.
pub(crate) async fn look_up(origin: &Origin) -> Option<SocketAddr> {
    addresses(origin).await?.into_iter().next()
}

async fn addresses(origin: &Origin) -> Option<Vec<SocketAddr>> {
    let found = timeout(PATIENCE, lookup_host((origin.host.as_str(), origin.port))).await;
    Some(found.ok()?.ok()?.collect())
}

/// How long a connection to an address takes, which is closed at once.
pub(crate) async fn connect_to(address: SocketAddr) -> Result<Duration, Fault> {
    let began = instant();
    match timeout(PATIENCE, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(began.elapsed()),
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionReset => Err(Fault::ConnectionTerminated),
        Ok(Err(_)) => Err(Fault::ConnectionRefused),
        Err(_) => Err(Fault::ConnectionTimeout),
    }
}

/// Reviews the choices of upper tiers.
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

/// Of what another says of itself.
fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

/// How often it is looked whether something is to be done; a data centre that is gone is noticed after this and [`PATIENCE`].
const TICK: Duration = Duration::from_secs(1);
/// And for each data centre so much more, so that a network of 300 does not spend its time on questions.
const TICK_EACH: Duration = Duration::from_millis(10);
/// How often measurements are exchanged.
const TELLING: Duration = Duration::from_secs(5);
/// How long an answer to a question may take, and a connection: three times as long as half around the Earth on a bad day.
const PATIENCE: Duration = Duration::from_secs(3);
/// A timer that is later than this shows that the process was not scheduled; also the period between two looks at a response that is late.
const STALL: Duration = Duration::from_millis(250);
/// How often an origin is connected to without a request: in ten minutes twice as many as a median needs.
const EACH: Duration = Duration::from_secs(60);
/// How often one that failed is tried.
const AGAIN: Duration = Duration::from_secs(10);
