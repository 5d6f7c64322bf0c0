//! The server: receives concurrent transfers, verifies them, and sends receipts.

use std::{
    fmt,
    io::{self, Read},
    net::{SocketAddr, TcpListener, TcpStream},
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use socket2::Domain;
use tcp::Clock;

use super::{
    Error, Sending, Serving,
    arrivals::Arrivals,
    buffer,
    connect::open,
    wire::{Greeting, LONGEST_GREETING, Line, Reply, SCHEMA, nanos, say},
};
use crate::{
    accept::{self, Accepted},
    payload::{BLOCK, Pattern},
    socket::{self, is_pause},
};

/// Serves until `watch` breaks, then aborts transfers in progress; blocks. Calls `log` for each
/// connection that has ended.
///
/// # Errors
/// If the listener cannot be opened, or the kernel does not support a requested Multipath TCP.
pub fn serve(
    config: &Serving,
    ready: impl FnOnce(SocketAddr),
    log: impl Fn(&str) + Sync,
    watch: impl FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let failed = |source| Error::Listen { address: config.listen, source };
    let listener = listen(config)?;
    ready(listener.local_addr().map_err(failed)?);
    accept::each(&listener, CONNECTIONS, watch, |accepted| {
        let Accepted { stream, peer, number, stop } = accepted;
        log(&format!("{peer}: {}", receive(&stream, number > TRANSFERS, stop)));
    });
    Ok(())
}

fn listen(config: &Serving) -> Result<TcpListener, Error> {
    let socket = open(Domain::for_address(config.listen), config.protocol)?;
    // Before listen(): connections inherit the options, and the SYN contains the window scale.
    if let Some(size) = config.rcvbuf {
        buffer::receive(&socket, size)?;
    }
    if let Some(most) = config.window {
        buffer::limit_window(&socket, most)?;
    }
    socket::listen(socket, config.listen).map_err(|source| Error::Listen { address: config.listen, source })
}

enum Outcome {
    Whole { bytes: u64, bad: u64 },
    Cut { bytes: u64, why: String },
    Refused(String),
}

fn receive(stream: &TcpStream, is_full: bool, stop: &AtomicBool) -> Outcome {
    if let Err(error) = socket::block_briefly(stream) {
        return Outcome::Cut { bytes: 0, why: error.to_string() };
    }
    let mut arrivals = match greeting(stream, is_full, stop) {
        Ok(Greeting { interval_ns, omit_ns, .. }) => Arrivals::new(interval_ns, omit_ns),
        Err(why) => {
            let _ = say(stream, &Reply::Refused(why.clone()), || true);
            return Outcome::Refused(why);
        }
    };
    match payload(stream, &mut arrivals, stop) {
        Ok(bad) => {
            let (bytes, clock) = (arrivals.bytes(), Clock::start());
            let gives_up = || stop.load(Relaxed) || clock.now() > IDLE;
            match say(stream, &Reply::Received(arrivals.receipt(bad)), gives_up) {
                Ok(()) => Outcome::Whole { bytes, bad },
                Err(error) => Outcome::Cut { bytes, why: format!("its receipt was not taken: {error}") },
            }
        }
        Err(why) => Outcome::Cut { bytes: arrivals.bytes(), why },
    }
}

fn greeting(stream: &TcpStream, is_full: bool, stop: &AtomicBool) -> Result<Greeting, String> {
    let (clock, mut line) = (Clock::start(), Line::new(LONGEST_GREETING));
    let greeting: Greeting = loop {
        match line.read(stream) {
            Ok(Some(greeting)) => break greeting,
            Ok(None) => {}
            Err(error) if is_pause(&error) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err("it sent nothing".to_owned());
            }
            Err(_) => {
                return Err("it does not begin with the greeting of `longhaul transfer send`".to_owned());
            }
        }
        if stop.load(Relaxed) || clock.now() > GREETING {
            return Err("its greeting did not come in time".to_owned());
        }
    };
    if greeting.schema != SCHEMA {
        return Err(format!("it does not speak {SCHEMA}; use the same version of longhaul at both ends"));
    }
    if is_full {
        return Err(format!("{TRANSFERS} transfers are under way already"));
    }
    let least = nanos(Sending::LEAST_INTERVAL);
    if !(least..=nanos(Sending::LONGEST_INTERVAL)).contains(&greeting.interval_ns) {
        return Err(Error::Interval.to_string());
    }
    say(stream, &Reply::Ready, || stop.load(Relaxed)).map_err(|error| error.to_string())?;
    Ok(greeting)
}

fn payload(mut stream: &TcpStream, arrivals: &mut Arrivals, stop: &AtomicBool) -> Result<u64, String> {
    let (clock, mut pattern, mut buffer, mut bad) = (Clock::start(), Pattern::new(), vec![0; BLOCK], 0);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(bad),
            Ok(length) => {
                let offset = arrivals.bytes();
                arrivals.add(nanos(clock.now()), length as u64);
                bad += pattern.count_bad(offset, &buffer[..length]);
            }
            Err(error) if is_pause(&error) => {
                if nanos(clock.now()).saturating_sub(arrivals.last()) > nanos(IDLE) {
                    return Err(format!("no data arrived for {}", units::duration::show(IDLE)));
                }
            }
            Err(error) => return Err(error.to_string()),
        }
        if stop.load(Relaxed) {
            return Err("the server was stopped".to_owned());
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { bytes, bad: 0 } => write!(f, "{bytes} bytes received"),
            Self::Whole { bytes, bad } => write!(f, "{bytes} bytes received, {bad} of them BAD"),
            Self::Cut { bytes, why } => write!(f, "cut off after {bytes} bytes: {why}"),
            Self::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}

/// Each uses a thread and at most about 1 MB.
const TRANSFERS: usize = 64;

const CONNECTIONS: usize = 2 * TRANSFERS;

const GREETING: Duration = Duration::from_secs(20);

/// Longer than the sender's timeout for a dead path, so that the server never ends a transfer that
/// could continue.
const IDLE: Duration = Duration::from_secs(600);
