//! Mutual TLS in a closed group: only peers with a certificate of its authority are served, and the
//! server's name is verified.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use http_stack::{
    Body, Bytes, Client, Credentials, Failure, MeshIdentity, Origin, PeerIdentity, Replaced, Request,
    Response, Revoked, Server, ShutdownSignal,
    client::{Config, Known, Limits, Protocol, Trace, Trust},
    server::{self, Authority},
};

use crate::support::{Security, client, request, serve as serve_tls};

pub struct Circle {
    folder: tempfile::TempDir,
    authority: Authority,
}

impl Circle {
    pub fn new() -> Self {
        let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::make().unwrap());
        std::fs::write(folder.path().join("ca.pem"), authority.certificate_pem()).unwrap();
        Self { folder, authority }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn member(&self, name: &str) -> MeshIdentity {
        self.member_of(&self.path("ca.pem"), name)
    }

    fn member_of(&self, authority: &Path, name: &str) -> MeshIdentity {
        let issued = self.authority.issue(name, &[name.to_owned()], None).unwrap();
        let (certificate, key) = (self.path(&format!("{name}.pem")), self.path(&format!("{name}-key.pem")));
        std::fs::write(&certificate, issued.certificate_pem).unwrap();
        std::fs::write(&key, issued.key_pem).unwrap();
        MeshIdentity::read(authority, &certificate, &key).unwrap()
    }
}

async fn ask(name: &str, server: std::net::SocketAddr, config: Config) -> Result<String, String> {
    let known = vec![Known { host: name.to_owned(), port: server.port(), address: server.ip() }];
    let client = Client::new(&Config { known, protocol: Protocol::Http2, ..config }).unwrap();
    let origin = format!("https://{name}:{}", server.port()).parse().unwrap();
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(&origin, request("GET", Body::empty()), &mut trace).await;
    let response = response.map_err(|failure| failure.to_string())?;
    let body = response.into_body().collect(1000).await.unwrap();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

fn serve(own: &MeshIdentity) -> (std::net::SocketAddr, ShutdownSignal) {
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_members(own);
    let (address, stop) = (server.addresses().unwrap()[0], ShutdownSignal::new());
    let asked = stop.clone();
    let handler = async |request: Request<Body>| {
        let caller: &PeerIdentity = request.extensions().get().unwrap();
        Ok(Response::new(Body::whole(caller.names().collect::<Vec<_>>().join(" "))))
    };
    tokio::spawn(async move { server.serve(handler, &asked).await });
    (address, stop)
}

#[tokio::test]
async fn members_know_each_other_and_nobody_else() {
    let (circle, other) = (Circle::new(), Circle::new());
    let (fra, _stop) = serve(&circle.member("fra"));
    let as_member = |member| Config { member: Some(member), ..Config::default() };
    assert_eq!(ask("fra", fra, as_member(circle.member("lhr"))).await, Ok("lhr".to_owned()));
    let wrong = ask("syd", fra, as_member(circle.member("lhr"))).await;
    assert_eq!(wrong, Err("tls: certificate for another name".to_owned()));
    let stranger = ask("fra", fra, as_member(other.member("lhr"))).await;
    assert!(stranger.as_ref().is_err_and(|why| why.starts_with("tls: ")), "{stranger:?}");
    let deceived = other.member_of(&circle.path("ca.pem"), "lhr");
    let stranger = ask("fra", fra, as_member(deceived)).await;
    assert!(stranger.as_ref().is_err_and(|why| why.starts_with("tls: ")), "{stranger:?}");
    let trust = Trust::File(circle.path("ca.pem"));
    let nobody = ask("fra", fra, Config { trust, ..Config::default() }).await;
    assert!(nobody.as_ref().is_err_and(|why| why.starts_with("tls: ")), "{nobody:?}");
}

const PATIENCE: Duration = Duration::from_secs(1);

async fn rest(client: &Client, origin: &Origin) -> Result<Bytes, Failure> {
    let (sender, body) = Body::channel(1);
    tokio::spawn(async move {
        sender.send("a").await.unwrap();
        tokio::time::sleep(2 * PATIENCE).await;
        let _ = sender.send("b").await;
        let _ = sender.finish().await;
    });
    let mut trace = Trace::start(client.clock().now());
    client.send(origin, request("POST", body), &mut trace).await?.into_body().collect(10).await
}

#[tokio::test]
async fn what_a_member_sends_may_rest_and_what_a_stranger_sends_may_not() {
    let circle = Circle::new();
    let config = server::Config { read_timeout: PATIENCE, ..server::Config::default() };
    let handler =
        async |request: Request<Body>| Ok(Response::new(Body::whole(request.into_body().collect(10).await?)));
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let server = server.with_members(&circle.member("fra")).with_config(config);
    let (address, stop) = (server.addresses().unwrap()[0], ShutdownSignal::new());
    let asked = stop.clone();
    tokio::spawn(async move { server.serve(handler, &asked).await });
    let known = vec![Known { host: "fra".to_owned(), port: address.port(), address: address.ip() }];
    let member = Some(circle.member("lhr"));
    let member = Config { known, member, protocol: Protocol::Http2, ..Config::default() };
    let origin = format!("https://fra:{}", address.port()).parse().unwrap();
    let strangers = serve_tls(Security::Tls, config, handler);
    let stranger = client(Protocol::Http2, Limits::default());
    let member = Client::new(&member).unwrap();
    let (member, stranger) = tokio::join!(rest(&member, &origin), rest(&stranger, &strangers.origin));
    assert_eq!(member.unwrap(), "ab");
    assert!(matches!(stranger, Err(Failure::Http2(Some(_)))), "{stranger:?}");
}

#[tokio::test]
async fn a_member_that_was_renewed_is_shown_on_the_same_sockets() {
    let circle = Circle::new();
    let own = circle.member("fra");
    let (address, _stop) = serve(&own);
    let lhr = Config { member: Some(circle.member("lhr")), ..Config::default() };
    let issued = circle.authority.issue("ams", &["ams".to_owned()], None).unwrap();
    std::fs::write(circle.path("fra.pem"), issued.certificate_pem).unwrap();
    std::fs::write(circle.path("fra-key.pem"), issued.key_pem).unwrap();
    assert!(ask("ams", address, lhr.clone()).await.is_err());
    let (authority, certificate, key) =
        (circle.path("ca.pem"), circle.path("fra.pem"), circle.path("fra-key.pem"));
    let revoked = Revoked::default();
    let credentials =
        Credentials { authority: &authority, certificate: &certificate, key: &key, revoked: &revoked };
    assert_eq!(own.replace(&credentials).unwrap(), Replaced::Changed);
    assert_eq!(own.replace(&credentials).unwrap(), Replaced::Unchanged);
    assert_eq!(own.names(), ["ams"]);
    assert_eq!(ask("ams", address, lhr).await, Ok("lhr".to_owned()));
}
