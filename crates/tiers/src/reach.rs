//! The routes that one request to an origin tries, one after the other: the direct one, detours, and what failed of late at the end.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use crate::{
    CentreId, Detours, Failures, Fault, Health, Measurements, Met, Network, Patience, Renumbering, Route,
};

/// What a data centre knows of the routes to its origins.
#[derive(Debug, Clone)]
pub struct Reach {
    failures: Failures,
    detours: Detours,
    patience: BTreeMap<SocketAddr, Patience>,
    most_tries: usize,
}

/// Where a data centre is, and what it may do.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Which one it is.
    pub here: CentreId,
    /// The network.
    pub network: &'a Network,
    /// Which others it can ask.
    pub health: &'a Health,
    /// The data centres through which the request came, which are no way out.
    pub through: &'a [CentreId],
    /// Its round trips to the others by their numbers.
    pub links: &'a [Duration],
    /// How long each of them takes to connect to the origin, as they have told it.
    pub measured: &'a Measurements,
    /// Whether the zone lets its requests come from the addresses of other data centres. One that is asked for a detour makes none itself.
    pub allows_detours: bool,
}

/// The routes that a request has tried so far.
#[derive(Debug, Clone)]
pub struct Tries {
    address: SocketAddr,
    tried: Vec<Route>,
}

/// The route that is to be tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// It.
    pub route: Route,
    /// If it has not connected after so long, [`Reach::beside`] says what else to try. Whichever connects first is used.
    pub hedge: Option<Duration>,
}

/// Whether a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// It may: nothing of it was sent yet, or its method is safe and its body is still here.
    Harmless,
    /// It may not.
    Forbidden,
}

impl Reach {
    /// Nothing is known yet. A request tries at most so many routes, at least one: of an origin that is down, each of them costs a time-out.
    pub fn new(most_tries: usize) -> Self {
        Self {
            failures: Failures::default(),
            detours: Detours::default(),
            patience: BTreeMap::new(),
            most_tries: most_tries.max(1),
        }
    }

    /// The same under the numbers of another network.
    #[must_use]
    pub fn renumbered(&self, to: &Renumbering) -> Self {
        Self {
            failures: self.failures.renumbered(to),
            detours: self.detours.renumbered(to),
            patience: self.patience.clone(),
            most_tries: self.most_tries,
        }
    }

    /// The first route of a request.
    pub fn begin(&mut self, now: Duration, address: SocketAddr, around: &Surroundings<'_>) -> (Tries, Next) {
        let tries = Tries { address, tried: Vec::new() };
        if self.failures.meet(now, address, Route::Direct) == Met::Failed {
            // A detour that failed is met by requests as the direct route is: some of them try it again.
            let mut left_alone = Vec::new();
            while let Some(detour) = self.best_detour(now, address, &left_alone, around) {
                if self.failures.meet(now, address, detour) != Met::Failed {
                    return (tries, Next { route: detour, hedge: None });
                }
                left_alone.push(detour);
            }
        }
        let may_hedge = self.most_tries > 1 && around.detours().next().is_some();
        let hedge = may_hedge.then(|| self.patience.get(&address).copied().unwrap_or_default().delay());
        (tries, Next { route: Route::Direct, hedge })
    }

    /// The route that is to be tried beside the direct one, when that has not connected after [`Next::hedge`].
    pub fn beside(&self, now: Duration, tries: &Tries, around: &Surroundings<'_>) -> Option<Route> {
        self.clean_detour(now, tries.address, &tries.tried, around)
    }

    /// A route failed: the next one, or `None` if there is none or the request must not be sent again. Without a fault nothing is held against the
    /// route: there was no room for the request, for one.
    pub fn failed(
        &mut self,
        now: Duration,
        tries: &mut Tries,
        (route, fault): (Route, Option<Fault>),
        replay: Replay,
        around: &Surroundings<'_>,
    ) -> Option<Route> {
        let Tries { address, tried } = tries;
        if let Some(fault) = fault {
            self.failures.failed(now, *address, route, fault);
            if let Route::Through(centre) = route {
                self.detours.failed(now, *address, centre);
            }
        }
        tried.push(route);
        if replay == Replay::Forbidden || tried.len() >= self.most_tries {
            return None;
        }
        if !tried.contains(&Route::Direct) && self.failures.last(now, *address, Route::Direct).is_none() {
            return Some(Route::Direct);
        }
        let untried = |route: &Route| !tried.contains(route);
        let detour = self.clean_detour(now, *address, tried, around);
        // What failed of late, the longest ago first: it is better than an error.
        let last_resort = || {
            let routes = around.detours().map(Route::Through).chain([Route::Direct]).filter(untried);
            routes.min_by_key(|&route| (self.failures.last(now, *address, route), route))
        };
        detour.or_else(last_resort)
    }

