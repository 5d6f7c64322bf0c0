//! TLS of the client: which version of HTTP is agreed on, and the handshake with its time stamp.

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
    ahead::{Ahead, version_name},
    config::{Config, Connections, Protocol, Trust},
    socket::Socket,
    step::Step,
    trace::Trace,
    trust::{self, Witness},
    wire::Counted,
};
use crate::{Error, Failure, clock::Clock, limits};

/// Makes TLS connections.
pub(crate) struct Tls {
    protocol: Protocol,
    trust: Trust,
    /// Handshakes of a member of a closed circle, which has a certificate too.
    member: Option<TlsConnector>,
    /// Whether sessions are resumed. Otherwise each handshake is a whole one.
    resumes: bool,
    clock: Clock,
    /// What is resumed over QUIC, by the server's name: a session is resumed only by who would verify its certificate alike, which
    /// each of these does by itself.
    sessions: Mutex<HashMap<String, Session>>,
    /// The version of HTTP that a server picked when last asked, in ALPN's words, where sessions are resumed. What goes ahead of a handshake is
    /// in that one.
    picked: Mutex<HashMap<String, Option<Vec<u8>>>>,
    /// Made when it is needed: to read the system's store takes longer than to start a program.
    ready: OnceLock<Ready>,
}

/// What all handshakes share.
struct Ready {
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    connector: TlsConnector,
}

/// What connections over QUIC to one server share.
struct Session {
    config: ClientConfig,
    witness: Arc<Witness>,
    /// Where a handshake was finished last.
    reached: Option<SocketAddr>,
}

impl Tls {
    /// A file named by the user is read at once.
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

    /// Reads the trusted certificates, if that was not done yet.
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

    /// The handshake with a server known as `host`: a name or an address. Its time is phase `tls`.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        stream: Counted<Socket>,
        trace: &mut Trace,
    ) -> Result<TlsStream<Counted<Socket>>, Failure> {
        trace.opening = Step::Tls;
        let connector = match &self.member {
            Some(member) => member,
            None => &self.ready().map_err(|_| UNTRUSTING)?.connector,
        };
        let stream =
            connector.connect(name_of(host)?, stream).await.map_err(|error| Failure::from_io(&error))?;
        let (tcp, session) = stream.get_ref();
        // What was done for the ClientHello is no part of the handshake: keys are made, and memory is sought.
        trace.tls = tcp.began().map(|began| self.clock.now().saturating_sub(began));
        trace.tls_version = session.protocol_version().and_then(version_name);
        trace.resumed = self.resumes.then(|| session.handshake_kind() == Some(HandshakeKind::Resumed));
        trace.cipher = session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
        if self.resumes {
            self.remember(host, session.alpn_protocol());
        }
        Ok(stream)
    }

    /// The same; but if the session of an earlier connection allows it, the handshake is only begun, and what is written goes ahead of
    /// it. With the version of HTTP to speak, in ALPN's words.
    pub(crate) async fn ahead(
        &self,
        host: &str,
        stream: Counted<Socket>,
        trace: &mut Trace,
    ) -> Result<(Ahead, Option<Vec<u8>>), Failure> {
        trace.opening = Step::Tls;
        let ready = self.ready().map_err(|_| UNTRUSTING)?;
        let picked = lock(&self.picked).get(host).cloned();
        let mut config = ClientConfig::clone(ready.connector.config());
        config.enable_early_data = picked.is_some();
        let session = ClientConnection::new(Arc::new(config), name_of(host)?)
            .map_err(|error| Failure::from_tls(&error))?;
        let mut stream = Ahead::new(stream, session, picked.clone().flatten(), self.clock);
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

    /// Notes which version of HTTP a server picked.
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

    /// Whether sessions are resumed.
    pub(crate) fn resumes(&self) -> bool {
        self.resumes
    }

    /// What a handshake of QUIC with `host` needs, and who tells what became of the server's certificate.
    pub(crate) fn for_quic(&self, host: &str) -> Result<(ClientConfig, Arc<Witness>), Failure> {
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

    /// Notes that a handshake of QUIC with `host` was finished at this address.
    pub(crate) fn reached(&self, host: &str, remote: SocketAddr) {
        if let Some(session) = lock(&self.sessions).get_mut(host) {
            session.reached = Some(remote);
        }
    }

    /// The address of `host` where a handshake of QUIC was finished last, if it is among these.
    pub(crate) fn reached_before(&self, host: &str, known: &[SocketAddr]) -> Option<SocketAddr> {
        lock(&self.sessions).get(host)?.reached.filter(|reached| known.contains(reached))
    }

    fn new_for_quic(&self) -> Result<(ClientConfig, Arc<Witness>), Failure> {
        let ready = self.ready().map_err(|_| UNTRUSTING)?;
        let witness = Witness::of(Arc::clone(&ready.verifier));
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
