//! Handshakes with a server: versions, missing certificates, and TLS-ALPN-01 challenges.

use std::{net::SocketAddr, sync::Arc};

use http_stack::{
    Body, Request, Response, Server, ShutdownSignal,
    server::{Authority, Identity, ServerCertificate, TlsSettings, TlsVersion, challenge_certificate},
};
use rustls::{
    ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, SupportedProtocolVersion,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
    version::{TLS12, TLS13},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

struct Served {
    address: SocketAddr,
    stop: ShutdownSignal,
    identity: Identity,
    authority: Authority,
    folder: tempfile::TempDir,
}

impl Served {
    fn new(min_version: TlsVersion) -> Self {
        let identity = Identity::new(&TlsSettings { min_version, ..TlsSettings::default() }).unwrap();
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_tls(&identity);
        let (address, stop) = (server.addresses().unwrap()[0], ShutdownSignal::new());
        let ending = stop.clone();
        let handler = async |request: Request<Body>| Ok(Response::new(request.into_body()));
        tokio::spawn(async move { server.serve(handler, &ending).await });
        let (authority, folder) = (Authority::make().unwrap(), tempfile::tempdir().unwrap());
        Self { address, stop, identity, authority, folder }
    }

    fn certificate(&self, name: &str) -> ServerCertificate {
        let issued = self.authority.issue(name, &[name.to_owned()], None).unwrap();
        let file = self.folder.path().join("both");
        std::fs::write(&file, issued.key_pem + &issued.certificate_pem).unwrap();
        ServerCertificate::read(&file, &file).unwrap()
    }

    async fn connect(
        &self,
        name: &str,
        trusted: &str,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let stream = TcpStream::connect(self.address).await.unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}

fn session(stream: &TlsStream<TcpStream>) -> &ClientConnection {
    stream.get_ref().1
}

#[tokio::test]
async fn old_versions_are_refused_if_configured() {
    for (min_version, accepts_tls12) in [(TlsVersion::Tls12, true), (TlsVersion::Tls13, false)] {
        let served = Served::new(min_version);
        served.identity.set(Some(served.certificate("a.example")), Vec::new());
        let root = served.authority.certificate_pem();
        let old = served.connect("a.example", root, &[&TLS12], &[b"h2"]).await;
        assert_eq!(old.is_ok(), accepts_tls12);
        let new = served.connect("a.example", root, &[&TLS12, &TLS13], &[b"h2"]).await.unwrap();
        assert_eq!(session(&new).protocol_version(), Some(ProtocolVersion::TLSv1_3));
    }
}

#[tokio::test]
async fn handshake_fails_until_there_is_a_certificate() {
    let served = Served::new(TlsVersion::Tls12);
    let root = served.authority.certificate_pem();
    let connect = async || served.connect("a.example", root, rustls::ALL_VERSIONS, &[b"h2"]).await;
    assert!(connect().await.unwrap_err().to_string().contains("alert"));
    served.identity.set(None, vec![served.certificate("a.example")]);
    assert!(connect().await.is_ok());
}

#[tokio::test]
async fn challenge_gets_its_certificate_and_no_http() {
    let served = Served::new(TlsVersion::Tls12);
    served.identity.set(Some(served.certificate("a.example")), Vec::new());
    let pem = challenge_certificate("a.example", &[7; 32]).unwrap();
    let challenges = served.folder.path().join("challenges");
    std::fs::create_dir(&challenges).unwrap();
    std::fs::write(challenges.join("a.example.pem"), &pem).unwrap();
    let root = served.authority.certificate_pem();
    let shows = async |name: &str| {
        // The certificate has an unknown critical extension, so a verifier refuses it after receipt.
        let refused = served.connect(name, root, rustls::ALL_VERSIONS, &[b"acme-tls/1"]).await;
        refused.unwrap_err().to_string()
    };
    assert!(shows("a.example").await.contains("alert"), "no challenge is pending");
    served.identity.set_challenges(Some(challenges));
    let refused = shows("a.example").await;
    assert!(refused.contains("invalid peer certificate"), "{refused}");
    assert!(shows("b.example").await.contains("alert"));
    assert!(served.connect("a.example", root, rustls::ALL_VERSIONS, &[b"h2"]).await.is_ok());
}
