//! Reasons to reject a result, and reasons to read it with caution.
//!
//! The component that detects a problem creates a [`Doubt`]. Documents contain [`Caveat`]s, from
//! which `valid`, `reasons` and `warnings` are derived.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod words;

/// A problem that makes a result invalid or weakens it.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// The emulator delivered too many packets late.
    LatePackets {
        /// The share of packets that were late.
        share: f64,
        /// The permitted lateness on a short path.
        limit: Duration,
        /// The permitted share of late packets.
        most: f64,
    },
    /// The emulator lost packets that no link dropped.
    OwnDrops {
        /// Number of packets.
        packets: u64,
    },
    /// Programs removed the network device of their host.
    LostDevices {
        /// Number of hosts.
        hosts: u64,
    },
    /// The emulator's byte counters do not balance.
    LostBytes {
        /// Bytes that entered.
        entered: u64,
        /// Bytes that were delivered, dropped or are still in flight.
        accounted: u64,
    },
    /// The byte counters of single links do not balance.
    UnbalancedLinks {
        /// Number of links.
        links: usize,
    },
    /// Requests were due but had not been sent when the run ended.
    RequestsLeftOver {
        /// Requests not sent.
        left: u64,
        /// Requests due.
        due: u64,
    },
    /// Requests started later than scheduled.
    LateRequests {
        /// Their percentage.
        percent: f64,
        /// The least delay among them.
        late: Duration,
        /// The permitted delay.
        limit: Duration,
    },
    /// The load generator used almost all of its core.
    BusyGenerator {
        /// The share of the core that was used.
        share: f64,
        /// The permitted share.
        limit: f64,
        /// The consequence for the figures.
        effect: &'static str,
    },
    /// Requests were not sent because too many were in flight.
    TooManyInFlight {
        /// Number of requests.
        requests: u64,
    },
    /// Requests failed because this machine had no socket for them.
    OutOfSockets {
        /// Number of requests.
        requests: u64,
    },
    /// A reader waited for a processor.
    StarvedReader {
        /// The share of the time spent waiting.
        share: f64,
    },
    /// A server accepted a reader's connection and sent nothing.
    NothingSent {
        /// The server.
        remote: String,
    },
    /// A reader never waited for the network: its own read speed was the limit.
    OwnSpeed,
    /// Late polls of a connection were discarded.
    MissedLooks {
        /// The share of discarded polls.
        share: f64,
    },
    /// The kernel granted a smaller receive buffer than requested.
    SmallerBuffer {
        /// Requested size, bytes.
        asked: u64,
        /// Granted size, bytes.
        given: u64,
    },
    /// Tracing of kernel functions is unavailable.
    NotTraced {
        /// The reason.
        why: String,
        /// The remedy.
        remedy: String,
    },
    /// The listener of the measurement did not accept all connections.
    NotAccepted,
    /// The system could not create more sockets.
    NoSocket {
        /// The error of the system.
        why: String,
    },
    /// The SYN of a connect was retransmitted.
    ConnectSentAgain {
        /// The duration of the connect.
        took: Duration,
    },
    /// The destination reset connections, which freed their ports.
    ResetConnections {
        /// Connections reset.
        reset: u64,
        /// All connections.
        all: u64,
    },
    /// The measuring program waited for a processor.
    SlowedDown {
        /// The share of the time spent waiting.
        share: f64,
    },
    /// Ports were in use before a measurement of ports began.
    PortsTaken {
        /// Ports in use.
        taken: u64,
        /// All ports.
        all: u64,
        /// Ports in `TIME_WAIT`, included in `taken`.
        waiting: u64,
    },
    /// A reader ended before its program completed.
    EndedEarly {
        /// The way it ended: "was interrupted".
        how: &'static str,
        /// The cause, if known.
        why: Option<String>,
    },
    /// A program declares its result invalid without a reason.
    Unexplained,
    /// A run of a sweep failed.
    RunFailed {
        /// The error.
        why: String,
    },
    /// No run of a sweep is valid.
    NoValidRun,
    /// The emulator's own error is too large to judge a claim.
    Undecided {
        /// The claim.
        claim: String,
    },
    /// More than half of a figure may be the emulator's own error.
    MostlyOwnError {
        /// The figure.
        figure: String,
        /// The measured value.
        value: String,
        /// The upper bound of the error.
        error: String,
    },
    /// A run was interrupted, so its claims are not judged.
    NoClaimJudged,
    /// A measurement of an interrupted run has no result.
    NoResult {
        /// The measurement.
        what: String,
        /// The error from reading it.
        why: String,
    },
    /// The output of a program could not be written.
    OutputLost {
        /// The file.
        name: String,
        /// The error of the system.
        why: String,
    },
    /// The middle of a program's output was discarded.
    OutputCut {
        /// The file.
        name: String,
        /// The size of the whole output.
        came: String,
        /// The size kept at each end.
        kept: String,
    },
    /// A transfer has no receipt, so the delivered amount is unknown.
    Unfinished {
        /// The reason.
        why: String,
    },
    /// Hosts did not reply to any ping.
    Silent {
        /// Pairs of sender and target.
        pairs: Vec<[String; 2]>,
    },
    /// Two sides contain the same samples.
    SameSamples {
        /// The first side.
        first: String,
        /// The second side.
        second: String,
    },
    /// No recorded page has as many requests as the requested page.
    OtherPage {
        /// Requests of the requested page.
        asked: u32,
        /// The fewest and the most requests of a recorded page.
        made: [u32; 2],
    },
    /// Events failed and therefore have no latency.
    FailedEvents {
        /// Failed events.
        failed: u64,
        /// All events.
        all: u64,
    },
    /// Samples lack the metric.
    WithoutMetric {
        /// Samples without it.
        without: u64,
        /// All samples.
        all: u64,
        /// The metric.
        metric: String,
    },
    /// There are too few samples even for the median.
    FewSamples {
        /// Number of samples.
        samples: u64,
        /// Effective requests per page view.
        requests: u32,
    },
    /// There are too few samples for the tail of the distribution.
    ThinTail {
        /// Number of samples.
        samples: u64,
        /// The percentile above which fewer than 10 samples remain.
        percentile: f64,
    },
    /// There are too few samples to locate where two distributions cross.
    FewToCross {
        /// The required number of samples.
        least: u64,
    },
    /// A caveat that the recording itself contains, verbatim.
    Recorded(String),
    /// A problem found while reading a file, as a sentence.
    Noticed(String),
    /// A doubt about one part of the result.
    Of {
        /// The part: a side, a host.
        part: String,
        /// The doubt.
        doubt: Box<Self>,
    },
}

