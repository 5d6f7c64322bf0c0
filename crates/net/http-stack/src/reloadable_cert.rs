//! A certificate that can be replaced while its sockets stay open.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::{
    SignatureScheme,
    client::ResolvesClientCert,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

#[derive(Debug)]
pub(crate) struct ReloadableCert {
    certified: RwLock<Arc<CertifiedKey>>,
}

impl ReloadableCert {
    pub(crate) fn of(certified: CertifiedKey) -> Self {
        Self { certified: RwLock::new(Arc::new(certified)) }
    }

    pub(crate) fn replace(&self, certified: Arc<CertifiedKey>) {
        *self.certified.write().unwrap_or_else(PoisonError::into_inner) = certified;
    }

    pub(crate) fn now(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.certified.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for ReloadableCert {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }
}

impl ResolvesClientCert for ReloadableCert {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }

    fn has_certs(&self) -> bool {
        true
    }
}
