//! Verification of visitors' certificates by authorities that can be replaced.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    DigitallySignedStruct, DistinguishedName, Error as TlsError, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    pki_types::{CertificateDer, UnixTime},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use crate::{
    Error,
    pem::{certificates, provider, roots},
};

/// Whether clients present a certificate. The path is a PEM file of authorities.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// No certificate is requested.
    #[default]
    Off,
    /// A client without a certificate is served; one with an invalid certificate is not.
    Optional(PathBuf),
    /// A client without a valid certificate is not served.
    Required(PathBuf),
}

impl ClientAuth {
    /// The file of authorities.
    pub fn authorities(&self) -> Option<&Path> {
        match self {
            Self::Off => None,
            Self::Optional(path) | Self::Required(path) => Some(path),
        }
    }
}

#[derive(Debug)]
pub(super) struct ClientVerifier {
    now: RwLock<Arc<dyn ClientCertVerifier>>,
    /// The names of the authorities at startup, by which a browser selects a certificate.
    hints: Vec<DistinguishedName>,
    is_required: bool,
}

impl ClientVerifier {
    pub(super) fn read(clients: &ClientAuth) -> Result<Option<Self>, Error> {
        let Some(path) = clients.authorities() else { return Ok(None) };
        let is_required = matches!(clients, ClientAuth::Required(_));
        let verifier = verifier(path)?;
        let hints = verifier.root_hint_subjects().to_vec();
        Ok(Some(Self { now: RwLock::new(verifier), hints, is_required }))
    }

    pub(super) fn read_again(&self, path: &Path) -> Result<(), Error> {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = verifier(path)?;
        Ok(())
    }

    fn now(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn verifier(path: &Path) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    let refused = |why: String| Error::Trust { path: path.to_owned(), why };
    let authorities = certificates(path).map_err(refused)?;
    let roots = Arc::new(roots(path, &authorities)?);
    let built = WebPkiClientVerifier::builder_with_provider(roots, Arc::new(provider())).build();
    built.map_err(|error| refused(error.to_string()))
}

impl ClientCertVerifier for ClientVerifier {
    fn client_auth_mandatory(&self) -> bool {
        self.is_required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        own: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.now().verify_client_cert(own, rest, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.now().verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.now().verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.now().supported_verify_schemes()
    }
}
