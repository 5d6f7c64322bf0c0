//! From an origin to a connection that speaks HTTP: dns, connect and tls, each timed.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{net::TcpStream, task::JoinSet};

use super::{
    config::{Config, Protocol, Windows},
    http1::Http1,
    http2::Http2,
    io::Connection,
    resolve::Resolver,
    tls::Tls,
    trace::Trace,
};
use crate::{Error, Failure, Origin, Scheme, clock::Clock};

/// Opens connections.
pub(crate) struct Connector {
    protocol: Protocol,
    connect_to: Option<SocketAddr>,
    resolver: Resolver,
    tls: Tls,
    windows: Windows,
    clock: Clock,
}

/// A connection that is ready for a request.
pub(crate) enum Fresh {
    Http1(Http1),
    Http2(Http2),
}

impl Connector {
    pub(crate) fn new(config: &Config, clock: Clock) -> Result<Self, Error> {
        Ok(Self {
            protocol: config.protocol,
            connect_to: config.connect_to,
            resolver: Resolver::new(config.lookups, config.family, clock),
            tls: Tls::new(config.protocol, config.trust.clone(), clock)?,
            windows: config.windows,
            clock,
        })
    }

    /// Reads whose certificates count, if that was not done yet.
    pub(crate) fn prepare(&self) -> Result<(), Error> {
        self.tls.connector().map(drop)
    }

    /// Whether a connection to this origin may turn out to be one that requests share.
    pub(crate) fn may_share(&self, origin: &Origin) -> bool {
        match self.protocol {
            Protocol::Http1 => false,
            Protocol::Http2 => true,
            Protocol::Negotiated => origin.scheme == Scheme::Https,
        }
    }

    /// Opens a connection, and puts the phases that this took into `trace`.
    pub(crate) async fn open(&self, origin: &Origin, trace: &mut Trace) -> Result<Fresh, Failure> {
        let addresses = match self.connect_to {
            Some(address) => vec![address],
            None => self.resolver.resolve(origin, trace).await?,
        };
        let started = self.clock.now();
        let Winner { stream: tcp, remote, fallback } = first_to_answer(&addresses).await?;
        trace.connect = Some(self.clock.now().saturating_sub(started));
        (trace.remote, trace.fallback) = (Some(remote), Some(fallback));
        tcp.set_nodelay(true).map_err(|error| Failure::from_io(&error))?;
        let (stream, speaks_http2): (Box<dyn Connection>, bool) = match origin.scheme {
            Scheme::Http => (Box::new(tcp), self.protocol == Protocol::Http2),
            Scheme::Https => {
                let stream = self.tls.handshake(&origin.host, tcp, trace).await?;
                let agreed = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                if self.protocol == Protocol::Http2 && !agreed {
                    return Err(Failure::Tls("no common HTTP version"));
                }
                (Box::new(stream), agreed)
            }
        };
        if speaks_http2 {
            Http2::start(stream, remote, self.windows, self.clock).await.map(Fresh::Http2)
        } else {
            Http1::start(stream, remote, self.clock).await.map(Fresh::Http1)
        }
    }
}

/// The connection that was there first, and where it leads.
struct Winner {
    stream: TcpStream,
    remote: SocketAddr,
    /// Whether the address that was tried first is another one.
    fallback: bool,
}

/// Happy Eyeballs (RFC 8305): the next address is tried when the one before has failed or has been silent for
/// a while; the first connection wins. If all fail, the first failure is the answer, as its address was the
/// preferred one.
async fn first_to_answer(addresses: &[SocketAddr]) -> Result<Winner, Failure> {
    let reach = |remote: SocketAddr, fallback| async move {
        let stream = TcpStream::connect(remote).await?;
        Ok::<_, io::Error>(Winner { stream, remote, fallback })
    };
    if let [only] = addresses {
        return reach(*only, false).await.map_err(|error| Failure::from_io(&error));
    }
    let mut waiting = addresses.iter().copied().enumerate();
    let mut attempts = JoinSet::new();
    let mut first_failure = None;
    loop {
        if let Some((number, address)) = waiting.next() {
            attempts.spawn(reach(address, number > 0));
        }
        tokio::select! {
            attempt = attempts.join_next() => match attempt {
                Some(Ok(Ok(winner))) => return Ok(winner),
                Some(Ok(Err(error))) => {
                    first_failure.get_or_insert(Failure::from_io(&error));
                }
                // Attempts are neither cancelled nor do they panic.
                Some(Err(_)) => {}
                None => return Err(first_failure.unwrap_or(Failure::Dns)),
            },
            () = tokio::time::sleep(STAGGER), if waiting.len() > 0 => {}
        }
    }
}

/// The "Connection Attempt Delay" that RFC 8305 section 5 recommends.
const STAGGER: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests;
