//! The server's response to each request.

mod channel;
mod tracked;
mod upload;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};

use http_stack::{
    Body, HeaderValue, Method, Request, Response, Scheme, StatusCode, TimeInKernel, Version, clock::Clock,
    header, request::Parts, server::Peer,
};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Semaphore;

use serde_json::json;

use super::{
    admission::{Admission, Full, Leave},
    answer::{Answer, Refusal, json},
    browser,
    config::Limits,
    counts::Counts,
    page::{self, Operator},
    results_api::{self, Keeping},
    tcp_info::Kernel,
    test_registry::TestRegistry,
    webrtc::Webrtc,
};
use crate::{
    plan::Plan,
    random_body,
    stored_results::Moment,
    wire::{self, Greeting, Offer, Token, Told},
};

pub(crate) struct Responder {
    pub(crate) counts: Arc<Counts>,
    clock: Clock,
    limits: Limits,
    admission: Arc<Admission>,
    documents: Arc<Admission>,
    book: Arc<Mutex<TestRegistry>>,
    kernel: Arc<Kernel>,
    trackers: Arc<Semaphore>,
    loss_port: Option<u16>,
    channels: Vec<Arc<Webrtc>>,
    keeping: Option<Keeping>,
    random: SystemRandom,
}

impl Responder {
    pub(crate) fn new(
        limits: Limits,
        kernel: Kernel,
        (loss_port, channels): (Option<u16>, Vec<Arc<Webrtc>>),
        clock: Clock,
        keeping: Option<Keeping>,
    ) -> Self {
        Self {
            counts: Arc::default(),
            clock,
            limits,
            admission: Arc::new(Admission::new(limits)),
            documents: Arc::new(Admission::new(limits.of_documents())),
            book: Arc::default(),
            kernel: Arc::new(kernel),
            trackers: Arc::new(Semaphore::new(tracked::MOST)),
            loss_port,
            channels,
            keeping,
            random: SystemRandom::new(),
        }
    }

    pub(crate) async fn respond(&self, request: Request<Body>) -> Response<Body> {
        // The waiting time of a request until this program was scheduled counts as processing time.
        let waited = request.extensions().get().map_or(Duration::ZERO, |TimeInKernel(waited)| *waited);
        let began = self.now().saturating_sub(waited);
        let (head, body) = request.into_parts();
        let answer = match (&head.method, head.uri.path()) {
            (&Method::POST, wire::BEGIN) => self.begin(&head),
            (&Method::GET | &Method::HEAD, wire::DOWN) => self.download(&head),
            (&Method::POST, wire::UP) => {
                return self.upload(&head, body).await.unwrap_or_else(Response::from);
            }
            (&Method::GET, wire::LIMITS) => self.limits(&head),
            (&Method::GET, wire::NQ) => nq(&head),
            (&Method::GET, browser::PLAN) => plan(&head),
            (&Method::POST, browser::RESULT) => self.result(&head, body).await,
            (&Method::POST, wire::CHANNEL) => self.channel(&head, body).await,
            (&Method::GET, wire::KEEP) => self.offer(&head),
            (&Method::POST, wire::KEEP) => self.keep(&head, body).await,
            (&Method::GET, wire::KEPT) => self.kept(&head).await,
            (&Method::GET, wire::OVERVIEW) => self.overview(&head).await,
            (_, path) => self.file(&head, path),
        };
        let mut response = answer.unwrap_or_else(Response::from);
        self.say_own_time(&mut response, began);
        response
    }

    fn file(&self, head: &Parts, path: &str) -> Answer {
        if let Some(methods) = methods(path, self.operator()) {
            return Err(Refusal::not_allowed(methods));
        }
        let scheme = peer(head).map_or(Scheme::Http, |peer| peer.scheme);
        let file = page::file(path, self.operator(), scheme).ok_or_else(nothing)?;
        if matches!(head.method, Method::GET | Method::HEAD) {
            Ok(file)
        } else {
            Err(Refusal::not_allowed("GET, HEAD"))
        }
    }

    pub(crate) fn sends_back(&self, test: Token, from: IpAddr) -> bool {
        self.book().sends_back(self.now(), test, from)
    }

    pub(crate) fn metrics(&self) -> String {
        self.counts.prometheus(self.admission.running())
    }

    fn begin(&self, head: &Parts) -> Answer {
        let peer = peer(head)?;
        let test = self.random_token()?;
        self.book().begin(self.now(), test, peer.address.ip());
        Counts::add(&self.counts.tests, 1);
        Ok(json(&Greeting {
            schema: wire::GREETING.to_owned(),
            test,
            loss_port: self.loss_port,
            largest: self.limits.largest.0,
        }))
    }

    fn random_token(&self) -> Result<Token, Refusal> {
        let mut bytes = [0; 16];
        let none = |_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the system gives no random numbers\n");
        self.random.fill(&mut bytes).map_err(none)?;
        Ok(Token(bytes))
    }

