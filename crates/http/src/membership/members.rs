//! Verifies the certificates of members, by an authority and revocations that can be replaced.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error as TlsError, RootCertStore,
    SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use super::Revoked;
use crate::pem::provider;

/// The verifier of both sides of a handshake.
#[derive(Debug)]
pub(super) struct Members {
    trust: RwLock<Arc<Trust>>,
    /// How often it was replaced, from 1.
    number: AtomicU64,
}

#[derive(Debug)]
struct Trust {
    roots: Arc<RootCertStore>,
    clients: Arc<dyn ClientCertVerifier>,
    servers: Arc<WebPkiServerVerifier>,
    revoked: Revoked,
}

impl Members {
    pub(super) fn new(roots: RootCertStore, revoked: Revoked) -> Self {
        let (roots, provider) = (Arc::new(roots), Arc::new(provider()));
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let servers = WebPkiServerVerifier::builder_with_provider(Arc::clone(&roots), provider);
        let trust = Trust {
            roots,
            clients: clients.build().expect("there is a root certificate, and no CRL"),
            servers: servers.build().expect("there is a root certificate, and no CRL"),
            revoked,
        };
        Self { trust: RwLock::new(Arc::new(trust)), number: AtomicU64::new(1) }
    }

    /// Whether another one accepts the same certificates.
    pub(super) fn are(&self, other: &Self) -> bool {
        let (own, other) = (self.now(), other.now());
        own.revoked == other.revoked && own.roots.roots == other.roots.roots
    }

    /// Accepts what another one accepts from now on.
    pub(super) fn become_like(&self, other: &Self) {
        *self.trust.write().unwrap_or_else(PoisonError::into_inner) = other.now();
        self.number.fetch_add(1, SeqCst);
    }

    /// The number of the current replacement.
    pub(super) fn number(&self) -> u64 {
        self.number.load(SeqCst)
    }

    /// Whether a client with this certificate, and those that lead to the authority, is accepted now.
    pub(super) fn accept(&self, own: &CertificateDer<'_>, rest: &[CertificateDer<'_>]) -> bool {
        self.verify_client_cert(own, rest, UnixTime::now()).is_ok()
    }

    fn now(&self) -> Arc<Trust> {
        Arc::clone(&self.trust.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Trust {
    fn refuse_revoked(&self, certificate: &CertificateDer<'_>) -> Result<(), TlsError> {
        if self.revoked.has(certificate) { Err(CertificateError::Revoked.into()) } else { Ok(()) }
    }
}

impl ClientCertVerifier for Members {
    /// None: a member has one certificate to show.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        own: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        let trust = self.now();
        let verified = trust.clients.verify_client_cert(own, rest, now)?;
        trust.refuse_revoked(own).map(|()| verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.now().clients.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.now().clients.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.now().clients.supported_verify_schemes()
    }
}

impl ServerCertVerifier for Members {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let trust = self.now();
        let verified = trust.servers.verify_server_cert(own, rest, name, ocsp, now)?;
        trust.refuse_revoked(own).map(|()| verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.now().servers.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.now().servers.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.now().servers.supported_verify_schemes()
    }
}