    /// A route led to a response. `connect` is how long the connection took if one was made, `latency` how long the first byte took.
    pub fn worked(
        &mut self,
        now: Duration,
        address: SocketAddr,
        route: Route,
        connect: Option<Duration>,
        latency: Duration,
    ) {
        self.failures.worked(address, route);
        match route {
            Route::Through(centre) => self.detours.worked(now, address, centre, latency),
            Route::Direct => {
                if let Some(connect) = connect {
                    self.learn(address, connect);
                }
            }
        }
    }

    fn learn(&mut self, address: SocketAddr, connect: Duration) {
        if self.patience.len() >= MOST_ADDRESSES && !self.patience.contains_key(&address) {
            self.patience.pop_first();
        }
        self.patience.entry(address).or_default().learn(connect);
    }

    /// Somebody tried to connect directly, without a request: how long it took, or why there was no connection.
    pub fn probed(&mut self, now: Duration, address: SocketAddr, outcome: Result<Duration, Fault>) {
        match outcome {
            Err(fault) => self.failures.failed(now, address, Route::Direct, fault),
            Ok(took) => {
                self.failures.connected(address, Route::Direct);
                self.learn(address, took);
            }
        }
    }

    /// Another data centre has told that it connected to the origin at that time.
    pub fn told(&mut self, at: Duration, address: SocketAddr, centre: CentreId) {
        self.failures.told(at, address, centre);
    }

    /// The detour that would be taken now, for the operator.
    pub fn detour(&self, now: Duration, address: SocketAddr, around: &Surroundings<'_>) -> Option<Route> {
        self.clean_detour(now, address, &[], around)
    }

    /// What failed of late.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Of the detours that have not failed of late, the one with the least time to be expected.
    fn clean_detour(
        &self,
        now: Duration,
        address: SocketAddr,
        tried: &[Route],
        around: &Surroundings<'_>,
    ) -> Option<Route> {
        let failed = around.detours().map(Route::Through);
        let failed = failed.filter(|&route| self.failures.last(now, address, route).is_some());
        let left_alone: Vec<_> = failed.chain(tried.iter().copied()).collect();
        self.best_detour(now, address, &left_alone, around)
    }

    /// Of all detours but these, the one with the least time to be expected.
    fn best_detour(
        &self,
        now: Duration,
        address: SocketAddr,
        left_alone: &[Route],
        around: &Surroundings<'_>,
    ) -> Option<Route> {
        let expected = |centre: &CentreId| {
            let guess = around.guess(now, *centre);
            (self.detours.expected(now, address, *centre, guess), *centre)
        };
        let usable = around.detours().filter(|&centre| !left_alone.contains(&Route::Through(centre)));
        usable.min_by_key(expected).map(Route::Through)
    }
}

impl Surroundings<'_> {
    /// The data centres that may be asked to connect to the origin.
    fn detours(&self) -> impl Iterator<Item = CentreId> {
        let may_ask = |&id: &CentreId| {
            self.allows_detours && id != self.here && self.health.is_up(id) && !self.through.contains(&id)
        };
        self.network.ids().filter(may_ask)
    }

    /// The latency through a data centre: there, and from there to the origin and back.
    fn guess(&self, now: Duration, centre: CentreId) -> Duration {
        let link = self.links.get(usize::from(centre.0)).copied().unwrap_or(FAR);
        link + self.measured.typical(now, centre).map_or(FAR, |typical| typical.connect)
    }
}

/// Half around the Earth and back, at the usual detours of cables: what is not known is not preferred.
const FAR: Duration = Duration::from_millis(300);

/// Origin addresses whose connect times are remembered.
const MOST_ADDRESSES: usize = 10_000;

#[cfg(test)]
mod tests;
