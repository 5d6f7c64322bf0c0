//! The identity of a server: its certificates with their keys, from files or generated, and its TLS settings.

mod client_auth;
mod request;
mod server_certificate;
mod store;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use quinn::crypto::rustls::QuicServerConfig;
use rustls::{
    ServerConfig, SupportedProtocolVersion,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{NoServerSessionStorage, ServerSessionMemoryCache},
    sign::CertifiedKey,
    version::TLS13,
};

pub use self::{
    client_auth::ClientAuth,
    request::{CertificateRequest, challenge_certificate},
    server_certificate::ServerCertificate,
};
use self::{
    client_auth::ClientVerifier,
    store::{ACME_TLS, CertificateStore},
};
use super::authority::Authority;
use crate::{Error, pem::provider};

/// A server's certificates and TLS settings.
///
/// It offers HTTP/2 and HTTP/1.1 by ALPN, and HTTP/3 on QUIC. Clones share it.
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    quic: Arc<QuicServerConfig>,
    early: EarlyData,
    store: Arc<CertificateStore>,
    clients: Option<Arc<ClientVerifier>>,
}

/// Settings of a server's TLS that apply to all its certificates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// The oldest version that the server accepts over TCP. QUIC always uses TLS 1.3.
    pub min_version: TlsVersion,
    /// Whether clients present a certificate.
    pub clients: ClientAuth,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[default]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
}

impl TlsVersion {
    fn and_later(self) -> &'static [&'static SupportedProtocolVersion] {
        match self {
            Self::Tls12 => rustls::ALL_VERSIONS,
            Self::Tls13 => ONLY_TLS13,
        }
    }
}

const ONLY_TLS13: &[&SupportedProtocolVersion] = &[&TLS13];

/// An attacker on the path can replay it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EarlyData {
    Accepted,
    Refused,
}

/// A generated identity, and the authority that a client must trust.
pub struct SelfSigned {
    /// The identity; its keys exist only in memory.
    pub identity: Identity,
    /// The certificate of the authority; PEM.
    pub ca_pem: String,
}

