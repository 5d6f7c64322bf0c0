//! The input and output of a link.

use std::{ops::Range, time::Duration};

use crate::Packet;

/// A packet that arrives at a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival<T> {
    /// Its size on the link.
    pub packet: Packet,
    /// A hash of the connection that it belongs to: addresses, protocol and ports. Fair queueing tells flows apart by
    /// it.
    pub flow: u64,
    /// Whether it may be marked instead of dropped.
    pub ecn: Ecn,
    /// Data of the caller that comes back with each verdict.
    pub tag: T,
}

/// The ECN field of a packet (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// ECT(0), ECT(1), or CE already.
    Capable,
    /// Not-ECT: congestion is told to it by a drop.
    #[default]
    NotCapable,
}

/// What becomes of a run of a packet's segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They reach the receiver together.
    Deliver {
        /// Which segments of the packet.
        segments: Range<u32>,
        /// When, in the caller's logical time.
        due: Duration,
        /// What happens to them in transit.
        treatment: Treatment,
    },
    /// They do not.
    Drop {
        /// Which segments of the packet.
        segments: Range<u32>,
        /// Why.
        cause: Cause,
    },
}

/// What happens to segments that are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Treatment {
    /// Set the ECN field to CE: congestion was experienced. The verdict then covers one segment.
    pub mark: bool,
    /// Flip one bit of the payload, chosen by these random bits. The verdict then covers one segment.
    pub corrupt: Option<u64>,
}

/// Why segments are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The queue was full.
    Queue,
    /// The queue's discipline asked the sender to slow down.
    Aqm,
    /// Lost in transit.
    Loss,
}
