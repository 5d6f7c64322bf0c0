//! All certificates of a data centre for clients.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http_stack::server::{Identity, ServerCertificate};
use tokio::sync::Notify;

use super::certificate_file::CertificateFile;
use crate::{
    Error,
    admin::api::CertificateStatus,
    config::{Acme, DataCentre, Network},
    util::clock,
};

#[derive(Default)]
pub(crate) struct Certificates {
    identity: Option<Identity>,
    files: Mutex<CertificateSet>,
    /// Signals a reload of the network's file.
    pub(crate) reloaded: Notify,
}

/// The default certificate and all others, in the order of selection.
#[derive(Debug, Default)]
pub(crate) struct CertificateSet {
    default: Option<CertificateFile>,
    others: Vec<CertificateFile>,
}

impl CertificateSet {
    /// Certificates of an ACME server may be missing or unusable.
    ///
    /// # Errors
    /// A certificate file cannot be used.
    pub(crate) fn read(network: &Network, centre: &DataCentre) -> Result<Self, Error> {
        let default = centre.identity.as_ref().map(CertificateFile::read).transpose()?;
        let mut others = Vec::new();
        if let Some(acme) = &network.acme {
            let place = acme.place();
            let file = |host: &str| CertificateFile::of_acme(host, &place.join(format!("{host}.pem")));
            others.extend(network.acme_hosts().map(file));
        }
        for files in &centre.certificates {
            others.push(CertificateFile::read(files)?);
        }
        Ok(Self { default, others })
    }

    fn all(&mut self) -> impl Iterator<Item = &mut CertificateFile> {
        self.default.iter_mut().chain(&mut self.others)
    }

    fn show(&self, identity: &Identity) {
        let default = self.default.as_ref().and_then(|one| one.current.clone());
        identity.set(default, self.others.iter().filter_map(|one| one.current.clone()).collect());
    }
}

impl Certificates {
    /// Reads the certificates, unless the data centre has no TLS listener.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(crate) fn open(network: &Network, centre: &DataCentre) -> Result<Self, Error> {
        if !centre.has_tls() {
            return Ok(Self::default());
        }
        let identity = Identity::new(&centre.tls)?;
        let files = CertificateSet::read(network, centre)?;
        let certificates = Self { identity: Some(identity), ..Self::default() };
        certificates.replace(network, files);
        Ok(certificates)
    }

    pub(crate) fn identity(&self) -> Option<Identity> {
        self.identity.clone()
    }

    /// Reads the files of a reloaded network.
    ///
    /// # Errors
    /// A file cannot be used; then nothing changes.
    pub(crate) fn reload(&self, network: &Network, centre: &DataCentre) -> Result<(), Error> {
        let Some(identity) = &self.identity else { return Ok(()) };
        let files = CertificateSet::read(network, centre)?;
        if let Some(path) = centre.tls.clients.authorities() {
            identity.replace_client_authorities(path)?;
        }
        self.replace(network, files);
        self.reloaded.notify_one();
        Ok(())
    }

    fn replace(&self, network: &Network, files: CertificateSet) {
        let Some(identity) = &self.identity else { return };
        files.show(identity);
        identity.set_challenges(network.acme.as_ref().map(Acme::challenges));
        *self.files() = files;
    }

    /// Reads changed files again. Returns a sentence for each certificate that was replaced, cannot be read,
    /// or expires soon.
    pub(crate) fn poll(&self) -> Vec<String> {
        let Some(identity) = &self.identity else { return Vec::new() };
        let (now_s, mut sentences, mut has_new) = (clock::unix_s(), Vec::new(), false);
        let mut files = self.files();
        for one in files.all() {
            match one.poll() {
                Ok(true) => {
                    has_new = true;
                    let place = one.files.certificate.display();
                    sentences.push(format!("certificate {place}: the new file is in use"));
                }
                Ok(false) => {}
                Err(sentence) => sentences.push(sentence),
            }
            sentences.extend(one.warning(now_s));
        }
        if has_new {
            files.show(identity);
        }
        sentences
    }

    pub(crate) fn report(&self) -> Vec<CertificateStatus> {
        let now_s = clock::unix_s();
        self.files().all().map(|one| one.report(now_s)).collect()
    }

    /// The hosts with certificates of the ACME server, and their current certificates.
    pub(crate) fn of_acme(&self) -> Vec<(String, Option<ServerCertificate>)> {
        let mut files = self.files();
        files.all().filter_map(|one| Some((one.acme_host.clone()?, one.current.clone()))).collect()
    }

    /// Records the next order for a host, and why the latest one failed.
    pub(crate) fn note_order(&self, host: &str, next_s: u64, error: Option<&str>) {
        let mut files = self.files();
        if let Some(one) = files.all().find(|one| one.acme_host.as_deref() == Some(host)) {
            (one.next_order_s, one.order_error) = (Some(next_s), error.map(str::to_owned));
        }
    }

    fn files(&self) -> MutexGuard<'_, CertificateSet> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
