//! Untrusted certificates: the sample contains the reason, and has a connection but no handshake.

use std::sync::Arc;

use probe::client::{Config, Trust};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{ServerConfig, ServerConnection, pki_types::PrivatePkcs8KeyDer};

use crate::{
    bad::failed,
    support::{Responder, Security, V4, config, origin, responder},
};

fn server(adjust: impl FnOnce(&mut CertificateParams)) -> (Responder, tempfile::NamedTempFile) {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    adjust(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), certificate.pem()).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap();
    let tls = Arc::new(tls);
    let server = responder(move |mut stream| {
        let mut connection = ServerConnection::new(Arc::clone(&tls)).unwrap();
        while connection.complete_io(&mut stream).is_ok_and(|(read, written)| read + written > 0) {}
    });
    (server, file)
}

fn refused(config: &Config, url: &str) -> String {
    let sample = failed(config, &url.parse().unwrap());
    assert!(sample.connect_ns.is_some());
    assert_eq!((sample.tls_ns, sample.status, sample.wait_ns), (None, None, None));
    sample.error.unwrap()
}

fn trusting(file: &std::path::Path) -> Config {
    config(|http| http.trust = Trust::File(file.to_owned()))
}

#[test]
fn an_old_one_is_expired_and_a_new_one_is_not_valid_yet() {
    for (from, to, reason) in
        [(2001, 2002, "tls: certificate expired"), (3001, 3002, "tls: certificate not valid yet")]
    {
        let (server, file) = server(|params| {
            (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        });
        let url = format!("https://{}/", server.address);
        assert_eq!(refused(&trusting(file.path()), &url), reason);
    }
}

#[test]
fn one_for_another_name_is_for_another_name() {
    let (server, file) = server(|_| {});
    let mut config = trusting(file.path());
    let port = server.address.port();
    config.http.known = vec![format!("shop.example:{port}:127.0.0.1").parse().unwrap()];
    let url = format!("https://shop.example:{port}/");
    assert_eq!(refused(&config, &url), "tls: certificate for another name");
}

#[test]
fn one_that_nobody_known_has_signed_has_an_unknown_issuer() {
    let (_, other) = server(|_| {});
    let origin = origin(V4, Security::Tls, |_| {});
    assert_eq!(refused(&trusting(other.path()), &origin.target().to_string()), "tls: unknown issuer");
}

#[test]
fn one_that_was_made_anew_has_an_issuer_of_the_same_name_and_another_key() {
    let (_, before) = server(|_| {});
    let (server, _) = server(|_| {});
    let said = refused(&trusting(before.path()), &format!("https://{}/", server.address));
    assert_eq!(said, "tls: certificate not signed by the key of its issuer");
}
