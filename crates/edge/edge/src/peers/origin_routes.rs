//! Measurements of routes to origins by all data centres, recent failures, and the addresses of
//! origins.

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    time::Duration,
};

use ::tier_routing::{
    DataCentreId, Fault, Health, Measurements, Network, Renumbering, RouteInputs, RouteSelector,
};
use http_stack::Origin;

use super::heartbeat::{MAX_SAMPLES, OriginSamples, Sample};

#[derive(Debug)]
pub(crate) struct OriginRoutes {
    pub(crate) reach: RouteSelector,
    origins: HashMap<Origin, SampleHistory>,
    centres: usize,
    here: DataCentreId,
    next: u64,
}

#[derive(Debug)]
struct SampleHistory {
    address: Option<SocketAddr>,
    measured: Measurements,
    own: VecDeque<(u64, Duration, Duration)>,
}

pub(crate) struct RouteContext<'a> {
    pub(crate) network: &'a Network,
    pub(crate) health: &'a Health,
    pub(crate) through: &'a [DataCentreId],
    pub(crate) round_trips: &'a [Duration],
    pub(crate) allows_detours: bool,
}

impl OriginRoutes {
    pub(super) fn new(centres: usize, here: DataCentreId) -> Self {
        Self { reach: RouteSelector::new(MAX_TRIES), origins: HashMap::new(), centres, here, next: 1 }
    }

    pub(super) fn renumbered(&self, to: &Renumbering, here: DataCentreId) -> Self {
        let renumber = |(origin, history): (&Origin, &SampleHistory)| {
            let measured = history.measured.renumbered(to);
            (origin.clone(), SampleHistory { address: history.address, measured, own: history.own.clone() })
        };
        Self {
            reach: self.reach.renumbered(to),
            origins: self.origins.iter().map(renumber).collect(),
            centres: to.count(),
            here,
            next: self.next,
        }
    }

