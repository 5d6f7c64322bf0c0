//! Ways to an origin: the direct one, and those through other data centres, so that a visitor is served if any of them reaches it.
//!
//! Which is tried, and when one that failed is tried again, the engine says (`tiers::Reach`). A request is sent again only if nothing of it
//! was sent, or its method is safe; and only if its body is still here.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use ::tiers::{Fault, Health, Next, Replay, Role, Route, Tries};
use cache::Time;
use http::{Body, Client, Failure, Origin, Request, Response, Stage, client::Trace};
use tokio::time::timeout;

use crate::{
    core::Core,
    network::Detours,
    origins::refusal_for,
    others::{Around, Others, connect_to, look_up},
    toward::Unanswered,
    tunnel::Tunnel,
    visit::{NOT_TRUSTED, Refusal, TOO_SLOW, UNREACHABLE, Visit},
};

/// One request that looks for a way.
struct Search<'a> {
    core: &'a Core,
    others: &'a Arc<Others>,
    client: &'a Client,
    origin: &'a Origin,
    visit: &'a Visit,
    now: Time,
    /// What the data centre sees around it.
    health: Health,
    through: Vec<::tiers::CentreId>,
    round_trips: Vec<Duration>,
}

/// What became of a request on one route.
struct Tried {
    route: Route,
    result: Result<Response<Body>, Why>,
    /// How long the connection took, if one was made.
    connect: Option<Duration>,
    /// How long the head took.
    latency: Duration,
    /// Whether something of it was sent.
    was_sent: bool,
}

/// Whose fault it is that a route led nowhere.
enum Blame {
    /// That of the way, of which this is remembered.
    Way(Fault),
    /// Nobody's: the other data centre has no room, or cannot be asked just now. Another one may have.
    Nobody,
    /// That of what was asked or answered: it would be the same on any other way.
    Request,
}

/// Why a route led nowhere.
enum Why {
    Direct(Failure),
    Through(Unanswered),
}

impl Core {
    /// Makes a request at an origin, by whatever way leads there.
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
                // The client will say what is wrong with the name.
                None => return self.direct(request).await.0.result.map_err(|why| why.refusal()),
            },
        };
        let (mut tries, next) = self.look(|reach, around| reach.begin(self.others.now(), address, around));
        let next = Next { route: self.swifter(address, next.route), ..next };
        let in_time = next.hedge.unwrap_or(USUALLY);
        let mut spare = again(&request);
        let (mut left, mut next) = (Some(request), Some(next));
        let mut told: Vec<String> = Vec::new();
        let mut refusal = UNREACHABLE;
        while let (Some(request), Some(Next { route, hedge })) = (left.take(), next.take()) {
            let tried = match (route, hedge) {
                // Boxed, as the usual way would have to carry the room for the others.
                (Route::Direct, Some(delay)) => Box::pin(self.hedged(request, (delay, &mut tries))).await,
                (Route::Direct, None) => self.direct(request).await.0,
                (Route::Through(_), _) => Box::pin(self.through(route, request)).await,
            };
            let why = match tried.result {
                Ok(response) => {
                    let (now, mut ways) = (self.others.now(), self.others.ways());
                    ways.reach.worked(now, address, tried.route, tried.connect, tried.latency);
                    drop(ways);
                    if tried.route != Route::Direct {
                        self.core.origins.reached(self.origin);
                    }
                    return Ok(response);
                }
                Err(why) if why.is_silence(tried.was_sent) => self.explained(why, address, in_time).await,
                Err(why) => why,
            };
            told.push(format!("{}: {}", self.named(tried.route), why.sentence()));
            if told.len() == 1 {
                refusal = why.refusal();
            }
            let fault = match why.blame(tried.was_sent) {
                Blame::Way(fault) => Some(fault),
                Blame::Nobody => None,
                Blame::Request => break,
            };
            let is_harmless = spare.is_some() && (!tried.was_sent || self.visit.method.is_safe());
            let replay = if is_harmless { Replay::Harmless } else { Replay::Forbidden };
            let failed = (tried.route, fault);
            let route = self
                .look(|reach, around| reach.failed(self.others.now(), &mut tries, failed, replay, around));
            next = route.map(|route| Next { route, hedge: None });
            left = spare.take().filter(|_| next.is_some());
            spare = left.as_ref().and_then(again);
        }
        tracing::info!(origin = %self.origin, "no way leads to an origin: {}", told.join("; "));
        Err(refusal)
    }

    /// Has the engine look at what is known of this origin.
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

    /// The direct route, or a swifter one where the zone wants that.
    fn swifter(&self, address: std::net::SocketAddr, route: Route) -> Route {
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

    /// From here.
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
        let took = |at: u64| Duration::from_nanos(at.saturating_sub(trace.started));
        let opened = trace.connect.map(|connect| connect + trace.tls.unwrap_or(0));
        Tried {
            route: Route::Direct,
            result: result.map_err(Why::Direct),
            connect: opened.map(Duration::from_nanos),
            latency: took(trace.final_headers.unwrap_or_else(|| self.client.clock().now())),
            was_sent: trace.first_write().is_some(),
        }
    }

    /// From here, and if that has not connected after a while, beside it through another data centre: whoever answers first is used. What
    /// is wrong with the direct route is found out without a request.
    async fn hedged(&self, request: Request<Body>, (delay, tries): (Duration, &mut Tries)) -> Tried {
        let spare = again(&request).filter(|_| self.visit.method.is_safe());
        let mut trace = Trace::start(self.client.clock().now());
        let seen = trace.clone();
        let result = {
            let mut direct = pin!(self.exchange(request, &mut trace));
            match timeout(delay, direct.as_mut()).await {
                Ok(result) => Ok(result),
                Err(_) => {
                    let spare = spare.filter(|_| seen.first_write().is_none());
                    match spare.and_then(|spare| Some((self.beside(tries)?, spare))) {
                        Some((route, spare)) => first(direct, self.through(route, spare)).await,
                        None => Ok(direct.await),
                    }
                }
            }
        };
        match result {
            Ok(result) => self.tried(result, &trace),
            Err(detour) => {
                self.find_out();
                detour
            }
        }
    }

    /// The route that is tried beside the direct one, if there is another.
    fn beside(&self, tries: &mut Tries) -> Option<Route> {
        self.look(|reach, around| reach.beside(self.others.now(), tries, around))
    }

    /// Why the origin says nothing on a connection that was there: it is slow, or the way was cut meanwhile, and then it cannot be connected to
    /// either in the time that this usually takes.
    async fn explained(&self, why: Why, address: std::net::SocketAddr, in_time: Duration) -> Why {
        match timeout(in_time, connect_to(address)).await {
            Ok(Ok(_)) => why,
            Ok(Err(Fault::Refused)) => Why::Direct(Failure::Refused),
            Ok(Err(_)) | Err(_) => Why::Direct(Failure::KernelTimeout),
        }
    }

    /// Finds out whether the direct route is broken or only slow.
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

    /// Through another data centre.
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
        let was_sent = !answered.as_ref().is_err_and(Unanswered::was_not_sent);
        Tried {
            route,
            result: answered.map_err(Why::Through),
            connect: None,
            latency: Duration::from_nanos(self.client.clock().now().saturating_sub(began)),
            was_sent,
        }
    }

    fn named(&self, route: Route) -> String {
        match route {
            Route::Direct => "from here".to_owned(),
            Route::Through(centre) => format!("through {}", self.others.name(centre)),
        }
    }
}

