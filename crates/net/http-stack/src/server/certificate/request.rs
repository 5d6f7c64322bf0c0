//! Certificate requests for an authority, and the certificates of TLS-ALPN-01 challenges.

use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};

use crate::Error;

/// A certificate signing request (PKCS #10) with its key.
pub struct CertificateRequest {
    /// The request; DER.
    pub request_der: Vec<u8>,
    /// The key; PEM.
    pub key_pem: String,
}

impl CertificateRequest {
    /// Creates a P-256 key, and a request for these names.
    ///
    /// # Errors
    /// A name is invalid in certificates.
    pub fn make(names: &[String]) -> Result<Self, Error> {
        let failed = |error: rcgen::Error| Error::Certificate { names: names.to_vec(), source: error.into() };
        let mut params = CertificateParams::new(names).map_err(failed)?;
        params.distinguished_name = DistinguishedName::new();
        let key = KeyPair::generate().map_err(failed)?;
        let request = params.serialize_request(&key).map_err(failed)?;
        Ok(Self { request_der: request.der().to_vec(), key_pem: key.serialize_pem() })
    }
}

/// Creates the self-signed certificate that proves control of a name to an ACME server (RFC 8737
/// section 3), followed by its key; PEM.
///
/// # Errors
/// The name is invalid in certificates.
pub fn challenge_certificate(name: &str, digest: &[u8; 32]) -> Result<String, Error> {
    let names = vec![name.to_owned()];
    let failed = |error: rcgen::Error| Error::Certificate { names: names.clone(), source: error.into() };
    let mut params = CertificateParams::new(names.clone()).map_err(failed)?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate().map_err(failed)?;
    Ok(params.self_signed(&key).map_err(failed)?.pem() + &key.serialize_pem())
}

#[cfg(test)]
mod tests {
    use x509_parser::{
        certification_request::X509CertificationRequest,
        prelude::{FromDer, X509Certificate},
    };

    use super::*;
    use rustls::pki_types::{CertificateDer, pem::PemObject};

    #[test]
    fn request_has_no_subject_but_the_names() {
        let made = CertificateRequest::make(&["a.example".to_owned()]).unwrap();
        let (_, request) = X509CertificationRequest::from_der(&made.request_der).unwrap();
        assert_eq!(request.certification_request_info.subject.to_string(), "");
        assert!(made.request_der.windows(9).any(|part| part == b"a.example"));
        assert!(made.key_pem.contains("PRIVATE KEY"));
        assert!(CertificateRequest::make(&["n\u{e4}me".to_owned()]).is_err());
    }

    #[test]
    fn challenge_has_the_critical_acme_identifier() {
        let text = challenge_certificate("a.example", &[7; 32]).unwrap();
        let der = CertificateDer::from_pem_slice(text.as_bytes()).unwrap();
        let (_, parsed) = X509Certificate::from_der(&der).unwrap();
        // id-pe-acmeIdentifier: an octet string of 32 bytes in the extension's value.
        let extension = parsed.extensions().iter().find(|one| one.oid.to_id_string() == "1.3.6.1.5.5.7.1.31");
        let extension = extension.unwrap();
        assert!(extension.critical);
        assert_eq!(extension.value, [&[4, 32][..], &[7; 32]].concat());
    }
}
