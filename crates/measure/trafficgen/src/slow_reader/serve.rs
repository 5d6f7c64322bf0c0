//! `serve`: sends without limit to every client that connects.

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

/// Configuration of the sender.
#[derive(Debug, Clone)]
pub struct Serving {
    /// The listening address; port 0 selects a free port. The default is all addresses, IPv4 and
    /// IPv6.
    pub listen: SocketAddr,
    /// The congestion control algorithm; `None`: the kernel's default.
    pub congestion: Option<String>,
    /// `SO_SNDBUF`. It disables send buffer autotuning.
    pub sndbuf: Option<Bytes>,
    /// `TCP_NOTSENT_LOWAT`: the limit of unsent bytes in the send buffer.
    pub notsent_lowat: Option<Bytes>,
    /// `SO_MAX_PACING_RATE`.
    pub pacing: Option<Bitrate>,
    /// Number of bytes to send per connection; `None`: no limit.
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

/// The result of a connection.
#[derive(Debug, Clone)]
pub struct Served {
    /// The client.
    pub peer: SocketAddr,
    /// Reason for the end.
    pub why: String,
    /// Number of bytes accepted by the kernel.
    pub bytes: u64,
    /// Duration of the connection.
    pub duration: Duration,
    /// The `tcp_info` of the kernel at the end.
    pub info: Option<Info>,
}

/// Serves until `watch` breaks, and blocks. Calls `log` for each connection that has ended.
///
/// # Errors
/// If the listener cannot be opened, or the kernel refuses an option.
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

    fn send(&mut self) -> io::Result<()> {
        socket::block_briefly(&self.accepted.stream)?;
        while !self.bulk.is_over() && !self.is_to_stop() {
            self.bulk.write(&self.accepted.stream)?;
        }
        Ok(())
    }

    /// Only when the reader has closed are the kernel's statistics complete.
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

const GONE: [io::ErrorKind; 2] = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];

/// More readers wait in the accept queue. Each uses a thread.
const READERS: usize = 64;
