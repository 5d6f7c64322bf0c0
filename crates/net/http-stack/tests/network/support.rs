//! A server in the test's runtime, and clients for it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use http_stack::{
    Body, Client, Failure, Origin, Request, Response, Server, ShutdownSignal,
    client::{self, Protocol, Trace, Trust},
    server::{self, End, Handler, Identity},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

pub struct Serving {
    pub origin: Origin,
    pub address: SocketAddr,
    pub stop: ShutdownSignal,
    pub ended: JoinHandle<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    Clear,
    Tls,
    Quic,
}

pub fn serve(security: Security, config: server::Config, handler: impl Handler) -> Serving {
    let mut server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_config(config);
    let address = server.addresses().unwrap()[0];
    let identity = Identity::make(&["127.0.0.1".to_owned()]).unwrap().identity;
    let scheme = if security == Security::Clear { "http" } else { "https" };
    server = match security {
        Security::Clear => server,
        Security::Tls => server.with_tls(&identity),
        Security::Quic => server.with_http3(&identity).unwrap(),
    };
    let stop = ShutdownSignal::new();
    let asked = stop.clone();
    let ended = tokio::spawn(async move { server.serve(handler, &asked).await });
    Serving { origin: format!("{scheme}://{address}").parse().unwrap(), address, stop, ended }
}

pub fn serve_clear(handler: impl Handler) -> Serving {
    serve(Security::Clear, server::Config::default(), handler)
}

pub fn serve_as(protocol: Protocol, handler: impl Handler) -> Serving {
    let security = if protocol == Protocol::Http3 { Security::Quic } else { Security::Clear };
    serve(security, server::Config::default(), handler)
}

pub const VERSIONS: [Protocol; 3] = [Protocol::Http1, Protocol::Http2, Protocol::Http3];

pub fn client(protocol: Protocol, limits: client::Limits) -> Client {
    let config = client::Config { protocol, limits, trust: Trust::Anyone, ..client::Config::default() };
    Client::new(&config).unwrap()
}

pub fn request(method: &str, body: Body) -> Request<Body> {
    Request::builder().method(method).uri("/").body(body).unwrap()
}

pub async fn get(client: &Client, origin: &Origin) -> (Trace, Result<Response<Body>, Failure>) {
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(origin, request("GET", Body::empty()), &mut trace).await;
    (trace, response)
}

pub async fn fetch(client: &Client, origin: &Origin, method: &str) -> Trace {
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(origin, request(method, Body::empty()), &mut trace).await.unwrap();
    response.into_body().collect(1 << 20).await.unwrap();
    trace
}

pub struct Responder {
    pub origin: Origin,
    connections: Arc<AtomicUsize>,
}

pub async fn responder<A>(answer: impl Fn(TcpStream) -> A + Send + 'static) -> Responder
where
    A: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Relaxed);
            tokio::spawn(answer(stream));
        }
    });
    Responder { origin: format!("http://{address}").parse().unwrap(), connections }
}

impl Responder {
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
}

pub fn quic() -> (quinn::Endpoint, Origin) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let mut tls =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let tls = quinn::crypto::rustls::QuicServerConfig::try_from(tls).unwrap();
    let config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    let endpoint = quinn::Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let origin = format!("https://{}", endpoint.local_addr().unwrap()).parse().unwrap();
    (endpoint, origin)
}

pub async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

pub async fn write(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

pub const EMPTY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
