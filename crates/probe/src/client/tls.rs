//! TLS of the client: whose certificates count, and which version of HTTP is agreed on.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        Resumption,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    config::{Protocol, Trust},
    failure::Failure,
};
use crate::Error;

/// Makes TLS connections. Sessions are not resumed: each handshake is a whole one.
pub(crate) struct Tls {
    connector: TlsConnector,
}

impl Tls {
    pub(crate) fn new(protocol: Protocol, trust: &Trust) -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring's provider has suites for TLS 1.2 and 1.3");
        let mut config = match trust {
            Trust::Anyone => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider))),
            Trust::WebRoots | Trust::File(_) => builder.with_root_certificates(roots(trust)?),
        }
        .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let offered: &[&[u8]] = match protocol {
            Protocol::Negotiated => &[b"h2", b"http/1.1"],
            Protocol::Http1 => &[b"http/1.1"],
            Protocol::Http2 => &[b"h2"],
        };
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        Ok(Self { connector: TlsConnector::from(Arc::new(config)) })
    }

    /// The handshake, for a server known as `host`: a name or an address.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| Failure::Tls("the host is not a name"))?;
        self.connector.connect(name, stream).await.map_err(|error| Failure::from_io(&error))
    }
}

fn roots(trust: &Trust) -> Result<RootCertStore, Error> {
    let Trust::File(path) = trust else {
        return Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect());
    };
    let refused = |why: String| Error::Trust { path: path.clone(), why };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))? {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate).map_err(|error| refused(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refused(
            "it holds no certificate; expected PEM, \"-----BEGIN CERTIFICATE-----\"".to_owned(),
        ));
    }
    Ok(roots)
}

/// Takes every certificate, but still sees that the server holds its key, so that the handshake does the same
/// work.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
