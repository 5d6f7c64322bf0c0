//! A certificate that can be replaced while its sockets stay open.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    SignatureScheme,
    client::ResolvesClientCert,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::{Error, pem::certified};

#[derive(Debug)]
pub(crate) struct ReloadableCert {
    certified: RwLock<Arc<CertifiedKey>>,
    files: Option<(PathBuf, PathBuf)>,
}

impl ReloadableCert {
    pub(crate) fn of(certified: CertifiedKey) -> Self {
        Self { certified: RwLock::new(Arc::new(certified)), files: None }
    }

    pub(crate) fn read(chain: &Path, key: &Path) -> Result<Self, Error> {
        Ok(Self { files: Some((chain.to_owned(), key.to_owned())), ..Self::of(certified(chain, key)?) })
    }

    pub(crate) fn read_again(&self) -> Result<(), Error> {
        if let Some((chain, key)) = &self.files {
            self.replace(Arc::new(certified(chain, key)?));
        }
        Ok(())
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
