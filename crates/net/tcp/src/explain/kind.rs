//! The kinds of findings about a connection.

use schemars::JsonSchema;
use serde::Serialize;

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// This end's program has set a fixed receive buffer (`SO_RCVBUF`).
    FixedReceiveBuffer,
    /// This end's receive buffer has reached the maximum of `tcp_rmem`.
    ReceiveBufferMaximum,
    /// Autotuning of this end's receive buffers is off (`tcp_moderate_rcvbuf`).
    ReceiveBufferDoesNotGrow,
    /// This end's receive buffer is still growing.
    ReceiveBufferGrows,
    /// A setting below the kernel's default is the limit.
    SettingBelowDefault,
    /// A setting that this kernel ignores.
    SettingIgnored,
    /// Windows are limited to 64 KiB, because window scaling was not negotiated.
    WindowScalingOff,
    /// The peer's window is small for the distance.
    SmallWindow,
    /// The peer's program reads slowly.
    PeerReadsSlowly,
    /// This end's program reads slowly.
    ReadsSlowly,
    /// This end's program has nothing to send.
    SenderIdle,
    /// The program has set a fixed send buffer (`SO_SNDBUF`).
    FixedSendBuffer,
    /// The send buffer has reached the maximum of `tcp_wmem`.
    SendBufferMaximum,
    /// Unsent data waits in this host.
    UnsentData,
    /// The program has set a pacing rate.
    Paced,
    /// Small segments wait for acknowledgements, which the peer delays.
    Nagle,
    /// Packets are lost.
    Loss,
    /// The peer does not respond.
    NoAnswer,
    /// The connection is being opened.
    Connecting,
    /// The peer has closed, and this end's program has not.
    CloseWait,
    /// This end's program has not accepted the connection yet.
    NotAccepted,
    /// This end's program accepts connections more slowly than they arrive.
    ListenQueueFull,
    /// The peer's program accepts connections more slowly than they arrive.
    PeerDoesNotAccept,
    /// Packets are reordered and taken for lost.
    Reordering,
    /// The connection is still in slow start.
    SlowStart,
    /// The congestion window is reset after an idle time.
    RestartAfterIdle,
    /// The congestion window grows slowly, without loss.
    SlowGrowth,
    /// The capacity of the path is the limit.
    PathRate,
    /// The capacity of the path or the read rate of the peer's program is the limit.
    PathOrReader,
    /// Nothing at this end is the limit.
    OtherEnd,
    /// Many of the source ports to a destination are in use.
    SourcePorts,
    /// No data was transferred.
    Idle,
}
