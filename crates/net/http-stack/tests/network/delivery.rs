//! The result of a response is reported to a handler that attached a note.

use http_stack::{
    Body, Bytes, Client, Failure, Method, Request, Response,
    client::{Config, Limits, Protocol, Trace, Trust, Windows},
    server::{Delivery, Handler, RequestView},
};
use tokio::sync::mpsc;

use crate::support::{VERSIONS, client, fetch, get, serve_as};

struct Noting(mpsc::UnboundedSender<(String, Delivery)>);

impl Handler for Noting {
    type Observer = String;

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        let (sender, body) = Body::channel(1);
        let is_whole = request.method() != "POST";
        tokio::spawn(async move {
            sender.send("some").await.unwrap();
            if is_whole {
                sender.finish().await.unwrap();
            }
        });
        let mut response = Response::new(body);
        if request.method() != "DELETE" {
            response.extensions_mut().insert(request.method().to_string());
        }
        Ok(response)
    }

    fn on_delivered(&self, note: String, delivery: Delivery) {
        self.0.send((note, delivery)).unwrap();
    }
}

#[tokio::test]
async fn a_handler_is_told_what_became_of_a_response() {
    for protocol in VERSIONS {
        let (tell, mut told) = mpsc::unbounded_channel();
        let server = serve_as(protocol, Noting(tell));
        let client = client(protocol, Limits::default());
        fetch(&client, &server.origin, "DELETE").await;
        fetch(&client, &server.origin, "GET").await;
        let (note, delivery) = told.recv().await.unwrap();
        assert_eq!((&note[..], delivery.is_whole, delivery.body_bytes), ("GET", true, 4), "{protocol:?}");
        let least = "HTTP/1.1 200 OK\r\n\r\n4\r\nsome\r\n0\r\n\r\n".len() as u64;
        assert_eq!(delivery.bytes.map(|bytes| bytes > least), (protocol == Protocol::Http1).then_some(true));
        let (_, response) = get(&client, &server.origin).await;
        response.unwrap().into_body().collect(10).await.unwrap();
        let (_, delivery) = told.recv().await.unwrap();
        assert!(delivery.is_whole);
        let mut trace = Trace::start(client.clock().now());
        let broken = client.send(&server.origin, crate::support::request("POST", Body::empty()), &mut trace);
        if let Ok(response) = broken.await {
            response.into_body().collect(10).await.unwrap_err();
        }
        let (note, delivery) = told.recv().await.unwrap();
        assert_eq!((&note[..], delivery.is_whole), ("POST", false), "{protocol:?}");
    }
}

struct Quick(mpsc::UnboundedSender<(u64, Delivery)>);

impl Handler for Quick {
    const HAS_FAST_PATH: bool = true;

    type Observer = u64;

    fn try_respond(&self, request: &RequestView<'_>) -> Option<(Response<Bytes>, Option<u64>)> {
        let length: u64 = request.target.strip_prefix('/')?.parse().ok()?;
        let body = if request.is_head { Bytes::new() } else { letters(length) };
        Some((Response::new(body), Some(length)))
    }

    async fn handle(&self, _: Request<Body>) -> Result<Response<Body>, Failure> {
        Err(Failure::Refused)
    }

    fn on_delivered(&self, length: u64, delivery: Delivery) {
        self.0.send((length, delivery)).unwrap();
    }
}

fn letters(length: u64) -> Bytes {
    (b'a'..=b'z').cycle().take(usize::try_from(length).unwrap()).collect()
}

#[tokio::test]
async fn what_is_answered_with_a_look_arrives_whole_and_is_told_too() {
    for protocol in [Protocol::Http2, Protocol::Http3] {
        let (tell, mut told) = mpsc::unbounded_channel();
        let server = serve_as(protocol, Quick(tell));
        let windows = Windows { stream: 100_000, connection: 150_000 };
        let config = Config { protocol, windows, trust: Trust::Anyone, ..Config::default() };
        let client = Client::new(&config).unwrap();
        let ask = async |method: Method, length: u64| {
            let mut request = crate::support::request(method.as_str(), Body::empty());
            *request.uri_mut() = format!("/{length}").parse().unwrap();
            let mut trace = Trace::start(client.clock().now());
            client.send(&server.origin, request, &mut trace).await.unwrap().into_body()
        };
        for length in [0, 10, 99_999, 100_001, 1_000_000] {
            let both = tokio::join!(ask(Method::GET, length), ask(Method::GET, length));
            for body in [both.0, both.1] {
                assert!(body.collect(1 << 20).await.unwrap() == letters(length), "{protocol:?} {length}");
                let (noted, delivery) = told.recv().await.unwrap();
                let expected = Delivery { is_whole: true, body_bytes: length, bytes: None };
                assert_eq!((noted, delivery), (length, expected), "{protocol:?}");
            }
            assert_eq!(ask(Method::HEAD, length).await.collect(0).await.unwrap(), "");
            assert!(told.recv().await.unwrap().1.is_whole);
        }
        drop(ask(Method::GET, 100 << 20).await);
        assert!(!told.recv().await.unwrap().1.is_whole, "{protocol:?}");
    }
}
