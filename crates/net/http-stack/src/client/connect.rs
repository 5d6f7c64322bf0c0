//! Opens connections: DNS, connect and TLS, or DNS and QUIC, with a duration for each phase.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use rustls::ProtocolVersion;
use tokio::net::TcpStream;

use super::{
    alternatives::{Alternative, Alternatives},
    byte_counter::{ByteCounter, Counted},
    config::{Config, Protocol, Windows},
    early_data::EarlyData,
    early_data_stream::version_name,
    happy_eyeballs::{Winner, first_to_answer},
    http1::Http1,
    http2::Http2,
    http3::Http3,
    io::Connection,
    multiplexed::Multiplexed,
    phase::Phase,
    quic::{Opened, Quic},
    resolve::{Addresses, Resolver},
    socket::Socket,
    tls::Tls,
    trace::Trace,
    zero_rtt::{ZeroRtt, ZeroRttState},
};
use crate::{Error, Failure, HeaderMap, Origin, Scheme, clock::Clock};

pub(crate) struct Connector {
    protocol: Protocol,
    connect_to: Option<SocketAddr>,
    unix_socket: Option<PathBuf>,
    resolver: Resolver,
    tls: Arc<Tls>,
    quic: Arc<Quic>,
    alternatives: Alternatives,
    windows: Windows,
    clock: Clock,
}

pub(crate) enum Fresh {
    Http1(Box<Http1>),
    Shared(Multiplexed),
    Unconfirmed(Box<ZeroRtt>),
}

impl Connector {
    pub(crate) fn new(config: &Config, clock: Clock) -> Result<Self, Error> {
        Ok(Self {
            protocol: config.protocol,
            connect_to: config.connect_to,
            unix_socket: config.unix_socket.clone(),
            resolver: Resolver::new(config, clock),
            tls: Arc::new(Tls::new(config, clock)?),
            quic: Arc::new(Quic::new(config.windows, clock)),
            alternatives: Alternatives::new(clock),
            windows: config.windows,
            clock,
        })
    }

    pub(crate) fn prepare(&self) -> Result<(), Error> {
        self.tls.prepare()
    }

    pub(crate) fn may_share(&self, origin: &Origin) -> bool {
        match self.protocol {
            Protocol::Http1 => false,
            Protocol::Http2 | Protocol::Http3 => true,
            Protocol::Negotiated => origin.scheme == Scheme::Https,
        }
    }

    pub(crate) async fn open(
        &self,
        origin: &Origin,
        early: EarlyData,
        trace: &mut Trace,
    ) -> Result<Fresh, Failure> {
        if self.protocol == Protocol::Http3 && origin.scheme == Scheme::Http {
            return Err(Failure::Quic("HTTP/3 is for https only"));
        }
        if let Some(path) = &self.unix_socket {
            if self.protocol == Protocol::Http3 {
                return Err(Failure::Quic("HTTP/3 does not go over a Unix socket"));
            }
            trace.opening = Phase::Connect;
            let socket = Socket::unix(path).await?;
            return self.over(socket, None, origin, early, trace).await;
        }
        match (self.protocol, self.alternatives.of(origin)) {
            (Protocol::Http3, _) => {
                let addresses = self.addresses(origin, trace).await?;
                self.over_quic(origin, addresses, early, trace).await
            }
            (Protocol::Negotiated, Some(alternative)) => {
                self.over_either(origin, &alternative, early, trace).await
            }
            _ => {
                let addresses = self.addresses(origin, trace).await?;
                self.over_tcp(origin, addresses, early, trace).await
            }
        }
    }

    pub(crate) fn learn(&self, origin: &Origin, headers: &HeaderMap) {
        if self.protocol == Protocol::Negotiated && origin.scheme == Scheme::Https {
            self.alternatives.learn(origin, headers);
        }
    }

    async fn addresses(&self, origin: &Origin, trace: &mut Trace) -> Result<Addresses, Failure> {
        match self.connect_to {
            Some(address) => Ok(Addresses::one(address)),
            None => self.resolver.resolve(origin, trace).await,
        }
    }

    /// The first connection wins. So networks that block UDP cause only a short delay.
    async fn over_either(
        &self,
        origin: &Origin,
        alternative: &Alternative,
        early: EarlyData,
        trace: &mut Trace,
    ) -> Result<Fresh, Failure> {
        trace.opening = Phase::Quic;
        let (mut swift, mut sure) = (trace.clone(), trace.clone());
        let winner = self.race(origin, alternative, early, &mut swift, &mut sure).await;
        let (fresh, of_winner) = match winner {
            Ok(fresh) => (Ok(fresh), swift),
            Err(over_tcp) => {
                self.alternatives.failed(origin);
                (over_tcp, sure)
            }
        };
        *trace = of_winner;
        fresh
    }