impl Why {
    fn sentence(&self) -> String {
        match self {
            Self::Direct(failure) => failure.to_string(),
            Self::Through(unanswered) => unanswered.to_string(),
        }
    }

    /// Whether the request was sent, and nothing came back in time.
    fn is_silence(&self, was_sent: bool) -> bool {
        was_sent && matches!(self, Self::Direct(Failure::Timeout))
    }

    fn blame(&self, was_sent: bool) -> Blame {
        match self {
            Self::Direct(failure) => match failure {
                Failure::Timeout if was_sent => Blame::Way(Fault::NoFirstByte),
                Failure::Timeout | Failure::KernelTimeout => Blame::Way(Fault::NoSynAck),
                Failure::Refused | Failure::Unreachable => Blame::Way(Fault::Refused),
                Failure::Reset | Failure::Closed(Stage::Head) if !was_sent => Blame::Way(Fault::Refused),
                Failure::Tls(_) => Blame::Way(Fault::Tls),
                _ => Blame::Request,
            },
            Self::Through(Unanswered::Refused(word)) if *word == TOO_SLOW.word => {
                Blame::Way(Fault::NoFirstByte)
            }
            Self::Through(Unanswered::Refused(word)) if *word == NOT_TRUSTED.word => Blame::Way(Fault::Tls),
            Self::Through(Unanswered::Failed(Failure::Source)) => Blame::Request,
            Self::Through(unanswered) if unanswered.was_not_sent() => Blame::Nobody,
            Self::Through(_) => Blame::Way(Fault::Refused),
        }
    }

    fn refusal(&self) -> Refusal {
        match self {
            Self::Direct(failure) | Self::Through(Unanswered::Failed(failure @ Failure::Source)) => {
                refusal_for(*failure)
            }
            Self::Through(Unanswered::Refused(word)) if *word == TOO_SLOW.word => TOO_SLOW,
            Self::Through(Unanswered::Refused(word)) if *word == NOT_TRUSTED.word => NOT_TRUSTED,
            Self::Through(_) => UNREACHABLE,
        }
    }
}

/// Whichever of the direct route and a detour has a response first, or what is wrong with the direct one if neither has.
async fn first(
    mut direct: Pin<&mut impl Future<Output = Result<Response<Body>, Failure>>>,
    detour: impl Future<Output = Tried>,
) -> Result<Result<Response<Body>, Failure>, Tried> {
    let mut detour = pin!(detour);
    tokio::select! {
        biased;
        result = direct.as_mut() => {
            // The other one is on its way already.
            let detour = if result.is_err() { Some(detour.await) } else { None };
            detour.filter(|detour| detour.result.is_ok()).map_or(Ok(result), Err)
        }
        detour = detour.as_mut() => {
            if detour.result.is_ok() { Err(detour) } else { Ok(direct.await) }
        }
    }
}

/// The same request once more, if its body is in memory.
fn again(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().again()?);
    again.method_mut().clone_from(request.method());
    again.uri_mut().clone_from(request.uri());
    again.headers_mut().clone_from(request.headers());
    again.extensions_mut().clone_from(request.extensions());
    Some(again)
}

/// For a connection of which nothing has been learned.
const USUALLY: Duration = Duration::from_secs(1);

/// A route through another data centre is taken for speed if it is so much swifter, and by so much: less is not felt, and may be chance.
const SWIFTER: f64 = 1.25;
const LEAST: Duration = Duration::from_millis(5);
