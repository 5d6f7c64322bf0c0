//! The identity of a server: a certificate and its key, from files or generated.

use std::{path::Path, sync::Arc};

use quinn::crypto::rustls::QuicServerConfig;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::ServerSessionMemoryCache,
    sign::CertifiedKey,
};

use super::authority::Authority;
use crate::{
    Error,
    pem::{certified, provider},
    reloadable_cert::ReloadableCert,
};

/// A server's certificate chain and key for TLS.
///
/// It offers HTTP/2 and HTTP/1.1 by ALPN, and HTTP/3 on QUIC. Clones share it.
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    quic: Arc<QuicServerConfig>,
    early: EarlyData,
    pub(super) shown: Arc<ReloadableCert>,
}

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
        ReloadableCert::read(chain, key).map(Self::showing)
    }

    /// Reads the files again, for connections from now on. If they are unusable, the old certificate
    /// remains.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_again(&self) -> Result<(), Error> {
        self.shown.read_again()
    }

    /// Uses the certificate and the key in these files for later connections. If they cannot be used, nothing changes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn replace(&self, chain: &Path, key: &Path) -> Result<(), Error> {
        self.shown.replace(Arc::new(certified(chain, key)?));
        Ok(())
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
        let identity = Self::showing(ReloadableCert::of(certified));
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

    fn showing(shown: ReloadableCert) -> Self {
        let shown = Arc::new(shown);
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()
            .expect("ring's provider has suites for TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as _);
        config.max_early_data_size = 0;
        let quic = over_quic(config.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self { config: Arc::new(config), quic, early: EarlyData::Refused, shown }
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

fn over_quic(mut config: ServerConfig) -> Arc<QuicServerConfig> {
    config.alpn_protocols = vec![b"h3".to_vec()];
    // Sessions over TCP cannot be resumed over QUIC.
    config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
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
        let identity = Identity::read(&chain, &key).unwrap();
        identity.read_again().unwrap();
        std::fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        let said = |chain: &Path, key: &Path| Identity::read(chain, key).err().unwrap().to_string();
        assert!(said(&chain, &key).contains("key.pem"), "of another certificate");
        assert!(identity.read_again().unwrap_err().to_string().contains("key.pem"));
        std::fs::write(&chain, "nothing").unwrap();
        assert!(said(&chain, &key).contains("BEGIN CERTIFICATE"), "{}", said(&chain, &key));
        assert!(said(&folder.path().join("none.pem"), &key).contains("none.pem"));
    }
}
