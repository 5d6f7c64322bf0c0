//! Reasons for clients to reject a usable certificate: it has expired, or is for other names.

use rustls::pki_types::{ServerName, UnixTime};
use webpki::{EndEntityCert, KeyUsage};

use super::certificate::Identity;
use crate::pem::provider;

/// Why clients reject a certificate, whatever its issuer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertWarning {
    /// The certificate has expired.
    #[error("it has expired")]
    Expired,
    /// The certificate is not valid yet.
    #[error("it is not valid yet")]
    NotValidYet,
    /// The certificate is for other names.
    #[error("it is not for {0}")]
    NotFor(String),
}

impl Identity {
    /// Why clients that connect to these names, or addresses, would reject the current certificate. The
    /// issuer is not checked.
    pub fn objections<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<CertWarning> {
        let shown = self.shown.now();
        let Some(Ok(leaf)) = shown.cert.first().map(EndEntityCert::try_from) else { return Vec::new() };
        let algorithms = provider().signature_verification_algorithms.all;
        // webpki checks the validity period before the issuer, which is unknown here.
        let usage = KeyUsage::server_auth();
        let of_time = match leaf.verify_for_usage(algorithms, &[], &[], UnixTime::now(), usage, None, None) {
            Err(webpki::Error::CertExpired { .. }) => Some(CertWarning::Expired),
            Err(webpki::Error::CertNotValidYet { .. }) => Some(CertWarning::NotValidYet),
            _ => None,
        };
        let is_for = |name: &str| {
            ServerName::try_from(name).is_ok_and(|name| leaf.verify_is_valid_for_subject_name(&name).is_ok())
        };
        let others = names.into_iter().filter(|name| !is_for(name));
        of_time.into_iter().chain(others.map(|name| CertWarning::NotFor(name.to_owned()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn identity(from: i32, to: i32) -> Identity {
        let names = ["a.example", "*.b.example", "192.0.2.1"].map(str::to_owned);
        let mut params = CertificateParams::new(names).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (chain, secret) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
        std::fs::write(&chain, certificate.pem()).unwrap();
        std::fs::write(&secret, key.serialize_pem()).unwrap();
        Identity::read(&chain, &secret).unwrap()
    }

    #[test]
    fn time_and_names_are_looked_at() {
        let good = identity(2001, 4000);
        assert_eq!(good.objections(["a.example", "x.b.example", "192.0.2.1"]), []);
        let others = ["b.example", "x.y.b.example", "192.0.2.2"];
        assert_eq!(good.objections(others), others.map(|name| CertWarning::NotFor(name.into())));
        assert_eq!(identity(2001, 2002).objections(["a.example"]), [CertWarning::Expired]);
        let early = identity(3000, 4000).objections(["c.example"]);
        assert_eq!(early, [CertWarning::NotValidYet, CertWarning::NotFor("c.example".into())]);
    }
}