    fn download(&self, head: &Parts) -> Answer {
        let peer = peer(head)?;
        let query = head.uri.query().unwrap_or_default();
        let bytes = match wire::parameter(query, "bytes").map(str::parse::<u64>) {
            Some(Ok(bytes)) if bytes <= self.limits.largest.0 => bytes,
            Some(Ok(_)) => {
                let why = format!("bytes is at most {} here\n", self.limits.largest.0);
                return Err(Refusal::new(StatusCode::BAD_REQUEST, why));
            }
            _ => {
                return Err(Refusal::new(
                    StatusCode::BAD_REQUEST,
                    "bytes is missing, such as ?bytes=100000\n",
                ));
            }
        };
        let mut response = Response::new(Body::empty());
        let fields = response.headers_mut();
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform"));
        fields.insert(header::CONTENT_LENGTH, bytes.into());
        if bytes == 0 || head.method == Method::HEAD {
            if let Some(received) = self.received(head, &peer) {
                response.headers_mut().insert(wire::RECEIVED_BYTES, received.load(Relaxed).into());
            }
            return Ok(response);
        }
        let leave = self.enter(&self.admission, &peer)?;
        if let Some(test) = wire::parameter(query, "test").and_then(Token::parse) {
            self.see(test, &peer, head.version);
            if let Some(Ok(number)) = wire::parameter(query, "number").map(str::parse) {
                self.track(head, &peer, (test, number), bytes);
            }
        }
        Counts::add(&self.counts.downloads, 1);
        *response.body_mut() = self.noise(bytes, leave);
        Ok(response)
    }

    fn noise(&self, bytes: u64, leave: Leave) -> Body {
        let counts = Arc::clone(&self.counts);
        random_body::body(bytes, move |handed_over| {
            let _ = &leave;
            Counts::add(&counts.bytes_down, handed_over);
        })
    }

    fn limits(&self, head: &Parts) -> Answer {
        let peer = peer(head)?;
        let test = test(head)?;
        let connections = self.book().connections(test, peer.address.ip());
        Ok(json(&Told { times: self.kernel.since(&connections) }))
    }

    async fn result(&self, head: &Parts, body: Body) -> Answer {
        let peer = peer(head)?;
        let _leave = self.enter(&self.documents, &peer)?;
        let refused = |why: String| Refusal::new(StatusCode::BAD_REQUEST, format!("{why}\n"));
        let told = body.collect(browser::MOST_TOLD).await.map_err(|failure| refused(failure.to_string()))?;
        let told: browser::Told =
            serde_json::from_slice(&told).map_err(|error| refused(error.to_string()))?;
        let address = peer.address.ip();
        let connections = test(head).ok().map(|test| self.book().connections(test, address));
        let times = connections.and_then(|connections| self.kernel.since(&connections));
        let deliveries = test(head).ok().map(|test| self.book().deliveries(test, address));
        let url = base(head, peer.scheme)?;
        let now = Duration::from_nanos(u64::try_from(http_stack::clock::wall_ns()).unwrap_or(0));
        let outcome = told.conclude(url, now, times, &deliveries.unwrap_or_default());
        Ok(json(&outcome.map_err(|why| refused(why.to_owned()))?))
    }

    fn offer(&self, head: &Parts) -> Answer {
        let address = peer(head)?.address.ip();
        let none = Offer { keep_for_s: None, network: None };
        Ok(json(&self.keeping.as_ref().map_or(none, |keeping| keeping.offer(address))))
    }

    async fn keep(&self, head: &Parts, body: Body) -> Answer {
        let (keeping, peer) = (self.keeping()?, peer(head)?);
        let _leave = self.enter(&self.documents, &peer)?;
        let address = peer.address.ip();
        let base = base(head, peer.scheme)?;
        let test = test(head)?;
        let outcome = results_api::reported(body).await?;
        let id = self.random_token()?;
        if !self.book().may_keep(self.now(), test, address) {
            let why = "there is no such test of yours within the last hour, or its result is kept already\n";
            return Err(Refusal::new(StatusCode::CONFLICT, why));
        }
        let kept = keeping.keep(outcome, id, address, self.moment(), &base).await;
        let counter = if kept.is_ok() { &self.counts.kept } else { &self.counts.not_kept };
        Counts::add(counter, 1);
        kept.inspect_err(|_| self.book().was_not_kept(test))
    }

    async fn kept(&self, head: &Parts) -> Answer {
        let keeping = self.keeping()?;
        let _leave = self.enter(&self.documents, &peer(head)?)?;
        keeping.outcome(head, self.moment()).await
    }

    async fn overview(&self, head: &Parts) -> Answer {
        match self.operator() {
            Operator::Known => self.keeping()?.overview(head, self.moment()).await,
            Operator::None => Err(nothing()),
        }
    }

    pub(crate) async fn sweep(&self) {
        if let Some(keeping) = &self.keeping {
            keeping.sweep(self.moment()).await;
        }
    }