    pub(crate) fn search<T>(
        &mut self,
        origin: &Origin,
        around: &RouteContext<'_>,
        look: impl FnOnce(&mut RouteSelector, &RouteInputs<'_>) -> T,
    ) -> T {
        let nothing = Measurements::new(0);
        let measured = self.origins.get(origin).map_or(&nothing, |history| &history.measured);
        let surroundings = RouteInputs {
            here: self.here,
            network: around.network,
            health: around.health,
            through: around.through,
            links: around.round_trips,
            measured,
            allows_detours: around.allows_detours,
        };
        look(&mut self.reach, &surroundings)
    }

    pub(crate) fn address(&self, origin: &Origin) -> Option<SocketAddr> {
        self.origins.get(origin).and_then(|history| history.address)
    }

    pub(crate) fn origin_at(&self, address: SocketAddr) -> Option<&Origin> {
        self.origins.iter().find(|(_, history)| history.address == Some(address)).map(|(origin, _)| origin)
    }

    pub(crate) fn record_address(&mut self, origin: &Origin, address: SocketAddr) {
        self.history(origin).address = Some(address);
    }

    pub(crate) fn record_connect(&mut self, now: Duration, origin: &Origin, took: Duration) {
        let (here, number) = (self.here, self.next);
        self.next += 1;
        let history = self.history(origin);
        history.measured.add(now, here, took);
        if history.own.len() == MAX_SAMPLES {
            history.own.pop_front();
        }
        history.own.push_back((number, now, took));
    }

    pub(crate) fn record_probe(&mut self, now: Duration, origin: &Origin, outcome: Result<Duration, Fault>) {
        if let Some(address) = self.address(origin) {
            self.reach.probed(now, address, outcome);
        }
        if let Ok(took) = outcome {
            self.record_connect(now, origin, took);
        }
    }

    pub(super) fn last(&self, origin: &Origin) -> Option<Duration> {
        self.origins.get(origin)?.own.back().map(|(_, at, _)| *at)
    }

    pub(super) fn samples(&self, now: Duration, origin: &Origin) -> usize {
        let own = self.origins.get(origin).map(|history| &history.own);
        let is_fresh = |at: Duration| now.saturating_sub(at) <= Measurements::FRESH;
        own.map_or(0, |own| own.iter().filter(|(_, at, _)| is_fresh(*at)).count())
    }

    pub(crate) fn measured(&self, origin: &Origin) -> Option<&Measurements> {
        self.origins.get(origin).map(|history| &history.measured)
    }

    pub(super) fn samples_since(&self, now: Duration, from: u64) -> (Vec<OriginSamples>, u64) {
        let of = |(origin, history): (&Origin, &SampleHistory)| {
            let samples = history
                .own
                .iter()
                .filter(|(number, at, _)| *number >= from && now.saturating_sub(*at) <= Measurements::FRESH);
            let sample = |&(_, at, took): &(u64, Duration, Duration)| Sample {
                age_ms: millis(now.saturating_sub(at)),
                connect_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            };
            OriginSamples { origin: origin.to_string(), samples: samples.map(sample).collect() }
        };
        let all = self.origins.iter().map(of).filter(|received| !received.samples.is_empty());
        (all.collect(), self.next)
    }

    pub(crate) fn merge_samples(&mut self, now: Duration, centre: DataCentreId, received: &[OriginSamples]) {
        for OriginSamples { origin, samples } in received {
            let Ok(origin) = origin.parse::<Origin>() else { continue };
            // Names of TLS are not part of a sample: they do not affect the connect time.
            let is_it = |known: &Origin| Origin { server_name: None, ..known.clone() } == origin;
            for (_, history) in self.origins.iter_mut().filter(|(known, _)| is_it(known)) {
                for Sample { age_ms, connect_us } in samples.iter().take(MAX_SAMPLES) {
                    let at = now.saturating_sub(Duration::from_millis(*age_ms));
                    history.measured.add(at, centre, Duration::from_micros(*connect_us));
                    if let Some(address) = history.address {
                        self.reach.told(at, address, centre);
                    }
                }
            }
        }
    }

    pub(super) fn retain_origins(&mut self, origins: &[Origin]) {
        self.origins.retain(|origin, _| origins.contains(origin));
        for origin in origins {
            self.history(origin);
        }
    }

    fn history(&mut self, origin: &Origin) -> &mut SampleHistory {
        let centres = self.centres;
        self.origins.entry(origin.clone()).or_insert_with(|| SampleHistory {
            address: None,
            measured: Measurements::new(centres),
            own: VecDeque::new(),
        })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The direct route and two detours. If the origin is down, each costs a timeout.
const MAX_TRIES: usize = 3;

#[cfg(test)]
mod tests {
    use ::tier_routing::{Replay, Route};

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn samples_reach_peers_once() {
        let origin: Origin = "https://origin.example".parse().unwrap();
        let [mut lhr, mut fra] = [0, 1].map(|here| OriginRoutes::new(2, DataCentreId(here)));
        fra.retain_origins(std::slice::from_ref(&origin));
        for number in 0..40 {
            lhr.record_connect(ms(number), &origin, ms(20));
        }
        let (received, next) = lhr.samples_since(ms(100), 0);
        assert_eq!((received[0].samples.len(), next), (MAX_SAMPLES, 41));
        assert_eq!(received[0].samples[0], Sample { age_ms: 100 - 9, connect_us: 20_000 });
        fra.merge_samples(ms(5000), DataCentreId(0), &received);
        let typical = fra.measured(&origin).unwrap().typical(ms(5000), DataCentreId(0)).unwrap();
        assert_eq!((typical.connect, typical.samples), (ms(20), MAX_SAMPLES));
        assert!(lhr.samples_since(ms(100), next).0.is_empty(), "nothing is new");
        lhr.record_connect(ms(101), &origin, ms(30));
        assert_eq!(lhr.samples_since(ms(101), next).0[0].samples, [Sample { age_ms: 0, connect_us: 30_000 }]);
        let address = SocketAddr::from(([192, 0, 2, 1], 443));
        fra.record_address(&origin, address);
        let (network, health) = (Network::new(Vec::new(), |_, _| ms(0)), Health::default());
        let around = RouteContext {
            network: &network,
            health: &health,
            through: &[],
            round_trips: &[],
            allows_detours: false,
        };
        fra.search(&origin, &around, |reach, around| {
            let (mut tries, _) = reach.begin(ms(4950), address, around);
            let failed = (Route::Through(DataCentreId(0)), Some(Fault::ConnectionRefused));
            reach.failed(ms(4950), &mut tries, failed, Replay::Forbidden, around);
        });
        let is_due =
            |fra: &OriginRoutes| fra.reach.failures().listed(ms(5000)).next().map(|listed| listed.is_due);
        fra.merge_samples(ms(5000), DataCentreId(0), &received);
        assert_eq!(is_due(&fra), Some(false), "that was before");
        fra.merge_samples(ms(5000), DataCentreId(0), &lhr.samples_since(ms(101), next).0);
        assert_eq!(is_due(&fra), Some(true));
        fra.retain_origins(&[]);
        fra.merge_samples(ms(5000), DataCentreId(0), &received);
        assert!(fra.measured(&origin).is_none());
    }
}
