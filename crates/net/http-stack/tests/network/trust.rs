//! Certificates given by the user, and the servers for which they are accepted.

use std::{
    io::Write,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread,
};

use http_stack::{
    Body, Client,
    client::{Config, Trace, Trust},
};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivatePkcs8KeyDer};

use crate::support::request;

const NAME: &str = "shop.example";

fn server(certificate: &Certificate, key: &KeyPair) -> SocketAddr {
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(connection, stream.unwrap());
            let _ = tls.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
            let _ = tls.flush();
            let _ = std::io::copy(&mut tls, &mut std::io::sink());
        }
    });
    address
}

struct Answer {
    error: Option<String>,
    status: Option<u16>,
    trace: Trace,
}

fn ask(server: &SocketAddr, name: &str, pem: &str) -> Answer {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pem).unwrap();
    let config =
        Config { trust: Trust::File(file.path().to_owned()), connect_to: Some(*server), ..Config::default() };
    let client = Client::new(&config).unwrap();
    let mut trace = Trace::start(client.clock().now());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let origin = format!("https://{name}").parse().unwrap();
    let outcome = runtime.block_on(client.send(&origin, request("GET", Body::empty()), &mut trace));
    Answer {
        error: outcome.as_ref().err().map(ToString::to_string),
        status: outcome.ok().map(|response| response.status().as_u16()),
        trace,
    }
}

fn params(adjust: impl FnOnce(&mut CertificateParams)) -> CertificateParams {
    let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
    adjust(&mut params);
    params
}

fn self_signed(adjust: impl FnOnce(&mut CertificateParams)) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    (params(adjust).self_signed(&key).unwrap(), key)
}

/// As created by `openssl req -x509`.
fn authority(params: &mut CertificateParams) {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

#[test]
fn a_certificate_that_signs_itself_is_trusted_when_it_is_given() {
    for adjust in [authority, |_: &mut CertificateParams| {}] {
        let (certificate, key) = self_signed(adjust);
        let server = server(&certificate, &key);
        let answer = ask(&server, NAME, &certificate.pem());
        assert_eq!((answer.error, answer.status), (None, Some(200)));
        assert!(answer.trace.tls.is_some());
    }
}

#[test]
fn it_counts_for_its_names_and_its_time_only() {
    let (certificate, key) = self_signed(authority);
    let other = ask(&server(&certificate, &key), "other.example", &certificate.pem());
    assert_eq!(other.error.as_deref(), Some("tls: certificate for another name"));
    let (certificate, key) = self_signed(|params| {
        authority(params);
        (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    });
    let expired = ask(&server(&certificate, &key), NAME, &certificate.pem());
    assert_eq!(expired.error.as_deref(), Some("tls: certificate expired"));
}

#[test]
fn what_was_not_given_is_not_trusted() {
    let (given, _) = self_signed(authority);
    let (shown, key) = self_signed(authority);
    let refused = ask(&server(&shown, &key), NAME, &given.pem());
    assert_eq!(refused.error.as_deref(), Some("tls: certificate of an authority, not of a server"));
    let (shown, key) = self_signed(|_| {});
    let refused = ask(&server(&shown, &key), NAME, &given.pem());
    assert!(refused.error.is_some_and(|error| error.starts_with("tls: ")));
}

#[test]
fn a_server_s_own_certificate_may_be_given_without_who_signed_it() {
    let issuer = CertifiedIssuer::self_signed(params(authority), KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let signed = params(|leaf| leaf.distinguished_name.push(DnType::CommonName, NAME))
        .signed_by(&key, &issuer)
        .unwrap();
    let server = server(&signed, &key);
    assert_eq!(ask(&server, NAME, &issuer.pem()).status, Some(200));
    assert_eq!(ask(&server, NAME, &signed.pem()).status, Some(200));
    let (stranger, _) = self_signed(|_| {});
    let refused = ask(&server, NAME, &stranger.pem());
    assert!(refused.error.is_some_and(|error| error.starts_with("tls: ")), "{:?}", refused.status);
}
