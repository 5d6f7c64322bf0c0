//! Requests ahead of a handshake: which of them go there, and what a server makes of them.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use http::{
    Body, Client, Failure, Origin, Request, Response, Server, StatusCode, Stop,
    client::{self, Connections, Early, Protocol, Trace, Trust},
    server::{Handler, Identity},
};
use tokio::{net::UdpSocket, task::JoinHandle};

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

/// A server of this identity, which knows the sessions of its own connections and no others.
fn serve(at: SocketAddr, identity: &Identity, handler: impl Handler) -> (SocketAddr, Stop, JoinHandle<()>) {
    let server = Server::listen(&[at]).unwrap();
    let address = server.addresses().unwrap()[0];
    let server = server.with_http3(identity).unwrap();
    let stop = Stop::new();
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

/// Of a request that went through: what became of it ahead of the handshake, and whether it waited for one.
fn fate(trace: &Trace) -> (Option<Early>, Option<bool>, bool) {
    (trace.early, trace.resumed, trace.quic.or(trace.tls).is_some())
}

const WHOLE: (Option<Early>, Option<bool>, bool) = (None, Some(false), true);
const RESUMED: (Option<Early>, Option<bool>, bool) = (None, Some(true), true);
const ACCEPTED: (Option<Early>, Option<bool>, bool) = (Some(Early::Accepted), Some(true), false);
/// The server knows no such session.
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
    // Nor over TCP where it takes some over QUIC.
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
    stop.ask();
    stop.ask();
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

/// Waits until a server that ended has let go of its port.
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
        // The second request is the one that comes early.
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
    stop.ask();
    stop.ask();
    ended.await.unwrap();
    until_free(address).await;
    let (trace, response) = get(&client, &origin(address)).await;
    assert_eq!(response.unwrap_err(), Failure::Refused);
    assert_eq!(trace.final_headers, None);
}
