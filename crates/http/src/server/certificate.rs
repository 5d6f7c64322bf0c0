//! The identity of a server: a certificate and its key, from files or made on the spot.

use std::{path::Path, sync::Arc};

use quinn::crypto::rustls::QuicServerConfig;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
};

use crate::Error;

/// What a server needs for TLS: its certificate, those that lead from it to an authority, and its key.
///
/// It offers HTTP/2 and HTTP/1.1 by ALPN, and HTTP/3 on QUIC. Clones share it.
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    quic: Arc<QuicServerConfig>,
}

/// An identity made on the spot, and what a client must trust to talk to it.
pub struct SelfSigned {
    /// Keys live in memory only.
    pub identity: Identity,
    /// The certificate of the authority that signed it, which nobody trusts yet; PEM.
    pub ca_pem: String,
}

impl Identity {
    /// Reads a certificate, its own first and then those that lead to an authority, and its key; both PEM.
    ///
    /// # Errors
    /// When a file cannot be read or does not contain what it should, or the key is another certificate's.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, Error> {
        let refused = |path: &Path, why: String| Error::Identity { path: path.to_owned(), why };
        let certificates = CertificateDer::pem_file_iter(chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| refused(chain, error.to_string()))?;
        if certificates.is_empty() {
            let why = "it contains no certificate; expected PEM, \"-----BEGIN CERTIFICATE-----\"";
            return Err(refused(chain, why.to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| refused(key, error.to_string()))?;
        Self::new(certificates, secret).map_err(|error| refused(key, error.to_string()))
    }

    /// Makes an authority, and a certificate for `names` (names and addresses) that it signs.
    ///
    /// # Errors
    /// When no certificate can be for one of the names.
    pub fn make(names: &[String]) -> Result<SelfSigned, Error> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Certificate {
            names: names.to_vec(),
            source,
        };
        let (certificate, key, ca_pem) = sign(names).map_err(|error| failed(error.into()))?;
        let identity = Self::new(vec![certificate], key).map_err(|error| failed(error.into()))?;
        Ok(SelfSigned { identity, ca_pem })
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, rustls::Error> {
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("ring's provider has suites for TLS 1.2 and 1.3")
                .with_no_client_auth()
                .with_single_cert(chain, key)?;
        // QUIC has TLS 1.3 only, and the library picks it. Early data is not accepted: it can be replayed.
        let mut quic = config.clone();
        quic.alpn_protocols = vec![b"h3".to_vec()];
        let quic =
            QuicServerConfig::try_from(quic).expect("ring's provider has the suite of QUIC's first packets");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), quic: Arc::new(quic) })
    }

    pub(super) fn quic(&self) -> Arc<QuicServerConfig> {
        Arc::clone(&self.quic)
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

type Material = (CertificateDer<'static>, PrivateKeyDer<'static>, String);

fn sign(names: &[String]) -> Result<Material, rcgen::Error> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "Longhaul experiment");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let mut leaf = CertificateParams::new(names)?;
    leaf.distinguished_name.push(DnType::CommonName, "Longhaul origin");
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let leaf = leaf.signed_by(&key, &authority)?;
    Ok((leaf.der().clone(), PrivatePkcs8KeyDer::from(key.serialize_der()).into(), authority.pem()))
}

#[cfg(test)]
mod tests {
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
        assert!(Identity::read(&chain, &key).is_ok());
        std::fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        let said = |chain: &Path, key: &Path| Identity::read(chain, key).err().unwrap().to_string();
        assert!(said(&chain, &key).contains("key.pem"), "of another certificate");
        std::fs::write(&chain, "nothing").unwrap();
        assert!(said(&chain, &key).contains("BEGIN CERTIFICATE"), "{}", said(&chain, &key));
        assert!(said(&folder.path().join("none.pem"), &key).contains("none.pem"));
    }
}
