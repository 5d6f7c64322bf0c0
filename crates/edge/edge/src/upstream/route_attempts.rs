//! Routes to an origin: the direct one, and through other data centres if the direct one fails.
//!
//! `tier_routing::Reach` chooses the route and the time at which a failed route is tried again. A
//! request is sent again only if no part of it was sent or its method is safe, and only if its body
//! is still in memory.

mod outcome;

use std::{
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use self::outcome::{Attempt, FailureScope, RouteError};
use ::tier_routing::{Fault, Health, Next, Replay, Role, Route, Tries};
use http_cache::Time;
use http_stack::{Body, Client, Failure, Request, Response, client::Trace};
use tokio::time::timeout;

use crate::{
    config::{Detours, OriginUrl},
    peers::{Peers, RouteContext, measure_connect, resolve, tunnel::Tunnel},
    request::{
        context::RequestContext,
        rejection::{Rejection, UNREACHABLE},
    },
    server::worker_state::WorkerState,
};

/// Why a request has no response.
pub(crate) struct Unanswered {
    pub(crate) rejection: Rejection,
    /// Whether an origin may have received a part of it.
    pub(crate) was_sent: bool,
}

struct RouteAttempts<'a> {
    worker: &'a WorkerState,
    peers: &'a Arc<Peers>,
    client: &'a Client,
    origin: &'a OriginUrl,
    context: &'a RequestContext,
    now: Time,
    health: Health,
    through: Vec<::tier_routing::DataCentreId>,
    round_trips: Vec<Duration>,
}

impl WorkerState {
    pub(crate) async fn send_by_best_route(
        &self,
        peers: &Arc<Peers>,
        (client, origin): (&Client, &OriginUrl),
        request: Request<Body>,
        context: &RequestContext,
        now: Time,
    ) -> Result<Response<Body>, Unanswered> {
        let search = RouteAttempts {
            worker: self,
            peers,
            client,
            origin,
            context,
            now,
            health: peers.health(),
            through: peers.ids(context.through()),
            round_trips: peers.round_trips(),
        };
        search.run(request).await
    }
}

