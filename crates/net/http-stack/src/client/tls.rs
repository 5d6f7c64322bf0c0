//! TLS of the client: ALPN, session resumption, and the timed handshake.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, SupportedProtocolVersion,
    client::{Resumption, danger::ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::ServerName,
    version::TLS13,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    byte_counter::Counted,
    config::{Config, Connections, Protocol, Trust},
    early_data_stream::{EarlyDataStream, version_name},
    phase::Phase,
    socket::Socket,
    trace::Trace,
    trust::{self, CertObserver},
};
use crate::{Error, Failure, clock::Clock, limits};

pub(crate) struct Tls {
    protocol: Protocol,
    trust: Trust,
    member: Option<TlsConnector>,
    resumes: bool,
    clock: Clock,
    /// By server name. rustls resumes a session only with the verifier that created it, so each
    /// entry keeps its verifier.
    sessions: Mutex<HashMap<String, Session>>,
    picked: Mutex<HashMap<String, Option<Vec<u8>>>>,
    /// Loading the system's certificate store takes longer than starting the program.
    ready: OnceLock<Ready>,
}

struct Ready {
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    connector: TlsConnector,
}

struct Session {
    config: ClientConfig,
    witness: Arc<CertObserver>,
    reached: Option<SocketAddr>,
}

impl Tls {
    pub(crate) fn new(config: &Config, clock: Clock) -> Result<Self, Error> {
        let (protocol, trust) = (config.protocol, config.trust.clone());
        let resumes = matches!(config.connections, Connections::Resume | Connections::Early);
        let (sessions, picked, ready) = (Mutex::default(), Mutex::default(), OnceLock::new());
        let member = config.member.as_ref().map(|member| TlsConnector::from(member.client()));
        let tls = Self { protocol, trust, member, resumes, clock, sessions, picked, ready };
        if matches!(tls.trust, Trust::File(_)) {
            tls.prepare()?;
        }
        Ok(tls)
    }

    pub(crate) fn prepare(&self) -> Result<(), Error> {
        self.ready().map(drop)
    }

