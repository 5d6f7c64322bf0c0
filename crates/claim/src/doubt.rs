//! Everything that a result must admit: what makes it worthless, and what weakens it. Pure.
//!
//! The code that finds it out makes a [`Doubt`]; documents hold [`Caveat`]s, and their `valid`, `reasons` and `warnings` follow from
//! these alone.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod words;

/// A reason not to trust a result, or not all of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// The emulator delivered packets later than it may.
    LatePackets {
        /// The share of packets that were late.
        share: f64,
        /// How late one may be on a short path.
        limit: Duration,
        /// The share that may be late.
        most: f64,
    },
    /// The emulator lost packets that no link dropped.
    OwnDrops {
        /// How many.
        packets: u64,
    },
    /// Programs took the network device of their host away.
    LostDevices {
        /// Of how many hosts.
        hosts: u64,
    },
    /// The emulator's account of bytes does not add up.
    LostBytes {
        /// Bytes that entered.
        entered: u64,
        /// Bytes whose fate is known.
        accounted: u64,
    },
    /// The account of single links does not add up.
    UnbalancedLinks {
        /// How many.
        links: usize,
    },
    /// Requests were due and not sent when the time was up.
    RequestsLeftOver {
        /// How many.
        left: u64,
        /// How many were due.
        due: u64,
    },
    /// Requests started later than their schedule had them.
    LateRequests {
        /// How many percent of them.
        percent: f64,
        /// How late these were at least.
        late: Duration,
        /// How late they may be.
        limit: Duration,
    },
    /// The generator of load had no processor time left.
    BusyGenerator {
        /// The share of its core that it used.
        share: f64,
        /// The share that it may use.
        limit: f64,
        /// What follows for the figures.
        effect: &'static str,
    },
    /// Requests were not sent because too many were in flight.
    TooManyInFlight {
        /// How many.
        requests: u64,
    },
    /// Requests failed because this machine had no socket for them.
    OutOfSockets {
        /// How many.
        requests: u64,
    },
    /// A reader waited for a processor.
    StarvedReader {
        /// In this share of the time.
        share: f64,
    },
    /// A server took a reader's connection and sent nothing.
    NothingSent {
        /// The server.
        remote: String,
    },
    /// A reader never had to wait for the network.
    OwnSpeed,
    /// Looks at a connection came too late and were left out.
    MissedLooks {
        /// Which share of them.
        share: f64,
    },
    /// The kernel made a receive buffer smaller than it was asked for.
    SmallerBuffer {
        /// Bytes that were asked for.
        asked: u64,
        /// Bytes that it became.
        given: u64,
    },
    /// The kernel's functions could not be traced.
    NotTraced {
        /// Why.
        why: String,
        /// What would help.
        remedy: String,
    },
    /// A listener of our own did not accept all connections.
    NotAccepted,
    /// The system gave no more sockets.
    NoSocket {
        /// What the system said.
        why: String,
    },
    /// The first packet of a connect was sent again.
    ConnectSentAgain {
        /// How long the connect took.
        took: Duration,
    },
    /// The destination reset connections, so that their ports were free again.
    ResetConnections {
        /// How many.
        reset: u64,
        /// Of how many.
        all: u64,
    },
    /// What measured waited for a processor.
    SlowedDown {
        /// In this share of the time.
        share: f64,
    },
    /// Ports were taken before a measurement of ports began.
    PortsTaken {
        /// How many.
        taken: u64,
        /// Of how many.
        all: u64,
        /// How many of these were in `TIME_WAIT`.
        waiting: u64,
    },
    /// A reader ended before its programme did.
    EndedEarly {
        /// "was interrupted".
        how: &'static str,
        /// The cause, if it is known.
        why: Option<String>,
    },
    /// A program calls its result invalid and does not say why.
    Unexplained,
    /// A run of a sweep failed.
    RunFailed {
        /// Why.
        why: String,
    },
    /// No run of a sweep is valid.
    NoValidRun,
    /// Whether a claim holds depends on how much of its figures is the emulator's own error.
    Undecided {
        /// The claim.
        claim: String,
    },
    /// More than half of a figure may be the emulator's own error.
    MostlyOwnError {
        /// The figure.
        figure: String,
        /// What was measured.
        value: String,
        /// The error, at most.
        error: String,
    },
    /// A run was ended before its time, and its claims are not judged.
    NoClaimJudged,
    /// A measurement of a run that was ended before its time has no result.
    NoResult {
        /// The measurement.
        what: String,
        /// The error that reading it gave.
        why: String,
    },
    /// Output of a program could not be written.
    OutputLost {
        /// The file.
        name: String,
        /// What the system said.
        why: String,
    },
    /// The middle of a program's output was left out.
    OutputCut {
        /// The file.
        name: String,
        /// How much came.
        came: String,
        /// How much of each end was kept.
        kept: String,
    },
    /// A transfer has no receipt, so that it is not known what arrived.
    Unfinished {
        /// Why.
        why: String,
    },
    /// Hosts answered no ping of others.
    Silent {
        /// Who asked whom.
        pairs: Vec<[String; 2]>,
    },
    /// Two sides hold the same samples.
    SameSamples {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// The page that was asked for is not among those of the recordings.
    OtherPage {
        /// Requests of the page that was asked for.
        asked: u32,
        /// The fewest and the most requests of recorded pages.
        made: [u32; 2],
    },
    /// Events failed, so that they have no latency.
    FailedEvents {
        /// How many.
        failed: u64,
        /// Of how many.
        all: u64,
    },
    /// Samples do not carry the metric.
    WithoutMetric {
        /// How many.
        without: u64,
        /// Of how many.
        all: u64,
        /// The metric.
        metric: String,
    },
    /// There are too few samples even for the median.
    FewSamples {
        /// How many there are.
        samples: u64,
        /// Requests that a person waits for.
        requests: u32,
    },
    /// There are too few samples for the tail that people meet.
    ThinTail {
        /// How many there are.
        samples: u64,
        /// The percentile above which fewer than 10 decide.
        percentile: f64,
    },
    /// There are too few samples to say where two sides cross.
    FewToCross {
        /// The least number that says it.
        least: u64,
    },
    /// What a recording says of itself, in its own words: whatever measured may have shaped the values.
    Recorded(String),
    /// What was noticed while a file was read, as a sentence.
    Noticed(String),
    /// A doubt about a part of the result.
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
    /// Which doubt it is, in a word that stays the same from version to version: "late_packets".
    pub kind: String,
    /// What it is, as a sentence.
    pub sentence: String,
    /// Whether it makes the numbers worthless: they describe the tool and not what it measured. Otherwise it weakens them.
    pub invalid: bool,
}

