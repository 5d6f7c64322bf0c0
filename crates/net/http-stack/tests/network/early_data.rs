//! Early data (0-RTT, RFC 8446 section 2.3) can be replayed: a server accepts it only if configured to
//! do so.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
};

use crate::support::{Security, serve};
use http_stack::{Body, Failure, Request, Response, server};
use quinn::{ClientConfig, Endpoint, crypto::rustls::QuicClientConfig};
use rustls::{
    ClientConnection, DigitallySignedStruct, Error, HandshakeKind, SignatureScheme, StreamOwned,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime},
};

#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

pub fn anyone() -> rustls::ClientConfig {
    let mut config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone))
        .with_no_client_auth();
    config.enable_early_data = true;
    config
}

async fn plain(_: Request<Body>) -> Result<Response<Body>, Failure> {
    Ok(Response::new(Body::whole("plain")))
}

fn said(config: Arc<rustls::ClientConfig>, server: SocketAddr) -> (String, HandshakeKind, bool) {
    let mut tls = ClientConnection::new(config, ServerName::try_from("localhost").unwrap()).unwrap();
    let may_be_early = tls.early_data().is_some();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(server).unwrap());
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    (said, stream.conn.handshake_kind().unwrap(), may_be_early)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_over_tcp_is_resumed_without_them() {
    let server = serve(Security::Tls, server::Config::default(), plain);
    let (config, address) = (Arc::new(anyone()), server.address);
    for expected in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let config = Arc::clone(&config);
        let asked = tokio::task::spawn_blocking(move || said(config, address));
        let (said, kind, may_be_early) = asked.await.unwrap();
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
        assert_eq!((kind, may_be_early), (expected, false));
    }
}

#[tokio::test]
async fn a_session_over_quic_is_resumed_without_them() {
    let server = serve(Security::Quic, server::Config::default(), plain);
    let mut tls = anyone();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    let endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    for _ in 0..3 {
        let connecting = endpoint.connect_with(config.clone(), server.address, "localhost").unwrap();
        let connecting = connecting.into_0rtt().err().expect("no ticket allows early data");
        let connection = connecting.await.unwrap();
        let mut control = connection.accept_uni().await.unwrap();
        assert_eq!(control.read_chunk(1, true).await.unwrap().unwrap().bytes[0], 0);
        connection.close(0_u32.into(), b"");
    }
}
