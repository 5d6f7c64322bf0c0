//! What can be found of a connection.

use schemars::JsonSchema;
use serde::Serialize;

/// What can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// This end's receive buffer was fixed by its program (`SO_RCVBUF`).
    FixedReceiveBuffer,
    /// This end's receive buffer has grown to the end of `tcp_rmem`.
    ReceiveBufferMaximum,
    /// This end's receive buffers do not grow (`tcp_moderate_rcvbuf`).
    ReceiveBufferDoesNotGrow,
    /// This end's receive buffer is still growing.
    ReceiveBufferGrows,
    /// A setting is lower than the kernel's own choice, and that is what limits.
    SettingBelowDefault,
    /// A setting that this kernel ignores.
    SettingIgnored,
    /// Windows end at 64 KiB, as scaling was not agreed on.
    WindowScalingOff,
    /// The peer's window is small for the distance.
    SmallWindow,
    /// The peer's program reads slowly.
    PeerReadsSlowly,
    /// This end's program reads slowly.
    ReadsSlowly,
    /// This end's program has nothing to send.
    SenderIdle,
    /// The send buffer was fixed by its program (`SO_SNDBUF`).
    FixedSendBuffer,
    /// The send buffer has grown to the end of `tcp_wmem`.
    SendBufferMaximum,
    /// Data waits unsent in this end.
    UnsentData,
    /// The program asked for a rate.
    Paced,
    /// Small segments wait for acknowledgements, which the peer delays.
    Nagle,
    /// Packets are lost.
    Loss,
    /// Nothing is answered any more, or has been yet.
    NoAnswer,
    /// The request to connect is under way.
    Connecting,
    /// The peer has closed, and this end's program has not.
    CloseWait,
    /// This end's program has not accepted the connection yet.
    NotAccepted,
    /// This end's program does not accept as fast as others connect.
    ListenQueueFull,
    /// The peer's program does not accept as fast as others connect.
    PeerDoesNotAccept,
    /// Packets overtake each other and are taken for lost.
    Reordering,
    /// The connection is still starting.
    SlowStart,
    /// The congestion window is given up when nothing is sent for a while.
    RestartAfterIdle,
    /// The congestion window grows slowly, without loss.
    SlowGrowth,
    /// The path carries no more.
    PathRate,
    /// The path carries no more, or the peer's program reads no faster.
    PathOrReader,
    /// Nothing here limits it.
    OtherEnd,
    /// Many of the source ports to a destination are taken.
    SourcePorts,
    /// No byte moved.
    Idle,
}
