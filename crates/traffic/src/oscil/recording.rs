//! What a reader saw, as it is kept in a file: per second, per sample, and in sum.

use std::{collections::BTreeMap, net::SocketAddr};

use claim::Caveat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::{Error, counters::Counters, timeline::Sample, trace::Bin};

use super::programme::{Kind, Programme};

/// A reader's whole story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recording {
    /// [`Self::SCHEMA`].
    pub schema: String,
    /// What it was measured with.
    pub conditions: Conditions,
    /// How it ended.
    pub ended: Ended,
    /// What the system said, if the connection was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_why: Option<String>,
    /// Whether the figures are the connection's: false if the reader itself was kept from reading.
    pub valid: bool,
    /// Why not, as sentences. Empty if it is valid.
    pub reasons: Vec<String>,
    /// What is to be known before the figures are believed.
    pub warnings: Vec<String>,
    /// Reasons and warnings with a word for each kind. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// All of it in a few numbers.
    pub summary: Summary,
    /// Each time a phase was gone through.
    pub phases: Vec<Passage>,
    /// Each second, counted from the beginning of its phase.
    pub seconds: Vec<Second>,
    /// What the network namespace has counted meanwhile: those that its kernel has of [`Self::COUNTERS`].
    pub counters: Counters,
    /// How long the kernel's search for room in full receive buffers took, by function. Of the whole machine. Absent if it
    /// was not traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<BTreeMap<String, Vec<Bin>>>,
    /// Looks at the connection.
    pub samples: Vec<Sample>,
}

/// What a recording was measured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Version of longhaul.
    pub version: String,
    /// The reader's kernel.
    pub kernel: String,
    /// The reader's end.
    pub local: SocketAddr,
    /// The sender's end.
    pub remote: SocketAddr,
    /// Round trip as the opening of the connection measured it, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// The settings that bear on a receiver, by their names as in `sysctl`. One that this kernel does not have is absent.
    pub settings: BTreeMap<String, String>,
    /// What the reader was to do.
    pub programme: Programme,
    /// For how long, if not as long as the programme takes, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_s: Option<f64>,
    /// From one look to the next, ms.
    pub interval_ms: f64,
    /// The most that was read at once, bytes.
    pub buffer_bytes: u64,
    /// `SO_RCVBUF` as it was asked for, bytes. The kernel doubles it, and switches its own tuning off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_bytes: Option<u64>,
}

/// How a reader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Its programme was over.
    Complete,
    /// Somebody asked it to.
    Interrupted,
    /// The sender had no more.
    PeerClosed,
    /// The connection broke.
    ConnectionLost,
}

/// A second of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// When it began, s.
    pub t_s: f64,
    /// How long it was, s: 1, or what was left of its phase.
    pub duration_s: f64,
    /// Bytes that the application read.
    pub bytes: u64,
    /// Bytes that came from the network in order, by the samples around its ends. Absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// Bytes that came from the network in whatever order, by the same samples: segments with data, each with as much as all
    /// of them had on average. What comes in order after a lost segment has been repaired does not count a second time, so
    /// this is never faster than the path. Absent where there are no samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_bytes: Option<u64>,
    /// Its phase.
    pub phase: String,
}

/// One time that a phase was gone through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// The phase.
    pub phase: String,
    /// What its rate is like.
    pub kind: Kind,
    /// When it began, s.
    pub t_s: f64,
    /// How long it was, s.
    pub duration_s: f64,
    /// Bytes that the application read.
    pub bytes: u64,
    /// The longest time in which the application would have read and there was nothing, ms. The time before the first
    /// byte of all does not count, unless the phase ended before it came.
    pub max_pause_ms: f64,
    /// In a fast phase after another one: the time until the network was as fast again, s. See [`Summary::restart_s`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_s: Option<f64>,
}

/// A reader's story in a few numbers. What could not be measured is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Bytes that the application read.
    pub bytes: u64,
    /// From the connection to the end, s.
    pub duration_s: f64,
    /// Until the first byte, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<f64>,
    /// What the application read in the slowest and in the fastest second of the unlimited phases. What is left of a phase
    /// after its last whole second counts if it is a tenth of a second or longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mbps: Option<[f64; 2]>,
    /// What came from the network in the same seconds, in whatever order: without what had waited in the receive buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_mbps: Option<[f64; 2]>,
    /// What the application read in the limited phases, mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_mbps: Option<f64>,
    /// After a phase that was not unlimited: from the beginning of the next unlimited one to the beginning of the first
    /// whole second in it in which 90 % of the best came from the network, s. The best is that of all whole seconds in
    /// unlimited phases. Median of those that got there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_s: Option<f64>,
    /// The longest of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_max_s: Option<f64>,
    /// How many got there.
    pub restarts: usize,
    /// How many did not before their phase was over.
    pub restarts_missed: usize,
    /// The longest time in which the application would have read and there was nothing, ms.
    pub max_pause_ms: f64,
    /// The largest window that this end has advertised, bytes. Since Linux 6.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u32>,
    /// The largest window that it would have advertised, had the buffer been empty, bytes (`rcv_ssthresh`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_limit_bytes: Option<u32>,
    /// The largest receive buffer, kernel's metadata included, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_bytes: Option<u32>,
    /// The most bytes that have waited to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u32>,
    /// Memory of the queue over bytes in it, where those are 64 KiB or more; median of the samples. What came out of order
    /// is in the memory only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_ratio: Option<f64>,
    /// Least round trip, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_ms: Option<f64>,
    /// Segments that came out of order: each loss on the way makes some. Since Linux 5.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<u32>,
    /// Segments sent again by this network namespace. The sender's, if it is on another machine, are not among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Packets that the socket has dropped. Since Linux 4.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u32>,
}

impl Recording {
    /// What this version writes.
    pub const SCHEMA: &'static str = "longhaul.tcp.oscil/1";

    /// The counters that bear on a receiver whose buffer fills.
    pub const COUNTERS: [&'static str; 17] = [
        "BeyondWindow",
        "OfoPruned",
        "PruneCalled",
        "RcvPruned",
        "RetransSegs",
        "TCPBacklogCoalesce",
        "TCPBacklogDrop",
        "TCPDSACKOldSent",
        "TCPFromZeroWindowAdv",
        "TCPOFODrop",
        "TCPOFOQueue",
        "TCPRcvCoalesce",
        "TCPRcvCollapsed",
        "TCPRcvQDrop",
        "TCPToZeroWindowAdv",
        "TCPWantZeroWindowAdv",
        "TCPZeroWindowDrop",
    ];

    /// Reads what was written. `name` is what the file is called in an error.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let refused = |why: &dyn std::fmt::Display| Error::Input {
            what: format!("{name} is not a recording of an oscillating reader: {why}"),
            remedy: "`longhaul tcp oscil read HOST --output FILE.json` writes one".to_owned(),
        };
        let recording: Self = serde_json::from_str(text).map_err(|error| refused(&error))?;
        if recording.schema != Self::SCHEMA {
            return Err(refused(&format!(
                "its schema is \"{}\", not \"{}\"",
                recording.schema,
                Self::SCHEMA
            )));
        }
        Ok(recording)
    }

    /// Whether the programme was gone through to its end, and the figures are the connection's.
    pub fn is_whole(&self) -> bool {
        self.ended == Ended::Complete && self.valid
    }
}
