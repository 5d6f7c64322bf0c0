//! The certificates of a server by name. A handshake selects one by the name that the client requests (SNI).

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    SignatureScheme,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use super::server_certificate::ServerCertificate;
use crate::pem;

/// The ALPN protocol of a TLS-ALPN-01 challenge (RFC 8737).
pub(in crate::server) const ACME_TLS: &[u8] = b"acme-tls/1";

#[derive(Debug, Default)]
pub(in crate::server) struct CertificateStore {
    set: RwLock<Arc<CertificateSet>>,
    challenges: RwLock<Option<PathBuf>>,
}

#[derive(Debug, Default)]
struct CertificateSet {
    default: Option<ServerCertificate>,
    all: Vec<ServerCertificate>,
    exact: HashMap<String, Vec<usize>>,
    /// By the name after "*.".
    wildcard: HashMap<String, Vec<usize>>,
}

impl CertificateSet {
    fn new(default: Option<ServerCertificate>, others: Vec<ServerCertificate>) -> Self {
        let all: Vec<_> = others.into_iter().chain(default.clone()).collect();
        let mut set = Self { default: default.or_else(|| all.first().cloned()), ..Self::default() };
        for (number, one) in all.iter().enumerate() {
            for name in one.names() {
                let (names, name) = match name.strip_prefix("*.") {
                    Some(rest) => (&mut set.wildcard, rest),
                    None => (&mut set.exact, name.as_str()),
                };
                names.entry(name.to_owned()).or_default().push(number);
            }
        }
        Self { all, ..set }
    }

    /// Names in a ClientHello are in lower case.
    fn find(&self, name: Option<&str>, offered: &[SignatureScheme]) -> Option<&ServerCertificate> {
        let exact = name.and_then(|name| self.exact.get(name));
        let wildcard =
            name.and_then(|name| name.split_once('.')).and_then(|(_, rest)| self.wildcard.get(rest));
        let named = exact.into_iter().chain(wildcard).flatten().filter_map(|&number| self.all.get(number));
        let mut usable = named.clone().filter(|one| one.is_usable_with(offered));
        usable.next().or_else(|| named.clone().next()).or(self.default.as_ref())
    }
}

impl CertificateStore {
    pub(super) fn set(&self, default: Option<ServerCertificate>, others: Vec<ServerCertificate>) {
        let set = Arc::new(CertificateSet::new(default, others));
        *self.set.write().unwrap_or_else(PoisonError::into_inner) = set;
    }

    pub(super) fn set_challenges(&self, folder: Option<PathBuf>) {
        *self.challenges.write().unwrap_or_else(PoisonError::into_inner) = folder;
    }

    /// The file exists only while the authority validates the name.
    fn challenge(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-.".contains(&letter);
        if !name.bytes().all(is_plain) || name.starts_with('.') {
            return None;
        }
        let folder = self.challenges.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        let file = folder.join(format!("{name}.pem"));
        pem::challenge(&file).ok().map(Arc::new)
    }
}

impl ResolvesServerCert for CertificateStore {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if hello.alpn().is_some_and(|mut offered| offered.any(|protocol| protocol == ACME_TLS)) {
            return self.challenge(hello.server_name()?);
        }
        let set = Arc::clone(&self.set.read().unwrap_or_else(PoisonError::into_inner));
        set.find(hello.server_name(), hello.signature_schemes()).map(|one| Arc::clone(&one.key))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair};
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    use super::*;
    use crate::pem::provider;

    fn certificate(names: &[&str], key: &KeyPair) -> ServerCertificate {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let signed = CertificateParams::new(names).unwrap().self_signed(key).unwrap();
        let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let chain = vec![CertificateDer::from(signed.der().to_vec())];
        ServerCertificate::of(CertifiedKey::from_der(chain, secret, &provider()).unwrap()).unwrap()
    }

    fn ecdsa(names: &[&str]) -> ServerCertificate {
        certificate(names, &KeyPair::generate().unwrap())
    }

    fn ed25519(names: &[&str]) -> ServerCertificate {
        certificate(names, &KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap())
    }

    const BOTH: &[SignatureScheme] = &[SignatureScheme::ED25519, SignatureScheme::ECDSA_NISTP256_SHA256];

    #[test]
    fn exact_name_precedes_wildcard_and_default() {
        let [default, wildcard, exact] =
            [ecdsa(&["d.example"]), ecdsa(&["*.a.example"]), ecdsa(&["x.a.example", "y.example"])];
        let set = CertificateSet::new(Some(default.clone()), vec![wildcard.clone(), exact.clone()]);
        for (name, expected) in [
            (Some("x.a.example"), &exact),
            (Some("y.example"), &exact),
            (Some("z.a.example"), &wildcard),
            (Some("a.example"), &default),
            (Some("v.z.a.example"), &default),
            (Some("d.example"), &default),
            (Some("example"), &default),
            (Some(""), &default),
            (None, &default),
        ] {
            assert_eq!(set.find(name, BOTH), Some(expected), "{name:?}");
        }
    }

    #[test]
    fn signature_scheme_selects_among_equal_names() {
        let (one, other) = (ed25519(&["a.example"]), ecdsa(&["a.example"]));
        let set = CertificateSet::new(None, vec![one.clone(), other.clone()]);
        let found = |offered| set.find(Some("a.example"), offered);
        assert_eq!(found(BOTH), Some(&one));
        assert_eq!(found(&[SignatureScheme::ECDSA_NISTP256_SHA256]), Some(&other));
        // The handshake fails later, with a reason.
        assert_eq!(found(&[SignatureScheme::RSA_PKCS1_SHA256]), Some(&one));
    }

    #[test]
    fn default_is_the_first_certificate_without_an_explicit_one() {
        let (one, other) = (ecdsa(&["a.example"]), ecdsa(&["b.example"]));
        let set = CertificateSet::new(None, vec![one.clone(), other]);
        assert_eq!(set.find(None, BOTH), Some(&one));
        assert_eq!(CertificateSet::default().find(Some("a.example"), BOTH), None);
    }

    #[test]
    fn challenge_is_read_only_for_plain_names() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let signed = CertificateParams::new(vec!["a.example".to_owned()]).unwrap().self_signed(&key).unwrap();
        let text = key.serialize_pem() + &signed.pem();
        std::fs::write(folder.path().join("a.example.pem"), &text).unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        std::fs::write(folder.path().join("out.pem"), &text).unwrap();
        let store = CertificateStore::default();
        assert!(store.challenge("a.example").is_none());
        store.set_challenges(Some(folder.path().to_owned()));
        assert!(store.challenge("a.example").is_some() && store.challenge("b.example").is_none());
        store.set_challenges(Some(folder.path().join("below")));
        assert!(store.challenge("../out").is_none());
    }

    proptest! {
        #[test]
        fn found_certificate_is_for_the_name(labels in prop::collection::vec("[abx*]", 1..5)) {
            let set = CertificateSet::new(None, vec![
                ecdsa(&["none.example"]), ecdsa(&["*.a", "x.b"]), ecdsa(&["*.a.b", "a.b"]),
            ]);
            let name = labels.join(".");
            let found = set.find(Some(&name), BOTH).unwrap();
            let expected = set.all.iter().any(|one| one.is_for(&name));
            prop_assert_eq!(found.is_for(&name), expected, "{}", name);
        }
    }
}
