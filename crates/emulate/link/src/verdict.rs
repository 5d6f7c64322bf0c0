//! The input and output of a link.

use std::{ops::Range, time::Duration};

use crate::Packet;

/// A packet arriving at a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival<T> {
    /// Its size on the link.
    pub packet: Packet,
    /// A hash of addresses, protocol and ports, for fair queueing.
    pub flow: u64,
    /// Whether it may be marked instead of dropped.
    pub ecn: Ecn,
    /// Caller data that each verdict returns.
    pub tag: T,
}

/// The ECN field of a packet (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// ECT(0), ECT(1), or CE.
    Capable,
    /// Not-ECT: congestion is signalled by a drop.
    #[default]
    NotCapable,
}

/// The fate of consecutive segments of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They reach the receiver together.
    Deliver {
        /// Indices of the segments.
        segments: Range<u32>,
        /// The time of arrival, in the caller's logical time.
        due: Duration,
        /// Modifications in transit.
        treatment: Treatment,
    },
    /// They are dropped.
    Drop {
        /// Indices of the segments.
        segments: Range<u32>,
        /// The cause.
        cause: Cause,
    },
}

/// Modifications of delivered segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Treatment {
    /// Set CE in the ECN field. The verdict then covers one segment.
    pub mark: bool,
    /// Flip one bit of the payload, chosen by these random bits. The verdict then covers one
    /// segment.
    pub corrupt: Option<u64>,
}

/// The cause of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The queue was full.
    Queue,
    /// The queue discipline signalled congestion to the sender.
    Aqm,
    /// Lost in transit.
    Loss,
}
