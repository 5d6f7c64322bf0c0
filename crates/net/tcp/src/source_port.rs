//! Source ports: four strategies for a client, and the best one on this kernel.
//!
//! `connect()` without `bind()` tries all ports with the parity of the range's first port before any port of
//! the other parity (`__inet_hash_connect()` in net/ipv4/inet_hashtables.c: a step of 2, two passes). When
//! half of the range is in use for one destination, each connect checks all ports of the first half before it
//! finds a free one. The remedy depends on the kernel:
//!
//! | strategy | how | since |
//! | --- | --- | --- |
//! | [`Strategy::RandomBind`] | `bind()` to a random port, and to another if that is used | any |
//! | [`Strategy::RandomWindow`] | `IP_LOCAL_PORT_RANGE`, a few hundred ports of the range at a time | 6.3 |
//! | [`Strategy::FullRange`] | `IP_LOCAL_PORT_RANGE`, all of the range: the kernel then takes steps of 1 | 6.8 |
//!
//! UDP has no parity: `udp_lib_get_port()` (net/ipv4/udp.c) walks through the range in random steps on every
//! kernel, so the kernel's default is the best strategy. It also respects `IP_LOCAL_PORT_RANGE`, but its step
//! is the size of its hash table, so if the first port of a window is in use, the search for another takes
//! long. A UDP port belongs to one socket, whatever the destination, unless both sockets have `SO_REUSEADDR`;
//! then the kernel may assign it to both.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use tcp::source_port::Chooser;
//!
//! let mut ports = Chooser::best()?;
//! let stream = ports.connect("192.0.2.1:443".parse()?, None)?;
//! # Ok(())
//! # }
//! ```

mod option;
mod range;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use nix::{
    errno::Errno,
    sys::socket::{
        AddressFamily, SockFlag, SockType, SockaddrStorage, bind, connect as connect_to, setsockopt, socket,
        sockopt,
    },
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::range::Range;
use crate::{
    error::{Doing, Error},
    kernel::Version,
};

/// A strategy for choosing a source port. The same for IPv4 and IPv6, and for TCP and UDP unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The kernel chooses, as for ordinary programs. One port serves connections to many destinations.
    KernelDefault,
    /// Binds a random port, and another if it is in use: "select, test, repeat". Needs 1 / (1 - used share)
    /// attempts on average. The port is exclusive to this connection: no other socket of the network
    /// namespace gets it without an explicit bind, whatever the addresses are.
    RandomBind,
    /// The kernel chooses among `size` ports at a random place in the range, and elsewhere if all of these
    /// are in use.
    RandomWindow {
        /// Number of ports, from 1.
        size: u16,
    },
    /// The kernel chooses among all ports of the range, even and odd alike.
    FullRange,
}

/// The transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A stream.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Chooses source ports by a strategy. Not shared: each thread needs its own.
#[derive(Debug)]
pub struct Chooser {
    strategy: Strategy,
    range: Range,
    random: Xoshiro256PlusPlus,
}

/// The outcome of choosing a port and connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Success, or the error of the last attempt.
    pub outcome: Result<(), Errno>,
    /// Number of ports tried with `bind()`, or of windows and ranges set.
    pub tries: u32,
}

/// Connects over TCP from a port chosen by this strategy, optionally from the address `source`.
pub fn connect(
    destination: SocketAddr,
    source: Option<IpAddr>,
    strategy: Strategy,
) -> Result<TcpStream, Error> {
    Chooser::new(strategy)?.connect(destination, source).map_err(|source| Error::Address {
        operation: "connect to",
        address: destination.to_string(),
        source,
    })
}

impl Strategy {
    /// A window that is rarely full and quickly searched: the kernel checks at most half of it, 1.8 % of the
    /// default range.
    pub const DEFAULT_WINDOW: u16 = 500;

    /// The best strategy on a mainline kernel. [`Strategy::best`] also detects backports of distributions.
    pub fn best_for(kernel: Version) -> Self {
        if kernel >= Self::FullRange.since() {
            Self::FullRange
        } else if kernel >= Version::new(6, 3) {
            Self::RandomWindow { size: Self::DEFAULT_WINDOW }
        } else {
            Self::RandomBind
        }
    }

