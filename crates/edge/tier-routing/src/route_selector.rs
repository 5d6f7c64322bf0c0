//! The routes that a request to an origin tries: direct, detours, and recently failed ones last.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use crate::{
    DataCentreId, Detours, Failures, Fault, Health, Measurements, Met, Network, Patience, Renumbering, Route,
};

/// A data centre's state of the routes to its origins.
#[derive(Debug, Clone)]
pub struct RouteSelector {
    failures: Failures,
    detours: Detours,
    patience: BTreeMap<SocketAddr, Patience>,
    most_tries: usize,
}

/// The position and the permissions of a data centre.
#[derive(Debug, Clone, Copy)]
pub struct RouteInputs<'a> {
    /// The data centre.
    pub here: DataCentreId,
    /// The network.
    pub network: &'a Network,
    /// Which other data centres are up.
    pub health: &'a Health,
    /// Data centres that the request has passed, which cannot be detours.
    pub through: &'a [DataCentreId],
    /// The round-trip times to the other data centres, by number.
    pub links: &'a [Duration],
    /// The connect times to the origin, as reported by each data centre.
    pub measured: &'a Measurements,
    /// Whether the zone permits detours. A data centre that serves as a detour uses none itself.
    pub allows_detours: bool,
}

/// The routes that a request has tried.
#[derive(Debug, Clone)]
pub struct Tries {
    address: SocketAddr,
    tried: Vec<Route>,
}

/// The first route of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The route.
    pub route: Route,
    /// After this time without a connect, [`RouteSelector::beside`] returns a route to race against this
    /// one.
    pub hedge: Option<Duration>,
}

/// Whether a request may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Nothing was sent yet, or the method is safe and the body is still available.
    Harmless,
    /// It must not be repeated.
    Forbidden,
}

impl RouteSelector {
    /// Starts without failures. A request tries at most `most_tries` routes, at least one.
    pub fn new(most_tries: usize) -> Self {
        Self {
            failures: Failures::default(),
            detours: Detours::default(),
            patience: BTreeMap::new(),
            most_tries: most_tries.max(1),
        }
    }

    /// The same state with the numbers of another network.
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
    pub fn begin(&mut self, now: Duration, address: SocketAddr, around: &RouteInputs<'_>) -> (Tries, Next) {
        let tries = Tries { address, tried: Vec::new() };
        if self.failures.meet(now, address, Route::Direct) == Met::Failed {
            // Some requests test a failed detour again, as a failed direct route.
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

    /// The route that races the direct one after [`Next::hedge`].
    pub fn beside(&self, now: Duration, tries: &Tries, around: &RouteInputs<'_>) -> Option<Route> {
        self.clean_detour(now, tries.address, &tries.tried, around)
    }

    /// Handles the failure of a route. Returns the next route; `None` if there is none, or the
    /// request must not be repeated. Without a fault, for example at a lack of capacity, the
    /// failure is not recorded.
    pub fn failed(
        &mut self,
        now: Duration,
        tries: &mut Tries,
        (route, fault): (Route, Option<Fault>),
        replay: Replay,
        around: &RouteInputs<'_>,
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
        // Recently failed routes, least recent failure first, are better than an error.
        let last_resort = || {
            let routes = around.detours().map(Route::Through).chain([Route::Direct]).filter(untried);
            routes.min_by_key(|&route| (self.failures.last(now, *address, route), route))
        };
        detour.or_else(last_resort)
    }

    /// Records that a route returned a response, after `latency`. `connect` is the connect time, if
    /// a connection was made.
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

    /// Records a direct connect without a request.
    pub fn probed(&mut self, now: Duration, address: SocketAddr, outcome: Result<Duration, Fault>) {
        match outcome {
            Err(fault) => self.failures.failed(now, address, Route::Direct, fault),
            Ok(took) => {
                self.failures.connected(address, Route::Direct);
                self.learn(address, took);
            }
        }
    }

    /// Another data centre reported a connect to the origin at this time.
    pub fn told(&mut self, at: Duration, address: SocketAddr, centre: DataCentreId) {
        self.failures.told(at, address, centre);
    }

    /// The detour that would be used now, for the operator.
    pub fn detour(&self, now: Duration, address: SocketAddr, around: &RouteInputs<'_>) -> Option<Route> {
        self.clean_detour(now, address, &[], around)
    }

    /// The recent failures.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    fn clean_detour(
        &self,
        now: Duration,
        address: SocketAddr,
        tried: &[Route],
        around: &RouteInputs<'_>,
    ) -> Option<Route> {
        let failed = around.detours().map(Route::Through);
        let failed = failed.filter(|&route| self.failures.last(now, address, route).is_some());
        let left_alone: Vec<_> = failed.chain(tried.iter().copied()).collect();
        self.best_detour(now, address, &left_alone, around)
    }

    fn best_detour(
        &self,
        now: Duration,
        address: SocketAddr,
        left_alone: &[Route],
        around: &RouteInputs<'_>,
    ) -> Option<Route> {
        let expected = |centre: &DataCentreId| {
            let guess = around.guess(now, *centre);
            (self.detours.expected(now, address, *centre, guess), *centre)
        };
        let usable = around.detours().filter(|&centre| !left_alone.contains(&Route::Through(centre)));
        usable.min_by_key(expected).map(Route::Through)
    }
}

impl RouteInputs<'_> {
    fn detours(&self) -> impl Iterator<Item = DataCentreId> {
        let may_ask = |&id: &DataCentreId| {
            self.allows_detours && id != self.here && self.health.is_up(id) && !self.through.contains(&id)
        };
        self.network.ids().filter(may_ask)
    }

    fn guess(&self, now: Duration, centre: DataCentreId) -> Duration {
        let link = self.links.get(usize::from(centre.0)).copied().unwrap_or(FAR);
        link + self.measured.typical(now, centre).map_or(FAR, |typical| typical.connect)
    }
}

/// Half of the Earth's circumference and back over usual cable routes.
const FAR: Duration = Duration::from_millis(300);

const MOST_ADDRESSES: usize = 10_000;

#[cfg(test)]
mod tests;
