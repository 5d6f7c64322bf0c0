//! A certificate made on the spot: an authority that nobody knows yet, and what it has signed.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

use crate::Error;

/// TLS of a server, and what a client must trust to talk to it.
pub(crate) struct Certified {
    /// Offers HTTP/2 and HTTP/1.1 by ALPN.
    pub(crate) server: Arc<ServerConfig>,
    /// The authority's certificate.
    pub(crate) ca_pem: String,
}

/// Makes an authority and a certificate for `names`. Keys live in memory only.
pub(crate) fn certify(names: &[String]) -> Result<Certified, Error> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Certificate {
        names: names.to_vec(),
        source,
    };
    let (chain, key, ca_pem) = sign(names).map_err(|error| failed(error.into()))?;
    let mut server = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring's provider has suites for TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .map_err(|error| failed(error.into()))?;
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Certified { server: Arc::new(server), ca_pem })
}

type Signed = (rustls::pki_types::CertificateDer<'static>, PrivateKeyDer<'static>, String);

fn sign(names: &[String]) -> Result<Signed, rcgen::Error> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "Longhaul experiment");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

    let mut leaf = CertificateParams::new(names)?;
    leaf.distinguished_name.push(DnType::CommonName, "Longhaul origin");
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let leaf = leaf.signed_by(&key, &authority)?;
    Ok((leaf.der().clone(), PrivatePkcs8KeyDer::from(key.serialize_der()).into(), authority.pem()))
}
