//! A handler that noted something of a request is told what became of its response.

use http::{
    Body, Failure, Request, Response,
    client::{Limits, Protocol},
    server::{Delivery, Handler},
};
use tokio::sync::mpsc;

use crate::support::{VERSIONS, client, fetch, get, serve_as};

/// Answers a GET with a whole body and a POST with one that breaks off.
struct Noting(mpsc::UnboundedSender<(String, Delivery)>);

impl Handler for Noting {
    type Note = String;

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

    fn sent(&self, note: String, delivery: Delivery) {
        self.0.send((note, delivery)).unwrap();
    }
}

#[tokio::test]
async fn a_handler_is_told_what_became_of_a_response() {
    for protocol in VERSIONS {
        let (tell, mut told) = mpsc::unbounded_channel();
        let server = serve_as(protocol, Noting(tell));
        let client = client(protocol, Limits::default());
        // Not noted, and so not told.
        fetch(&client, &server.origin, "DELETE").await;
        fetch(&client, &server.origin, "GET").await;
        let (note, delivery) = told.recv().await.unwrap();
        assert_eq!((&note[..], delivery.is_whole, delivery.body_bytes), ("GET", true, 4), "{protocol:?}");
        // The header, its empty line, one chunk of four bytes and the last one.
        let least = "HTTP/1.1 200 OK\r\n\r\n4\r\nsome\r\n0\r\n\r\n".len() as u64;
        assert_eq!(delivery.bytes.map(|bytes| bytes > least), (protocol == Protocol::Http1).then_some(true));
        let (_, response) = get(&client, &server.origin).await;
        response.unwrap().into_body().collect(10).await.unwrap();
        let (_, delivery) = told.recv().await.unwrap();
        assert!(delivery.is_whole);
        let mut trace = http::client::Trace::start(client.clock().now());
        let broken = client.send(&server.origin, crate::support::request("POST", Body::empty()), &mut trace);
        // The failure may be there before the header is.
        if let Ok(response) = broken.await {
            response.into_body().collect(10).await.unwrap_err();
        }
        let (note, delivery) = told.recv().await.unwrap();
        assert_eq!((&note[..], delivery.is_whole), ("POST", false), "{protocol:?}");
    }
}
