//! Why a certificate was refused, for a handshake whose library tells only the alert that it sent.

use std::sync::{Arc, OnceLock};

use rustls::{
    DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use crate::Failure;

/// A verifier of one handshake that remembers why it refused.
#[derive(Debug)]
pub(crate) struct Witness {
    verifier: Arc<dyn ServerCertVerifier>,
    refusal: OnceLock<Failure>,
}

impl Witness {
    pub(crate) fn of(verifier: Arc<dyn ServerCertVerifier>) -> Arc<Self> {
        Arc::new(Self { verifier, refusal: OnceLock::new() })
    }

    /// Why it refused, if it did.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        self.refusal.get().copied()
    }

    fn noted<T>(&self, outcome: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &outcome {
            self.refusal.get_or_init(|| Failure::from_tls(error));
        }
        outcome
    }
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.noted(self.verifier.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        ))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.noted(self.verifier.verify_tls12_signature(message, cert, signed))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.noted(self.verifier.verify_tls13_signature(message, cert, signed))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
