//! `serve`: sends for ever to everybody who connects.

use std::{
    fs,
    io::{self, Read, Write},
    net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    ops::ControlFlow,
    os::fd::AsFd,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use nix::poll::PollFlags;
use socket2::{Domain, Socket};
use tcp::{Clock, Doing, Error, Info};
use units::{Bitrate, Bytes};

use super::{DEFAULT_PORT, connect::open, read::plain};
use crate::sys;
use crate::wait;

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
    mut watch: impl FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let listener = listen(config)?;
    ready(plain(listener.local_addr().doing(|| "ask for the address".to_owned())?));
    let (stop, readers, clock) = (AtomicBool::new(false), AtomicUsize::new(0), Clock::start());
    let block = noise();
    thread::scope(|scope| {
        while watch().is_continue() {
            let until = clock.now() + wait::CALL;
            if readers.load(Relaxed) >= READERS {
                clock.wait_until(until);
                continue;
            }
            let Ok(true) = wait::for_event(listener.as_fd(), PollFlags::POLLIN, clock, until) else {
                continue;
            };
            let Ok((stream, peer)) = listener.accept() else {
                // The machine is short of something that other connections may give back.
                clock.wait_until(until);
                continue;
            };
            readers.fetch_add(1, Relaxed);
            let sender = Sender {
                stream,
                most: config.bytes.map_or(u64::MAX, |bytes| bytes.0),
                block: &block,
                stop: &stop,
            };
            let (readers, log) = (&readers, &log);
            scope.spawn(move || {
                log(sender.run(plain(peer)));
                readers.fetch_sub(1, Relaxed);
            });
        }
        stop.store(true, Relaxed);
    });
    Ok(())
}

/// A listener whose options its connections inherit.
fn listen(config: &Serving) -> Result<TcpListener, Error> {
    let socket = open(Domain::for_address(config.listen))?;
    if let Some(name) = &config.congestion {
        choose(&socket, name)?;
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
    let ready = || -> io::Result<TcpListener> {
        // Connections of a server before, in TIME_WAIT, do not block the port.
        socket.set_reuse_address(true)?;
        if config.listen.is_ipv6() {
            // The address for all is for IPv4 as well.
            socket.set_only_v6(!config.listen.ip().is_unspecified())?;
        }
        socket.bind(&config.listen.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    ready().map_err(|source| Error::Address {
        operation: "listen on",
        address: config.listen.to_string(),
        source,
    })
}

fn choose(socket: &Socket, name: &str) -> Result<(), Error> {
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        Error::Input {
            what: format!("congestion control \"{name}\" cannot be chosen: {error}"),
            remedy: format!("this kernel has {}", available.unwrap_or_default().trim()),
        }
    })
}

/// One connection that is sent to.
struct Sender<'s> {
    stream: TcpStream,
    /// Bytes to send.
    most: u64,
    block: &'s [u8],
    stop: &'s AtomicBool,
}

impl Sender<'_> {
    fn run(mut self, peer: SocketAddr) -> Served {
        let (clock, mut bytes) = (Clock::start(), 0);
        let why = match self.send(&mut bytes).and_then(|()| self.wait_for_end()) {
            Ok(()) if self.stop.load(Relaxed) => "the server was stopped".to_owned(),
            Ok(()) => "all was sent".to_owned(),
            Err(error) if GONE.contains(&error.kind()) => "the reader closed the connection".to_owned(),
            Err(error) => error.to_string(),
        };
        Served { peer, why, bytes, duration: clock.now(), info: Info::of(&self.stream).ok().flatten() }
    }

    /// Sends until there is no more to send or it is to stop.
    fn send(&mut self, bytes: &mut u64) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_write_timeout(Some(wait::CALL))?;
        while *bytes < self.most && !self.stop.load(Relaxed) {
            let left = usize::try_from(self.most - *bytes).unwrap_or(usize::MAX);
            match self.stream.write(&self.block[..self.block.len().min(left)]) {
                Ok(written) => *bytes += written as u64,
                Err(error)
                    if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for the reader to close: until then what the kernel tells is not the whole story.
    fn wait_for_end(&mut self) -> io::Result<()> {
        if self.stop.load(Relaxed) {
            return Ok(());
        }
        self.stream.shutdown(Shutdown::Write)?;
        self.stream.set_read_timeout(Some(wait::CALL))?;
        let mut ignored = [0; 4096];
        while !self.stop.load(Relaxed) {
            match self.stream.read(&mut ignored) {
                Ok(0) => break,
                Err(error)
                    if ![io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind()) =>
                {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What is sent: bytes that nothing on the way can make smaller (Knuth's MMIX generator, its upper bits).
fn noise() -> Vec<u8> {
    let step = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    let words = std::iter::successors(Some(1_u64), step).map(|state| state.to_be_bytes());
    words.take(BLOCK / 4).flat_map(|bytes| bytes.into_iter().take(4)).collect()
}

/// What it looks like when a reader closes its end before it has read everything.
const GONE: [io::ErrorKind; 2] = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];

/// Readers at once; more wait in the kernel's queue. Each takes a thread.
const READERS: usize = 64;

/// Connections that the kernel may hold for us.
const BACKLOG: i32 = 128;

/// Written at once: little enough to stay in a processor's cache, much enough that the call does not count.
const BLOCK: usize = 256 << 10;