    fn ready(&self) -> Result<&Ready, Error> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = trust::verifier(&self.trust, &provider)?;
        let offered: &[&[u8]] = match self.protocol {
            Protocol::Negotiated => &[b"h2", b"http/1.1"],
            Protocol::Http1 => &[b"http/1.1"],
            Protocol::Http2 => &[b"h2"],
            Protocol::Http3 => &[],
        };
        let mut config = config(&provider, Arc::clone(&verifier), rustls::ALL_VERSIONS, offered);
        if self.resumes {
            config.resumption = Resumption::default();
        }
        let connector = TlsConnector::from(Arc::new(config));
        Ok(self.ready.get_or_init(|| Ready { provider, verifier, connector }))
    }

    /// The duration is phase `tls`.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        stream: Counted<Socket>,
        trace: &mut Trace,
    ) -> Result<TlsStream<Counted<Socket>>, Failure> {
        trace.opening = Phase::Tls;
        let connector = match &self.member {
            Some(member) => member,
            None => &self.ready().map_err(|_| UNTRUSTING)?.connector,
        };
        let stream =
            connector.connect(name_of(host)?, stream).await.map_err(|error| Failure::from_io(&error))?;
        let (tcp, session) = stream.get_ref();
        // Measured from the ClientHello; key generation and allocation before it are excluded.
        trace.tls = tcp.began().map(|began| self.clock.now().saturating_sub(began));
        trace.tls_version = session.protocol_version().and_then(version_name);
        trace.resumed = self.resumes.then(|| session.handshake_kind() == Some(HandshakeKind::Resumed));
        trace.cipher = session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
        if self.resumes {
            self.remember(host, session.alpn_protocol());
        }
        Ok(stream)
    }

    /// Like [`Self::handshake`], but if a session allows early data, returns before the handshake, and
    /// data written to the stream is sent early. Returns the stream and the ALPN protocol to use.
    pub(crate) async fn ahead(
        &self,
        host: &str,
        stream: Counted<Socket>,
        trace: &mut Trace,
    ) -> Result<(EarlyDataStream, Option<Vec<u8>>), Failure> {
        trace.opening = Phase::Tls;
        let ready = self.ready().map_err(|_| UNTRUSTING)?;
        let picked = lock(&self.picked).get(host).cloned();
        let mut config = ClientConfig::clone(ready.connector.config());
        config.enable_early_data = picked.is_some();
        let session = ClientConnection::new(Arc::new(config), name_of(host)?)
            .map_err(|error| Failure::from_tls(&error))?;
        let mut stream = EarlyDataStream::new(stream, session, picked.clone().flatten(), self.clock);
        let outcome = stream.outcome();
        if let Some(picked) = picked.filter(|_| stream.may_begin()) {
            trace.ahead = Some(outcome);
            return Ok((stream, picked));
        }
        stream.handshake().await.map_err(|error| Failure::from_io(&error))?;
        if let Some(handshake) = outcome.handshake() {
            trace.tls = Some(handshake.took);
            (trace.tls_version, trace.cipher) = (handshake.version, handshake.cipher);
            trace.resumed = Some(handshake.is_resumed);
        }
        let agreed = stream.agreed().map(<[u8]>::to_vec);
        self.remember(host, agreed.as_deref());
        Ok((stream, agreed))
    }

    fn remember(&self, host: &str, agreed: Option<&[u8]>) {
        let mut picked = lock(&self.picked);
        let has_room = picked.len() < limits::ORIGINS;
        match picked.get_mut(host) {
            Some(before) if before.as_deref() == agreed => {}
            Some(before) => *before = agreed.map(<[u8]>::to_vec),
            None if has_room => drop(picked.insert(host.to_owned(), agreed.map(<[u8]>::to_vec))),
            None => {}
        }
    }

    pub(crate) fn resumes(&self) -> bool {
        self.resumes
    }

    pub(crate) fn for_quic(&self, host: &str) -> Result<(ClientConfig, Arc<CertObserver>), Failure> {
        if !self.resumes {
            return self.new_for_quic();
        }
        let mut sessions = lock(&self.sessions);
        if let Some(Session { config, witness, .. }) = sessions.get(host) {
            return Ok((config.clone(), Arc::clone(witness)));
        }
        let (mut config, witness) = self.new_for_quic()?;
        config.resumption = Resumption::default();
        if sessions.len() < limits::ORIGINS {
            let (config, witness) = (config.clone(), Arc::clone(&witness));
            sessions.insert(host.to_owned(), Session { config, witness, reached: None });
        }
        Ok((config, witness))
    }

    pub(crate) fn reached(&self, host: &str, remote: SocketAddr) {
        if let Some(session) = lock(&self.sessions).get_mut(host) {
            session.reached = Some(remote);
        }
    }

    pub(crate) fn reached_before(&self, host: &str, known: &[SocketAddr]) -> Option<SocketAddr> {
        lock(&self.sessions).get(host)?.reached.filter(|reached| known.contains(reached))
    }

    fn new_for_quic(&self) -> Result<(ClientConfig, Arc<CertObserver>), Failure> {
        let ready = self.ready().map_err(|_| UNTRUSTING)?;
        let witness = CertObserver::of(Arc::clone(&ready.verifier));
        let verifier: Arc<dyn ServerCertVerifier> = Arc::clone(&witness) as _;
        Ok((config(&ready.provider, verifier, &[&TLS13], &[b"h3"]), witness))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn name_of(host: &str) -> Result<ServerName<'static>, Failure> {
    ServerName::try_from(host.to_owned()).map_err(|_| Failure::Tls("the host is not a name"))
}

fn config(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    versions: &[&'static SupportedProtocolVersion],
    offered: &[&[u8]],
) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(versions)
        .expect("ring's provider has suites for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
    config
}

const UNTRUSTING: Failure = Failure::Tls("no trusted certificates can be read");
