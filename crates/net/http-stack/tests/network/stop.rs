//! Graceful and immediate shutdown of a server.

use std::{sync::Arc, time::Duration};

use http_stack::{
    Body, Request, Response,
    client::{Limits, Protocol},
    server::{Config, End},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
};

use crate::support::{Security, Serving, client, get, serve};

async fn half_way(protocol: Protocol, config: Config) -> (Serving, Arc<Semaphore>, Response<Body>) {
    let told = Arc::new(Semaphore::new(0));
    let wait = Arc::clone(&told);
    let server = serve(Security::Clear, config, move |_: Request<Body>| {
        let wait = Arc::clone(&wait);
        async move {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                sender.send("half ").await.unwrap();
                wait.acquire().await.unwrap().forget();
                if sender.send("and half").await.is_ok() {
                    let _ = sender.finish().await;
                }
            });
            Ok(Response::new(body))
        }
    });
    let client = client(protocol, Limits::default());
    let (_, response) = get(&client, &server.origin).await;
    (server, told, response.unwrap())
}

#[tokio::test(flavor = "current_thread")]
async fn requests_in_flight_are_finished_and_others_are_not_begun() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let (server, told, response) = half_way(protocol, Config::default()).await;
        server.stop.request();
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(!server.ended.is_finished());
        told.add_permits(1);
        assert_eq!(response.into_body().collect(100).await.unwrap(), "half and half");
        assert_eq!(server.ended.await.unwrap(), End::Complete, "{protocol:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn what_takes_longer_than_the_grace_is_cut_off() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let config = Config { stop_grace: Duration::from_millis(20), ..Config::default() };
        let (server, _told, response) = half_way(protocol, config).await;
        server.stop.request();
        assert_eq!(server.ended.await.unwrap(), End::Cut);
        assert!(response.into_body().collect(100).await.is_err(), "{protocol:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn asked_twice_it_waits_for_nobody() {
    let config = Config { stop_grace: Duration::MAX, ..Config::default() };
    let (server, _told, response) = half_way(Protocol::Http1, config).await;
    server.stop.request();
    server.stop.request();
    assert_eq!(server.ended.await.unwrap(), End::Cut);
    assert!(response.into_body().collect(100).await.is_err());
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_is_dropped_takes_its_connections_with_it() {
    let (server, _told, response) = half_way(Protocol::Http1, Config::default()).await;
    server.ended.abort();
    assert!(response.into_body().collect(100).await.is_err());
}

#[tokio::test(flavor = "current_thread")]
async fn no_more_connections_are_served_than_may_be() {
    let config = Config { connections: 1, ..Config::default() };
    let (server, told, response) = half_way(Protocol::Http1, config).await;
    // The kernel accepts the connection, the server does not: it is served when the first connection has
    // ended.
    let second = client(Protocol::Http1, Limits::default());
    let origin = server.origin.clone();
    let waiting = tokio::spawn(async move { get(&second, &origin).await.1.map(|_| ()) });
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!waiting.is_finished());
    told.add_permits(1);
    drop(response);
    assert_eq!(waiting.await.unwrap(), Ok(()));
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_that_was_on_its_way_is_answered() {
    let config = Config { idle_grace: Duration::MAX, stop_grace: Duration::MAX, ..Config::default() };
    let server = serve(Security::Clear, config, async |request: Request<Body>| {
        Ok(Response::new(Body::whole(request.uri().path().to_owned())))
    });
    let (mut fresh, mut used) = (
        TcpStream::connect(server.address).await.unwrap(),
        TcpStream::connect(server.address).await.unwrap(),
    );
    used.write_all(b"GET /first HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut said = [0; 1000];
    let length = used.read(&mut said).await.unwrap();
    assert!(said[..length].ends_with(b"/first"));
    server.stop.request();
    while TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    for stream in [&mut fresh, &mut used] {
        stream.write_all(b"GET /last HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert!(said.contains("connection: close\r\n") && said.ends_with("/last"), "{said}");
    }
    assert_eq!(server.ended.await.unwrap(), End::Complete);
}
