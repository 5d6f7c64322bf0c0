//! Verifies the certificates of members by an authority and revocations that can be replaced.

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

#[derive(Debug)]
pub(super) struct MemberVerifier {
    trust: RwLock<Arc<Trust>>,
    /// Counts the replacements of `trust`, from 1.
    generation: AtomicU64,
}

#[derive(Debug)]
struct Trust {
    roots: Arc<RootCertStore>,
    clients: Arc<dyn ClientCertVerifier>,
    servers: Arc<WebPkiServerVerifier>,
    revoked: Revoked,
}

impl MemberVerifier {
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
        Self { trust: RwLock::new(Arc::new(trust)), generation: AtomicU64::new(1) }
    }

    pub(super) fn has_trust_of(&self, other: &Self) -> bool {
        let (own, other) = (self.now(), other.now());
        own.revoked == other.revoked && own.roots.roots == other.roots.roots
    }

    pub(super) fn take_trust_of(&self, other: &Self) {
        *self.trust.write().unwrap_or_else(PoisonError::into_inner) = other.now();
        self.generation.fetch_add(1, SeqCst);
    }

    /// Changes whenever the trust is replaced; never 0.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(SeqCst)
    }

    pub(super) fn accepts(&self, own: &CertificateDer<'_>, rest: &[CertificateDer<'_>]) -> bool {
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

impl ClientCertVerifier for MemberVerifier {
    /// A member has only one certificate to present.
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

impl ServerCertVerifier for MemberVerifier {
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
