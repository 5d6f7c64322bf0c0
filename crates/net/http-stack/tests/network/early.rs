//! Early data: which requests use it, and how servers react.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use http_stack::{
    Body, Client, Failure, Origin, Request, Response, Server, ShutdownSignal, StatusCode,
    client::{self, Connections, Early, Protocol, Trace, Trust},
    server::{Handler, Identity},
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio::{net::UdpSocket, sync::mpsc, task::JoinHandle};

use crate::support::{fetch, get};

async fn method(request: Request<Body>) -> Result<Response<Body>, Failure> {
    Ok(Response::new(Body::whole(request.method().to_string())))
}

fn coming_back(protocol: Protocol) -> Client {
    let config = client::Config {
        protocol,
        connections: Connections::Early,
        trust: Trust::Anyone,
        ..client::Config::default()
    };
    Client::new(&config).unwrap()
}

fn identity() -> Identity {
    Identity::make(&["127.0.0.1".to_owned()]).unwrap().identity
}

/// Stores the sessions of its own connections only.
fn serve(
    at: SocketAddr,
    identity: &Identity,
    handler: impl Handler,
) -> (SocketAddr, ShutdownSignal, JoinHandle<()>) {
    let server = Server::listen(&[at]).unwrap();
    let address = server.addresses().unwrap()[0];
    let server = server.with_http3(identity).unwrap();
    let stop = ShutdownSignal::new();
    let asked = stop.clone();
    let ended = tokio::spawn(async move {
        server.serve(handler, &asked).await;
    });
    (address, stop, ended)
}

fn anywhere() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn origin(address: SocketAddr) -> Origin {
    format!("https://{address}").parse().unwrap()
}

/// The result of early data, whether the session was resumed, and whether the request waited for a
/// handshake.
fn fate(trace: &Trace) -> (Option<Early>, Option<bool>, bool) {
    (trace.early, trace.resumed, trace.quic.or(trace.tls).is_some())
}

const WHOLE: (Option<Early>, Option<bool>, bool) = (None, Some(false), true);
const RESUMED: (Option<Early>, Option<bool>, bool) = (None, Some(true), true);
const ACCEPTED: (Option<Early>, Option<bool>, bool) = (Some(Early::Accepted), Some(true), false);
const REJECTED: (Option<Early>, Option<bool>, bool) = (Some(Early::Rejected), Some(false), true);

#[tokio::test(flavor = "current_thread")]
async fn what_does_no_harm_twice_goes_ahead_of_the_handshake() {
    let (address, ..) = serve(anywhere(), &identity().with_early_data(), method);
    let client = coming_back(Protocol::Http3);
    assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), WHOLE);
    for _ in 0..4 {
        let trace = fetch(&client, &origin(address), "GET").await;
        assert_eq!(fate(&trace), ACCEPTED);
        assert!(trace.first_write() <= trace.last_write() && trace.last_write() <= trace.final_headers);
        assert!(trace.wire().is_some_and(|wire| wire.sent > 1200), "{trace:?}");
    }
    assert_eq!(fate(&fetch(&client, &origin(address), "HEAD").await), ACCEPTED);
    assert_eq!(fate(&fetch(&client, &origin(address), "POST").await), RESUMED);
    assert_eq!(fate(&fetch(&client, &origin(address), "DELETE").await), RESUMED);
}

#[tokio::test(flavor = "current_thread")]
async fn no_server_takes_any_unless_it_was_told_to() {
    let (address, ..) = serve(anywhere(), &identity(), method);
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
        let client = coming_back(protocol);
        assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), WHOLE, "{protocol:?}");
        for _ in 0..3 {
            assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), RESUMED, "{protocol:?}");
        }
    }
    let (address, ..) = serve(anywhere(), &identity().with_early_data(), method);
    let client = coming_back(Protocol::Http2);
    assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), WHOLE);
    assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), RESUMED);
}

