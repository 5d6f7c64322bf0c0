//! Whose certificates count: the system's store, those in a file, or anybody's.

mod witness;

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

pub(crate) use self::witness::{Handshake, Witness};
use super::config::Trust;
use crate::{
    Error,
    failure::is_authority,
    pem::{certificates, roots},
};

/// How a client sees whose certificate it is shown.
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

/// The paths that the environment names instead of the system's own, as in OpenSSL.
fn named_by_environment() -> Vec<(&'static str, PathBuf)> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(|value| (name, value.into()));
    ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(named).collect()
}

/// The system's store, or what the environment names instead. A system that has none: Mozilla's list.
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
    let why = found.errors.first().map_or_else(|| "no certificate is there".to_owned(), ToString::to_string);
    Err(Error::Trust { path: path.clone(), why: format!("{name} names it; {why}") })
}

/// Takes the certificates that were given and those signed by them.
///
/// A certificate that was given is trusted for itself, whatever its declared role: one that signs itself says as a
/// rule that it is an authority (`CA:TRUE`, the default of `openssl req -x509`), and webpki takes no authority for a
/// server. It must still be valid now and for the server's name, and the server must hold its key.
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
            // webpki looks at the role and for an issuer after it has seen that the certificate is valid now.
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

/// Accepts every certificate, but still checks that the server has its key, so that the handshake does the same
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
