//! What can limit a connection, a file each: by what it is recognised, what is said of it, and what would help.
//!
//! Whose turn it is to be the limit is decided by `sender`, `receiver`, `network` and `state`; they ask these files.

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

/// What limits a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The window that the receiver advertises, small because its buffer is. At the sender: or because its program reads slowly
    /// and evenly, which looks the same from there.
    ReceiverWindow,
    /// The receiving program reads more slowly than the network brings.
    ReceiverApplication,
    /// The sending program has nothing to send.
    SenderApplication,
    /// What the sending kernel takes from its program at once.
    SendBuffer,
    /// The congestion window, still growing after it was set without loss.
    CongestionWindow,
    /// A rate that the sending program asked for (`SO_MAX_PACING_RATE`).
    Pacing,
    /// Small segments that wait for the acknowledgement of those before them (Nagle's algorithm).
    Nagle,
    /// Packets that were lost, or no answer at all.
    Loss,
    /// Packets that came in another order and were taken for lost.
    Reordering,
    /// The start: the window has not had the round trips to grow.
    InitialWindow,
    /// The path: it carries no more.
    Path,
    /// Something that the other end knows: this one only receives, and nothing here holds it up; or it sends, and a full path
    /// and a program that reads evenly look the same.
    OtherEnd,
    /// A program that listens and does not accept.
    AcceptQueue,
    /// Nothing: the peer has closed, and the program at this end has not.
    PeerClosed,
    /// The range of source ports, to one destination.
    SourcePorts,
    /// Nothing: no byte was to be moved.
    Idle,
}
