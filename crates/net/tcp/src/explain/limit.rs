//! The possible limits of a connection, with a file for each: its detection, its sentence, and its advice.

use schemars::JsonSchema;
use serde::Serialize;

pub(super) mod accept_queue;
mod buffer;
pub(super) mod congestion_window;
pub(super) mod idle;
pub(super) mod initial_window;
pub(super) mod loss;
pub(super) mod nagle;
pub(super) mod other_end;
pub(super) mod pacing;
pub(super) mod path;
pub(super) mod peer_closed;
pub(super) mod receiver_application;
pub(super) mod receiver_window;
pub(super) mod reordering;
pub(super) mod send_buffer;
pub(super) mod sender_application;
pub(super) mod source_ports;

/// The limiting factor of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The window that the receiver advertises, which is small because its buffer is small. At the sender
    /// this also covers a program that reads slowly and evenly, because that is indistinguishable there.
    ReceiverWindow,
    /// The receiving program reads more slowly than data arrives.
    ReceiverApplication,
    /// The sending program has nothing to send.
    SenderApplication,
    /// The size of the sending kernel's send buffer.
    SendBuffer,
    /// The congestion window, which still grows after it was set without loss.
    CongestionWindow,
    /// A pacing rate that the sending program set (`SO_MAX_PACING_RATE`).
    Pacing,
    /// Small segments that wait for the acknowledgement of earlier ones (Nagle's algorithm).
    Nagle,
    /// Lost packets, or a peer that does not respond.
    Loss,
    /// Reordered packets that were taken for lost.
    Reordering,
    /// The start: the window has not had enough round trips to grow.
    InitialWindow,
    /// The capacity of the path.
    Path,
    /// A factor at the other end: this end only receives, and nothing here limits it; or it sends, and a full
    /// path and an evenly reading program are indistinguishable.
    OtherEnd,
    /// A program that listens and does not accept.
    AcceptQueue,
    /// None: the peer has closed, and the program at this end has not.
    PeerClosed,
    /// The range of source ports for one destination.
    SourcePorts,
    /// None: there was no data to transfer.
    Idle,
}
