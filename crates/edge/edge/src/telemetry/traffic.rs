//! Counters of client requests by zone, method, status class and cache result, with durations.
//!
//! Each worker writes to separate memory, without locks. Zones have a slot until the process ends, so
//! counters survive a reload.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use http_stack::{Method, Origin, StatusCode};

use super::{
    counters::CacheResult,
    histogram::{DurationCounts, DurationHistogram},
};

#[derive(Debug)]
pub(crate) struct TrafficMetrics {
    slots: Box<[OnceLock<Box<ZoneTraffic>>]>,
    numbers: RwLock<HashMap<String, ZoneNumber>>,
    workers: usize,
}

/// The slot of a zone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ZoneNumber(u16);

#[derive(Debug)]
struct ZoneTraffic {
    name: String,
    workers: Box<[WorkerTraffic]>,
    origins: RwLock<HashMap<Origin, Arc<DurationHistogram>>>,
}

/// Two cache lines, because processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct WorkerTraffic {
    requests: [[[AtomicU64; CacheResult::ALL.len()]; CLASSES.len()]; METHODS.len()],
    durations: [DurationHistogram; CacheResult::ALL.len()],
    body_bytes: AtomicU64,
}

/// The labels of a request's counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestSeries {
    pub(crate) zone: ZoneNumber,
    pub(crate) method: u8,
    pub(crate) class: u8,
    pub(crate) result: CacheResult,
}

/// Counters of a zone, summed over workers.
#[derive(Debug)]
pub(crate) struct ZoneCounts<'t> {
    pub(crate) name: &'t str,
    /// Method, status class, cache result and number; without zeros.
    pub(crate) requests: Vec<(&'static str, &'static str, &'static str, u64)>,
    /// Per cache result; without empty ones.
    pub(crate) durations: Vec<(&'static str, DurationCounts)>,
    /// Per origin.
    pub(crate) origins: Vec<(String, DurationCounts)>,
    pub(crate) body_bytes: u64,
}

impl RequestSeries {
    pub(crate) fn new(zone: ZoneNumber, method: &Method, status: StatusCode, result: CacheResult) -> Self {
        let method = METHODS.iter().position(|name| *name == method.as_str()).unwrap_or(METHODS.len() - 1);
        let class = usize::from(status.as_u16() / 100).saturating_sub(1).min(CLASSES.len() - 1);
        Self {
            zone,
            method: u8::try_from(method).unwrap_or(0),
            class: u8::try_from(class).unwrap_or(0),
            result,
        }
    }

    /// The same series with the method HEAD or GET.
    pub(crate) fn with_head(self, is_head: bool) -> Self {
        Self { method: u8::from(is_head), ..self }
    }
}

impl TrafficMetrics {
    pub(crate) fn new(workers: usize) -> Self {
        let slots: Box<[_]> = (0..MAX_ZONES).map(|_| OnceLock::new()).collect();
        let metrics = Self { slots, numbers: RwLock::default(), workers };
        // Requests without a zone have the first slot.
        metrics.number("");
        metrics
    }

    /// Zones beyond the number of slots are counted as requests without a zone.
    pub(crate) fn number(&self, zone: &str) -> ZoneNumber {
        if let Some(&number) = self.numbers.read().unwrap_or_else(PoisonError::into_inner).get(zone) {
            return number;
        }
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        let next = u16::try_from(numbers.len()).ok().filter(|next| usize::from(*next) < MAX_ZONES);
        let Some(next) = next else { return ZoneNumber::default() };
        let number = *numbers.entry(zone.to_owned()).or_insert(ZoneNumber(next));
        drop(numbers);
        if let Some(slot) = self.slots.get(usize::from(number.0)) {
            slot.get_or_init(|| Box::new(ZoneTraffic::new(zone, self.workers)));
        }
        number
    }

    /// `ns` is the time from the request's header to the header of the response. Called by the worker's
    /// thread only.
    pub(crate) fn record(&self, worker: usize, series: RequestSeries, ns: u64) {
        let Some(traffic) = self.worker_traffic(worker, series.zone) else { return };
        add(traffic.requests(series), 1);
        traffic.durations[series.result as usize].observe(ns);
    }

    /// For a response of the fast path, whose duration is in the first bucket. Called by the worker's thread
    /// only.
    pub(crate) fn record_fast_hit(&self, worker: usize, series: RequestSeries, body_bytes: u64) {
        let Some(traffic) = self.worker_traffic(worker, series.zone) else { return };
        add(traffic.requests(series), 1);
        add(&traffic.body_bytes, body_bytes);
    }

    /// Called by the worker's thread only.
    pub(crate) fn add_body_bytes(&self, worker: usize, zone: ZoneNumber, bytes: u64) {
        if let Some(traffic) = self.worker_traffic(worker, zone) {
            add(&traffic.body_bytes, bytes);
        }
    }

    /// `ns` is the time from the request to the header of the origin's response.
    pub(crate) fn record_origin(&self, zone: &str, origin: &Origin, ns: u64) {
        let number = self.number(zone);
        let Some(zone) = self.slots.get(usize::from(number.0)).and_then(OnceLock::get) else { return };
        let known = zone.origins.read().unwrap_or_else(PoisonError::into_inner).get(origin).cloned();
        let histogram = known.unwrap_or_else(|| {
            let mut origins = zone.origins.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(origins.entry(origin.clone()).or_default())
        });
        histogram.observe(ns);
    }

    pub(crate) fn report(&self) -> Vec<ZoneCounts<'_>> {
        let zones = self.slots.iter().filter_map(OnceLock::get).map(|zone| zone.report());
        zones.filter(|zone| !zone.requests.is_empty() || !zone.origins.is_empty()).collect()
    }

    fn worker_traffic(&self, worker: usize, zone: ZoneNumber) -> Option<&WorkerTraffic> {
        self.slots.get(usize::from(zone.0))?.get()?.workers.get(worker)
    }
}