    async fn race(
        &self,
        origin: &Origin,
        alternative: &Alternative,
        early: EarlyData,
        swift: &mut Trace,
        sure: &mut Trace,
    ) -> Result<Fresh, Result<Fresh, Failure>> {
        let over_quic = async {
            let there = alternative.of(origin);
            let addresses = self.addresses(&there, swift).await?.at(alternative.port);
            self.over_quic(origin, addresses, early, swift).await
        };
        let over_tcp = async {
            let addresses = self.addresses(origin, sure).await?;
            self.over_tcp(origin, addresses, early, sure).await
        };
        let (mut over_quic, mut over_tcp) = (std::pin::pin!(over_quic), std::pin::pin!(over_tcp));
        if let Ok(ended) = tokio::time::timeout(HEAD_START, over_quic.as_mut()).await {
            return match ended {
                Ok(fresh) => Ok(fresh),
                Err(_) => Err(over_tcp.await),
            };
        }
        tokio::select! {
            ended = over_quic.as_mut() => match ended {
                Ok(fresh) => Ok(fresh),
                Err(_) => Err(over_tcp.await),
            },
            ended = over_tcp.as_mut() => match ended {
                Ok(fresh) => Err(Ok(fresh)),
                Err(failure) => over_quic.await.map_err(|_| Err(failure)),
            },
        }
    }

    async fn over_tcp(
        &self,
        origin: &Origin,
        addresses: Addresses,
        early: EarlyData,
        trace: &mut Trace,
    ) -> Result<Fresh, Failure> {
        trace.opening = Phase::Connect;
        let started = self.clock.now();
        let reach = |remote: SocketAddr| async move {
            TcpStream::connect(remote).await.map_err(|error| Failure::from_io(&error))
        };
        let Winner { connection: tcp, remote, fallback } = first_to_answer(addresses, reach).await?;
        trace.connect = Some(self.clock.now().saturating_sub(started));
        (trace.remote, trace.fallback) = (Some(remote), Some(fallback));
        trace.local = tcp.local_addr().ok();
        tcp.set_nodelay(true).map_err(|error| Failure::from_io(&error))?;
        self.over(Socket::Tcp(tcp), Some(remote), origin, early, trace).await
    }

    async fn over(
        &self,
        socket: Socket,
        remote: Option<SocketAddr>,
        origin: &Origin,
        early: EarlyData,
        trace: &mut Trace,
    ) -> Result<Fresh, Failure> {
        let wire = Arc::<ByteCounter>::default();
        let socket = Counted::new(socket, Arc::clone(&wire), self.clock);
        let (stream, speaks_http2): (Box<dyn Connection>, bool) = match (origin.scheme, early) {
            (Scheme::Http, _) => (Box::new(socket), self.protocol == Protocol::Http2),
            (Scheme::Https, EarlyData::Forbidden) => {
                let stream = self.tls.handshake(origin.tls_name(), socket, trace).await?;
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                (Box::new(stream), is_http2)
            }
            (Scheme::Https, EarlyData::Allowed) => {
                let (stream, speaks) = self.tls.ahead(origin.tls_name(), socket, trace).await?;
                (Box::new(stream), speaks.as_deref() == Some(b"h2"))
            }
        };
        if self.protocol == Protocol::Http2 && !speaks_http2 {
            return Err(Failure::Tls("no common HTTP version"));
        }
        if speaks_http2 {
            let connection = Http2::start(stream, wire, remote, self.windows, self.clock).await?;
            Ok(Fresh::Shared(Multiplexed::Http2(connection)))
        } else {
            Ok(Fresh::Http1(Http1::start(stream, wire, remote, self.clock)))
        }
    }

    async fn over_quic(
        &self,
        origin: &Origin,
        mut addresses: Addresses,
        mut early: EarlyData,
        trace: &mut Trace,
    ) -> Result<Fresh, Failure> {
        trace.opening = Phase::Quic;
        let started = self.clock.now();
        // Early data is sent to the address that the earlier session reached, without a race between
        // addresses.
        match self.tls.reached_before(origin.tls_name(), &addresses.known) {
            Some(remote) if early == EarlyData::Allowed => addresses = Addresses::one(remote),
            _ => early = EarlyData::Forbidden,
        }
        let reach = |remote: SocketAddr| {
            let (quic, tls, host) =
                (Arc::clone(&self.quic), Arc::clone(&self.tls), origin.tls_name().to_owned());
            async move { quic.open(&tls, &host, remote, early).await }
        };
        let Winner { connection: mut opened, remote, fallback } = first_to_answer(addresses, reach).await?;
        (trace.remote, trace.fallback, trace.local) = (Some(remote), Some(fallback), opened.local());
        trace.tls_version = version_name(ProtocolVersion::TLSv1_3);
        if let Some(accepted) = opened.accepted.take() {
            let way = ZeroRttState { remote, clock: self.clock };
            return Ok(Fresh::Unconfirmed(Box::new(ZeroRtt::begin(opened, accepted, way).await?)));
        }
        // Measured from the first datagram, after socket, buffers and keys have been created. If other
        // addresses were tried first, measured from the start of the first attempt.
        let began = opened.recorder.wire().began().filter(|_| !fallback).unwrap_or(started);
        trace.quic = Some(self.clock.now().saturating_sub(began));
        trace.resumed = opened.handshake.is_resumed().filter(|_| self.tls.resumes());
        self.tls.reached(origin.tls_name(), remote);
        let Opened { connection, recorder, .. } = opened;
        let connection = Http3::start(connection, recorder, remote, self.clock).await?;
        Ok(Fresh::Shared(Multiplexed::Http3(connection)))
    }
}

/// The head start of HTTP/3 before TCP is tried: Chrome's value when it has no RTT estimate.
const HEAD_START: Duration = Duration::from_millis(300);
