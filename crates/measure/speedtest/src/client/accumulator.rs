//! The measurements of a running test, and its result.

use std::{sync::Arc, time::Duration};

use recording::Sample as Recorded;

use super::{config::Config, request::Look, session::TestSession, to_recording, transfer::Moved};
use crate::{
    bandwidth::Transfer,
    bottleneck::Limits,
    latency::{During, On, Sample, round_trip},
    plan::Direction,
    responsiveness::Probes,
    result::{Loss, Outcome, Seen},
};

/// A completed test.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The result.
    pub outcome: Outcome,
    /// The requests, for a recording.
    pub samples: Vec<Recorded>,
    /// The page of the stored result, or the reason why it was not stored. `None` if not requested,
    /// or interrupted.
    pub left: Option<Result<String, String>>,
}

pub(crate) struct Probe {
    pub(crate) sent: Duration,
    pub(crate) on: On,
    pub(crate) look: Look,
}

#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) loss: Option<Result<Loss, String>>,
    /// Total time in each direction, summed over all streams.
    pub(crate) transferring: [Duration; 2],
    transfers: [Vec<Transfer>; 2],
    latencies: Vec<Sample>,
    probes: [Probes; 2],
    recorded: Vec<Recorded>,
}

impl Notes {
    pub(crate) fn looked(&mut self, during: During, on: On, look: &Look) {
        let sent = Duration::from_nanos(look.trace.started);
        self.latencies.push(Sample { at_s: sent.as_secs_f64(), during, on, ms: look.ms() });
        self.recorded.push(to_recording::latency(look, sent, during, on));
    }

    pub(crate) fn round_trip(&self) -> Option<Duration> {
        round_trip(&self.latencies)
    }

    pub(crate) fn probed(&mut self, direction: Direction, probe: Probe) {
        let Probe { sent, on, look } = probe;
        let during = during(direction);
        let probes = &mut self.probes[direction as usize];
        match on {
            On::Same => probes.own.push(look.took),
            On::Separate => {
                let nanos = Duration::from_nanos;
                probes.connect.extend(look.trace.connect.or(look.trace.quic).map(nanos));
                probes.tls.extend(look.trace.tls.map(nanos));
                probes.http.push(look.took);
            }
        }
        self.latencies.push(Sample { at_s: sent.as_secs_f64(), during, on, ms: look.ms() });
        self.recorded.push(to_recording::latency(&look, sent, during, on));
    }

    pub(crate) fn moved(&mut self, direction: Direction, moved: &Moved) {
        self.transferring[direction as usize] += moved.streaming;
        self.transfers[direction as usize].push(moved.transfer);
        let size = moved.transfer.bytes;
        self.recorded
            .extend(moved.requests.iter().map(|request| to_recording::transfer(request, direction, size)));
    }

    pub(crate) fn conclude(
        self,
        config: &Config,
        line: &Arc<TestSession>,
        started: String,
        limits: [Option<Limits>; 2],
        interrupted: bool,
    ) -> Measurement {
        let seen = Seen {
            url: config.origin.to_string(),
            started,
            took_s: line.now().as_secs_f64(),
            plan: config.plan.name.clone(),
            protocol: line.protocol.to_owned(),
            streams: config.streams,
            server: line.remote.map(|remote| remote.to_string()),
            transfers: self.transfers,
            limits,
            latencies: self.latencies,
            probes: self.probes,
            loss: self.loss,
            interrupted,
        };
        Measurement { outcome: seen.conclude(), samples: self.recorded, left: None }
    }
}

pub(crate) fn during(direction: Direction) -> During {
    match direction {
        Direction::Download => During::Download,
        Direction::Upload => During::Upload,
    }
}