    /// The best strategy on the running kernel.
    pub fn best() -> Result<Self, Error> {
        let is_there = has_local_port_range()?;
        Ok(match Self::best_for(Version::running()?) {
            Self::RandomBind if is_there => Self::RandomWindow { size: Self::DEFAULT_WINDOW },
            Self::RandomWindow { .. } | Self::FullRange if !is_there => Self::RandomBind,
            best => best,
        })
    }

    /// Fails if the running kernel does not support it.
    pub fn check(self) -> Result<(), Error> {
        let is_there = match self {
            Self::KernelDefault | Self::RandomBind => true,
            Self::RandomWindow { .. } => has_local_port_range()?,
            // Older kernels accept the option and still split by parity.
            Self::FullRange => has_local_port_range()? && Version::running()? >= self.since(),
        };
        if is_there {
            Ok(())
        } else {
            Err(Error::Unsupported { feature: self.feature(), since: self.since() })
        }
    }

    /// The first kernel that supports it: 6.3 added `IP_LOCAL_PORT_RANGE`, 6.8 the step of 1 if the option is
    /// set (`inet_sk_get_local_port_range()`).
    fn since(self) -> Version {
        match self {
            Self::KernelDefault | Self::RandomBind => Version::new(2, 6),
            Self::RandomWindow { .. } => Version::new(6, 3),
            Self::FullRange => Version::new(6, 8),
        }
    }

    fn feature(self) -> &'static str {
        match self {
            Self::FullRange => "search of the full range in steps of one (IP_LOCAL_PORT_RANGE)",
            _ => "range of ports for a socket (IP_LOCAL_PORT_RANGE)",
        }
    }

    fn is_worth_another_try(self, errno: Errno) -> bool {
        match self {
            Self::KernelDefault | Self::FullRange => false,
            Self::RandomBind => errno == Errno::EADDRINUSE,
            Self::RandomWindow { .. } => [Errno::EADDRNOTAVAIL, Errno::EAGAIN].contains(&errno),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KernelDefault => "kernel-default",
            Self::RandomBind => "random-bind",
            Self::RandomWindow { .. } => "random-window",
            Self::FullRange => "full-range",
        })
    }
}

impl Chooser {
    /// Uses the port range of the calling thread's network namespace.
    pub fn new(strategy: Strategy) -> Result<Self, Error> {
        Ok(Self::within(strategy, Range::of_namespace()?))
    }

    /// Uses [`Strategy::best`] and the port range of the calling thread's network namespace.
    pub fn best() -> Result<Self, Error> {
        Self::new(Strategy::best()?)
    }

