//! What is sent, and where it is listened for. The only home of its defaults.

use std::{
    net::{Ipv6Addr, SocketAddr},
    ops::ControlFlow,
    time::Duration,
};

use units::Bytes;

/// What carries a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// Multipath TCP (RFC 8684), which falls back to TCP where the other end or the path does not have it.
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

/// Whether a transfer is to end before it is over, which the sender asks again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// It goes on.
    No,
    /// Nothing more is sent, and the receipt is waited for.
    Asked,
    /// The receipt is not waited for either.
    Insisted,
}

impl Stopping {
    /// For callers that only need to know whether to go on.
    pub(super) fn flow(self) -> ControlFlow<()> {
        if self == Self::No { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// What the sender does.
#[derive(Debug, Clone)]
pub struct Sending {
    /// How long to send. Without `bytes` and this: [`Self::DEFAULT_DURATION`].
    pub duration: Option<Duration>,
    /// How much to send.
    pub bytes: Option<Bytes>,
    /// What carries it.
    pub protocol: Protocol,
    /// The congestion control, by the kernel's name for it; the kernel's default without.
    pub congestion: Option<String>,
    /// What arrives within this time since the server was ready does not count for the goodput.
    pub omit: Duration,
    /// How much may wait in the kernel for being sent (`TCP_NOTSENT_LOWAT`); the kernel's setting without.
    pub notsent_lowat: Option<Bytes>,
    /// How finely the server notes arrivals, [`Self::LEAST_INTERVAL`] to [`Self::LONGEST_INTERVAL`].
    pub interval: Duration,
    /// How long a path may carry nothing, after the end of sending, before the transfer counts as unfinished.
    pub grace: Duration,
}

impl Sending {
    /// How long to send if neither a time nor an amount is given.
    pub const DEFAULT_DURATION: Duration = Duration::from_secs(10);
    /// Finer than this, one wake-up of the receiver fills several intervals.
    pub const LEAST_INTERVAL: Duration = Duration::from_millis(1);
    /// Longer than this, there is nothing to see.
    pub const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

    /// How long it sends, if it is time that ends it.
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

/// What the server does.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Where to listen; port 0 is any free one. The default is every address, IPv4 and IPv6: a transfer needs another
    /// machine.
    pub listen: SocketAddr,
    /// Whether clients may use Multipath TCP. TCP they always may.
    pub protocol: Protocol,
    /// The receive buffer (`SO_RCVBUF`); the kernel sizes it as it sees fit without.
    pub rcvbuf: Option<Bytes>,
    /// The largest window that is announced (`TCP_WINDOW_CLAMP`); as large as the buffer allows without.
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
