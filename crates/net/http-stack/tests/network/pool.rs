//! The connection pool: the number of connections, waiting requests, and connections closed by the
//! server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{
    Body, Failure, Response,
    client::{Limits, Once, Protocol, Trace},
    server,
};
use tokio::sync::{Notify, Semaphore};

use crate::support::{
    EMPTY, Security, Serving, client, fetch, get, read_head, request, responder, serve, serve_clear, write,
};

fn told() -> (Serving, Arc<Semaphore>, Arc<AtomicUsize>) {
    told_with(server::Config::default())
}

fn told_with(config: server::Config) -> (Serving, Arc<Semaphore>, Arc<AtomicUsize>) {
    let (told, arrived) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let (wait, count) = (Arc::clone(&told), Arc::clone(&arrived));
    let server = serve(Security::Clear, config, move |_| {
        let wait = Arc::clone(&wait);
        count.fetch_add(1, Relaxed);
        async move {
            wait.acquire().await.unwrap().forget();
            Ok(Response::new(Body::empty()))
        }
    });
    (server, told, arrived)
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_beyond_the_limit_waits_and_one_beyond_that_is_refused() {
    let (server, told, arrived) = told();
    let limits = Limits { connections: 2, waiting: 1, ..Limits::default() };
    let client = client(Protocol::Http1, limits);
    let requests: Vec<_> = (0..3)
        .map(|_| {
            let (client, origin) = (client.clone(), server.origin.clone());
            tokio::spawn(async move { fetch(&client, &origin, "GET").await })
        })
        .collect();
    until(|| arrived.load(Relaxed) == 2).await;
    // The third request waits by now: it started before this one in the same thread.
    let (_, fourth) = get(&client, &server.origin).await;
    assert_eq!(fourth.unwrap_err(), Failure::Busy);
    assert_eq!(arrived.load(Relaxed), 2);
    told.add_permits(3);
    let mut traces = Vec::new();
    for request in requests {
        traces.push(request.await.unwrap());
    }
    let waited: Vec<_> = traces.iter().map(|trace| trace.waited.is_some()).collect();
    assert_eq!(waited, [false, false, true]);
    assert_eq!(
        (traces[2].reused, traces[2].connect),
        (Some(true), None),
        "it got a connection that became idle"
    );
    assert_eq!(arrived.load(Relaxed), 3);
}

#[tokio::test(flavor = "current_thread")]
async fn a_connection_that_ends_makes_room_for_who_waits() {
    let server = responder(async |mut stream| {
        if read_head(&mut stream).await.is_some() {
            write(&mut stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
        }
    })
    .await;
    let client = client(Protocol::Http1, Limits { connections: 1, ..Limits::default() });
    let both = tokio::join!(fetch(&client, &server.origin, "GET"), fetch(&client, &server.origin, "GET"));
    assert_eq!((both.0.reused, both.1.reused), (Some(false), Some(false)));
    assert_eq!((both.1.waited.is_some(), server.connections()), (true, 2));
}

#[tokio::test(flavor = "current_thread")]
async fn http2_needs_one_connection_however_few_are_allowed() {
    let (server, told, arrived) = told();
    let client = client(Protocol::Http2, Limits { connections: 1, ..Limits::default() });
    let requests: Vec<_> = (0..10)
        .map(|_| {
            let (client, origin) = (client.clone(), server.origin.clone());
            tokio::spawn(async move { fetch(&client, &origin, "GET").await })
        })
        .collect();
    until(|| arrived.load(Relaxed) == 10).await;
    told.add_permits(10);
    let mut opened = 0;
    for request in requests {
        opened += usize::from(request.await.unwrap().connect.is_some());
    }
    assert_eq!(opened, 1);
}

#[tokio::test(flavor = "current_thread")]
async fn a_stream_beyond_the_server_s_limit_waits_and_one_beyond_that_is_refused() {
    let config = server::Config { streams: 1, ..server::Config::default() };
    let (server, told, arrived) = told_with(config);
    let client = client(Protocol::Http2, Limits { waiting: 1, ..Limits::default() });
    told.add_permits(1);
    fetch(&client, &server.origin, "GET").await;
    let requests: Vec<_> = (0..2)
        .map(|_| {
            let (client, origin) = (client.clone(), server.origin.clone());
            tokio::spawn(async move { fetch(&client, &origin, "GET").await.queued })
        })
        .collect();
    until(|| arrived.load(Relaxed) == 2).await;
    let (_, third) = get(&client, &server.origin).await;
    assert_eq!(third.unwrap_err(), Failure::Busy);
    told.add_permits(2);
    let mut queued = Vec::new();
    for request in requests {
        queued.push(request.await.unwrap());
    }
    assert_eq!(queued, [false, true]);
}

#[tokio::test(flavor = "current_thread")]
async fn a_connection_is_kept_for_as_long_as_it_may_be_idle() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let server = serve_clear(async |_| Ok(Response::new(Body::empty())));
        let brief = client(protocol, Limits { idle: Duration::ZERO, ..Limits::default() });
        let kept = client(protocol, Limits { idle: Duration::MAX, ..Limits::default() });
        for is_first in [true, false] {
            assert_eq!(fetch(&kept, &server.origin, "GET").await.reused, Some(!is_first));
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert_eq!(fetch(&brief, &server.origin, "GET").await.reused, Some(false));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_idle_connection_is_closed_without_being_asked_for() {
    let (closed, mut was_closed) = tokio::sync::mpsc::channel(1);
    let server = responder(move |mut stream| {
        let closed = closed.clone();
        async move {
            while read_head(&mut stream).await.is_some() {
                write(&mut stream, EMPTY).await;
            }
            closed.send(()).await.unwrap();
        }
    })
    .await;
    let client = client(Protocol::Http1, Limits { idle: Duration::from_millis(20), ..Limits::default() });
    fetch(&client, &server.origin, "GET").await;
    was_closed.recv().await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn the_origin_that_was_idle_longest_gives_way() {
    let servers = [(); 3].map(|()| serve_clear(async |_| Ok(Response::new(Body::empty()))));
    let client = client(Protocol::Http1, Limits { origins: 2, ..Limits::default() });
    let mut reused = Vec::new();
    for number in [0, 1, 0, 2, 0, 1] {
        reused.push(fetch(&client, &servers[number].origin, "GET").await.reused.unwrap());
    }
    assert_eq!(reused, [false, false, true, false, true, false]);
}

async fn one_request_a_connection(mut stream: tokio::net::TcpStream) {
    if read_head(&mut stream).await.is_some() {
        write(&mut stream, EMPTY).await;
        read_head(&mut stream).await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_lost_connection_is_replaced_if_that_does_no_harm() {
    let server = responder(one_request_a_connection).await;
    let client = client(Protocol::Http1, Limits::default());
    fetch(&client, &server.origin, "GET").await;
    let again = fetch(&client, &server.origin, "PUT").await;
    assert_eq!((again.retried, again.reused, server.connections()), (true, Some(false), 2));
    let mut trace = Trace::start(client.clock().now());
    let post = client.send(&server.origin, request("POST", Body::whole("x")), &mut trace).await;
    assert!(post.unwrap_err().is_lost_connection());
    assert_eq!((trace.retried, server.connections()), (false, 2));
    fetch(&client, &server.origin, "GET").await;
    let mut once = request("PUT", Body::whole("x"));
    once.extensions_mut().insert(Once);
    let mut trace = Trace::start(client.clock().now());
    let put = client.send(&server.origin, once, &mut trace).await;
    assert!(put.unwrap_err().is_lost_connection());
    assert_eq!((trace.retried, server.connections()), (false, 3));
    fetch(&client, &server.origin, "GET").await;
    let (sender, body) = Body::channel(2);
    sender.send("x").await.unwrap();
    sender.finish().await.unwrap();
    let mut trace = Trace::start(client.clock().now());
    let put = client.send(&server.origin, request("PUT", body), &mut trace).await;
    assert!(put.unwrap_err().is_lost_connection());
    assert_eq!((trace.retried, server.connections()), (false, 4));
}

#[tokio::test(flavor = "current_thread")]
async fn of_an_idle_connection_that_the_server_has_closed_nothing_is_lost() {
    let (close, closed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (closing, was_closed) = (Arc::clone(&close), Arc::clone(&closed));
    let server = responder(move |mut stream| {
        let (closing, was_closed) = (Arc::clone(&closing), Arc::clone(&was_closed));
        async move {
            loop {
                tokio::select! {
                    head = read_head(&mut stream) => {
                        if head.is_none() { return }
                        write(&mut stream, EMPTY).await;
                    }
                    () = closing.notified() => break,
                }
            }
            drop(stream);
            was_closed.notify_one();
        }
    })
    .await;
    let client = client(Protocol::Http1, Limits::default());
    fetch(&client, &server.origin, "GET").await;
    close.notify_one();
    closed.notified().await;
    // The end of the connection has arrived; the pause lets the runtime poll its sockets and the
    // connection's task run.
    tokio::time::sleep(Duration::from_millis(1)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let (sender, body) = Body::channel(2);
    sender.send("x").await.unwrap();
    sender.finish().await.unwrap();
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(&server.origin, request("POST", body), &mut trace).await.unwrap();
    response.into_body().collect(0).await.unwrap();
    assert_eq!((trace.reused, server.connections()), (Some(false), 2));
}

#[tokio::test(flavor = "current_thread")]
async fn a_connection_whose_request_is_still_being_sent_is_not_reused() {
    let server = responder(async |mut stream| {
        while read_head(&mut stream).await.is_some() {
            write(&mut stream, EMPTY).await;
        }
    })
    .await;
    let client = client(Protocol::Http1, Limits::default());
    let (sender, body) = Body::channel(1);
    sender.send("part").await.unwrap();
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(&server.origin, request("POST", body), &mut trace).await.unwrap();
    response.into_body().collect(0).await.unwrap();
    let next = fetch(&client, &server.origin, "GET").await;
    assert_eq!((next.reused, server.connections()), (Some(false), 2));
    drop(sender);
}
