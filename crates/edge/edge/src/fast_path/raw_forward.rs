//! Relays requests line by line: those whose fingerprint is in the pass table.
//!
//! Only the forwarded heads are built, without header maps. A message that needs more processing
//! continues on the normal path.

mod head;
mod header_filter;

use std::sync::Arc;

use http_cache::{Forward, is_solicited, update};
use http_stack::{
    Body, Failure, Method, Response, StatusCode,
    client::{self, Reply},
    http1::Framing,
    server::{Interim, Lines, Original, Relayed, Relaying, RequestView},
};

pub(crate) use self::header_filter::may_be_forwarded_raw;
use crate::{
    cache::response_order::SentRequest,
    fast_path::pass_table::{PassEntry, PassReason},
    request::{context::RequestContext, handler::ClientHandler, rejection::Rejection},
    server::worker_state::WorkerState,
    telemetry::{
        access_log::{PendingEntry, RequestOutcome, UpstreamTiming},
        counters::CacheResult,
        delivery::DeliveryObserver,
        traffic::{RequestSeries, ZoneNumber},
    },
    upstream::{
        origins::{clean_response, rejection_for},
        select::UNSOLICITED_NOT_MODIFIED,
        trailers,
    },
};

struct RawForward<'h> {
    worker: &'h Arc<WorkerState>,
    pass_entry: Arc<PassEntry>,
    original: Original,
    pending_entry: Option<PendingEntry<'h>>,
    upstream_timing: Option<Arc<UpstreamTiming>>,
    sent: SentRequest,
    began: u64,
}

struct RawResponse {
    status: StatusCode,
    framing: Framing,
    head: Vec<u8>,
}

impl ClientHandler {
    pub(crate) fn try_raw_forward<'h>(
        &'h self,
        request: &RequestView<'_>,
        interim: impl FnOnce() -> Interim,
    ) -> Option<Relaying<'h, DeliveryObserver>> {
        let worker = &self.0;
        if worker.traces.is_due(worker.index(), request) {
            return None;
        }
        let (requested, began) = (worker.now(), worker.monotonic_ns());
        let pass_entry = worker.own_pass_table().find(requested, request)?;
        let hop = header_filter::ForwardingHop {
            network: &pass_entry.network().name,
            centre: &worker.data_centre,
            peer: request.peer,
        };
        let head = header_filter::request_headers(request, &hop)?;
        worker.traces.count_untraced(worker.index());
        let relay = RawForward {
            worker,
            pass_entry,
            original: request.original(interim()),
            pending_entry: worker
                .access_log
                .as_ref()
                .map(|log| log.begin_raw_request(worker.index(), request)),
            upstream_timing: worker.access_log.as_ref().map(|_| Arc::default()),
            sent: worker.in_flight.send_unlisted(requested, worker.store.epoch()),
            began,
        };
        Some(Box::pin(relay.run(head)))
    }
}

