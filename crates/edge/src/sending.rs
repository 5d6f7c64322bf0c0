//! Data for the access log and the trace, attached to a response until it is sent.

use std::sync::Arc;

use http::server::Delivery;

use crate::{
    log::{Log, Note},
    traces::Traced,
};

#[derive(Debug, Clone)]
pub(crate) struct Sending {
    line: Option<Note>,
    traced: Option<Arc<Traced>>,
}

impl Sending {
    /// `None` if there is neither a log entry nor a trace.
    pub(crate) fn new(line: Option<Note>, traced: Option<Arc<Traced>>) -> Option<Self> {
        (line.is_some() || traced.is_some()).then_some(Self { line, traced })
    }

    pub(crate) fn tell(self, log: Option<&Log>, core: usize, delivery: Delivery) {
        if let Some((log, line)) = log.zip(self.line) {
            log.sent(core, &line, delivery);
        }
        if let Some(traced) = self.traced {
            traced.sent(delivery);
        }
    }
}
