//! The handler of clients' requests: the fast paths first, then the pipeline.

use std::sync::Arc;

use http_cache::Time;
use http_stack::{
    Body, Bytes, CompleteBody, Failure, Method, Request, Response, StatusCode,
    server::{Delivery, Handler, Interim, Peer, Relaying, RequestView},
};

use crate::{
    fast_path::{hit_table::FastHit, prerendered::HeadFormat},
    request::client_address,
    server::{tls::acme::http01, worker_state::WorkerState},
    telemetry::{
        access_log::{AccessLog, RequestOutcome},
        counters::CacheResult,
        delivery::DeliveryObserver,
        traffic::{RequestSeries, ZoneNumber},
    },
};

pub(crate) struct ClientHandler(pub(crate) Arc<WorkerState>);

impl ClientHandler {
    fn try_fast_hit<T>(
        &self,
        request: &RequestView<'_>,
        head_format: HeadFormat,
        answer: impl FnOnce(&FastHit, Time) -> Option<(T, usize)>,
    ) -> Option<(T, Option<DeliveryObserver>)> {
        let worker = &self.0;
        // A data centre that is cut off may have to revalidate.
        if worker.purge_log.is_partitioned()
            || request.target.starts_with(http01::PREFIX)
            || worker.is_trusted_proxy(request.peer)
            || worker.traces.is_due(worker.index(), request)
        {
            return None;
        }
        let began = worker.access_log.as_ref().map(AccessLog::now);
        let now = worker.now();
        let found = worker.hit_table(worker.index()).find(&worker.store, now, request, head_format)?;
        found.notes.as_ref()?;
        let (rendered, body_bytes) = answer(&found, now)?;
        worker.client_counters.add(CacheResult::Hit);
        worker.traces.count_untraced(worker.index());
        let notes = found.notes?;
        let series = notes.series.with_head(request.is_head);
        worker.traffic.record_fast_hit(worker.index(), series, body_bytes as u64);
        let note = worker.access_log.as_ref().zip(began).zip(notes.log_suffix);
        let note = note.map(|((log, began), about)| log.hit_entry(began, request, about));
        Some((rendered, DeliveryObserver::new(note, None, None)))
    }
}

impl WorkerState {
    /// `began` is the time at which the request's header had arrived.
    pub(crate) fn record_request(
        &self,
        (method, status): (&Method, StatusCode),
        outcome: &RequestOutcome,
        began: u64,
    ) -> ZoneNumber {
        let series = RequestSeries::new(outcome.zone_number, method, status, outcome.result);
        self.traffic.record(self.index(), series, self.monotonic_ns().saturating_sub(began));
        series.zone
    }
}

impl Handler for ClientHandler {
    const HAS_FAST_PATH: bool = true;

    type Observer = DeliveryObserver;

    fn try_respond_h1(
        &self,
        request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<DeliveryObserver>)> {
        self.try_fast_hit(request, HeadFormat::Http1, |found, now| {
            let body = found.write(request, now, head)?;
            let bytes = body.len();
            Some((body, bytes))
        })
    }

    fn try_respond(&self, request: &RequestView<'_>) -> Option<(Response<Bytes>, Option<DeliveryObserver>)> {
        self.try_fast_hit(request, HeadFormat::HeaderMap, |found, now| {
            let response = found.response(request, now)?;
            let bytes = response.body().len();
            Some((response, bytes))
        })
    }

    fn relay<'h>(
        &'h self,
        request: &RequestView<'_>,
        interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, DeliveryObserver>> {
        if request.target.starts_with(http01::PREFIX) || self.0.is_trusted_proxy(request.peer) {
            return None;
        }
        self.try_raw_forward(request, interim)
    }

    async fn handle(&self, mut request: Request<Body>) -> Result<Response<Body>, Failure> {
        let worker = &self.0;
        if request.uri().path().starts_with(http01::PREFIX)
            && let Some(response) = http01::respond(&worker.network(), request.uri().path()).await
        {
            return Ok(response);
        }
        if let Some(&peer) = request.extensions().get::<Peer>()
            && worker.is_trusted_proxy(peer)
        {
            let client = client_address::behind_proxies(
                peer,
                request.headers_mut(),
                &worker.network().trusted_proxies,
            );
            request.extensions_mut().insert(client);
        }
        let (began, method) = (worker.monotonic_ns(), request.method().clone());
        let pending_entry = worker.access_log.as_ref().map(|log| log.begin_request(worker.index(), &request));
        let active = worker.traces.begin(worker.index(), &mut request);
        let mut response = worker.serve(request).await;
        let (status, outcome) = (response.status(), response.extensions_mut().remove::<RequestOutcome>());
        let traced = active.and_then(|active| {
            active.answered(
                status,
                outcome.iter().flat_map(|outcome| outcome.trace_attributes(&worker.data_centre)),
            )
        });
        let zone = outcome.as_ref().map(|outcome| worker.record_request((&method, status), outcome, began));
        let line = pending_entry.map(|pending_entry| pending_entry.into_entry(status, outcome.as_ref()));
        if let Some(sending) = DeliveryObserver::new(line, traced, zone) {
            response.extensions_mut().insert(sending);
        }
        Ok(response)
    }

    fn on_delivered(&self, sending: DeliveryObserver, delivery: Delivery) {
        let log = self.0.access_log.as_ref();
        sending.observe((log, &self.0.traffic), self.0.index(), delivery);
    }
}