impl RawForward<'_> {
    async fn run(self, head: Vec<u8>) -> Result<Relayed<DeliveryObserver>, Failure> {
        let Self { worker, pass_entry, .. } = &self;
        let result = worker.origins.send_raw(
            &worker.connectors.requests,
            pass_entry.zone(),
            (&head, self.original.interim()),
            (self.sent.time, self.upstream_timing.as_deref()),
            |reply| self.response_head(reply),
        );
        match result.await {
            Ok(Some(client::Relayed::Lines(back, body))) => Ok(self.respond_forwarded(back, body)),
            Ok(Some(client::Relayed::Response(response)))
                if worker.peers().is_some()
                    && pass_entry.zone().detour_statuses.contains(&response.status()) =>
            {
                self.fall_back().await
            }
            Ok(Some(client::Relayed::Response(response))) => Ok(self.respond_inspected(response)),
            Ok(None) => self.fall_back().await,
            Err(_) if pass_entry.zone().origins.len() > 1 || worker.peers().is_some() => {
                self.fall_back().await
            }
            Err(failure) => Ok(self.reject(rejection_for(failure))),
        }
    }

    fn response_head(&self, reply: &Reply<'_>) -> Option<RawResponse> {
        let Self { worker, pass_entry, sent, .. } = self;
        if reply.status != pass_entry.status() {
            return None;
        }
        if let PassReason::HitForMiss(passed) = pass_entry.reason()
            && update::ends_use(&Method::GET, reply.status)
            && !passed.record_response(sent.number(), worker.now())
        {
            return None;
        }
        let zone = pass_entry.zone();
        let terms = header_filter::ResponseFreshness {
            is_bypass: pass_entry.forward() == Forward::Bypass,
            targets: &zone.targets,
            compresses: !zone.compress.is_empty(),
        };
        let head =
            header_filter::response_headers(reply, &terms, &worker.data_centre, pass_entry.cache_status())?;
        Some(RawResponse { status: reply.status, framing: reply.framing, head })
    }

    fn respond_forwarded(
        self,
        RawResponse { status, framing, head }: RawResponse,
        body: Body,
    ) -> Relayed<DeliveryObserver> {
        let result = if self.pass_entry.forward() == Forward::Bypass {
            CacheResult::Bypass
        } else {
            CacheResult::Miss
        };
        self.worker.client_counters.add(result);
        let zone = self.pass_entry.zone();
        let zone_number = self.worker.traffic.number(&zone.name);
        let series = RequestSeries::new(zone_number, &Method::GET, status, result);
        let took = self.worker.monotonic_ns().saturating_sub(self.began);
        self.worker.traffic.record(self.worker.index(), series, took);
        let line = self.pending_entry.map(|pending_entry| {
            let upstream_timing = self.upstream_timing.as_deref().and_then(UpstreamTiming::times);
            let zone = Some(zone.name.clone());
            let outcome = RequestOutcome { result, zone, zone_number, upstream_timing, tier: None };
            pending_entry.into_entry(status, Some(&outcome))
        });
        let note = DeliveryObserver::new(line, None, Some(zone_number));
        let body = trailers::for_response(body.within(zone.next_byte));
        Relayed::Lines(Lines { head, framing, body, note })
    }

    fn respond_inspected(self, response: Response<Body>) -> Relayed<DeliveryObserver> {
        let Self { worker, pass_entry, sent, .. } = &self;
        let context = match self.context() {
            Ok(context) => context,
            Err(rejection) => return self.reject(rejection),
        };
        if response.status() == StatusCode::NOT_MODIFIED
            && !is_solicited(&context.headers, StatusCode::NOT_MODIFIED)
        {
            return self.reject(UNSOLICITED_NOT_MODIFIED);
        }
        let response = clean_response(response, pass_entry.zone().next_byte);
        let mut response = worker.respond_forwarded(&context, response, pass_entry.forward(), sent.clone());
        if response.status() == pass_entry.status() {
            pass_entry.retire();
        } else {
            worker.remember_pass(&context, pass_entry.reason().clone(), &response);
        }
        let zone = self.zone();
        worker.complete_outcome(&mut response, zone, self.upstream_timing.as_deref());
        self.respond(response)
    }

    async fn fall_back(self) -> Result<Relayed<DeliveryObserver>, Failure> {
        let request = self.original.request().ok_or(Failure::Garbled)?;
        let response = Box::pin(self.worker.serve(request)).await;
        Ok(self.respond(response))
    }

    fn context(&self) -> Result<RequestContext, Rejection> {
        let request = self.original.request().ok_or(crate::request::rejection::BAD_HOST)?;
        RequestContext::admit(&self.worker.network(), &self.worker.data_centre, request)
            .map(|(context, _)| context)
    }

    fn reject(self, rejection: Rejection) -> Relayed<DeliveryObserver> {
        let mut response = self.worker.reject(rejection);
        self.worker.complete_outcome(&mut response, self.zone(), self.upstream_timing.as_deref());
        self.respond(response)
    }

    fn zone(&self) -> (ZoneNumber, Option<String>) {
        let name = &self.pass_entry.zone().name;
        (self.worker.traffic.number(name), Some(name.clone()))
    }

    fn respond(self, mut response: Response<Body>) -> Relayed<DeliveryObserver> {
        let (status, outcome) = (response.status(), response.extensions_mut().remove::<RequestOutcome>());
        let labels = (&Method::GET, status);
        let zone = outcome.as_ref().map(|outcome| self.worker.record_request(labels, outcome, self.began));
        let line = self.pending_entry.map(|pending_entry| pending_entry.into_entry(status, outcome.as_ref()));
        if let Some(sending) = DeliveryObserver::new(line, None, zone) {
            response.extensions_mut().insert(sending);
        }
        Relayed::Response(response)
    }
}
