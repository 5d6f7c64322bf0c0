//! `serve`: sends without end to every client that connects.

use std::{
    io::{self, Read},
    net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener},
    ops::ControlFlow,
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};

use socket2::Domain;
use tcp::{Clock, Doing, Error, Info};
use units::{Bitrate, Bytes};

use super::{DEFAULT_PORT, connect::open};
use crate::{
    accept::{self, Accepted},
    bulk::Bulk,
    socket::{self, plain},
    sys,
};

/// What the sender does.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Where to listen; port 0 is any free one. The default is every address, IPv4 and IPv6.
    pub listen: SocketAddr,
    /// The congestion control, by the kernel's name for it; the kernel's default without.
    pub congestion: Option<String>,
    /// `SO_SNDBUF`. It switches the kernel's own tuning off.
    pub sndbuf: Option<Bytes>,
    /// `TCP_NOTSENT_LOWAT`: no more is written while more than this is unsent.
    pub notsent_lowat: Option<Bytes>,
    /// `SO_MAX_PACING_RATE`.
    pub pacing: Option<Bitrate>,
    /// How much to send to each before the connection is closed; without, there is no end.
    pub bytes: Option<Bytes>,
}

impl Default for Serving {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv6Addr::UNSPECIFIED, DEFAULT_PORT)),
            congestion: None,
            sndbuf: None,
            notsent_lowat: None,
            pacing: None,
            bytes: None,
        }
    }
}

/// What became of a connection.
#[derive(Debug, Clone)]
pub struct Served {
    /// Who it was.
    pub peer: SocketAddr,
    /// Why it is over.
    pub why: String,
    /// Bytes that the kernel took.
    pub bytes: u64,
    /// How long it lasted.
    pub duration: Duration,
    /// What the kernel told of it at its end.
    pub info: Option<Info>,
}

/// Serves until `watch`, which is called about ten times a second, says so. Calls `ready` with the address once connections
/// can be made, and `log` for each connection that is over. Blocks.
///
/// # Errors
/// When the address cannot be listened on, or the kernel refuses an option.
pub fn serve(
    config: &Serving,
    ready: impl FnOnce(SocketAddr),
    log: impl Fn(Served) + Sync,
    watch: impl FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let listener = listen(config)?;
    ready(plain(listener.local_addr().doing(|| "ask for the address".to_owned())?));
    accept::each(&listener, READERS, watch, |accepted| log(Sender::new(config, accepted).run()));
    Ok(())
}

/// A listener whose options its connections inherit.
fn listen(config: &Serving) -> Result<TcpListener, Error> {
    let socket = open(Domain::for_address(config.listen))?;
    if let Some(name) = &config.congestion {
        socket::choose_congestion(&socket, name).map_err(|(error, available)| Error::Input {
            what: format!("congestion control \"{name}\" cannot be chosen: {error}"),
            remedy: format!("this kernel has {available}"),
        })?;
    }
    if let Some(size) = config.sndbuf {
        let size = usize::try_from(size.0).unwrap_or(usize::MAX);
        socket.set_send_buffer_size(size).doing(|| "set SO_SNDBUF".to_owned())?;
    }
    if let Some(lowat) = config.notsent_lowat {
        let lowat = u32::try_from(lowat.0).unwrap_or(u32::MAX);
        socket.set_tcp_notsent_lowat(lowat).doing(|| "set TCP_NOTSENT_LOWAT".to_owned())?;
    }
    if let Some(rate) = config.pacing {
        sys::set_pacing(&socket, rate.bits_per_second() / 8).doing(|| "set SO_MAX_PACING_RATE".to_owned())?;
    }
    socket::listen(socket, config.listen).map_err(|source| Error::Address {
        operation: "listen on",
        address: config.listen.to_string(),
        source,
    })
}

/// One connection that is sent to.
struct Sender<'s> {
    accepted: Accepted<'s>,
    bulk: Bulk,
}

impl<'s> Sender<'s> {
    fn new(config: &Serving, accepted: Accepted<'s>) -> Self {
        Self { accepted, bulk: Bulk::new(config.bytes.map(|bytes| bytes.0)) }
    }

    fn run(mut self) -> Served {
        let clock = Clock::start();
        let why = match self.send().and_then(|()| self.wait_for_end()) {
            Ok(()) if self.is_to_stop() => "the server was stopped".to_owned(),
            Ok(()) => "all was sent".to_owned(),
            Err(error) if GONE.contains(&error.kind()) => "the reader closed the connection".to_owned(),
            Err(error) => error.to_string(),
        };
        let Accepted { stream, peer, .. } = self.accepted;
        let info = Info::of(&stream).ok().flatten();
        Served { peer, why, bytes: self.bulk.sent(), duration: clock.now(), info }
    }

    /// Sends until there is no more to send or it is to stop.
    fn send(&mut self) -> io::Result<()> {
        socket::block_briefly(&self.accepted.stream)?;
        while !self.bulk.is_over() && !self.is_to_stop() {
            self.bulk.write(&self.accepted.stream)?;
        }
        Ok(())
    }

    /// Waits for the reader to close: until then what the kernel tells is not the whole story.
    fn wait_for_end(&self) -> io::Result<()> {
        if self.is_to_stop() {
            return Ok(());
        }
        let mut stream = &self.accepted.stream;
        stream.shutdown(Shutdown::Write)?;
        let mut ignored = [0; 4096];
        while !self.is_to_stop() {
            match stream.read(&mut ignored) {
                Ok(0) => break,
                Err(error) if !socket::is_pause(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_to_stop(&self) -> bool {
        self.accepted.stop.load(Relaxed)
    }
}

/// What it looks like when a reader closes its end before it has read everything.
const GONE: [io::ErrorKind; 2] = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];

/// Readers at once; more wait in the kernel's queue. Each takes a thread.
const READERS: usize = 64;