/// With one writer, a store is enough, which takes less time than an atomic addition.
fn add(counter: &AtomicU64, number: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(number), Relaxed);
}

impl WorkerTraffic {
    fn requests(&self, series: RequestSeries) -> &AtomicU64 {
        &self.requests[usize::from(series.method)][usize::from(series.class)][series.result as usize]
    }
}

impl ZoneTraffic {
    fn new(name: &str, workers: usize) -> Self {
        let new = || WorkerTraffic {
            requests: Default::default(),
            durations: Default::default(),
            body_bytes: AtomicU64::new(0),
        };
        let workers = (0..workers).map(|_| new()).collect();
        Self { name: name.to_owned(), workers, origins: RwLock::default() }
    }

    fn report(&self) -> ZoneCounts<'_> {
        let mut requests = Vec::new();
        for (method, method_name) in METHODS.into_iter().enumerate() {
            for (class, class_name) in CLASSES.into_iter().enumerate() {
                for result in CacheResult::ALL {
                    let count = |worker: &WorkerTraffic| {
                        worker.requests[method][class][result as usize].load(Relaxed)
                    };
                    let number: u64 = self.workers.iter().map(count).sum();
                    if number > 0 {
                        requests.push((method_name, class_name, result.name(), number));
                    }
                }
            }
        }
        let durations = CacheResult::ALL.into_iter().map(|result| {
            let mut sum = DurationCounts::default();
            self.workers.iter().for_each(|worker| sum.add(&worker.durations[result as usize].counts()));
            let of_result = requests.iter().filter(|(_, _, name, _)| *name == result.name());
            let all: u64 = of_result.map(|(.., number)| number).sum();
            // The fast path records no durations: its requests belong to the first bucket.
            sum.buckets[0] += all.saturating_sub(sum.total());
            (result.name(), sum)
        });
        let origins = self.origins.read().unwrap_or_else(PoisonError::into_inner);
        let mut origins: Vec<_> =
            origins.iter().map(|(origin, histogram)| (origin.label(), histogram.counts())).collect();
        origins.sort_by(|(one, _), (other, _)| one.cmp(other));
        ZoneCounts {
            name: &self.name,
            durations: durations.filter(|(_, sum)| sum.total() > 0).collect(),
            requests,
            origins,
            body_bytes: self.workers.iter().map(|worker| worker.body_bytes.load(Relaxed)).sum(),
        }
    }
}

/// GET and HEAD are first, for [`RequestSeries::with_head`].
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];
const CLASSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"];

/// A slot without a zone takes 16 bytes, and a zone 4 KB per worker.
const MAX_ZONES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_bounded_labels() {
        let traffic = TrafficMetrics::new(2);
        let zone = traffic.number("z");
        for (worker, method, status, result) in [
            (0, "GET", 200, CacheResult::Hit),
            (1, "GET", 204, CacheResult::Hit),
            (0, "BREW", 999, CacheResult::Bypass),
            (1, "HEAD", 101, CacheResult::Miss),
            (1, "OPTIONS", 599, CacheResult::Refused),
        ] {
            let (method, status) = (method.parse().unwrap(), StatusCode::from_u16(status).unwrap());
            traffic.record(worker, RequestSeries::new(zone, &method, status, result), 1_000_000);
        }
        let hit = RequestSeries::new(zone, &Method::GET, StatusCode::OK, CacheResult::Hit);
        traffic.record_fast_hit(0, hit, 5);
        traffic.add_body_bytes(1, zone, 7);
        let report = traffic.report();
        let [z] = &report[..] else { panic!("{report:?}") };
        assert_eq!((z.name, z.body_bytes), ("z", 12));
        assert_eq!(
            z.requests,
            [
                ("GET", "2xx", "hit", 3),
                ("HEAD", "1xx", "miss", 1),
                ("OPTIONS", "5xx", "refused", 1),
                ("other", "other", "bypass", 1)
            ]
        );
        let hits = z.durations.iter().find(|(result, _)| *result == "hit").unwrap();
        assert_eq!((hits.1.total(), hits.1.buckets[0], hits.1.sum_ns), (3, 1, 2_000_000));
    }

    #[test]
    fn series_of_get_and_head_are_exchangeable() {
        let of = |method| RequestSeries::new(ZoneNumber(3), &method, StatusCode::OK, CacheResult::Hit);
        assert_eq!(of(Method::GET).with_head(true), of(Method::HEAD));
        assert_eq!(of(Method::HEAD).with_head(false), of(Method::GET));
    }

    #[test]
    fn zones_beyond_the_slots_have_no_name() {
        let traffic = TrafficMetrics::new(1);
        for number in 1..MAX_ZONES {
            assert_ne!(traffic.number(&number.to_string()), ZoneNumber::default());
        }
        assert_eq!(traffic.number("more"), ZoneNumber::default());
        assert_eq!(traffic.number("7"), traffic.number("7"));
    }

    #[test]
    fn origins_are_counted_by_zone() {
        let traffic = TrafficMetrics::new(1);
        let origin: Origin = "http://a.example".parse().unwrap();
        traffic.record_origin("z", &origin, 2_000_000);
        traffic.record_origin("z", &Origin { server_name: Some("b".into()), ..origin.clone() }, 1);
        let report = traffic.report();
        let names: Vec<_> =
            report[0].origins.iter().map(|(name, counts)| (&name[..], counts.total())).collect();
        assert_eq!(names, [("http://a.example", 1), ("http://a.example as b", 1)]);
    }
}
