//! Verifiers for server certificates: the system's store, a file, or no verification.

mod cert_observer;

use std::{env, path::PathBuf, sync::Arc};

use rustls::{
    CertificateError, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

pub(crate) use self::cert_observer::{CertObserver, Handshake};
use super::config::Trust;
use crate::{
    Error,
    failure::is_authority,
    pem::{certificates, roots},
};

pub(crate) fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let chain = |roots: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .expect("there is a root, and no list of revoked certificates")
    };
    Ok(match trust {
        Trust::Anyone => Arc::new(Anyone(Arc::clone(provider))),
        Trust::System => chain(system(&named_by_environment())?),
        Trust::File(path) => {
            let given = certificates(path).map_err(|why| Error::Trust { path: path.clone(), why })?;
            Arc::new(Given { chain: chain(roots(path, &given)?), given })
        }
    })
}

/// As in OpenSSL, these paths replace the system's store.
fn named_by_environment() -> Vec<(&'static str, PathBuf)> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(|value| (name, value.into()));
    ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(named).collect()
}

/// Without a system store: Mozilla's list.
fn system(named: &[(&'static str, PathBuf)]) -> Result<RootCertStore, Error> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let Some((name, path)) = named.first() else {
        return Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect());
    };
    let why = found.errors.first().map_or_else(|| "no certificates found".to_owned(), ToString::to_string);
    Err(Error::Trust { path: path.clone(), why: format!("set by {name}; {why}") })
}

/// A given certificate is trusted directly, whatever its basic constraints: self-signed
/// certificates usually declare a CA (`CA:TRUE`, the default of `openssl req -x509`), which webpki
/// rejects as a server certificate.
#[derive(Debug)]
struct Given {
    chain: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Given {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // webpki checks the validity period before basic constraints and issuer.
            Err(TlsError::InvalidCertificate(error))
                if self.given.contains(end_entity)
                    && (error == CertificateError::UnknownIssuer || is_authority(&error)) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.chain.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.chain.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

/// Accepts every certificate, but verifies the signature, so the handshake does the same work.
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
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
