//! Routes to an origin: the direct one, and through other data centres if the direct one fails.
//!
//! The crate `tiers` (`tiers::Reach`) chooses the route and the time at which a failed route is tried again.
//! A request is sent again only if no part of it was sent or its method is safe, and only if its body is
//! still in memory.

mod outcome;

use std::{
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use self::outcome::{Blame, Tried, Why};
use ::tiers::{Fault, Health, Next, Replay, Role, Route, Tries};
use cache::Time;
use http::{Body, Client, Failure, Origin, Request, Response, client::Trace};
use tokio::time::timeout;

use crate::{
    core::Core,
    network::Detours,
    others::{Around, Others, connect_to, look_up},
    tunnel::Tunnel,
    visit::{Refusal, UNREACHABLE, Visit},
};

struct Search<'a> {
    core: &'a Core,
    others: &'a Arc<Others>,
    client: &'a Client,
    origin: &'a Origin,
    visit: &'a Visit,
    now: Time,
    health: Health,
    through: Vec<::tiers::CentreId>,
    round_trips: Vec<Duration>,
}

impl Core {
    pub(crate) async fn by_some_route(
        &self,
        others: &Arc<Others>,
        (client, origin): (&Client, &Origin),
        request: Request<Body>,
        visit: &Visit,
        now: Time,
    ) -> Result<Response<Body>, Refusal> {
        let search = Search {
            core: self,
            others,
            client,
            origin,
            visit,
            now,
            health: others.health(),
            through: others.ids(visit.through()),
            round_trips: others.round_trips(),
        };
        search.run(request).await
    }
}