impl Identity {
    /// Reads a certificate chain, the server's certificate first, and its key; both PEM.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong contents, or the key does not match the certificate.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, Error> {
        let identity = Self::new(&TlsSettings::default())?;
        identity.set(Some(ServerCertificate::read(chain, key)?), Vec::new());
        Ok(identity)
    }

    /// An identity without certificates: handshakes fail until [`Self::set`] provides one.
    ///
    /// # Errors
    /// The authorities of clients cannot be read.
    pub fn new(settings: &TlsSettings) -> Result<Self, Error> {
        let clients = ClientVerifier::read(&settings.clients)?.map(Arc::new);
        Ok(Self::with(settings.min_version, clients))
    }

    /// Uses these certificates for later connections.
    ///
    /// A handshake selects one by the name that the client requests: an exact name first, then a wildcard.
    /// Among several it selects the first that the client's signature schemes allow, `others` before
    /// `default`. Without a requested or a matching name, it uses `default`, or else the first of `others`.
    pub fn set(&self, default: Option<ServerCertificate>, others: Vec<ServerCertificate>) {
        self.store.set(default, others);
    }

    /// Answers TLS-ALPN-01 challenges for a name with the certificate and key in the file `NAME.pem` of this
    /// folder.
    pub fn set_challenges(&self, folder: Option<PathBuf>) {
        self.store.set_challenges(folder);
    }

    /// Reads the authorities of clients again, for later connections.
    ///
    /// # Errors
    /// The file cannot be used; then nothing changes.
    pub fn replace_client_authorities(&self, path: &Path) -> Result<(), Error> {
        self.clients.as_ref().map_or(Ok(()), |clients| clients.read_again(path))
    }

    /// Creates an authority, and a certificate for `names` (names and addresses) signed by it.
    ///
    /// # Errors
    /// A name is invalid in certificates.
    pub fn make(names: &[String]) -> Result<SelfSigned, Error> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Certificate {
            names: names.to_vec(),
            source,
        };
        let authority = Authority::make()?;
        let issued = authority.issue("Longhaul origin", names, None)?;
        let certificate = CertificateDer::from_pem_slice(issued.certificate_pem.as_bytes())
            .map_err(|error| failed(error.into()))?;
        let key =
            PrivateKeyDer::from_pem_slice(issued.key_pem.as_bytes()).map_err(|error| failed(error.into()))?;
        let certified = CertifiedKey::from_der(vec![certificate], key, &provider());
        let certified = certified.map_err(|error| failed(error.into()))?;
        let identity = Self::with(TlsVersion::default(), None);
        identity.set(ServerCertificate::of(certified), Vec::new());
        Ok(SelfSigned { identity, ca_pem: authority.certificate_pem().to_owned() })
    }

    /// Accepts early data (0-RTT) over QUIC from clients that resume a session of this process.
    ///
    /// Handlers receive requests with a safe method immediately, others after the handshake.
    #[must_use]
    pub fn with_early_data(self) -> Self {
        let mut config = ServerConfig::clone(&self.config);
        // QUIC allows only this value or 0 (RFC 9001 section 4.6.1).
        config.max_early_data_size = u32::MAX;
        Self { quic: over_quic(config), early: EarlyData::Accepted, ..self }
    }

    fn with(min_version: TlsVersion, clients: Option<Arc<ClientVerifier>>) -> Self {
        let store = Arc::new(CertificateStore::default());
        let versions = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(min_version.and_later())
            .expect("ring's provider has suites for TLS 1.2 and 1.3");
        let authenticated = match &clients {
            None => versions.with_no_client_auth(),
            Some(clients) => versions.with_client_cert_verifier(Arc::clone(clients) as _),
        };
        let mut config = authenticated.with_cert_resolver(Arc::clone(&store) as _);
        config.max_early_data_size = 0;
        if clients.is_some() {
            // Each connection authenticates its client, without resumption.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        let quic = over_quic(config.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec(), ACME_TLS.to_vec()];
        Self { config: Arc::new(config), quic, early: EarlyData::Refused, store, clients }
    }

    pub(super) fn early(&self) -> EarlyData {
        self.early
    }

    pub(super) fn quic(&self) -> Arc<QuicServerConfig> {
        Arc::clone(&self.quic)
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

/// Whether a connection serves only a TLS-ALPN-01 challenge, which ends with the handshake.
pub(super) fn is_challenge(protocol: Option<&[u8]>) -> bool {
    protocol == Some(ACME_TLS)
}

fn over_quic(mut config: ServerConfig) -> Arc<QuicServerConfig> {
    config.alpn_protocols = vec![b"h3".to_vec()];
    if config.send_tls13_tickets > 0 {
        // Sessions over TCP cannot be resumed over QUIC.
        config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
    }
    Arc::new(
        QuicServerConfig::try_from(config).expect("ring's provider has the suite of QUIC's first packets"),
    )
}

/// rustls's default; the oldest is evicted.
const SESSIONS: usize = 256;

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn a_name_that_none_can_be_for_makes_no_certificate() {
        let error = Identity::make(&["n\u{e4}me".to_owned()]).err().unwrap();
        assert!(matches!(error, Error::Certificate { .. }), "{error}");
    }

    #[test]
    fn files_are_read_and_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
        let pair = KeyPair::generate().unwrap();
        let own = CertificateParams::new(["a.example".to_owned()]).unwrap().self_signed(&pair).unwrap();
        std::fs::write(&chain, own.pem()).unwrap();
        std::fs::write(&key, pair.serialize_pem()).unwrap();
        Identity::read(&chain, &key).unwrap();
        std::fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        let said = |chain: &Path, key: &Path| Identity::read(chain, key).err().unwrap().to_string();
        assert!(said(&chain, &key).contains("key.pem"), "of another certificate");
        std::fs::write(&chain, "nothing").unwrap();
        assert!(said(&chain, &key).contains("BEGIN CERTIFICATE"), "{}", said(&chain, &key));
        assert!(said(&folder.path().join("none.pem"), &key).contains("none.pem"));
    }
}
