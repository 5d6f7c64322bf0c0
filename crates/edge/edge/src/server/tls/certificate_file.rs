//! One certificate on disk, with the latest usable contents of its files.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use http_stack::server::ServerCertificate;

use crate::{
    Error,
    admin::api::{CertificateSource, CertificateStatus},
    config::CertificateFiles,
    util::expiry::{self, DAY_S},
};

#[derive(Debug)]
pub(crate) struct CertificateFile {
    pub(crate) files: CertificateFiles,
    /// The host for which an ACME server issues the certificate.
    pub(crate) acme_host: Option<String>,
    pub(crate) current: Option<ServerCertificate>,
    /// The reason why the latest order at the ACME server failed.
    pub(crate) order_error: Option<String>,
    /// When the certificate is ordered again, in seconds since the Unix epoch.
    pub(crate) next_order_s: Option<u64>,
    seen: Stamps,
    /// Contents that were not usable when they were seen first. The key may be written after the certificate.
    unusable: Option<Stamps>,
    error: Option<String>,
    warned_s: u64,
}

type Stamps = [Option<Stamp>; 2];

/// Identity, length and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, i64, i64);

fn stamps(files: &CertificateFiles) -> Stamps {
    let of = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        Some(Stamp(found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
    };
    [of(&files.certificate), of(&files.key)]
}

impl CertificateFile {
    /// # Errors
    /// The files cannot be used.
    pub(crate) fn read(files: &CertificateFiles) -> Result<Self, Error> {
        let seen = stamps(files);
        let current = ServerCertificate::read(&files.certificate, &files.key)?;
        Ok(Self { current: Some(current), seen, ..Self::absent(files.clone(), None) })
    }

    /// The file of a certificate for `host`, which an ACME server may not have issued yet.
    pub(crate) fn of_acme(host: &str, file: &Path) -> Self {
        let files = CertificateFiles { certificate: file.to_owned(), key: file.to_owned() };
        let mut one = Self::absent(files, Some(host.to_owned()));
        // The file is written by this program, so the next poll reports a problem.
        let _ = one.poll();
        one
    }

    fn absent(files: CertificateFiles, acme_host: Option<String>) -> Self {
        Self {
            files,
            acme_host,
            current: None,
            order_error: None,
            next_order_s: None,
            seen: [None; 2],
            unusable: None,
            error: None,
            warned_s: 0,
        }
    }

    /// Reads changed files. Returns whether there is a new certificate, or a sentence about files that are
    /// still unusable at the second attempt.
    pub(crate) fn poll(&mut self) -> Result<bool, String> {
        let found = stamps(&self.files);
        if found == self.seen || (self.acme_host.is_some() && found == [None; 2]) {
            return Ok(false);
        }
        match ServerCertificate::read(&self.files.certificate, &self.files.key) {
            Ok(read) => {
                let is_new = self.current.as_ref() != Some(&read);
                (self.current, self.seen, self.unusable, self.error) = (Some(read), found, None, None);
                Ok(is_new)
            }
            Err(error) if self.unusable == Some(found) => {
                let error = error.to_string();
                let sentence = format!("{error}; {}", self.consequence());
                (self.seen, self.unusable, self.error) = (found, None, Some(error));
                Err(sentence)
            }
            Err(_) => {
                self.unusable = Some(found);
                Ok(false)
            }
        }
    }

    fn consequence(&self) -> &'static str {
        if self.current.is_some() { "the old certificate stays in use" } else { "no certificate is in use" }
    }

    /// A warning once per day if the certificate has expired or expires soon.
    pub(crate) fn warning(&mut self, now_s: u64) -> Option<String> {
        let current = self.current.as_ref()?;
        let why = match current.warning(now_s) {
            Some(warning) => warning.to_string(),
            None => expiry::sentence(expiry::days_if_soon(current, now_s)?),
        };
        if now_s < self.warned_s + DAY_S {
            return None;
        }
        self.warned_s = now_s;
        Some(format!("certificate {}: {why}", self.files.certificate.display()))
    }

    pub(crate) fn report(&self, now_s: u64) -> CertificateStatus {
        let names = self.current.as_ref().map(|one| one.names().to_vec());
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let until = |time_s: u64| signed(time_s) - signed(now_s);
        CertificateStatus {
            names: names.unwrap_or_else(|| self.acme_host.iter().cloned().collect()),
            file: self.files.certificate.display().to_string(),
            source: if self.acme_host.is_some() { CertificateSource::Acme } else { CertificateSource::File },
            issuer: self.current.as_ref().map(|one| one.issuer().to_owned()),
            not_after_s: self.current.as_ref().map(ServerCertificate::not_after_s),
            expires_in_s: self.current.as_ref().map(|one| until(one.not_after_s())),
            next_order_in_s: self.next_order_s.map(until),
            error: self.order_error.clone().or_else(|| self.error.clone()),
        }
    }
}
