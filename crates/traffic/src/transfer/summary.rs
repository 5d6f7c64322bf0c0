//! What a transfer comes to, as the sender knows it from its own kernel and the server's receipt.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::nanos;
use super::{
    Sending,
    telemetry::{Memory, Telemetry},
    wire::Receipt,
};

/// A transfer that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Always "longhaul.transfer/1".
    pub schema: String,
    /// The server's address.
    pub server: SocketAddr,
    /// "tcp" or "mptcp": what was asked for.
    pub protocol: String,
    /// Whether MPTCP was asked for and became TCP.
    pub fell_back: bool,
    /// The congestion control. Absent if the kernel did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Why there is no receipt, so that it is not known what arrived. Absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Bytes handed to the sender's kernel.
    pub bytes_sent: u64,
    /// Bytes that the server counted. Absent without a receipt, as are all figures of the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<u64>,
    /// Sent less received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_lost: Option<u64>,
    /// Bytes that arrived as something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_bad: Option<u64>,
    /// Bytes that the server's kernel had not acknowledged when last looked at. Only without a receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_unacknowledged: Option<u64>,
    /// From the beginning of sending to the server's receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_s: Option<f64>,
    /// What arrived before this, since the server was ready, does not count for `duration_s` and `goodput_mbps`. Absent if
    /// all counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_s: Option<f64>,
    /// From the first arrival at the server that counts to the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Bits that count, received over that time. Absent for what arrived all at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_mbps: Option<f64>,
    /// The longest time without any arrival between the first and the last. Absent for what arrived all at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
    /// What the server received in each interval since it was ready, in order and without gaps.
    pub intervals: Vec<Interval>,
    /// The most subflows at the same time. Absent without MPTCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subflows: Option<u64>,
    /// Segments that the sender's kernel sent again. Absent if it did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// The least round-trip time that the sender's kernel saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_min_ms: Option<f64>,
    /// Memory that the sender's kernel held for what was written and not acknowledged. Absent if it did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// A time without any arrival.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// How long it was.
    pub longest_s: f64,
    /// When it began, since the server was ready.
    pub at_s: f64,
}

/// What arrived in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// When it began, since the server was ready.
    pub t_s: f64,
    /// Bytes that arrived in it.
    pub bytes: u64,
}

impl Summary {
    /// Whether everything arrived as it was sent.
    pub fn is_whole(&self) -> bool {
        self.bytes_lost == Some(0) && self.bytes_bad == Some(0)
    }

    /// `receipt` and when it came, in nanoseconds since sending began; or why there is none.
    pub(super) fn of(
        server: SocketAddr,
        sending: &Sending,
        sent: u64,
        telemetry: Telemetry,
        receipt: Result<(Receipt, u64), String>,
    ) -> Self {
        let unfinished = Self {
            schema: SCHEMA.to_owned(),
            server,
            protocol: sending.protocol.name().to_owned(),
            fell_back: telemetry.fell_back,
            congestion: telemetry.congestion,
            unfinished: None,
            bytes_sent: sent,
            bytes_received: None,
            bytes_lost: None,
            bytes_bad: None,
            bytes_unacknowledged: None,
            took_s: None,
            omitted_s: (!sending.omit.is_zero()).then_some(sending.omit.as_secs_f64()),
            duration_s: None,
            goodput_mbps: None,
            stall: None,
            intervals: Vec::new(),
            subflows: telemetry.subflows,
            retransmits: telemetry.retransmits,
            rtt_min_ms: telemetry.rtt_min_us.map(|rtt| f64::from(rtt) / 1e3),
            memory: telemetry.memory,
        };
        match receipt {
            Ok((receipt, took)) => {
                Self { took_s: Some(seconds(took)), ..unfinished }.finished(&receipt, nanos(sending.omit))
            }
            Err(why) => Self {
                unfinished: Some(why),
                bytes_unacknowledged: Some(sent.saturating_sub(telemetry.acknowledged)),
                ..unfinished
            },
        }
    }

    fn finished(self, receipt: &Receipt, omit: u64) -> Self {
        let times = receipt.first_ns.zip(receipt.last_ns);
        let duration_s = times.map(|(first, last)| seconds(last.saturating_sub(first.max(omit))));
        let counted = receipt.bytes.saturating_sub(receipt.bytes_omitted);
        let stall = receipt.stall_ns.zip(receipt.stall_at_ns);
        let starts = (0..).map(|index: u64| seconds(index.saturating_mul(receipt.interval_ns)));
        let intervals = starts.zip(&receipt.intervals).map(|(t_s, &bytes)| Interval { t_s, bytes });
        Self {
            bytes_received: Some(receipt.bytes),
            bytes_lost: Some(self.bytes_sent.saturating_sub(receipt.bytes)),
            bytes_bad: Some(receipt.bytes_bad),
            duration_s,
            goodput_mbps: duration_s
                .filter(|&duration| duration > 0.0)
                .map(|duration| megabits(counted) / duration),
            stall: stall.map(|(longest, at)| Stall { longest_s: seconds(longest), at_s: seconds(at) }),
            intervals: intervals.collect(),
            ..self
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
fn megabits(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / 1e6
}

/// The version of the summary.
const SCHEMA: &str = "longhaul.transfer/1";
