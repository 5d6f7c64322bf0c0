//! What goes into a link and what comes out of it.

use std::{ops::Range, time::Duration};

use crate::Packet;

/// A packet that arrives at a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival<T> {
    /// What it is on the wire.
    pub packet: Packet,
    /// A hash of the connection that it belongs to: addresses, protocol and ports. Fair queueing tells flows apart by
    /// it.
    pub flow: u64,
    /// Whether it may be marked instead of dropped.
    pub ecn: Ecn,
    /// What the caller wants back with each verdict.
    pub tag: T,
}

/// What a packet's ECN field says about its sender (RFC 3168).
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
        /// What is done to them on the way.
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

/// What is done to segments that are delivered.
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
    /// Lost on the wire.
    Loss,
}
