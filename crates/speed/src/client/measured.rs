//! What a test has seen so far, and what that comes to.

use std::{sync::Arc, time::Duration};

use recording::Sample as Recorded;

use super::{config::Config, line::Line, record, request::Look, transfer::Moved};
use crate::{
    bandwidth::Transfer,
    latency::{During, On, Sample, round_trip},
    limited::Limits,
    plan::Direction,
    responsiveness::Probes,
    result::{Loss, Outcome, Seen},
};

/// A test that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// What it came to.
    pub outcome: Outcome,
    /// Its requests, for a recording.
    pub samples: Vec<Recorded>,
    /// The page of the result where it was left to be kept, or why it was not. None if nobody wanted that, or the test was interrupted.
    pub left: Option<Result<String, String>>,
}

/// A look at the latency while a transfer ran.
pub(crate) struct Probe {
    /// When its request was sent, since the test began.
    pub(crate) sent: Duration,
    pub(crate) on: On,
    pub(crate) look: Look,
}

/// What a test has seen so far.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) loss: Option<Result<Loss, String>>,
    /// How long bodies moved in each direction, all streams together.
    pub(crate) transferring: [Duration; 2],
    transfers: [Vec<Transfer>; 2],
    latencies: Vec<Sample>,
    probes: [Probes; 2],
    recorded: Vec<Recorded>,
}

impl Notes {
    /// A look with the line idle.
    pub(crate) fn looked(&mut self, during: During, on: On, look: &Look) {
        let sent = Duration::from_nanos(look.trace.started);
        self.latencies.push(Sample { at_s: sent.as_secs_f64(), during, on, ms: look.ms() });
        self.recorded.push(record::latency(look, sent, during, on));
    }

    /// The shortest round trip with the line idle so far.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        round_trip(&self.latencies)
    }

    /// A look with the line full.
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
        self.recorded.push(record::latency(&look, sent, during, on));
    }

    /// A transfer.
    pub(crate) fn moved(&mut self, direction: Direction, moved: &Moved) {
        self.transferring[direction as usize] += moved.streaming;
        self.transfers[direction as usize].push(moved.transfer);
        let size = moved.transfer.bytes;
        self.recorded.extend(moved.requests.iter().map(|request| record::transfer(request, direction, size)));
    }

    /// What all of it comes to.
    pub(crate) fn conclude(
        self,
        config: &Config,
        line: &Arc<Line>,
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
