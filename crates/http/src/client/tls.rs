//! TLS of the client: which version of HTTP is agreed on, and the handshake with its time stamp.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, client::Resumption, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    config::{Protocol, Trust},
    trace::Trace,
    trust,
};
use crate::{Error, Failure, clock::Clock};

/// Makes TLS connections. Sessions are not resumed: each handshake is a whole one.
pub(crate) struct Tls {
    protocol: Protocol,
    trust: Trust,
    clock: Clock,
    /// Made when it is needed: to read the system's store takes longer than to start a program.
    connector: OnceLock<TlsConnector>,
}

impl Tls {
    /// A file named by the user is read at once.
    pub(crate) fn new(protocol: Protocol, trust: Trust, clock: Clock) -> Result<Self, Error> {
        let tls = Self { protocol, trust, clock, connector: OnceLock::new() };
        if matches!(tls.trust, Trust::File(_)) {
            tls.connector()?;
        }
        Ok(tls)
    }

    /// The connector; fails if the trusted certificates cannot be read.
    pub(crate) fn connector(&self) -> Result<&TlsConnector, Error> {
        if let Some(connector) = self.connector.get() {
            return Ok(connector);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = trust::verifier(&self.trust, &provider)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring's provider has suites for TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let offered: &[&[u8]] = match self.protocol {
            Protocol::Negotiated => &[b"h2", b"http/1.1"],
            Protocol::Http1 => &[b"http/1.1"],
            Protocol::Http2 => &[b"h2"],
        };
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        Ok(self.connector.get_or_init(|| TlsConnector::from(Arc::new(config))))
    }

    /// The handshake with a server known as `host`: a name or an address. Its time is phase `tls`.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        stream: TcpStream,
        trace: &mut Trace,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let started = self.clock.now();
        let connector = self.connector().map_err(|_| Failure::Tls("no trusted certificates can be read"))?;
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| Failure::Tls("the host is not a name"))?;
        let stream = connector.connect(name, stream).await.map_err(|error| Failure::from_io(&error))?;
        trace.tls = Some(self.clock.now().saturating_sub(started));
        Ok(stream)
    }
}
