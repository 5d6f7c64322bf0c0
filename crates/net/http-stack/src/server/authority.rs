//! A private certificate authority.

use std::time::SystemTime;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, UnixTime, pem::PemObject};
use time::{Duration, OffsetDateTime};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert, ring::ECDSA_P256_SHA256};

use crate::Error;

/// A signing key and its certificate.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate_pem: String,
    key_pem: String,
}

/// A signed certificate and its key; both PEM.
pub struct Issued {
    /// The certificate, signed directly by the authority.
    pub certificate_pem: String,
    /// The key.
    pub key_pem: String,
}

impl Authority {
    /// Creates an authority, valid for ten years.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub fn make() -> Result<Self, Error> {
        let failed = |error: rcgen::Error| unsigned("an authority", error);
        let key = KeyPair::generate().map_err(failed)?;
        let key_pem = key.serialize_pem();
        let mut own = params();
        (own.not_before, own.not_after) = from_now(YEARS * 365);
        let signed = CertifiedIssuer::self_signed(own, key).map_err(failed)?;
        let certificate_pem = signed.pem();
        Self::read(&certificate_pem, &key_pem)
    }

    /// Loads an existing authority.
    ///
    /// # Errors
    /// The texts are not the certificate and key of an authority.
    pub fn read(certificate_pem: &str, key_pem: &str) -> Result<Self, Error> {
        let key = KeyPair::from_pem(key_pem).map_err(|error| unsigned("the authority's key", error))?;
        let issuer = Issuer::new(params(), key);
        let authority =
            Self { issuer, certificate_pem: certificate_pem.to_owned(), key_pem: key_pem.to_owned() };
        // Signing a certificate verifies that certificate and key match.
        authority.issue("a", &["a.example".to_owned()], Some(1))?;
        Ok(authority)
    }

    /// The certificate that clients must trust; PEM.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The secret key; PEM.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// Signs a server and client certificate for names and addresses, valid for `days`, or without a
    /// limit.
    ///
    /// # Errors
    /// A name is invalid in certificates.
    pub fn issue(&self, common_name: &str, names: &[String], days: Option<u32>) -> Result<Issued, Error> {
        let failed = |error: rcgen::Error| Error::Certificate { names: names.to_vec(), source: error.into() };
        let mut leaf = CertificateParams::new(names).map_err(failed)?;
        leaf.distinguished_name.push(DnType::CommonName, common_name);
        leaf.use_authority_key_identifier_extension = true;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        if let Some(days) = days {
            (leaf.not_before, leaf.not_after) = from_now(days);
        }
        let key = KeyPair::generate().map_err(failed)?;
        let leaf = leaf.signed_by(&key, &self.issuer).map_err(failed)?;
        self.check(leaf.der()).map_err(|source| Error::Certificate { names: names.to_vec(), source })?;
        Ok(Issued { certificate_pem: leaf.pem(), key_pem: key.serialize_pem() })
    }

    fn check(&self, leaf: &CertificateDer<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let own = CertificateDer::from_pem_slice(self.certificate_pem.as_bytes())?;
        let anchor = anchor_from_trusted_cert(&own)?;
        let leaf = EndEntityCert::try_from(leaf)?;
        let now = UnixTime::now();
        let usage = KeyUsage::server_auth();
        leaf.verify_for_usage(&[ECDSA_P256_SHA256], &[anchor], &[], now, usage, None, None)?;
        Ok(())
    }
}

/// All authorities have the same name and differ in their keys.
fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "Longhaul authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// Starts two days ago, so that a new certificate is valid on a machine whose clock is behind.
#[expect(clippy::disallowed_methods, reason = "certificates are good by the wall clock")]
fn from_now(days: u32) -> (OffsetDateTime, OffsetDateTime) {
    let now = OffsetDateTime::from(SystemTime::now());
    (now - Duration::days(2), now + Duration::days(days.into()))
}

fn unsigned(what: &str, error: rcgen::Error) -> Error {
    Error::Certificate { names: vec![what.to_owned()], source: error.into() }
}

const YEARS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_good_where_a_clock_is_a_day_behind() {
        let (from, to) = from_now(30);
        assert_eq!(to - from, Duration::days(32));
    }

    #[test]
    fn what_was_written_signs_again_and_nothing_else_does() {
        let made = Authority::make().unwrap();
        let read = Authority::read(made.certificate_pem(), made.key_pem()).unwrap();
        let issued = read.issue("lhr", &["10.0.0.1".to_owned(), "lhr.example".to_owned()], Some(30)).unwrap();
        assert!(issued.key_pem.contains("PRIVATE KEY"));
        let leaf = CertificateDer::from_pem_slice(issued.certificate_pem.as_bytes()).unwrap();
        made.check(&leaf).unwrap();
        let other = Authority::make().unwrap();
        assert!(other.check(&leaf).is_err());
        assert!(Authority::read(made.certificate_pem(), other.key_pem()).is_err());
        assert!(Authority::read(&issued.certificate_pem, &issued.key_pem).is_err());
        assert!(Authority::read("nothing", made.key_pem()).is_err());
        assert!(made.issue("a", &["n\u{e4}me".to_owned()], None).is_err());
    }
}
