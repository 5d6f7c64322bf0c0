//! The recording of a reader as stored in a file: seconds, samples, and a summary.

use std::{collections::BTreeMap, net::SocketAddr};

use claim::Caveat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::{Error, counters::Counters, timeline::Sample, trace::Bin};

use super::pattern::{Kind, Programme};

/// The complete recording of a reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recording {
    /// [`Self::SCHEMA`].
    pub schema: String,
    /// Conditions of the measurement.
    pub conditions: Conditions,
    /// Reason for the end.
    pub ended: Ended,
    /// The system error if the connection was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_why: Option<String>,
    /// Whether the figures describe the connection; false if the reader itself was the bottleneck.
    pub valid: bool,
    /// Reasons why the recording is invalid, as sentences.
    pub reasons: Vec<String>,
    /// Warnings about the figures, as sentences.
    pub warnings: Vec<String>,
    /// Reasons and warnings with a reason identifier for each. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Caveat>,
    /// Summary of the recording.
    pub summary: Summary,
    /// All executed phases.
    pub phases: Vec<Passage>,
    /// All seconds, counted from the start of each phase.
    pub seconds: Vec<Second>,
    /// Increments of the counters of the network namespace, for those in [`Self::COUNTERS`] that the kernel
    /// provides.
    pub counters: Counters,
    /// Durations of the kernel functions that prune full receive buffers, for the whole machine. Absent
    /// without tracing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<BTreeMap<String, Vec<Bin>>>,
    /// Samples of the connection.
    pub samples: Vec<Sample>,
}

/// The conditions of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Version of longhaul.
    pub version: String,
    /// The reader's kernel.
    pub kernel: String,
    /// Address of the reader.
    pub local: SocketAddr,
    /// Address of the sender.
    pub remote: SocketAddr,
    /// Round-trip time of the TCP handshake, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// Kernel settings that affect a receiver, by `sysctl` name. Settings that this kernel does not have
    /// are absent.
    pub settings: BTreeMap<String, String>,
    /// The reader's programme.
    pub programme: Programme,
    /// The duration if it differs from that of the programme, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_s: Option<f64>,
    /// The sampling interval, ms.
    pub interval_ms: f64,
    /// The read size, bytes.
    pub buffer_bytes: u64,
    /// The requested `SO_RCVBUF`, bytes. The kernel doubles it and disables autotuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_bytes: Option<u64>,
}

/// The reason why a reader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The programme was completed.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// The sender closed the connection.
    PeerClosed,
    /// The connection was lost.
    ConnectionLost,
}

/// A second of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// Start of the second, s.
    pub t_s: f64,
    /// Duration, s: 1, or the rest of the phase.
    pub duration_s: f64,
    /// Bytes that the application read.
    pub bytes: u64,
    /// In-order bytes received from the network, interpolated from samples. Absent without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// Bytes received from the network in any order, interpolated from samples: the number of data segments
    /// times their average size. Out-of-order data counts when it arrives and not when the gap is repaired,
    /// so this rate never exceeds that of the path. Absent without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_bytes: Option<u64>,
    /// The phase.
    pub phase: String,
}

/// One execution of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// The phase.
    pub phase: String,
    /// The kind of its rate.
    pub kind: Kind,
    /// Start of the phase, s.
    pub t_s: f64,
    /// Duration, s.
    pub duration_s: f64,
    /// Bytes that the application read.
    pub bytes: u64,
    /// Longest time that the application waited for data, ms. The wait for the first byte of the connection
    /// is excluded, unless the phase ended before it arrived.
    pub max_pause_ms: f64,
    /// In a fast phase after another phase: time until the network rate recovered, s. See
    /// [`Summary::restart_s`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_s: Option<f64>,
}

/// A summary of a recording. Values that were not measured are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Bytes that the application read.
    pub bytes: u64,
    /// Time from the connection to the end, s.
    pub duration_s: f64,
    /// Time to the first byte, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<f64>,
    /// Lowest and highest read rate of the application over one second in unlimited phases. The fraction of
    /// a second at the end of a phase counts if it is at least 0.1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mbps: Option<[f64; 2]>,
    /// Lowest and highest network rate in the same seconds, in any order, without data from the receive
    /// buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_mbps: Option<[f64; 2]>,
    /// Mean read rate of the application in limited phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_mbps: Option<f64>,
    /// After a phase that is not unlimited: time from the start of the next unlimited phase to the start of
    /// its first second in which the network rate reached 90 % of the best, s. The best is the maximum of
    /// all whole seconds in unlimited phases. Median of all recoveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_s: Option<f64>,
    /// Maximum of the recovery times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_max_s: Option<f64>,
    /// Number of recoveries.
    pub restarts: usize,
    /// Number of phases that ended before the rate recovered.
    pub restarts_missed: usize,
    /// Longest time that the application waited for data, ms.
    pub max_pause_ms: f64,
    /// Largest window that the reader advertised, bytes. Since Linux 6.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u32>,
    /// Largest window that the reader would have advertised with an empty buffer, bytes (`rcv_ssthresh`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_limit_bytes: Option<u32>,
    /// Largest receive buffer including kernel metadata, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_bytes: Option<u32>,
    /// Maximum length of the receive queue, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u32>,
    /// Memory of the receive queue divided by its bytes, for queues of at least 64 KiB; median of the
    /// samples. Out-of-order data is part of the memory only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_ratio: Option<f64>,
    /// Minimum round-trip time, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_ms: Option<f64>,
    /// Segments that arrived out of order. Each loss on the path causes some. Since Linux 5.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<u32>,
    /// Segments retransmitted in this network namespace. Excludes retransmissions of a sender on
    /// another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Packets dropped by the socket. Since Linux 4.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<u32>,
}

impl Recording {
    /// The schema of this version.
    pub const SCHEMA: &'static str = "longhaul.tcp.oscil/1";

    /// Counters related to full receive buffers.
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

    /// Parses a recording. `name` is the file name for errors.
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

    /// Whether the programme was completed and the figures are valid.
    pub fn is_whole(&self) -> bool {
        self.ended == Ended::Complete && self.valid
    }
}
