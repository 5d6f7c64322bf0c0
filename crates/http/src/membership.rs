//! One of a closed circle: everybody in it has a certificate that the same authority signed, shows it as a server and as a client, and
//! takes nobody without one.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig, SignatureScheme,
    client::{ResolvesClientCert, Resumption, WebPkiServerVerifier},
    pki_types::CertificateDer,
    server::{ClientHello, NoServerSessionStorage, ResolvesServerCert, WebPkiClientVerifier},
    sign::CertifiedKey,
    version::TLS13,
};
use webpki::EndEntityCert;

use crate::{
    Error,
    pem::{certificates, certified, provider, roots},
};

/// A certificate, its key, and the authority that signs for all of the circle. Clones share it.
///
/// A server's certificate has to be for the name by which it was called; a client's names are told to who answers it, as [`Caller`].
#[derive(Clone)]
pub struct Membership {
    shown: Arc<Shown>,
    authority: Arc<RootCertStore>,
    files: Arc<Files>,
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// Who made a request over a connection to a member: it is among the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller(Arc<[String]>);

impl Caller {
    /// The names that its certificate is for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether its certificate is for this name.
    pub fn is(&self, name: &str) -> bool {
        self.names().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Of a certificate that was verified.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Self {
        let names = EndEntityCert::try_from(certificate)
            .map(|certificate| certificate.valid_dns_names().map(str::to_owned).collect());
        Self(names.unwrap_or_default())
    }
}

/// What is shown: another certificate after a while, on the same sockets.
#[derive(Debug)]
struct Shown(RwLock<Arc<CertifiedKey>>);

impl Shown {
    fn now(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }
}

impl ResolvesClientCert for Shown {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Membership").field("certificate", &self.files.certificate).finish_non_exhaustive()
    }
}

impl Membership {
    /// Reads the authority's certificate, and the certificate and key of one member; all PEM.
    ///
    /// # Errors
    /// When a file cannot be read or does not contain what it should, or the key is another certificate's.
    pub fn read(authority: &Path, certificate: &Path, key: &Path) -> Result<Self, Error> {
        let given =
            certificates(authority).map_err(|why| Error::Trust { path: authority.to_owned(), why })?;
        let shown = Shown(RwLock::new(Arc::new(certified(certificate, key)?)));
        let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
        Ok(Self {
            shown: Arc::new(shown),
            authority: Arc::new(roots(authority, &given)?),
            files: Arc::new(files),
        })
    }

    /// Reads its certificate and key again: connections that come from now on see what is there now. If that cannot be used, they see what
    /// they saw before.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_again(&self) -> Result<(), Error> {
        let certified = certified(&self.files.certificate, &self.files.key)?;
        *self.shown.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
        Ok(())
    }

    /// The names that its own certificate is for.
    pub fn names(&self) -> Vec<String> {
        let shown = self.shown.now();
        shown.end_entity_cert().map_or_else(|_| Vec::new(), |own| Caller::of(own).0.to_vec())
    }

    /// TLS 1.3 of a server that speaks nothing but HTTP/2, with members.
    pub(crate) fn server(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(provider());
        let members =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&self.authority), Arc::clone(&provider))
                .build()
                .expect("an authority was read, and there is no list of revoked certificates");
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .expect("ring's provider has suites for TLS 1.3")
            .with_client_cert_verifier(members)
            .with_cert_resolver(Arc::clone(&self.shown) as _);
        // Each connection proves anew who it is.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }

    /// TLS 1.3 of a client that speaks nothing but HTTP/2, with members.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let provider = Arc::new(provider());
        let members =
            WebPkiServerVerifier::builder_with_provider(Arc::clone(&self.authority), Arc::clone(&provider))
                .build()
                .expect("an authority was read, and there is no list of revoked certificates");
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .expect("ring's provider has suites for TLS 1.3")
            .dangerous()
            .with_custom_certificate_verifier(members)
            .with_client_cert_resolver(Arc::clone(&self.shown) as _);
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }
}
