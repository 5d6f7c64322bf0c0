//! PEM files: certificates with their keys, and trusted certificates.

use std::path::Path;

use rustls::{
    Error as TlsError, RootCertStore,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};

use crate::Error;

pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    if found.is_empty() {
        return Err("it contains no certificate; expected PEM, \"-----BEGIN CERTIFICATE-----\"".to_owned());
    }
    Ok(found)
}

pub(crate) fn certified(chain: &Path, key: &Path) -> Result<CertifiedKey, Error> {
    let certificates = certificates(chain).map_err(|why| refused(chain, why))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| refused(key, error.to_string()))?;
    let certified = CertifiedKey::from_der(certificates, secret, &provider());
    certified.map_err(|error| refused(key, error.to_string()))
}

/// The certificate of a TLS-ALPN-01 challenge and its key. `certified` refuses the critical extension that
/// it must have (RFC 8737 section 3).
pub(crate) fn challenge(file: &Path) -> Result<CertifiedKey, Error> {
    let certificates = certificates(file).map_err(|why| refused(file, why))?;
    let secret = PrivateKeyDer::from_pem_file(file).map_err(|error| refused(file, error.to_string()))?;
    let key = provider().key_provider.load_private_key(secret);
    Ok(CertifiedKey::new(certificates, key.map_err(|error| refused(file, error.to_string()))?))
}

pub(crate) fn refused(path: &Path, why: String) -> Error {
    Error::Identity { path: path.to_owned(), why }
}

pub(crate) fn roots(path: &Path, given: &[CertificateDer<'static>]) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in given {
        let refused = |error: TlsError| Error::Trust { path: path.to_owned(), why: error.to_string() };
        roots.add(certificate.clone()).map_err(refused)?;
    }
    Ok(roots)
}

pub(crate) fn provider() -> CryptoProvider {
    ring::default_provider()
}