/// A doubt in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caveat {
    /// A stable identifier of the kind of doubt, such as "late_packets". It does not change between versions.
    pub kind: String,
    /// The description, as a sentence.
    pub sentence: String,
    /// Whether it invalidates the numbers, which then describe the tool and not the measured system.
    /// Otherwise it weakens them.
    pub invalid: bool,
}

impl Doubt {
    /// The same doubt, restricted to a part of the result.
    #[must_use]
    pub fn of(self, part: impl Into<String>) -> Self {
        Self::Of { part: part.into(), doubt: Box::new(self) }
    }

    /// A stable identifier of the kind of doubt. It does not change between versions.
    pub fn kind(&self) -> &'static str {
        self.nature().0
    }

    /// Whether the numbers describe the tool and not the measured system.
    pub fn invalidates(&self) -> bool {
        self.nature().1 == Effect::Worthless
    }

    fn nature(&self) -> (&'static str, Effect) {
        use Effect::{Weaker, Worthless};
        match self {
            Self::LatePackets { .. } => ("late_packets", Worthless),
            Self::OwnDrops { .. } => ("own_drops", Worthless),
            Self::LostDevices { .. } => ("lost_devices", Worthless),
            Self::LostBytes { .. } => ("lost_bytes", Worthless),
            Self::UnbalancedLinks { .. } => ("unbalanced_links", Worthless),
            Self::RequestsLeftOver { .. } => ("requests_left_over", Worthless),
            Self::LateRequests { .. } => ("late_requests", Worthless),
            Self::BusyGenerator { .. } => ("busy_generator", Worthless),
            Self::TooManyInFlight { .. } => ("too_many_in_flight", Worthless),
            Self::OutOfSockets { .. } => ("out_of_sockets", Worthless),
            Self::StarvedReader { .. } => ("starved_reader", Worthless),
            Self::NothingSent { .. } => ("nothing_sent", Worthless),
            Self::OwnSpeed => ("own_speed", Weaker),
            Self::MissedLooks { .. } => ("missed_looks", Weaker),
            Self::SmallerBuffer { .. } => ("smaller_buffer", Weaker),
            Self::NotTraced { .. } => ("not_traced", Weaker),
            Self::NotAccepted => ("not_accepted", Worthless),
            Self::NoSocket { .. } => ("no_socket", Worthless),
            Self::ConnectSentAgain { .. } => ("connect_sent_again", Worthless),
            Self::ResetConnections { .. } => ("reset_connections", Worthless),
            Self::SlowedDown { .. } => ("slowed_down", Weaker),
            Self::PortsTaken { .. } => ("ports_taken", Weaker),
            Self::EndedEarly { .. } => ("ended_early", Worthless),
            Self::Unexplained => ("unexplained", Worthless),
            Self::RunFailed { .. } => ("run_failed", Worthless),
            Self::NoValidRun => ("no_valid_run", Worthless),
            Self::Undecided { .. } => ("undecided", Worthless),
            Self::MostlyOwnError { .. } => ("mostly_own_error", Worthless),
            Self::NoClaimJudged => ("no_claim_judged", Weaker),
            Self::NoResult { .. } => ("no_result", Weaker),
            Self::OutputLost { .. } => ("output_lost", Weaker),
            Self::OutputCut { .. } => ("output_cut", Weaker),
            Self::Unfinished { .. } => ("unfinished", Weaker),
            Self::Silent { .. } => ("silent", Weaker),
            Self::SameSamples { .. } => ("same_samples", Weaker),
            Self::OtherPage { .. } => ("other_page", Weaker),
            Self::FailedEvents { .. } => ("failed_events", Weaker),
            Self::WithoutMetric { .. } => ("without_metric", Weaker),
            Self::FewSamples { .. } => ("few_samples", Weaker),
            Self::ThinTail { .. } => ("thin_tail", Weaker),
            Self::FewToCross { .. } => ("few_to_cross", Weaker),
            Self::Recorded(_) => ("recorded", Worthless),
            Self::Noticed(_) => ("noticed", Weaker),
            Self::Of { doubt, .. } => doubt.nature(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The numbers describe the tool and not the measured system.
    Worthless,
    /// The numbers are less certain, or cover less, than they seem to.
    Weaker,
}

impl From<&Doubt> for Caveat {
    fn from(doubt: &Doubt) -> Self {
        Self { kind: doubt.kind().to_owned(), sentence: doubt.to_string(), invalid: doubt.invalidates() }
    }
}

impl From<Doubt> for Caveat {
    fn from(doubt: Doubt) -> Self {
        Self::from(&doubt)
    }
}

impl Caveat {
    /// The same caveat, restricted to a part of the result.
    #[must_use]
    pub fn of(mut self, part: impl fmt::Display) -> Self {
        self.sentence = format!("{part}: {}", self.sentence);
        self
    }
}

/// The caveats of a document. The sentences of older versions are converted.
pub fn caveats_of(doubts: &[Caveat], reasons: &[String], warnings: &[String]) -> Vec<Caveat> {
    if !doubts.is_empty() {
        return doubts.to_vec();
    }
    let recorded = reasons.iter().cloned().map(Doubt::Recorded);
    recorded.chain(warnings.iter().cloned().map(Doubt::Noticed)).map(Caveat::from).collect()
}

/// Whether no caveat invalidates the numbers.
pub fn is_valid(caveats: &[Caveat]) -> bool {
    caveats.iter().all(|caveat| !caveat.invalid)
}

/// The sentences of the caveats that invalidate the numbers.
pub fn reasons(caveats: &[Caveat]) -> Vec<String> {
    sentences(caveats, true)
}

/// The sentences of the caveats that weaken the numbers.
pub fn warnings(caveats: &[Caveat]) -> Vec<String> {
    sentences(caveats, false)
}

fn sentences(caveats: &[Caveat], invalid: bool) -> Vec<String> {
    caveats.iter().filter(|caveat| caveat.invalid == invalid).map(|caveat| caveat.sentence.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validity_reasons_and_warnings_follow_from_the_caveats() {
        let doubts = [
            Doubt::OwnSpeed,
            Doubt::OwnDrops { packets: 3 },
            Doubt::Noticed("a line was cut off".to_owned()).of("swift").of("from a"),
        ];
        let caveats: Vec<Caveat> = doubts.iter().map(Caveat::from).collect();
        assert!(!is_valid(&caveats));
        assert_eq!(reasons(&caveats), ["the emulator lost 3 packets that no link dropped"]);
        assert_eq!(warnings(&caveats)[1], "from a: swift: a line was cut off");
        assert!(is_valid(&caveats[..1]) && is_valid(&[]));
        assert_eq!((caveats[2].kind.as_str(), caveats[2].invalid), ("noticed", false));
        let json = serde_json::to_value(&caveats[1]).unwrap();
        assert_eq!((&json["kind"], &json["invalid"]), (&"own_drops".into(), &true.into()));
        assert_eq!(serde_json::from_value::<Caveat>(json).unwrap(), caveats[1]);
        let told = caveats_of(&[], &["late".to_owned()], &["few".to_owned()]);
        assert_eq!((reasons(&told), warnings(&told)), (vec!["late".to_owned()], vec!["few".to_owned()]));
        assert_eq!(caveats_of(&caveats, &[], &[]), caveats);
    }
}
