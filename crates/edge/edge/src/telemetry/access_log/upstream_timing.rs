//! Duration of origin requests: the phases of a recording, as measured by this data centre.

use std::{
    io::Write as _,
    sync::{Mutex, PoisonError},
};

use http_stack::client::Trace;

#[derive(Debug, Default)]
pub(crate) struct UpstreamTiming {
    times: Mutex<Option<PhaseTimes>>,
    source: Mutex<Option<String>>,
}

/// Values are nanoseconds. Phases that did not occur are absent. Retries after failures are summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PhaseTimes {
    dns: Option<u64>,
    connect: Option<u64>,
    tls: Option<u64>,
    quic: Option<u64>,
    send: Option<u64>,
    wait: Option<u64>,
}

impl UpstreamTiming {
    pub(crate) fn add(&self, trace: &Trace, now: u64) {
        let end = trace.final_headers.unwrap_or(now);
        let sent = trace.last_write();
        let span = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
        let took = PhaseTimes {
            dns: trace.dns,
            connect: trace.connect,
            tls: trace.tls,
            quic: trace.quic,
            send: span(trace.first_write(), sent),
            wait: span(sent, Some(end)),
        };
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        *times = Some(times.unwrap_or_default().merge(took));
    }

    pub(crate) fn set_source(&self, tier: &str) {
        *self.source.lock().unwrap_or_else(PoisonError::into_inner) = Some(tier.to_owned());
    }

    pub(crate) fn source(&self) -> Option<String> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn times(&self) -> Option<PhaseTimes> {
        *self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PhaseTimes {
    fn merge(self, more: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            _ => one.or(other),
        };
        Self {
            dns: sum(self.dns, more.dns),
            connect: sum(self.connect, more.connect),
            tls: sum(self.tls, more.tls),
            quic: sum(self.quic, more.quic),
            send: sum(self.send, more.send),
            wait: sum(self.wait, more.wait),
        }
    }

    /// `ttfb` exceeds the sum of the phases by the processing time of this data centre.
    pub(super) fn write(&self, ttfb: u64, to: &mut Vec<u8>) {
        let Self { dns, connect, tls, quic, send, wait } = *self;
        let phases = [
            ("dns", dns),
            ("connect", connect),
            ("tls", tls),
            ("quic", quic),
            ("send", send),
            ("wait", wait),
        ];
        for (name, took) in phases {
            if let Some(took) = took {
                let _ = write!(to, ",\"{name}_ns\":{took}");
            }
        }
        let _ = write!(to, ",\"stated_ns\":{{\"ttfb\":{ttfb}}}");
    }
}
