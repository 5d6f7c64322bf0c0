//! Features specific to HTTP/3: its handshake, its port, and its shutdown.

use std::{net::UdpSocket, time::Duration};

use http_stack::{
    Body, Failure, HeaderValue, Origin, Request, Response,
    client::{self, Connections, Protocol, Trust},
    header, server,
};

use crate::support::{Security, client, fetch, get, quic, request, serve};

async fn empty(_: Request<Body>) -> Result<Response<Body>, Failure> {
    Ok(Response::new(Body::empty()))
}

#[tokio::test(flavor = "current_thread")]
async fn one_handshake_and_then_requests_share_the_connection() {
    let server = serve(Security::Quic, server::Config::default(), empty);
    let client = client(Protocol::Http3, client::Limits::default());
    let first = fetch(&client, &server.origin, "GET").await;
    assert_eq!((first.protocol, first.reused, first.remote), (Some("h3"), Some(false), Some(server.address)));
    assert!(first.quic.is_some() && first.connect.is_none() && first.tls.is_none(), "{first:?}");
    assert!(first.first_write() <= first.last_write() && first.last_write() <= first.final_headers);
    let second = fetch(&client, &server.origin, "GET").await;
    assert_eq!((second.reused, second.quic), (Some(true), None));
}

#[tokio::test(flavor = "current_thread")]
async fn each_request_may_have_its_own_connection() {
    let server = serve(Security::Quic, server::Config::default(), async |request: Request<Body>| {
        Ok(Response::new(request.into_body()))
    });
    let config = client::Config {
        protocol: Protocol::Http3,
        connections: Connections::New,
        trust: Trust::Anyone,
        ..client::Config::default()
    };
    let client = http_stack::Client::new(&config).unwrap();
    for _ in 0..3 {
        let mut trace = client::Trace::start(client.clock().now());
        let upload = request("POST", Body::whole(vec![7; 300_000]));
        let response = client.send(&server.origin, upload, &mut trace).await.unwrap();
        assert_eq!(response.into_body().collect(1 << 20).await.unwrap().len(), 300_000);
        assert!(trace.quic.is_some() && trace.reused == Some(false));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn other_versions_are_told_of_it() {
    let server = serve(Security::Quic, server::Config::default(), empty);
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let (_, response) = get(&client(protocol, client::Limits::default()), &server.origin).await;
        let expected = format!("h3=\":{}\"; ma=86400", server.address.port());
        assert_eq!(response.unwrap().headers()[header::ALT_SVC], expected, "{protocol:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_tells_of_what_another_one_speaks() {
    let identity = server::Identity::make(&["127.0.0.1".to_owned()]).unwrap().identity;
    let server = http_stack::Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let address = server.addresses().unwrap()[0];
    let stop = http_stack::ShutdownSignal::new();
    let asked = stop.clone();
    tokio::spawn(async move { server.with_http3_elsewhere(&identity).serve(empty, &asked).await });
    let origin = format!("https://{address}").parse().unwrap();
    let (_, response) = get(&client(Protocol::Http1, client::Limits::default()), &origin).await;
    let expected = format!("h3=\":{}\"; ma=86400", address.port());
    assert_eq!(response.unwrap().headers()[header::ALT_SVC], expected);
}

async fn saying(port: u16) -> Result<Response<Body>, Failure> {
    let mut response = Response::new(Body::empty());
    let field = HeaderValue::from_str(&format!("h3=\":{port}\"")).unwrap();
    response.headers_mut().insert(header::ALT_SVC, field);
    Ok(response)
}

fn negotiating() -> http_stack::Client {
    let config =
        client::Config { connections: Connections::New, trust: Trust::Anyone, ..client::Config::default() };
    http_stack::Client::new(&config).unwrap()
}

#[tokio::test(flavor = "current_thread")]
async fn what_the_server_says_of_it_is_followed() {
    let server = serve(Security::Quic, server::Config::default(), empty);
    let client = negotiating();
    let before = fetch(&client, &server.origin, "GET").await;
    assert_eq!((before.protocol, before.quic), (Some("h2"), None));
    let after = fetch(&client, &server.origin, "GET").await;
    assert_eq!((after.protocol, after.connect, after.tls), (Some("h3"), None, None));
}

#[tokio::test(flavor = "current_thread")]
async fn an_alternative_that_is_not_there_is_left_alone() {
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = serve(Security::Tls, server::Config::default(), move |_| saying(nobody));
    let client = negotiating();
    for _ in 0..3 {
        let trace = fetch(&client, &server.origin, "GET").await;
        assert_eq!((trace.protocol, trace.quic), (Some("h2"), None));
        assert!(trace.connect.is_some() && trace.tls.is_some());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_alternative_that_is_silent_is_overtaken() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let server = serve(Security::Tls, server::Config::default(), move |_| saying(port));
    let client = negotiating();
    for _ in 0..2 {
        assert_eq!(fetch(&client, &server.origin, "GET").await.protocol, Some("h2"));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_body_is_as_long_as_announced() {
    let server = serve(Security::Quic, server::Config::default(), async |request: Request<Body>| {
        let mut response = Response::new(Body::channel(1).1);
        let (sender, body) = Body::channel(1);
        *response.body_mut() = body;
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("5"));
        let sent = if request.uri().path() == "/long" { "123456" } else { "1234" };
        tokio::spawn(async move {
            sender.send(sent).await.unwrap();
            sender.finish().await.unwrap();
        });
        Ok(response)
    });
    let client = client(Protocol::Http3, client::Limits::default());
    for path in ["/long", "/short"] {
        let mut asked = request("GET", Body::empty());
        *asked.uri_mut() = path.parse().unwrap();
        let mut trace = client::Trace::start(client.clock().now());
        let response = client.send(&server.origin, asked, &mut trace).await.unwrap();
        let failure = response.into_body().collect(100).await.unwrap_err();
        assert_eq!(failure.to_string(), "http/3: H3_MESSAGE_ERROR", "{path}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_head_has_a_length_and_no_body() {
    let server =
        serve(Security::Quic, server::Config::default(), async |_| Ok(Response::new(Body::whole("1234"))));
    let client = client(Protocol::Http3, client::Limits::default());
    let mut trace = client::Trace::start(client.clock().now());
    let response = client.send(&server.origin, request("HEAD", Body::empty()), &mut trace).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_LENGTH], "4");
    assert!(response.headers().contains_key(header::DATE));
    assert_eq!(response.into_body().collect(10).await.unwrap(), "");
}

#[tokio::test(flavor = "current_thread")]
async fn what_breaks_off_is_not_taken_for_whole() {
    let server = serve(Security::Quic, server::Config::default(), async |request: Request<Body>| {
        if request.uri().path() == "/upload" {
            request.into_body().collect(100).await?;
        }
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move { sender.send("12").await });
        Ok(Response::new(body))
    });
    let client = client(Protocol::Http3, client::Limits::default());
    let mut trace = client::Trace::start(client.clock().now());
    let failure = match client.send(&server.origin, request("GET", Body::empty()), &mut trace).await {
        Ok(response) => response.into_body().collect(100).await.unwrap_err(),
        Err(failure) => failure,
    };
    assert_eq!(failure.to_string(), "http/3: H3_INTERNAL_ERROR");

    let (sender, body) = Body::channel(1);
    sender.send("12").await.unwrap();
    drop(sender);
    let mut upload = request("POST", body);
    *upload.uri_mut() = "/upload".parse().unwrap();
    let mut trace = client::Trace::start(client.clock().now());
    let failure = client.send(&server.origin, upload, &mut trace).await.unwrap_err();
    assert_eq!(failure, Failure::Source);
}

/// A server built directly on h3 and quinn: two interim responses, each followed by a pause, and the
/// final one.
async fn hinting() -> Origin {
    let (endpoint, origin) = quic();
    tokio::spawn(async move {
        let connection = h3_quinn::Connection::new(endpoint.accept().await.unwrap().await.unwrap());
        let mut connection = h3::server::Connection::<_, http_stack::Bytes>::new(connection).await.unwrap();
        let resolver = connection.accept().await.unwrap().unwrap();
        let (_, mut stream) = resolver.resolve_request().await.unwrap();
        for status in [100, 103, 200] {
            tokio::time::sleep(PAUSE).await;
            stream.send_response(Response::builder().status(status).body(()).unwrap()).await.unwrap();
        }
        stream.finish().await.unwrap();
        let _ = connection.accept().await;
    });
    origin
}

const PAUSE: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "current_thread")]
async fn the_final_response_is_waited_for_and_the_first_interim_one_is_stamped() {
    let origin = hinting().await;
    let (trace, response) = get(&client(Protocol::Http3, client::Limits::default()), &origin).await;
    assert_eq!(response.unwrap().status(), 200);
    let (interim, last) = (trace.first_interim().unwrap(), trace.final_headers.unwrap());
    assert!(trace.last_write().unwrap() <= interim && interim <= last, "{trace:?}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_closed_port_refuses_at_once() {
    // The kernel is unlikely to assign it to another socket in this short time.
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let origin: Origin = format!("https://{address}").parse().unwrap();
    let client = client(Protocol::Http3, client::Limits::default());
    let tried = tokio::time::timeout(Duration::from_secs(10), get(&client, &origin)).await;
    assert_eq!(tried.unwrap().1.unwrap_err(), Failure::Refused);
}

#[tokio::test(flavor = "current_thread")]
async fn a_certificate_is_refused_with_its_reason() {
    let server = serve(Security::Quic, server::Config::default(), empty);
    let config = client::Config { protocol: Protocol::Http3, ..client::Config::default() };
    let (trace, response) = get(&http_stack::Client::new(&config).unwrap(), &server.origin).await;
    assert_eq!(response.unwrap_err().to_string(), "tls: unknown issuer");
    assert_eq!(trace.quic, None);
}

#[tokio::test(flavor = "current_thread")]
async fn there_is_none_in_clear_text() {
    let origin: Origin = "http://127.0.0.1:1".parse().unwrap();
    let (_, response) = get(&client(Protocol::Http3, client::Limits::default()), &origin).await;
    assert_eq!(response.unwrap_err().to_string(), "quic: HTTP/3 is for https only");
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_stops_finishes_what_is_in_flight() {
    let server = serve(Security::Quic, server::Config::default(), async |_| {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(Response::new(Body::whole(vec![1; 100_000])))
    });
    let client = client(Protocol::Http3, client::Limits::default());
    fetch(&client, &server.origin, "GET").await;
    let mut trace = client::Trace::start(client.clock().now());
    let asked = client.send(&server.origin, request("GET", Body::empty()), &mut trace);
    let stop = server.stop.clone();
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        stop.request();
    };
    let (response, ()) = tokio::join!(asked, stopping);
    assert_eq!(response.unwrap().into_body().collect(1 << 20).await.unwrap().len(), 100_000);
    assert_eq!(server.ended.await.unwrap(), server::End::Complete);
}

#[test]
fn a_port_that_the_kernel_chooses_is_free_for_quic() {
    // About one UDP port in fifteen is in use, at an address that no other test uses.
    let anywhere = "127.0.0.77:0".parse().unwrap();
    let _taken: Vec<_> = (0..2000).map(|_| UdpSocket::bind(anywhere).unwrap()).collect();
    for _ in 0..200 {
        let listening = server::listen(&[anywhere]).unwrap();
        server::bind_udp(&[listening[0].local_addr().unwrap()]).unwrap();
    }
}
