//! Mutual TLS in a closed group: each member has a certificate of the same authority, presents it as a
//! server and as a client, and accepts no peer without one.
//!
//! Servers verify the callers of open connections again ([`MeshIdentity::trusts`]); clients must open
//! new connections.

mod revoked;
mod verifier;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use rustls::{
    ClientConfig, ServerConfig, client::Resumption, pki_types::CertificateDer,
    server::NoServerSessionStorage, version::TLS13,
};
use webpki::EndEntityCert;

pub use self::revoked::{NoSerial, Revoked, Serial};
use self::verifier::MemberVerifier;
use crate::{
    Error,
    pem::{certificates, certified, provider, roots},
    reloadable_cert::ReloadableCert,
};

/// A certificate, its key, and the authority of the group. Clones share it.
///
/// The names in a client's certificate are passed to the request handler as [`PeerIdentity`].
#[derive(Debug, Clone)]
pub struct MeshIdentity {
    shown: Arc<ReloadableCert>,
    verifier: Arc<MemberVerifier>,
}

/// The PEM files of one member, and the revoked certificates.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'c> {
    /// The certificates of the authority; two during a replacement.
    pub authority: &'c Path,
    /// The member's certificate.
    pub certificate: &'c Path,
    /// The key of the certificate.
    pub key: &'c Path,
    /// Certificates that are refused although the authority signed them.
    pub revoked: &'c Revoked,
}

/// Whether a replacement changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// Open connections were made with other credentials.
    Changed,
    /// The credentials are the same.
    Unchanged,
}

/// The authenticated client of a request between members, as an extension of the request.
#[derive(Debug, Clone)]
pub struct PeerIdentity(Arc<CallerCertificates>);

#[derive(Debug)]
struct CallerCertificates {
    names: Vec<String>,
    chain: Vec<CertificateDer<'static>>,
    verified: AtomicU64,
}

impl PartialEq for PeerIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.0.chain == other.0.chain
    }
}

impl Eq for PeerIdentity {}

impl PeerIdentity {
    /// The names in the certificate.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.names.iter().map(String::as_str)
    }

    /// Whether the certificate contains this name.
    pub fn is(&self, name: &str) -> bool {
        self.names().any(|own| own.eq_ignore_ascii_case(name))
    }

    pub(crate) fn of(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let names = names(chain.first()?);
        let chain = chain.iter().map(|certificate| certificate.clone().into_owned()).collect();
        Some(Self(Arc::new(CallerCertificates { names, chain, verified: AtomicU64::new(0) })))
    }
}

impl MeshIdentity {
    /// Reads the authority's certificate, and the certificate and key of one member; all PEM.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong contents, or the key does not match the certificate.
    pub fn read(authority: &Path, certificate: &Path, key: &Path) -> Result<Self, Error> {
        Self::with(&Credentials { authority, certificate, key, revoked: &Revoked::default() })
    }

    /// Like [`Self::read`], with revoked certificates.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn with(credentials: &Credentials<'_>) -> Result<Self, Error> {
        let Credentials { authority, certificate, key, revoked } = *credentials;
        let given =
            certificates(authority).map_err(|why| Error::Trust { path: authority.to_owned(), why })?;
        let shown = ReloadableCert::of(certified(certificate, key)?);
        let verifier = MemberVerifier::new(roots(authority, &given)?, revoked.clone());
        Ok(Self { shown: Arc::new(shown), verifier: Arc::new(verifier) })
    }

    /// Replaces the credentials, in all clones, if the new ones are valid.
    ///
    /// # Errors
    /// As [`Self::read`]; then nothing changes.
    pub fn replace(&self, credentials: &Credentials<'_>) -> Result<Replaced, Error> {
        let new = Self::with(credentials)?;
        let is_same =
            new.shown.now().cert == self.shown.now().cert && self.verifier.has_trust_of(&new.verifier);
        if is_same {
            return Ok(Replaced::Unchanged);
        }
        self.verifier.take_trust_of(&new.verifier);
        self.shown.replace(new.shown.now());
        Ok(Replaced::Changed)
    }

    /// Whether the caller of an open connection would still be accepted.
    pub fn trusts(&self, caller: &PeerIdentity) -> bool {
        let CallerCertificates { chain, verified, .. } = &*caller.0;
        let generation = self.verifier.generation();
        if verified.load(Relaxed) == generation {
            return true;
        }
        let is_trusted = chain.split_first().is_some_and(|(own, rest)| self.verifier.accepts(own, rest));
        if is_trusted {
            verified.store(generation, Relaxed);
        }
        is_trusted
    }

    /// The names in the member's certificate.
    pub fn names(&self) -> Vec<String> {
        self.shown.now().end_entity_cert().map_or_else(|_| Vec::new(), names)
    }

    /// The TLS 1.3 configuration of a server for members; HTTP/2 only.
    pub(crate) fn server(&self) -> Arc<ServerConfig> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("ring's provider has suites for TLS 1.3")
            .with_client_cert_verifier(Arc::clone(&self.verifier) as _)
            .with_cert_resolver(Arc::clone(&self.shown) as _);
        // Each connection authenticates itself, without resumption.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }

    /// The TLS 1.3 configuration of a client for members; HTTP/2 only.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("ring's provider has suites for TLS 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier) as _)
            .with_client_cert_resolver(Arc::clone(&self.shown) as _);
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }
}

fn names(certificate: &CertificateDer<'_>) -> Vec<String> {
    let certificate = EndEntityCert::try_from(certificate);
    certificate.map_or_else(|_| Vec::new(), |one| one.valid_dns_names().map(str::to_owned).collect())
}