impl RouteAttempts<'_> {
    async fn run(self, request: Request<Body>) -> Result<Response<Body>, Unanswered> {
        let address = match self.peers.origin_address(self.origin) {
            Some(address) => address,
            None => match resolve(self.origin).await {
                Some(address) => {
                    self.peers.origin_routes().record_address(self.origin, address);
                    address
                }
                // The client reports the resolver's error.
                None => {
                    let Attempt { result, was_sent, .. } = self.direct(request).await.0;
                    return result.map_err(|why| Unanswered { rejection: why.refusal(), was_sent });
                }
            },
        };
        let (mut tries, next) =
            self.with_routes(|reach, around| reach.begin(self.peers.now(), address, around));
        let next = Next { route: self.fastest_route(address, next.route), ..next };
        let in_time = next.hedge.unwrap_or(DEFAULT_CONNECT_TIME);
        let mut spare = again(&request);
        let (mut remaining, mut next) = (Some(request), Some(next));
        let mut failed: Vec<String> = Vec::new();
        let mut first: Option<Result<Response<Body>, Rejection>> = None;
        let mut was_sent = false;
        while let (Some(request), Some(Next { route, hedge })) = (remaining.take(), next.take()) {
            let mut tried = match (route, hedge) {
                // Boxed to keep this future small.
                (Route::Direct, Some(delay)) => Box::pin(self.hedged(request, (delay, &mut tries))).await,
                (Route::Direct, None) => self.direct(request).await.0,
                (Route::Through(_), _) => Box::pin(self.through(route, request)).await,
            };
            if tried.is_silence() {
                tried = self.explain_failure(tried, address, in_time).await;
            }
            was_sent |= tried.was_sent;
            let blame = tried.scope(&self.context.zone().detour_statuses);
            if let FailureScope::None = blame {
                self.mark_worked(address, &tried);
                return tried.result.map_err(|why| Unanswered { rejection: why.refusal(), was_sent });
            }
            failed.push(format!("{}: {}", self.named(tried.route), tried.sentence()));
            let is_harmless = spare.is_some() && (!tried.was_sent || self.context.method.is_safe());
            let replay = if is_harmless { Replay::Harmless } else { Replay::Forbidden };
            let route = self.handle_failure(&mut tries, (tried.route, &blame), replay);
            // The first result is returned if no other route leads to a response.
            if !matches!(first, Some(Ok(_))) && (first.is_none() || tried.result.is_ok()) {
                first = Some(tried.result.map_err(|why| why.refusal()));
            }
            if let FailureScope::Request = blame {
                break;
            }
            next = route.map(|route| Next { route, hedge: None });
            remaining = spare.take().filter(|_| next.is_some());
            spare = remaining.as_ref().and_then(again);
        }
        tracing::info!(origin = %self.origin, "no route leads to an origin: {}", failed.join("; "));
        first.unwrap_or(Err(UNREACHABLE)).map_err(|rejection| Unanswered { rejection, was_sent })
    }

    fn mark_worked(&self, address: SocketAddr, tried: &Attempt) {
        let now = self.peers.now();
        self.peers.origin_routes().reach.worked(now, address, tried.route, tried.connect, tried.latency);
        if tried.route != Route::Direct {
            self.worker.origins.mark_reached(self.origin);
        }
    }

    fn handle_failure(
        &self,
        tries: &mut Tries,
        (route, blame): (Route, &FailureScope),
        replay: Replay,
    ) -> Option<Route> {
        let fault = match blame {
            FailureScope::Path(fault) => Some(*fault),
            FailureScope::Unknown => None,
            FailureScope::None | FailureScope::Request => return None,
        };
        if route == Route::Direct && fault.is_some() {
            self.worker.origins.mark_path_failed(self.origin);
        }
        self.with_routes(|reach, around| {
            reach.failed(self.peers.now(), tries, (route, fault), replay, around)
        })
    }

    fn with_routes<T>(
        &self,
        look: impl FnOnce(&mut ::tier_routing::RouteSelector, &::tier_routing::RouteInputs<'_>) -> T,
    ) -> T {
        let allows = self.context.zone().detours != Detours::Off && self.context.role() != Role::Detour;
        let around = RouteContext {
            network: self.peers.data_centres(),
            health: &self.health,
            through: &self.through,
            round_trips: &self.round_trips,
            allows_detours: allows,
        };
        self.peers.origin_routes().search(self.origin, &around, look)
    }

    /// A detour is used only if the zone allows it.
    fn fastest_route(&self, address: SocketAddr, route: Route) -> Route {
        if route != Route::Direct || self.context.zone().detours != Detours::Faster {
            return route;
        }
        let now = self.peers.now();
        self.with_routes(|reach, around| {
            let of = |centre| around.measured.typical(now, centre).map(|typical| typical.connect);
            let (Some(own), Some(Route::Through(other))) =
                (of(around.here), reach.detour(now, address, around))
            else {
                return route;
            };
            let link = self.round_trips.get(usize::from(other.0)).copied();
            let through = link.zip(of(other)).map(|(link, beyond)| link + beyond);
            let is_swifter = through.is_some_and(|through| {
                through.mul_f64(MIN_SPEEDUP) <= own && own.saturating_sub(through) >= MIN_HEDGE_DELAY
            });
            if is_swifter { Route::Through(other) } else { route }
        })
    }

    async fn direct(&self, request: Request<Body>) -> (Attempt, Trace) {
        let mut trace = Trace::start(self.client.clock().now());
        let result = self.exchange(request, &mut trace).await;
        (self.record_attempt(result, &trace), trace)
    }

    async fn exchange(&self, request: Request<Body>, trace: &mut Trace) -> Result<Response<Body>, Failure> {
        let Self { client, origin, context, now, .. } = self;
        let result = self.worker.origins.send(client, origin, request, context, *now, trace).await;
        if let Some(connect) = trace.connect.map(Duration::from_nanos) {
            self.peers.origin_routes().record_connect(self.peers.now(), origin, connect);
        }
        result
    }

    fn record_attempt(&self, result: Result<Response<Body>, Failure>, trace: &Trace) -> Attempt {
        Attempt::direct(result, trace, self.client.clock().now())
    }

    /// Uses another data centre too if no connection is made within `delay`, and returns the first
    /// response. A direct route that lost is probed without a request.
    async fn hedged(&self, request: Request<Body>, (delay, tries): (Duration, &mut Tries)) -> Attempt {
        let spare = again(&request).filter(|_| self.context.method.is_safe());
        let mut trace = Trace::start(self.client.clock().now());
        let seen = trace.clone();
        let race = {
            let mut direct = pin!(self.exchange(request, &mut trace));
            match timeout(delay, direct.as_mut()).await {
                Ok(result) => Race { direct: Some(result), detour: None },
                Err(_) => {
                    let spare = spare.filter(|_| seen.first_write().is_none());
                    match spare.and_then(|spare| Some((self.hedge_route(tries)?, spare))) {
                        Some((route, spare)) => Race::run(direct, self.through(route, spare)).await,
                        None => Race { direct: Some(direct.await), detour: None },
                    }
                }
            }
        };
        let direct = race.direct.map(|result| self.record_attempt(result, &trace));
        match (direct, race.detour) {
            (None, Some(detour)) => {
                self.test_direct_path();
                detour
            }
            (Some(direct), Some(detour)) => {
                let (used, failed) = if detour.result.is_ok() { (detour, direct) } else { (direct, detour) };
                let blame = failed.scope(&self.context.zone().detour_statuses);
                self.handle_failure(tries, (failed.route, &blame), Replay::Forbidden);
                used
            }
            (Some(direct), None) => direct,
            (None, None) => Attempt::direct(Err(Failure::Timeout), &trace, self.client.clock().now()),
        }
    }

    fn hedge_route(&self, tries: &mut Tries) -> Option<Route> {
        self.with_routes(|reach, around| reach.beside(self.peers.now(), tries, around))
    }

    /// Is called after a timeout on an open connection: if the route is broken, a new connection
    /// fails or takes longer than usual.
    async fn explain_failure(&self, tried: Attempt, address: SocketAddr, in_time: Duration) -> Attempt {
        let failure = match timeout(in_time, measure_connect(address)).await {
            Ok(Ok(_)) => return tried,
            Ok(Err(Fault::ConnectionRefused)) => Failure::Refused,
            Ok(Err(Fault::ConnectionTerminated)) => Failure::Reset,
            Ok(Err(_)) | Err(_) => Failure::KernelTimeout,
        };
        Attempt { result: Err(RouteError::Direct(failure)), ..tried }
    }

    /// The probe shows whether the direct route is broken or only slow.
    fn test_direct_path(&self) {
        let (peers, origin) = (Arc::downgrade(self.peers), self.origin.origin().clone());
        let Some(address) = self.peers.origin_address(self.origin) else { return };
        tokio::spawn(async move {
            let outcome = measure_connect(address).await;
            if let Some(peers) = peers.upgrade() {
                peers.origin_routes().record_probe(peers.now(), &origin, outcome);
            }
        });
    }

    async fn through(&self, route: Route, request: Request<Body>) -> Attempt {
        let Route::Through(centre) = route else {
            return self.direct(request).await.0;
        };
        let began = self.client.clock().now();
        let (mut parts, body) = request.into_parts();
        let (tunnel, body) = match Tunnel::request(&mut parts.headers, &body) {
            Some((tunnel, body)) => (Some(tunnel), body),
            None => (None, body),
        };
        let asked = (centre, Role::Detour);
        let result = self.worker.fetch_from_peer(self.peers, asked, self.context, &parts.headers, body).await;
        let result = match (result, tunnel) {
            (Ok(response), Some(tunnel)) => Ok(tunnel.response(response).await),
            (result, _) => result,
        };
        let latency = Duration::from_nanos(self.client.clock().now().saturating_sub(began));
        Attempt::through(route, result, latency)
    }

    fn named(&self, route: Route) -> String {
        match route {
            Route::Direct => "from here".to_owned(),
            Route::Through(centre) => format!("through {}", self.peers.name(centre)),
        }
    }
}

struct Race {
    direct: Option<Result<Response<Body>, Failure>>,
    detour: Option<Attempt>,
}

impl Race {
    async fn run(
        mut direct: Pin<&mut impl Future<Output = Result<Response<Body>, Failure>>>,
        detour: impl Future<Output = Attempt>,
    ) -> Self {
        let mut detour = pin!(detour);
        tokio::select! {
            biased;
            result = direct.as_mut() => {
                let detour = if result.is_err() { Some(detour.await) } else { None };
                Self { direct: Some(result), detour }
            }
            detour = detour.as_mut() => {
                let direct = if detour.result.is_ok() { None } else { Some(direct.await) };
                Self { direct, detour: Some(detour) }
            }
        }
    }
}

fn again(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().again()?);
    again.method_mut().clone_from(request.method());
    again.uri_mut().clone_from(request.uri());
    again.headers_mut().clone_from(request.headers());
    again.extensions_mut().clone_from(request.extensions());
    Some(again)
}

const DEFAULT_CONNECT_TIME: Duration = Duration::from_secs(1);

/// A smaller gain of a detour in mode `faster` is not noticeable and may be noise.
const MIN_SPEEDUP: f64 = 1.25;
const MIN_HEDGE_DELAY: Duration = Duration::from_millis(5);
