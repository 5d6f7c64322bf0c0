//! Data for the access log, the trace and the metrics, attached to a response until it is sent.

use std::sync::Arc;

use http_stack::server::Delivery;

use crate::telemetry::{
    access_log::{AccessLog, LogEntry},
    traces::RequestTrace,
    traffic::{RequestSeries, TrafficMetrics, ZoneNumber},
};

#[derive(Debug, Clone)]
pub(crate) struct DeliveryObserver {
    entry: Option<LogEntry>,
    trace: Option<Arc<RequestTrace>>,
    /// `None` if the bytes have been counted.
    zone: Option<ZoneNumber>,
}

/// Labels of a hit's metrics, for a GET, and the constant end of its log line.
#[derive(Debug, Clone)]
pub(crate) struct HitNotes {
    pub(crate) series: RequestSeries,
    pub(crate) log_suffix: Option<Arc<[u8]>>,
}

impl DeliveryObserver {
    pub(crate) fn new(
        line: Option<LogEntry>,
        traced: Option<Arc<RequestTrace>>,
        zone: Option<ZoneNumber>,
    ) -> Option<Self> {
        let is_needed = line.is_some() || traced.is_some() || zone.is_some();
        is_needed.then_some(Self { entry: line, trace: traced, zone })
    }

    pub(crate) fn observe(
        self,
        (log, traffic): (Option<&AccessLog>, &TrafficMetrics),
        worker: usize,
        delivery: Delivery,
    ) {
        if let Some(zone) = self.zone {
            traffic.add_body_bytes(worker, zone, delivery.body_bytes);
        }
        if let Some((log, line)) = log.zip(self.entry) {
            log.write_entry(worker, &line, delivery);
        }
        if let Some(traced) = self.trace {
            traced.sent(delivery);
        }
    }
}
