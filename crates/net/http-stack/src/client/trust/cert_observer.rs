//! Records the certificate checks of QUIC handshakes: quinn reports neither why a certificate was
//! refused nor whether the session was resumed.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use rustls::{
    DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use crate::Failure;

#[derive(Debug)]
pub(crate) struct CertObserver {
    verifier: Arc<dyn ServerCertVerifier>,
    refusal: Mutex<Option<Failure>>,
    shown: AtomicU64,
    begun: AtomicU64,
    active: AtomicUsize,
}

pub(crate) struct Handshake {
    witness: Arc<CertObserver>,
    number: u64,
    shown_before: u64,
    began_alone: bool,
}

impl CertObserver {
    pub(crate) fn of(verifier: Arc<dyn ServerCertVerifier>) -> Arc<Self> {
        Arc::new(Self {
            verifier,
            refusal: Mutex::default(),
            shown: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            active: AtomicUsize::new(0),
        })
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Handshake {
        let began_alone = self.active.fetch_add(1, Relaxed) == 0;
        if began_alone {
            *self.why() = None;
        }
        let (number, shown_before) = (self.begun.fetch_add(1, Relaxed) + 1, self.shown.load(Relaxed));
        Handshake { witness: Arc::clone(self), number, shown_before, began_alone }
    }

    fn why(&self) -> MutexGuard<'_, Option<Failure>> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn noted<T>(&self, outcome: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &outcome {
            self.why().get_or_insert_with(|| Failure::from_tls(error));
        }
        outcome
    }
}

impl Handshake {
    pub(crate) fn refusal(&self) -> Option<Failure> {
        *self.witness.why()
    }

    /// `None` if concurrent handshakes make that ambiguous.
    pub(crate) fn is_resumed(&self) -> Option<bool> {
        let was_alone = self.began_alone && self.witness.begun.load(Relaxed) == self.number;
        was_alone.then(|| self.witness.shown.load(Relaxed) == self.shown_before)
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        self.witness.active.fetch_sub(1, Relaxed);
    }
}

impl ServerCertVerifier for CertObserver {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.shown.fetch_add(1, Relaxed);
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