    /// Uses ports of `range`, which must be within the network namespace's range, because the kernel searches
    /// only there. [`Strategy::KernelDefault`] ignores `range`.
    pub fn within(strategy: Strategy, range: Range) -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Self { strategy, range, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Connects over TCP, optionally from the address `source`.
    ///
    /// `AddrNotAvailable` or `AddrInUse`: no port was found.
    pub fn connect(&mut self, destination: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
        let socket = open(Transport::Tcp, destination)?;
        self.attach(&socket, destination, source).outcome?;
        Ok(socket.into())
    }

    /// A UDP socket connected to `destination`, optionally from the address `source`. Nothing is sent.
    ///
    /// `WouldBlock` or `AddrInUse`: no port was found.
    pub fn connect_udp(&mut self, destination: SocketAddr, source: Option<IpAddr>) -> io::Result<UdpSocket> {
        let socket = open(Transport::Udp, destination)?;
        self.attach(&socket, destination, source).outcome?;
        Ok(socket.into())
    }

    /// Prepares a socket of the caller, blocking or not, for its `connect()` to this destination. If that
    /// fails with `EADDRNOTAVAIL` (`EAGAIN` for UDP), [`Strategy::RandomWindow`] can be prepared and
    /// connected again.
    pub fn prepare(
        &mut self,
        socket: &impl AsFd,
        destination: SocketAddr,
        source: Option<IpAddr>,
    ) -> io::Result<()> {
        let attempt = self.until_it_works(|chooser| chooser.choose(socket, destination, source));
        Ok(attempt.outcome?)
    }

    /// Chooses a port for a blocking socket of the caller and connects it like [`Self::connect`].
    pub fn attach(&mut self, socket: &OwnedFd, destination: SocketAddr, source: Option<IpAddr>) -> Attempt {
        let address = SockaddrStorage::from(destination);
        self.until_it_works(|chooser| {
            chooser.choose(socket, destination, source)?;
            connect_to(socket.as_raw_fd(), &address)
        })
    }

    fn until_it_works(&mut self, mut once: impl FnMut(&mut Self) -> Result<(), Errno>) -> Attempt {
        let mut tries = 1;
        loop {
            match once(self) {
                Err(errno) if tries < MOST_TRIES && self.strategy.is_worth_another_try(errno) => tries += 1,
                outcome => return Attempt { outcome, tries },
            }
        }
    }

    fn choose(
        &mut self,
        socket: &impl AsFd,
        destination: SocketAddr,
        source: Option<IpAddr>,
    ) -> Result<(), Errno> {
        match self.strategy {
            Strategy::KernelDefault => {}
            Strategy::RandomBind => {
                let address = source.unwrap_or_else(|| unspecified(destination));
                let index = self.below(self.range.len())?;
                return bind_to(socket, SocketAddr::new(address, self.range.port(index)));
            }
            Strategy::RandomWindow { size } => {
                let (low, high) = self.window(size)?;
                option::set_local_port_range(socket, low, high)?;
            }
            Strategy::FullRange => {
                option::set_local_port_range(socket, self.range.low(), self.range.high())?;
            }
        }
        let Some(source) = source else { return Ok(()) };
        // Without this option bind() would choose a port without connections to any destination (Linux 4.2).
        setsockopt(socket, sockopt::IpBindAddressNoPort, &true)?;
        bind_to(socket, SocketAddr::new(source, 0))
    }

    /// `size` ports, fewer at the ends of the range, so that every port is in a window equally often.
    fn window(&mut self, size: u16) -> Result<(u16, u16), Errno> {
        let (low, high) = (self.range.low(), self.range.high());
        let more = size.saturating_sub(1);
        let last = u32::from(low) + self.below(usize::from(high - low) + 1 + usize::from(more))?;
        let first = u16::try_from(last.saturating_sub(more.into())).unwrap_or(high).max(low);
        Ok((first, u16::try_from(last).unwrap_or(high).min(high)))
    }

    /// Uniformly distributed, to 1 part in 2^47.
    fn below(&mut self, end: usize) -> Result<u32, Errno> {
        let end = u32::try_from(end).ok().filter(|end| *end > 0).ok_or(Errno::EADDRNOTAVAIL)?;
        let scaled = (u128::from(self.random.next_u64()) * u128::from(end)) >> 64;
        Ok(u32::try_from(scaled).expect("a number below a u32"))
    }
}

/// A blocking socket for connections to such an address, for [`Chooser::attach`].
pub fn open(transport: Transport, destination: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if destination.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let kind = match transport {
        Transport::Tcp => SockType::Stream,
        Transport::Udp => SockType::Datagram,
    };
    socket(family, kind, SockFlag::SOCK_CLOEXEC, None)
}

fn bind_to(socket: &impl AsFd, address: SocketAddr) -> Result<(), Errno> {
    bind(socket.as_fd().as_raw_fd(), &SockaddrStorage::from(address))
}

fn unspecified(destination: SocketAddr) -> IpAddr {
    if destination.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

fn has_local_port_range() -> Result<bool, Error> {
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let told = open(Transport::Tcp, any).and_then(|socket| option::set_local_port_range(&socket, 0, 0));
    match told {
        Err(Errno::ENOPROTOOPT) => Ok(false),
        other => other.map(|()| true).map_err(io::Error::from).doing(|| "open a socket".to_owned()),
    }
}

/// With 95 % of all ports in use, this number of random ports are all in use in one case of 500 000 (0.95^256
/// = 2e-6).
const MOST_TRIES: u32 = 256;
