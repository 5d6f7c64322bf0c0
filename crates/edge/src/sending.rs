//! What is noted of a response that is on its way to its visitor: for the access log, and for its trace.

use std::sync::Arc;

use http::server::Delivery;

use crate::{
    log::{Log, Note},
    traces::Traced,
};

/// What is to be told when a response was sent, or broke off.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    line: Option<Note>,
    traced: Option<Arc<Traced>>,
}

impl Sending {
    /// `None` if nobody is to be told.
    pub(crate) fn new(line: Option<Note>, traced: Option<Arc<Traced>>) -> Option<Self> {
        (line.is_some() || traced.is_some()).then_some(Self { line, traced })
    }

    /// Tells them, on this core.
    pub(crate) fn tell(self, log: Option<&Log>, core: usize, delivery: Delivery) {
        if let Some((log, line)) = log.zip(self.line) {
            log.sent(core, &line, delivery);
        }
        if let Some(traced) = self.traced {
            traced.sent(delivery);
        }
    }
}