impl Doubt {
    /// The same about a part of the result.
    #[must_use]
    pub fn of(self, part: impl Into<String>) -> Self {
        Self::Of { part: part.into(), doubt: Box::new(self) }
    }

    /// Which doubt it is, in a word that stays the same from version to version.
    pub fn kind(&self) -> &'static str {
        self.nature().0
    }

    /// Whether it makes the numbers worthless: they describe the tool and not what it measured.
    pub fn invalidates(&self) -> bool {
        self.nature().1 == Effect::Worthless
    }

    /// Its kind, and what it does to the numbers.
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

/// What a doubt does to the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// They describe the tool and not what it measured.
    Worthless,
    /// They are less sure, or about less, than it seems.
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
    /// The same about a part of the result.
    #[must_use]
    pub fn of(mut self, part: impl fmt::Display) -> Self {
        self.sentence = format!("{part}: {}", self.sentence);
        self
    }
}

/// What a document says against itself: its caveats, or where it is of a version that has none, its sentences.
pub fn caveats_of(doubts: &[Caveat], reasons: &[String], warnings: &[String]) -> Vec<Caveat> {
    if !doubts.is_empty() {
        return doubts.to_vec();
    }
    let recorded = reasons.iter().cloned().map(Doubt::Recorded);
    recorded.chain(warnings.iter().cloned().map(Doubt::Noticed)).map(Caveat::from).collect()
}

/// Whether nothing makes the numbers worthless.
pub fn is_valid(caveats: &[Caveat]) -> bool {
    caveats.iter().all(|caveat| !caveat.invalid)
}

/// Why the numbers are worthless, as sentences; empty if they are not.
pub fn reasons(caveats: &[Caveat]) -> Vec<String> {
    sentences(caveats, true)
}

/// What weakens the numbers, as sentences.
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
        // A doubt about a part is of the same kind.
        assert_eq!((caveats[2].kind.as_str(), caveats[2].invalid), ("noticed", false));
        let json = serde_json::to_value(&caveats[1]).unwrap();
        assert_eq!((&json["kind"], &json["invalid"]), (&"own_drops".into(), &true.into()));
        assert_eq!(serde_json::from_value::<Caveat>(json).unwrap(), caveats[1]);
        // A document without kinds is read as one that has them.
        let told = caveats_of(&[], &["late".to_owned()], &["few".to_owned()]);
        assert_eq!((reasons(&told), warnings(&told)), (vec!["late".to_owned()], vec!["few".to_owned()]));
        assert_eq!(caveats_of(&caveats, &[], &[]), caveats);
    }
}
