//! Data for the access log and the trace, attached to a response until it is sent.

use std::sync::Arc;

use http_stack::server::Delivery;

use crate::telemetry::{
    access_log::{AccessLog, LogEntry},
    traces::RequestTrace,
};

#[derive(Debug, Clone)]
pub(crate) struct DeliveryObserver {
    entry: Option<LogEntry>,
    trace: Option<Arc<RequestTrace>>,
}

impl DeliveryObserver {
    pub(crate) fn new(line: Option<LogEntry>, traced: Option<Arc<RequestTrace>>) -> Option<Self> {
        (line.is_some() || traced.is_some()).then_some(Self { entry: line, trace: traced })
    }

    pub(crate) fn observe(self, log: Option<&AccessLog>, worker: usize, delivery: Delivery) {
        if let Some((log, line)) = log.zip(self.entry) {
            log.write_entry(worker, &line, delivery);
        }
        if let Some(traced) = self.trace {
            traced.sent(delivery);
        }
    }
}