    pub(crate) async fn close(&self) {
        if let Some(keeping) = &self.keeping {
            keeping.close(self.moment()).await;
        }
    }

    fn keeping(&self) -> Result<&Keeping, Refusal> {
        let none = || Refusal::new(StatusCode::NOT_FOUND, "this server keeps no results\n");
        self.keeping.as_ref().ok_or_else(none)
    }

    fn operator(&self) -> Operator {
        let is_known = self.keeping.as_ref().is_some_and(Keeping::has_operator);
        if is_known { Operator::Known } else { Operator::None }
    }

    fn moment(&self) -> Moment {
        moment(self.clock)
    }

    /// The kernel has no statistics of QUIC connections.
    fn see(&self, test: Token, peer: &Peer, version: Version) {
        if version == Version::HTTP_3 || !self.book().is_new(test, peer.address) {
            return;
        }
        if let Some(mut seen) = self.kernel.first_seen(peer.address) {
            // The address as in requests, also for an IPv4 client on an IPv6 socket.
            seen.remote = peer.address;
            self.book().see(test, seen);
        }
    }

    fn enter(&self, admission: &Arc<Admission>, peer: &Peer) -> Result<Leave, Refusal> {
        admission.enter(peer.address.ip()).map_err(|full| {
            Counts::add(&self.counts.refused, 1);
            let refusal = match full {
                Full::Address => {
                    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests from your address\n")
                }
                Full::Total => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests\n"),
            };
            refusal.with(header::RETRY_AFTER, "1")
        })
    }

    fn say_own_time(&self, response: &mut Response<Body>, began: Duration) {
        let own = self.now().saturating_sub(began);
        if let Ok(field) = HeaderValue::try_from(wire::server_timing(own)) {
            response.headers_mut().insert("server-timing", field);
            // Without it a page of another origin sees no times (W3C Resource Timing section
            // 4.5.1).
            response.headers_mut().insert("timing-allow-origin", HeaderValue::from_static("*"));
        }
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    fn book(&self) -> MutexGuard<'_, TestRegistry> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn moment(clock: Clock) -> Moment {
    let wall = u64::try_from(http_stack::clock::wall_ns()).unwrap_or(0);
    Moment { steady: Duration::from_nanos(clock.now()), wall_s: wall / 1_000_000_000 }
}

fn peer(head: &Parts) -> Result<Peer, Refusal> {
    head.extensions
        .get::<Peer>()
        .copied()
        .ok_or_else(|| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "no peer\n"))
}

fn test(head: &Parts) -> Result<Token, Refusal> {
    let test = wire::parameter(head.uri.query().unwrap_or_default(), "test").and_then(Token::parse);
    test.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "test is missing\n"))
}

/// As used by the client.
fn base(head: &Parts, scheme: Scheme) -> Result<String, Refusal> {
    let host = head.uri.authority().map(ToString::to_string);
    let host = host.or_else(|| Some(head.headers.get(header::HOST)?.to_str().ok()?.to_owned()));
    // The host is sent back to the same client, and must be a valid authority.
    let host = host.filter(|host| host.parse::<http_stack::uri::Authority>().is_ok());
    let host = host.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "the request names no host\n"))?;
    Ok(format!("{}://{host}", scheme.name()))
}

fn plan(head: &Parts) -> Answer {
    match wire::parameter(head.uri.query().unwrap_or_default(), "plan") {
        None | Some("quick") => Ok(json(&browser::Written::of(&Plan::quick()))),
        Some("full") => Ok(json(&browser::Written::of(&Plan::full()))),
        Some(_) => Err(Refusal::new(StatusCode::NOT_FOUND, "plans are quick and full\n")),
    }
}

fn methods(path: &str, operator: Operator) -> Option<&'static str> {
    match path {
        wire::BEGIN | wire::UP | wire::CHANNEL | browser::RESULT => Some("POST"),
        wire::DOWN => Some("GET, HEAD"),
        wire::KEEP => Some("GET, POST"),
        wire::LIMITS | wire::NQ | browser::PLAN | wire::KEPT => Some("GET"),
        wire::OVERVIEW if operator == Operator::Known => Some("GET"),
        _ => None,
    }
}

fn nothing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing here; the page is at /\n")
}

/// For other clients of the responsiveness draft.
fn nq(head: &Parts) -> Answer {
    let base = base(head, peer(head)?.scheme)?;
    let url = |path: &str| format!("{base}{path}");
    let (large, small, up) = (url("/__down?bytes=8000000000"), url("/__down?bytes=1"), url(wire::UP));
    Ok(json(&json!({
        "version": 1,
        "urls": {
            "large_download_url": large,
            "small_download_url": small,
            "upload_url": up,
            // The names of earlier drafts.
            "large_https_download_url": large,
            "small_https_download_url": small,
            "https_upload_url": up,
        },
    })))
}
