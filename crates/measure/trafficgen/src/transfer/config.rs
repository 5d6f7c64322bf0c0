//! Configuration of the sender and the server, with all defaults.

use std::{
    net::{Ipv6Addr, SocketAddr},
    ops::ControlFlow,
    time::Duration,
};

use units::Bytes;

/// The transport protocol of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// Multipath TCP (RFC 8684), which falls back to TCP if the peer or the path does not support
    /// it.
    Mptcp,
}

impl Protocol {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
        }
    }
}

/// Whether to stop a transfer early. The sender polls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// Continue.
    No,
    /// Send no more, and wait for the receipt.
    Asked,
    /// Do not wait for the receipt either.
    Insisted,
}

impl Stopping {
    /// For callers that only need to know whether to continue.
    pub(super) fn flow(self) -> ControlFlow<()> {
        if self == Self::No { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Configuration of the sender.
#[derive(Debug, Clone)]
pub struct Sending {
    /// How long to send. Without `duration` and `bytes`: [`Self::DEFAULT_DURATION`].
    pub duration: Option<Duration>,
    /// Number of bytes to send.
    pub bytes: Option<Bytes>,
    /// The transport protocol.
    pub protocol: Protocol,
    /// The congestion control algorithm; `None`: the kernel's default.
    pub congestion: Option<String>,
    /// Bytes that arrive within this time after the server became ready do not count for the
    /// goodput.
    pub omit: Duration,
    /// Limit of unsent bytes in the send buffer (`TCP_NOTSENT_LOWAT`); `None`: the kernel's
    /// setting.
    pub notsent_lowat: Option<Bytes>,
    /// Interval of the server's arrival counts, [`Self::LEAST_INTERVAL`] to
    /// [`Self::LONGEST_INTERVAL`].
    pub interval: Duration,
    /// Without progress for this long after the end of sending, the transfer is unfinished.
    pub grace: Duration,
}

impl Sending {
    /// How long to send without a duration or number of bytes.
    pub const DEFAULT_DURATION: Duration = Duration::from_secs(10);
    /// In shorter intervals, one wake-up of the receiver would fill several.
    pub const LEAST_INTERVAL: Duration = Duration::from_millis(1);
    /// Upper limit of the interval.
    pub const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

    pub(super) fn lasts(&self) -> Option<Duration> {
        self.duration.or_else(|| self.bytes.is_none().then_some(Self::DEFAULT_DURATION))
    }
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            duration: None,
            bytes: None,
            protocol: Protocol::Tcp,
            congestion: None,
            omit: Duration::ZERO,
            notsent_lowat: None,
            interval: Duration::from_millis(100),
            grace: Duration::from_secs(60),
        }
    }
}

/// Configuration of the server.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Port 0 selects a free port. The default is all addresses, IPv4 and IPv6.
    pub listen: SocketAddr,
    /// Whether clients may use Multipath TCP. TCP is always permitted.
    pub protocol: Protocol,
    /// The receive buffer (`SO_RCVBUF`); `None`: autotuning.
    pub rcvbuf: Option<Bytes>,
    /// Limit of the advertised window (`TCP_WINDOW_CLAMP`); `None`: limited by the buffer.
    pub window: Option<Bytes>,
}

impl Default for Serving {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv6Addr::UNSPECIFIED, 5201)),
            protocol: Protocol::Tcp,
            rcvbuf: None,
            window: None,
        }
    }
}
