//! One certificate of a server, with its key: its names, validity, issuer, and reasons for clients to
//! reject it.

use std::{path::Path, sync::Arc};

use rustls::{
    SignatureScheme,
    pki_types::{CertificateDer, ServerName},
    sign::CertifiedKey,
};
use webpki::EndEntityCert;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{
    Error,
    pem::{certified, refused},
    server::cert_warning::CertWarning,
};

/// A certificate chain with its key, for [`Identity`](super::Identity). Clones share it.
#[derive(Debug, Clone)]
pub struct ServerCertificate {
    pub(super) key: Arc<CertifiedKey>,
    names: Arc<[String]>,
    issuer: Arc<str>,
    not_before_s: u64,
    not_after_s: u64,
}

impl ServerCertificate {
    /// Reads a certificate chain, the server's certificate first, and its key; both PEM, in two files
    /// or in one.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong contents, or the key does not match the certificate.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, Error> {
        Self::of(certified(chain, key)?)
            .ok_or_else(|| refused(chain, "its first certificate is not an X.509 certificate".to_owned()))
    }

    pub(super) fn of(key: CertifiedKey) -> Option<Self> {
        let leaf = key.cert.first()?;
        let (_, parsed) = X509Certificate::from_der(leaf).ok()?;
        let validity = parsed.validity();
        let seconds = |time: i64| u64::try_from(time).unwrap_or(0);
        let (not_before_s, not_after_s) =
            (seconds(validity.not_before.timestamp()), seconds(validity.not_after.timestamp()));
        let issuer: Arc<str> = parsed.issuer().to_string().into();
        let names: Vec<_> = dns_names(leaf);
        Some(Self { names: names.into(), issuer, not_before_s, not_after_s, key: Arc::new(key) })
    }

    /// The DNS names in the certificate, in lower case.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of the issuer, as in RFC 4514.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The start of its validity, in seconds since the Unix epoch.
    pub fn not_before_s(&self) -> u64 {
        self.not_before_s
    }

    /// The end of its validity, in seconds since the Unix epoch.
    pub fn not_after_s(&self) -> u64 {
        self.not_after_s
    }

    /// Whether the certificate is for a name or an address, by the rules of RFC 6125.
    pub fn is_for(&self, name: &str) -> bool {
        let leaf = self.key.cert.first().map(EndEntityCert::try_from);
        let (Some(Ok(leaf)), Ok(name)) = (leaf, ServerName::try_from(name)) else { return false };
        leaf.verify_is_valid_for_subject_name(&name).is_ok()
    }

    /// Why clients reject the certificate at this time, in seconds since the Unix epoch. The issuer is not
    /// checked.
    pub fn warning(&self, now_s: u64) -> Option<CertWarning> {
        if now_s > self.not_after_s {
            return Some(CertWarning::Expired);
        }
        (now_s < self.not_before_s).then_some(CertWarning::NotValidYet)
    }

    pub(super) fn is_usable_with(&self, offered: &[SignatureScheme]) -> bool {
        self.key.key.choose_scheme(offered).is_some()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }
}

impl PartialEq for ServerCertificate {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Eq for ServerCertificate {}

fn dns_names(leaf: &CertificateDer<'_>) -> Vec<String> {
    let names = EndEntityCert::try_from(leaf);
    names.map_or_else(|_| Vec::new(), |leaf| leaf.valid_dns_names().map(str::to_ascii_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(from: i32, to: i32) -> ServerCertificate {
        let names = ["A.example", "*.b.example", "192.0.2.1"].map(str::to_owned);
        let mut params = CertificateParams::new(names).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let key = KeyPair::generate().unwrap();
        let signed = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("both.pem");
        std::fs::write(&file, key.serialize_pem() + &signed.pem()).unwrap();
        ServerCertificate::read(&file, &file).unwrap()
    }

    #[test]
    fn names_and_validity_are_those_of_the_certificate() {
        let one = certificate(2001, 2002);
        assert_eq!(one.names(), ["a.example", "*.b.example"]);
        // 2001-01-01 and 2002-01-01 are 11 323 and 11 688 days after the epoch.
        assert_eq!((one.not_before_s(), one.not_after_s()), (11_323 * 86_400, 11_688 * 86_400));
        assert!(one.issuer().starts_with("CN="), "{}", one.issuer());
    }

    #[test]
    fn wildcard_covers_exactly_one_label() {
        let one = certificate(2001, 2002);
        for name in ["a.example", "A.EXAMPLE", "x.b.example", "192.0.2.1"] {
            assert!(one.is_for(name), "{name}");
        }
        for name in ["b.example", "x.y.b.example", "192.0.2.2", "xa.example", "*"] {
            assert!(!one.is_for(name), "{name}");
        }
    }

    #[test]
    fn warning_depends_on_the_time() {
        let one = certificate(2001, 2002);
        for (now_s, warning) in [
            (one.not_before_s() - 1, Some(CertWarning::NotValidYet)),
            (one.not_before_s(), None),
            (one.not_after_s(), None),
            (one.not_after_s() + 1, Some(CertWarning::Expired)),
        ] {
            assert_eq!(one.warning(now_s), warning, "{now_s}");
        }
    }
}
