//! The words: what was found, what says so, and the one change that would help.

mod network;
mod receiver;
mod sender;
mod state;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Figures, text};

/// What was found of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Which.
    pub kind: Kind,
    /// It in a sentence.
    pub sentence: String,
    /// The figures that say so, with what time they are of.
    pub evidence: Vec<String>,
    /// The one change that would help.
    pub advice: String,
    /// Whether the cause is not told by the kernel but follows from what is.
    pub is_inferred: bool,
}

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

impl Finding {
    fn new(kind: Kind, sentence: String, evidence: Vec<String>, advice: String) -> Self {
        Self { kind, sentence, evidence, advice, is_inferred: false }
    }

    /// The same, when the kernel did not tell the cause.
    fn inferred(self) -> Self {
        Self { is_inferred: true, ..self }
    }
}

/// Whether a program has fixed a buffer, and so taken it from the kernel, which lets buffers grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fixed {
    /// The socket says so.
    Yes,
    /// The kernel would have let it grow, and has not.
    Seemingly,
    /// It grows, or has grown as far as it may.
    No,
}

impl Fixed {
    /// Of a buffer of which all is used, by its sizes while it was looked at.
    fn of<I: Iterator<Item = u32>>(
        chosen: Option<bool>,
        sizes: impl Fn() -> I,
        limits: Option<[u64; 3]>,
    ) -> Self {
        let is_constant = sizes().min() == sizes().max();
        match (chosen, sizes().last()) {
            (Some(true), _) => Self::Yes,
            (None, Some(size)) if is_constant && limits.is_some() && !is_at_most(size, limits) => {
                Self::Seemingly
            }
            _ => Self::No,
        }
    }
}

/// Whether a buffer has grown to the end of its setting, or nearly.
fn is_at_most(buffer: u32, limits: Option<[u64; 3]>) -> bool {
    limits.is_some_and(|[_, _, most]| u64::from(buffer) >= most / 100 * 95)
}

/// No byte moved, and none waits to.
pub(super) fn idle(figures: &Figures<'_>) -> Finding {
    let last = figures.now.last_data_sent_ms.min(figures.now.last_data_recv_ms);
    Finding::new(
        Kind::Idle,
        "No byte moved, and none waits to".to_owned(),
        vec![
            format!("0 bytes in {}", text::time(figures.seconds)),
            format!("the last data moved {} ago", text::time(f64::from(last) / 1e3)),
        ],
        "nothing; look while it is at work (--watch, or a longer --for)".to_owned(),
    )
}

/// Nothing comes back.
pub(super) fn no_answer(figures: &Figures<'_>) -> Finding {
    let remote = figures.socket.remote.ip();
    Finding::new(
        Kind::NoAnswer,
        format!("Nothing comes back from {remote}: the path is broken, or the host has gone"),
        vec![
            format!(
                "{} timeouts in a row, 0 bytes acknowledged in {}",
                figures.now.retransmits,
                text::time(figures.seconds)
            ),
            format!("the last answer came {} ago", text::time(f64::from(figures.now.last_ack_recv_ms) / 1e3)),
        ],
        format!("see whether it is there: longhaul ping {remote}"),
    )
}