#[tokio::test(flavor = "current_thread")]
async fn what_a_server_does_not_take_is_sent_again_on_the_same_connection() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let (address, stop, ended) = serve(anywhere(), &identity().with_early_data(), method);
    let client = coming_back(Protocol::Http3);
    for expected in [WHOLE, ACCEPTED] {
        assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), expected);
    }
    stop.request();
    stop.request();
    ended.await.unwrap();
    until_free(address).await;
    let (again, ..) = serve(address, &identity().with_early_data(), move |request: Request<Body>| {
        counted.fetch_add(1, Relaxed);
        method(request)
    });
    assert_eq!(again, address);
    let trace = fetch(&client, &origin(address), "GET").await;
    assert_eq!(fate(&trace), REJECTED);
    assert!(trace.quic.unwrap() <= trace.first_write().unwrap() - trace.started, "{trace:?}");
    assert!(!trace.retried && trace.reused == Some(false));
    assert_eq!(asked.load(Relaxed), 1);
    assert_eq!(fate(&fetch(&client, &origin(address), "GET").await), ACCEPTED);
}

async fn until_free(address: SocketAddr) {
    while UdpSocket::bind(address).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_to_which_it_is_too_early_is_asked_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let (address, ..) = serve(anywhere(), &identity().with_early_data(), move |request: Request<Body>| {
        let is_early = counted.fetch_add(1, Relaxed) == 1;
        async move {
            let mut response = method(request).await?;
            if is_early {
                *response.status_mut() = StatusCode::TOO_EARLY;
            }
            Ok(response)
        }
    });
    let client = coming_back(Protocol::Http3);
    fetch(&client, &origin(address), "GET").await;
    let (trace, response) = get(&client, &origin(address)).await;
    assert_eq!(response.unwrap().status(), StatusCode::OK);
    assert_eq!((trace.early, trace.quic.is_some()), (Some(Early::TooEarly), true));
    assert_eq!(asked.load(Relaxed), 3);
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_has_gone_fails_what_went_ahead() {
    let (address, stop, ended) = serve(anywhere(), &identity().with_early_data(), method);
    let client = coming_back(Protocol::Http3);
    for _ in 0..2 {
        fetch(&client, &origin(address), "GET").await;
    }
    stop.request();
    stop.request();
    ended.await.unwrap();
    until_free(address).await;
    let (trace, response) = get(&client, &origin(address)).await;
    assert_eq!(response.unwrap_err(), Failure::Refused);
    assert_eq!(trace.final_headers, None);
}

#[tokio::test(flavor = "current_thread")]
async fn what_may_do_harm_twice_waits_for_the_handshake_and_nothing_is_answered_twice() {
    let made = Identity::make(&["127.0.0.1".to_owned()]).unwrap();
    let (tell, mut handled) = mpsc::unbounded_channel();
    let (address, ..) = serve(anywhere(), &made.identity.with_early_data(), move |request: Request<Body>| {
        tell.send(request.method().to_string()).unwrap();
        method(request)
    });
    let (relay, config) = (Relay::to(address).await, trusting(&made.ca_pem));
    let connect = |to| {
        let endpoint = quinn::Endpoint::client(anywhere()).unwrap();
        endpoint.connect_with(config.clone(), to, "127.0.0.1").unwrap()
    };
    let first = connect(relay.address).await.unwrap();
    let _control = settings(&first).await;
    ask(&first, GET).await.read_to_end(1000).await.unwrap();
    assert_eq!(handled.recv().await.unwrap(), "GET");

    relay.is_cut.store(true, Relaxed);
    let Ok((second, _)) = connect(relay.address).into_0rtt() else { panic!("no session is resumed") };
    let _control = settings(&second).await;
    let _answers = [ask(&second, POST).await, ask(&second, GET).await];
    // The handshake never completes. The POST arrived first and waits for it.
    assert_eq!(handled.recv().await.unwrap(), "GET");

    let somebody = UdpSocket::bind(anywhere()).await.unwrap();
    let flight = relay.flight.lock().unwrap().clone();
    assert!(!flight.is_empty());
    for datagram in flight {
        somebody.send_to(&datagram, address).await.unwrap();
    }
    let third = connect(address).await.unwrap();
    let _control = settings(&third).await;
    ask(&third, POST).await.read_to_end(1000).await.unwrap();
    assert_eq!(handled.recv().await.unwrap(), "POST");
    assert!(handled.try_recv().is_err());
}

struct Relay {
    address: SocketAddr,
    /// Whether only the first flight of clients is forwarded: their packets after a response are
    /// dropped, except early data.
    is_cut: Arc<AtomicBool>,
    flight: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Relay {
    async fn to(server: SocketAddr) -> Self {
        let socket = Arc::new(UdpSocket::bind(anywhere()).await.unwrap());
        let address = socket.local_addr().unwrap();
        let (is_cut, flight) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Vec<_>>>::default());
        let relay = Self { address, is_cut: Arc::clone(&is_cut), flight: Arc::clone(&flight) };
        tokio::spawn(async move {
            let mut ways: HashMap<SocketAddr, (Arc<UdpSocket>, Arc<AtomicBool>)> = HashMap::new();
            let mut datagram = [0; 2048];
            loop {
                let (length, client) = socket.recv_from(&mut datagram).await.unwrap();
                if let Entry::Vacant(unknown) = ways.entry(client) {
                    let way = Arc::new(UdpSocket::bind(anywhere()).await.unwrap());
                    way.connect(server).await.unwrap();
                    let is_answered = Arc::new(AtomicBool::new(false));
                    let (there, here) = (Arc::clone(&way), Arc::clone(&socket));
                    tokio::spawn(back(there, here, client, Arc::clone(&is_answered)));
                    unknown.insert((way, is_answered));
                }
                let (way, is_answered) = &ways[&client];
                // The type of a long header (RFC 9000 section 17.2): 1 is 0-RTT.
                let is_ahead = datagram[0] & 0xf0 == 0xd0;
                if is_cut.load(Relaxed) {
                    if is_answered.load(Relaxed) && !is_ahead {
                        continue;
                    }
                    flight.lock().unwrap().push(datagram[..length].to_vec());
                }
                way.send(&datagram[..length]).await.unwrap();
            }
        });
        relay
    }
}

async fn back(way: Arc<UdpSocket>, socket: Arc<UdpSocket>, client: SocketAddr, is_answered: Arc<AtomicBool>) {
    let mut datagram = [0; 2048];
    while let Ok(length) = way.recv(&mut datagram).await {
        is_answered.store(true, Relaxed);
        socket.send_to(&datagram[..length], client).await.unwrap();
    }
}

/// Indices of ":method" in QPACK's static table (RFC 9204 appendix A).
const GET: u8 = 17;
const POST: u8 = 20;

/// It must live as long as the connection.
async fn settings(connection: &quinn::Connection) -> quinn::SendStream {
    let mut control = connection.open_uni().await.unwrap();
    control.write_all(&[0, 4, 0]).await.unwrap();
    control
}

async fn ask(connection: &quinn::Connection, method: u8) -> quinn::RecvStream {
    let (mut request, answer) = connection.open_bi().await.unwrap();
    // HEADERS: the method, "https", "/" and the authority "a".
    request.write_all(&[1, 8, 0, 0, 0xc0 | method, 0xc0 | 23, 0xc0 | 1, 0x50, 1, b'a']).await.unwrap();
    request.finish().unwrap();
    answer
}

fn trusting(ca_pem: &str) -> quinn::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let mut tls =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
    (tls.alpn_protocols, tls.enable_early_data) = (vec![b"h3".to_vec()], true);
    let tls = quinn::crypto::rustls::QuicClientConfig::try_from(tls).unwrap();
    quinn::ClientConfig::new(Arc::new(tls))
}
