//! Selection, replacement and reports of certificates, and certificates of clients, over connections.

use std::{fs, net::SocketAddr, path::PathBuf, sync::Arc};

use config_file::Document;
use http_stack::{
    Body, Client, MeshIdentity, Request, Response, Server, ShutdownSignal,
    client::{Config, Protocol, Trace, Trust},
    server::Authority,
};

use super::certificates::Certificates;
use crate::{Network, admin::api::CertificateSource};

struct Fixture {
    folder: tempfile::TempDir,
    authorities: [Authority; 2],
    stop: ShutdownSignal,
}

impl Fixture {
    /// Authority 0 signs `a.pem`, authority 1 signs `b.pem`.
    fn new() -> Self {
        let authorities = [Authority::make().unwrap(), Authority::make().unwrap()];
        let one = Self { folder: tempfile::tempdir().unwrap(), authorities, stop: ShutdownSignal::new() };
        for (number, authority) in one.authorities.iter().enumerate() {
            fs::write(one.path(&format!("ca{number}.pem")), authority.certificate_pem()).unwrap();
        }
        one.issue(0, "a", &["a.example"]);
        one.issue(1, "b", &["b.example", "*.b.example"]);
        one
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn issue(&self, authority: usize, file: &str, names: &[&str]) {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let issued = self.authorities[authority].issue(file, &names, Some(365)).unwrap();
        fs::write(self.path(&format!("{file}.pem")), issued.certificate_pem).unwrap();
        fs::write(self.path(&format!("{file}-key.pem")), issued.key_pem).unwrap();
    }

    fn network(&self, lines: &str) -> Network {
        let text = format!(
            "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten_tls = [\"127.0.0.1:0\"]\n\
             certificate = \"@/a.pem\"\nkey = \"@/a-key.pem\"\n\
             certificates = [{{ certificate = \"@/b.pem\", key = \"@/b-key.pem\" }}]\n{lines}\n\
             [[zone]]\nname = \"z\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:1\"]\n"
        );
        let text = text.replace('@', &self.folder.path().display().to_string());
        Network::read(&Document::new("n.toml", text)).unwrap()
    }

    fn open(&self, lines: &str) -> Arc<Certificates> {
        let network = self.network(lines);
        Arc::new(Certificates::open(&network, &network.data_centres[0]).unwrap())
    }

    fn serve(&self, certificates: &Certificates) -> SocketAddr {
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let address = server.addresses().unwrap()[0];
        let server = server.with_http3(&certificates.identity().unwrap()).unwrap();
        let stop = self.stop.clone();
        let handler = async |request: Request<Body>| Ok(Response::new(request.into_body()));
        tokio::spawn(async move { server.serve(handler, &stop).await });
        address
    }

    /// Whether a client that trusts only this authority accepts the certificate for `host`.
    async fn is_signed(&self, authority: usize, host: &str, to: SocketAddr, protocol: Protocol) -> bool {
        let trust = Trust::File(self.path(&format!("ca{authority}.pem")));
        let config = Config { trust, protocol, connect_to: Some(to), ..Config::default() };
        ask(host, config).await.is_ok()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}

async fn ask(host: &str, config: Config) -> Result<u16, String> {
    let client = Client::new(&config).unwrap();
    let origin = format!("https://{host}").parse().unwrap();
    let mut request = Request::new(Body::empty());
    request.headers_mut().insert("host", host.parse().unwrap());
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(&origin, request, &mut trace).await.map_err(|failure| failure.to_string())?;
    let status = response.status().as_u16();
    response.into_body().collect(10).await.map_err(|failure| failure.to_string())?;
    Ok(status)
}

#[tokio::test]
async fn requested_name_selects_the_certificate_in_each_version() {
    let fixture = Fixture::new();
    let address = fixture.serve(&fixture.open(""));
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
        for (host, authority) in [("a.example", 0), ("b.example", 1), ("x.b.example", 1)] {
            assert!(fixture.is_signed(authority, host, address, protocol).await, "{host} {protocol:?}");
            assert!(!fixture.is_signed(1 - authority, host, address, protocol).await, "{host} {protocol:?}");
        }
        // The default is for none of these names.
        for host in ["x.y.b.example", "c.example"] {
            assert!(!fixture.is_signed(0, host, address, protocol).await, "{host} {protocol:?}");
        }
    }
}

#[tokio::test]
async fn changed_file_is_used_without_a_reload() {
    let fixture = Fixture::new();
    let certificates = fixture.open("");
    let address = fixture.serve(&certificates);
    assert_eq!(certificates.poll(), [""; 0]);
    fixture.issue(1, "a", &["a.example"]);
    let sentences = certificates.poll();
    assert!(sentences.len() == 1 && sentences[0].ends_with("a.pem: the new file is in use"), "{sentences:?}");
    assert!(fixture.is_signed(1, "a.example", address, Protocol::Http2).await);
    fs::write(fixture.path("b.pem"), "nothing").unwrap();
    // The key may not be written yet.
    assert_eq!(certificates.poll(), [""; 0]);
    let sentences = certificates.poll();
    let [sentence] = &sentences[..] else { panic!("{sentences:?}") };
    assert!(sentence.contains("b.pem: it contains no certificate"), "{sentence}");
    assert!(sentence.ends_with("the old certificate stays in use"), "{sentence}");
    assert_eq!(certificates.poll(), [""; 0]);
    assert!(fixture.is_signed(1, "b.example", address, Protocol::Http2).await);
    let report = certificates.report();
    assert!(report[0].error.is_none() && report[1].error.is_some(), "{report:?}");
    assert_eq!((&*report[1].names[0], report[1].source), ("b.example", CertificateSource::File));
    fixture.issue(0, "b", &["b.example"]);
    assert_eq!(certificates.poll().len(), 1);
    assert!(fixture.is_signed(0, "b.example", address, Protocol::Http2).await);
    assert!(certificates.report()[1].error.is_none());
}

#[tokio::test]
async fn reload_changes_the_set_or_nothing() {
    let fixture = Fixture::new();
    let certificates = fixture.open("");
    let address = fixture.serve(&certificates);
    let mut network = fixture.network("");
    let mut own = network.data_centres.remove(0);
    own.identity.as_mut().unwrap().certificate = fixture.path("none.pem");
    own.certificates.clear();
    let error = certificates.reload(&network, &own).unwrap_err().to_string();
    assert!(error.contains("none.pem"), "{error}");
    assert!(fixture.is_signed(1, "b.example", address, Protocol::Http2).await);
    own.identity.as_mut().unwrap().certificate = fixture.path("a.pem");
    certificates.reload(&network, &own).unwrap();
    assert!(!fixture.is_signed(1, "b.example", address, Protocol::Http2).await);
    assert!(fixture.is_signed(0, "a.example", address, Protocol::Http2).await);
    assert_eq!(certificates.report().len(), 1);
}

#[tokio::test]
async fn soon_expiring_certificate_is_reported_once_per_day() {
    let fixture = Fixture::new();
    // Its validity ends now.
    let issued = fixture.authorities[0].issue("a", &["a.example".to_owned()], Some(0)).unwrap();
    fs::write(fixture.path("a.pem"), issued.certificate_pem).unwrap();
    fs::write(fixture.path("a-key.pem"), issued.key_pem).unwrap();
    let certificates = fixture.open("");
    let sentences = certificates.poll();
    let [sentence] = &sentences[..] else { panic!("{sentences:?}") };
    assert!(
        sentence.ends_with("a.pem: it has expired") || sentence.contains("less than a day"),
        "{sentence}"
    );
    assert_eq!(certificates.poll(), [""; 0]);
}

#[tokio::test]
async fn clients_need_a_certificate_of_the_authority() {
    let fixture = Fixture::new();
    fixture.issue(0, "good", &["good.example"]);
    fixture.issue(1, "bad", &["bad.example"]);
    let member = |name: &str| {
        let [certificate, key] = ["", "-key"].map(|part| fixture.path(&format!("{name}{part}.pem")));
        MeshIdentity::read(&fixture.path("ca0.pem"), &certificate, &key).unwrap()
    };
    for (auth, without) in [("required", false), ("optional", true)] {
        let lines = format!("client_ca = \"@/ca0.pem\"\nclient_auth = \"{auth}\"");
        let certificates = fixture.open(&lines);
        let address = fixture.serve(&certificates);
        let ask_as = async |name: &str| {
            let config =
                Config { member: Some(member(name)), connect_to: Some(address), ..Config::default() };
            ask("a.example", config).await.is_ok()
        };
        for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
            assert_eq!(fixture.is_signed(0, "a.example", address, protocol).await, without, "{auth}");
        }
        assert!(ask_as("good").await && !ask_as("bad").await, "{auth}");
        // A reload reads the authorities again.
        let network = fixture.network(&lines);
        fs::copy(fixture.path("ca1.pem"), fixture.path("both.pem")).unwrap();
        let mut own = network.data_centres[0].clone();
        own.tls.clients = http_stack::server::ClientAuth::Optional(fixture.path("both.pem"));
        certificates.reload(&network, &own).unwrap();
        assert!(!ask_as("good").await && ask_as("bad").await, "{auth}");
    }
}