impl Search<'_> {
    async fn run(self, request: Request<Body>) -> Result<Response<Body>, Refusal> {
        let address = match self.others.address(self.origin) {
            Some(address) => address,
            None => match look_up(self.origin).await {
                Some(address) => {
                    self.others.ways().found(self.origin, address);
                    address
                }
                // The client reports the resolver's error.
                None => return self.direct(request).await.0.result.map_err(|why| why.refusal()),
            },
        };
        let (mut tries, next) = self.look(|reach, around| reach.begin(self.others.now(), address, around));
        let next = Next { route: self.swifter(address, next.route), ..next };
        let in_time = next.hedge.unwrap_or(USUALLY);
        let mut spare = again(&request);
        let (mut left, mut next) = (Some(request), Some(next));
        let mut failed: Vec<String> = Vec::new();
        let mut first: Option<Result<Response<Body>, Refusal>> = None;
        while let (Some(request), Some(Next { route, hedge })) = (left.take(), next.take()) {
            let mut tried = match (route, hedge) {
                // Boxed to keep this future small.
                (Route::Direct, Some(delay)) => Box::pin(self.hedged(request, (delay, &mut tries))).await,
                (Route::Direct, None) => self.direct(request).await.0,
                (Route::Through(_), _) => Box::pin(self.through(route, request)).await,
            };
            if tried.is_silence() {
                tried = self.explained(tried, address, in_time).await;
            }
            let blame = tried.blame(&self.visit.zone().detour_statuses);
            if let Blame::None = blame {
                self.worked(address, &tried);
                return tried.result.map_err(|why| why.refusal());
            }
            failed.push(format!("{}: {}", self.named(tried.route), tried.sentence()));
            let is_harmless = spare.is_some() && (!tried.was_sent || self.visit.method.is_safe());
            let replay = if is_harmless { Replay::Harmless } else { Replay::Forbidden };
            let route = self.failed(&mut tries, (tried.route, &blame), replay);
            // The first result is returned if no other route leads to a response.
            if !matches!(first, Some(Ok(_))) && (first.is_none() || tried.result.is_ok()) {
                first = Some(tried.result.map_err(|why| why.refusal()));
            }
            if let Blame::Request = blame {
                break;
            }
            next = route.map(|route| Next { route, hedge: None });
            left = spare.take().filter(|_| next.is_some());
            spare = left.as_ref().and_then(again);
        }
        tracing::info!(origin = %self.origin, "no route leads to an origin: {}", failed.join("; "));
        first.unwrap_or(Err(UNREACHABLE))
    }

    fn worked(&self, address: SocketAddr, tried: &Tried) {
        let now = self.others.now();
        self.others.ways().reach.worked(now, address, tried.route, tried.connect, tried.latency);
        if tried.route != Route::Direct {
            self.core.origins.reached(self.origin);
        }
    }

    /// Records a failed route. Returns the next one, if there is one.
    fn failed(&self, tries: &mut Tries, (route, blame): (Route, &Blame), replay: Replay) -> Option<Route> {
        let fault = match blame {
            Blame::Path(fault) => Some(*fault),
            Blame::Unknown => None,
            Blame::None | Blame::Request => return None,
        };
        if route == Route::Direct && fault.is_some() {
            self.core.origins.path_failed(self.origin);
        }
        self.look(|reach, around| reach.failed(self.others.now(), tries, (route, fault), replay, around))
    }

    fn look<T>(&self, look: impl FnOnce(&mut ::tiers::Reach, &::tiers::Surroundings<'_>) -> T) -> T {
        let allows = self.visit.zone().detours != Detours::Off && self.visit.role() != Role::Detour;
        let around = Around {
            network: self.others.centres(),
            health: &self.health,
            through: &self.through,
            round_trips: &self.round_trips,
            allows_detours: allows,
        };
        self.others.ways().search(self.origin, &around, look)
    }

    /// The direct route, or a faster one if the zone allows that.
    fn swifter(&self, address: SocketAddr, route: Route) -> Route {
        if route != Route::Direct || self.visit.zone().detours != Detours::Faster {
            return route;
        }
        let now = self.others.now();
        self.look(|reach, around| {
            let of = |centre| around.measured.typical(now, centre).map(|typical| typical.connect);
            let (Some(own), Some(Route::Through(other))) =
                (of(around.here), reach.detour(now, address, around))
            else {
                return route;
            };
            let link = self.round_trips.get(usize::from(other.0)).copied();
            let through = link.zip(of(other)).map(|(link, beyond)| link + beyond);
            let is_swifter = through.is_some_and(|through| {
                through.mul_f64(SWIFTER) <= own && own.saturating_sub(through) >= LEAST
            });
            if is_swifter { Route::Through(other) } else { route }
        })
    }

    async fn direct(&self, request: Request<Body>) -> (Tried, Trace) {
        let mut trace = Trace::start(self.client.clock().now());
        let result = self.exchange(request, &mut trace).await;
        (self.tried(result, &trace), trace)
    }

    async fn exchange(&self, request: Request<Body>, trace: &mut Trace) -> Result<Response<Body>, Failure> {
        let Self { client, origin, visit, now, .. } = self;
        let answered = self.core.origins.exchange(client, origin, request, visit, *now, trace).await;
        if let Some(connect) = trace.connect.map(Duration::from_nanos) {
            self.others.ways().connected(self.others.now(), origin, connect);
        }
        answered
    }

    fn tried(&self, result: Result<Response<Body>, Failure>, trace: &Trace) -> Tried {
        Tried::direct(result, trace, self.client.clock().now())
    }

    /// Sends the request directly and, if no connection is made within `delay`, also through another data
    /// centre. Returns the first response. A direct route that lost is probed without a request.
    async fn hedged(&self, request: Request<Body>, (delay, tries): (Duration, &mut Tries)) -> Tried {
        let spare = again(&request).filter(|_| self.visit.method.is_safe());
        let mut trace = Trace::start(self.client.clock().now());
        let seen = trace.clone();
        let race = {
            let mut direct = pin!(self.exchange(request, &mut trace));
            match timeout(delay, direct.as_mut()).await {
                Ok(result) => Race { direct: Some(result), detour: None },
                Err(_) => {
                    let spare = spare.filter(|_| seen.first_write().is_none());
                    match spare.and_then(|spare| Some((self.beside(tries)?, spare))) {
                        Some((route, spare)) => Race::run(direct, self.through(route, spare)).await,
                        None => Race { direct: Some(direct.await), detour: None },
                    }
                }
            }
        };
        let direct = race.direct.map(|result| self.tried(result, &trace));
        match (direct, race.detour) {
            (None, Some(detour)) => {
                self.find_out();
                detour
            }
            (Some(direct), Some(detour)) => {
                let (used, failed) = if detour.result.is_ok() { (detour, direct) } else { (direct, detour) };
                let blame = failed.blame(&self.visit.zone().detour_statuses);
                self.failed(tries, (failed.route, &blame), Replay::Forbidden);
                used
            }
            (Some(direct), None) => direct,
            (None, None) => Tried::direct(Err(Failure::Timeout), &trace, self.client.clock().now()),
        }
    }

    fn beside(&self, tries: &mut Tries) -> Option<Route> {
        self.look(|reach, around| reach.beside(self.others.now(), tries, around))
    }

    /// Distinguishes a slow origin from a broken route after a timeout on an open connection: if the route is
    /// broken, a new connection fails or takes longer than usual.
    async fn explained(&self, tried: Tried, address: SocketAddr, in_time: Duration) -> Tried {
        let failure = match timeout(in_time, connect_to(address)).await {
            Ok(Ok(_)) => return tried,
            Ok(Err(Fault::ConnectionRefused)) => Failure::Refused,
            Ok(Err(Fault::ConnectionTerminated)) => Failure::Reset,
            Ok(Err(_)) | Err(_) => Failure::KernelTimeout,
        };
        Tried { result: Err(Why::Direct(failure)), ..tried }
    }

    /// Probes whether the direct route is broken or only slow.
    fn find_out(&self) {
        let (others, origin) = (Arc::downgrade(self.others), self.origin.clone());
        let Some(address) = self.others.address(self.origin) else { return };
        tokio::spawn(async move {
            let outcome = connect_to(address).await;
            if let Some(others) = others.upgrade() {
                others.ways().probed(others.now(), &origin, outcome);
            }
        });
    }

    async fn through(&self, route: Route, request: Request<Body>) -> Tried {
        let Route::Through(centre) = route else {
            return self.direct(request).await.0;
        };
        let began = self.client.clock().now();
        let (mut parts, body) = request.into_parts();
        let (tunnel, body) = match Tunnel::asked(&mut parts.headers, &body) {
            Some((tunnel, body)) => (Some(tunnel), body),
            None => (None, body),
        };
        let asked = (centre, Role::Detour);
        let answered = self.core.ask_other(self.others, asked, self.visit, &parts.headers, body).await;
        let answered = match (answered, tunnel) {
            (Ok(response), Some(tunnel)) => Ok(tunnel.answered(response).await),
            (answered, _) => answered,
        };
        let latency = Duration::from_nanos(self.client.clock().now().saturating_sub(began));
        Tried::through(route, answered, latency)
    }

    fn named(&self, route: Route) -> String {
        match route {
            Route::Direct => "from here".to_owned(),
            Route::Through(centre) => format!("through {}", self.others.name(centre)),
        }
    }
}

/// The results of a direct attempt and a parallel detour; `None` for an attempt that was abandoned.
struct Race {
    direct: Option<Result<Response<Body>, Failure>>,
    detour: Option<Tried>,
}

impl Race {
    /// Returns after the first response, or when both have failed.
    async fn run(
        mut direct: Pin<&mut impl Future<Output = Result<Response<Body>, Failure>>>,
        detour: impl Future<Output = Tried>,
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

/// A copy of the request, if its body is in memory.
fn again(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().again()?);
    again.method_mut().clone_from(request.method());
    again.uri_mut().clone_from(request.uri());
    again.headers_mut().clone_from(request.headers());
    again.extensions_mut().clone_from(request.extensions());
    Some(again)
}

/// The timeout of a probe if no connect time is known.
const USUALLY: Duration = Duration::from_secs(1);

/// The minimum ratio and difference in latency for a detour in mode `faster`: less is not noticeable and may
/// be noise.
const SWIFTER: f64 = 1.25;
const LEAST: Duration = Duration::from_millis(5);
