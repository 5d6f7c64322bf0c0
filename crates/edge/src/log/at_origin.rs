//! What asking origins took of a request's time: the phases of a recording, as this data centre sees them from its side.

use std::{
    io::Write as _,
    sync::{Mutex, PoisonError},
};

use http::client::Trace;

/// What one visitor's requests to origins have taken so far.
#[derive(Debug, Default)]
pub(crate) struct AtOrigin {
    times: Mutex<Option<Times>>,
    /// Who had the answer, if another data centre gave it: one with it in its store, or "origin".
    tier: Mutex<Option<String>>,
}

/// Nanoseconds; what did not happen is absent. Several requests, of which all but the last failed, add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    dns: Option<u64>,
    connect: Option<u64>,
    tls: Option<u64>,
    quic: Option<u64>,
    send: Option<u64>,
    wait: Option<u64>,
}

impl AtOrigin {
    /// Adds a request that has its response's header, or failed now.
    pub(crate) fn add(&self, trace: &Trace, now: u64) {
        let end = trace.final_headers.unwrap_or(now);
        let sent = trace.last_write();
        let span = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
        let took = Times {
            dns: trace.dns,
            connect: trace.connect,
            tls: trace.tls,
            quic: trace.quic,
            send: span(trace.first_write(), sent),
            wait: span(sent, Some(end)),
        };
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        *times = Some(times.unwrap_or_default().and(took));
    }

    /// Another data centre gave the answer, which it has from here.
    pub(crate) fn came_from(&self, tier: &str) {
        *self.tier.lock().unwrap_or_else(PoisonError::into_inner) = Some(tier.to_owned());
    }

    /// From where another data centre gave the answer, if one did.
    pub(crate) fn tier(&self) -> Option<String> {
        self.tier.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What they took, if an origin was asked.
    pub(crate) fn times(&self) -> Option<Times> {
        *self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Times {
    fn and(self, more: Self) -> Self {
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

    /// Writes them as fields of a line, and beside them when the response's header was there: more than their sum, by what this data centre
    /// took itself.
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
                // Writing into memory cannot fail.
                let _ = write!(to, ",\"{name}_ns\":{took}");
            }
        }
        let _ = write!(to, ",\"stated_ns\":{{\"ttfb\":{ttfb}}}");
    }
}
