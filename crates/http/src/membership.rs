//! One of a closed circle: everybody in it has a certificate that the same authority signed, shows it as a server and as a client, and
//! takes nobody without one.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    client::{Resumption, WebPkiServerVerifier},
    pki_types::CertificateDer,
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::TLS13,
};
use webpki::EndEntityCert;

use crate::{
    Error,
    pem::{certificates, provider, roots},
    shown::Shown,
};

/// A certificate, its key, and the authority that signs for all of the circle. Clones share it.
///
/// A server's certificate has to be for the name by which it was called; a client's names are told to who answers it, as [`Caller`].
#[derive(Debug, Clone)]
pub struct Membership {
    shown: Arc<Shown>,
    authority: Arc<RootCertStore>,
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

impl Membership {
    /// Reads the authority's certificate, and the certificate and key of one member; all PEM.
    ///
    /// # Errors
    /// When a file cannot be read or does not contain what it should, or the key is another certificate's.
    pub fn read(authority: &Path, certificate: &Path, key: &Path) -> Result<Self, Error> {
        let given =
            certificates(authority).map_err(|why| Error::Trust { path: authority.to_owned(), why })?;
        let shown = Shown::read(certificate, key)?;
        Ok(Self { shown: Arc::new(shown), authority: Arc::new(roots(authority, &given)?) })
    }

    /// Reads its certificate and key again: connections that come from now on see what is there now. If that cannot be used, they see what
    /// they saw before.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_again(&self) -> Result<(), Error> {
        self.shown.read_again()
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
