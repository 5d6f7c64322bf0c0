//! TLS of the client: which version of HTTP is agreed on, and the handshake with its time stamp.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use rustls::{
    ClientConfig, HandshakeKind, ProtocolVersion, SupportedProtocolVersion,
    client::{Resumption, danger::ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::ServerName,
    version::TLS13,
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    config::{Config, Connections, Protocol, Trust},
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
    /// Whether sessions are resumed. Otherwise each handshake is a whole one.
    resumes: bool,
    clock: Clock,
    /// What is resumed over QUIC, by the server's name: a session is resumed only by who would verify its certificate alike, which
    /// each of these does by itself.
    sessions: Mutex<HashMap<String, (ClientConfig, Arc<Witness>)>>,
    /// Made when it is needed: to read the system's store takes longer than to start a program.
    ready: OnceLock<Ready>,
}

/// What all handshakes share.
struct Ready {
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    connector: TlsConnector,
}

impl Tls {
    /// A file named by the user is read at once.
    pub(crate) fn new(config: &Config, clock: Clock) -> Result<Self, Error> {
        let (protocol, trust) = (config.protocol, config.trust.clone());
        let resumes = config.connections == Connections::Resume;
        let (sessions, ready) = (Mutex::default(), OnceLock::new());
        let tls = Self { protocol, trust, resumes, clock, sessions, ready };
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
        stream: Counted<TcpStream>,
        trace: &mut Trace,
    ) -> Result<TlsStream<Counted<TcpStream>>, Failure> {
        trace.opening = Step::Tls;
        let started = self.clock.now();
        let ready = self.ready().map_err(|_| UNTRUSTING)?;
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| Failure::Tls("the host is not a name"))?;
        let stream = ready.connector.connect(name, stream).await.map_err(|error| Failure::from_io(&error))?;
        trace.tls = Some(self.clock.now().saturating_sub(started));
        let session = stream.get_ref().1;
        trace.tls_version = session.protocol_version().and_then(version_name);
        trace.resumed = self.resumes.then(|| session.handshake_kind() == Some(HandshakeKind::Resumed));
        trace.cipher = session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
        Ok(stream)
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
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((config, witness)) = sessions.get(host) {
            return Ok((config.clone(), Arc::clone(witness)));
        }
        let (mut config, witness) = self.new_for_quic()?;
        config.resumption = Resumption::default();
        if sessions.len() < limits::ORIGINS {
            sessions.insert(host.to_owned(), (config.clone(), Arc::clone(&witness)));
        }
        Ok((config, witness))
    }

    fn new_for_quic(&self) -> Result<(ClientConfig, Arc<Witness>), Failure> {
        let ready = self.ready().map_err(|_| UNTRUSTING)?;
        let witness = Witness::of(Arc::clone(&ready.verifier));
        let verifier: Arc<dyn ServerCertVerifier> = Arc::clone(&witness) as _;
        Ok((config(&ready.provider, verifier, &[&TLS13], &[b"h3"]), witness))
    }
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

/// The version as people write it.
pub(crate) fn version_name(version: ProtocolVersion) -> Option<&'static str> {
    match version {
        ProtocolVersion::TLSv1_2 => Some("TLS 1.2"),
        ProtocolVersion::TLSv1_3 => Some("TLS 1.3"),
        _ => None,
    }
}

const UNTRUSTING: Failure = Failure::Tls("no trusted certificates can be read");
