//! HTTP/1.1 responses: after which of them the connection is reused, and which are invalid.

use http_stack::{
    Body, Failure,
    client::{Limits, Protocol, Trace},
};
use tokio::io::AsyncReadExt;

use crate::support::{EMPTY, client, fetch, get, read_head, request, responder, write};

#[tokio::test(flavor = "current_thread")]
async fn which_responses_leave_their_connection_to_the_next_request() {
    for (method, answer, is_kept) in [
        ("GET", EMPTY, true),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", true),
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n", true),
        ("GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n", true),
        ("GET", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", true),
        ("GET", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\na: b\r\n\r\n", true),
        ("GET", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", true),
        ("GET", "HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\nab", true),
        ("GET", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab", false),
        ("GET", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nab", false),
        // Unsolicited data: the request to which it belongs is unknown.
        ("GET", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n", false),
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", false),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n\r\n", false),
    ] {
        let server = responder(move |mut stream| async move {
            while read_head(&mut stream).await.is_some() {
                write(&mut stream, answer).await;
            }
        })
        .await;
        let client = client(Protocol::Http1, Limits::default());
        fetch(&client, &server.origin, method).await;
        let next = fetch(&client, &server.origin, method).await;
        let connections = if is_kept { 1 } else { 2 };
        assert_eq!((next.reused, server.connections()), (Some(is_kept), connections), "{answer:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn what_is_no_response_says_so() {
    for (answer, failure) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n", Failure::Garbled),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n", Failure::Garbled),
        ("HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n", Failure::Garbled),
        ("HTTP/1.1 200 OK\r\na : b\r\n\r\n", Failure::Garbled),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", Failure::Garbled),
        ("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", Failure::Garbled),
        ("220 mail.example ESMTP\r\n", Failure::Garbled),
    ] {
        let server = responder(move |mut stream| async move {
            read_head(&mut stream).await;
            write(&mut stream, answer).await;
            let _ = stream.read_u8().await;
        })
        .await;
        let (_, response) = get(&client(Protocol::Http1, Limits::default()), &server.origin).await;
        let outcome = match response {
            Ok(response) => response.into_body().collect(100).await.map(drop),
            Err(failure) => Err(failure),
        };
        assert_eq!(outcome, Err(failure), "{answer:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_answer_is_read_although_the_server_takes_no_more_of_the_request() {
    let server = responder(async |mut stream| {
        read_head(&mut stream).await;
        write(&mut stream, "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno").await;
        let _ = std::future::pending::<()>().await;
    })
    .await;
    let client = client(Protocol::Http1, Limits::default());
    let mut trace = Trace::start(client.clock().now());
    let upload = request("POST", Body::whole(vec![0; 64 << 20]));
    let response = client.send(&server.origin, upload, &mut trace).await.unwrap();
    assert_eq!(response.status(), 413);
    assert_eq!(response.into_body().collect(2).await.unwrap(), "no");
    assert_eq!(fetch_reused(&client, &server).await, (Some(false), 2), "the rest of the body is in the way");
}

async fn fetch_reused(
    client: &http_stack::Client,
    server: &crate::support::Responder,
) -> (Option<bool>, usize) {
    let (trace, response) = get(client, &server.origin).await;
    drop(response);
    (trace.reused, server.connections())
}
