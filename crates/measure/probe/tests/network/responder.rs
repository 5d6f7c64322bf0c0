//! Servers that fail, redirect, stall and disconnect.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use probe::client::{Config, Connections, Protocol, Redirects, Target};
use socket2::{Domain, SockRef, Socket, Type};

use crate::support::{V4, config, fetch, fetch_one, read_request, responder};

fn send(mut stream: &TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}

const EMPTY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_closed_port_refuses() {
    // Bound, so that no other process gets the port, but not listening.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&V4.parse::<SocketAddr>().unwrap().into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let sample = fetch_one(&Config::default(), &format!("http://{address}/").parse().unwrap());
    assert_eq!(sample.error.as_deref(), Some("connection refused"));
    assert_eq!((sample.connect_ns, sample.last_byte_ns, sample.status), (None, None, None));
    assert!(sample.started_ns.is_some());
}

#[test]
fn a_name_that_does_not_exist_fails_in_dns() {
    // RFC 6761: never resolves.
    let sample = fetch_one(&Config::default(), &"http://nowhere.invalid/".parse().unwrap());
    assert_eq!(sample.error.as_deref(), Some("dns: no such name"));
}

#[test]
fn hanging_up_within_the_body() {
    let server = responder(|stream| {
        read_request(&stream);
        send(&stream, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome");
    });
    let sample = fetch_one(&Config::default(), &server.target());
    assert_eq!(sample.error.as_deref(), Some("closed within the body"));
    assert_eq!((sample.status, sample.body_bytes, sample.last_byte_ns), (Some(200), Some(4), None));
    assert!(sample.wait_ns.is_some(), "it was over when the failure came");
}

#[test]
fn a_reset_is_a_reset() {
    let server = responder(|stream| {
        read_request(&stream);
        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    });
    let sample = fetch_one(&Config::default(), &server.target());
    assert_eq!(sample.error.as_deref(), Some("connection reset"));
}

#[test]
fn garbage_is_not_http() {
    let server = responder(|stream| {
        read_request(&stream);
        send(&stream, "220 mail.example ESMTP\r\n\r\n");
    });
    let sample = fetch_one(&Config::default(), &server.target());
    assert_eq!(sample.error.as_deref(), Some("not an HTTP response"));
}

#[test]
fn clear_text_is_not_tls() {
    let server = responder(|mut stream| {
        // The whole ClientHello; otherwise closing would reset the connection before the response
        // is read.
        let _ = stream.read(&mut [0; 4096]).unwrap();
        send(&stream, EMPTY);
    });
    let sample = fetch_one(&Config::default(), &format!("https://{}/", server.address).parse().unwrap());
    assert_eq!(sample.error.as_deref(), Some("tls: not TLS"));
    assert!(sample.connect_ns.is_some());
    assert_eq!(sample.tls_ns, None);
}

#[test]
fn silence_times_out_and_keeps_what_was_measured() {
    let server = responder(|stream| {
        // Until the client closes the connection.
        while read_request(&stream).is_some() {}
    });
    let config = Config { timeout: Duration::from_millis(50), ..Config::default() };
    let sample = fetch_one(&config, &server.target());
    assert_eq!(sample.error.as_deref(), Some("timeout: wait"));
    assert!(sample.connect_ns.is_some());
    assert_eq!((sample.wait_ns, sample.last_byte_ns), (None, None));
}

#[test]
fn each_hop_of_a_redirect_is_a_sample() {
    let server = responder(|stream| {
        let request = read_request(&stream).unwrap();
        match request.split(' ').nth(1).unwrap() {
            "/" => send(&stream, "HTTP/1.1 302 Found\r\nlocation: a/b?c\r\ncontent-length: 0\r\n\r\n"),
            "/a/b?c" => send(&stream, "HTTP/1.1 307 There\r\nlocation: ../end\r\ncontent-length: 0\r\n\r\n"),
            "/end" => send(&stream, EMPTY),
            other => panic!("{other}"),
        }
    });
    let stay = fetch(&Config::default(), &[server.target()]);
    assert_eq!((stay.len(), stay[0].status, stay[0].chain), (1, Some(302), None));
    let config = Config { redirects: Redirects::Follow, ..Config::default() };
    let hops = fetch(&config, &[server.target(), server.target()]);
    let found: Vec<_> = hops.iter().map(|hop| (hop.status.unwrap(), hop.chain.unwrap())).collect();
    assert_eq!(found, [(302, 0), (307, 0), (200, 0), (302, 1), (307, 1), (200, 1)]);
    let urls: Vec<_> = hops[..3].iter().map(|hop| hop.labels["url"].clone()).collect();
    let root = server.target().to_string();
    assert_eq!(urls, [root.clone(), format!("{root}a/b?c"), format!("{root}end")]);
    assert!(!stay[0].labels.contains_key("url"));
    let end = hops[0].started_ns.unwrap() + hops[0].last_byte_ns.unwrap();
    assert!(hops[1].started_ns.unwrap() >= end);
}

#[test]
fn a_location_that_cannot_be_followed_is_a_failure_of_its_hop() {
    let server = responder(|stream| {
        let location = if read_request(&stream).unwrap().contains(" /app ") { "app://open" } else { "/app" };
        send(&stream, &format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"));
    });
    assert_eq!(fetch_one(&Config::default(), &server.target()).error, None, "it was not to be followed");
    let config = Config { redirects: Redirects::Follow, ..Config::default() };
    let hops = fetch(&config, &[server.target()]);
    assert_eq!((hops.len(), hops[0].error.as_deref()), (2, None));
    assert_eq!(hops[1].error.as_deref(), Some("the redirect's Location cannot be followed"));
    assert_eq!((hops[1].status, hops[1].labels["location"].as_str()), (Some(302), "app://open"));
}

#[test]
fn redirects_that_never_end_are_given_up() {
    let server = responder(|stream| {
        read_request(&stream);
        send(&stream, "HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n");
    });
    let config = Config { redirects: Redirects::Follow, ..Config::default() };
    let hops = fetch(&config, &[server.target()]);
    assert_eq!(hops.len(), probe::limits::REDIRECTS + 1);
    assert_eq!(hops.last().unwrap().error.as_deref(), Some("too many redirects"));
    assert!(hops[..hops.len() - 1].iter().all(|hop| hop.error.is_none()));
}

fn one_request_a_connection(stream: &TcpStream) {
    if read_request(stream).is_some() {
        send(stream, EMPTY);
        read_request(stream);
    }
}

#[test]
fn a_connection_lost_while_idle_is_replaced_and_the_sample_says_so() {
    let server = responder(|stream| one_request_a_connection(&stream));
    let config = config(|http| http.connections = Connections::Reuse);
    let samples = fetch(&config, &[server.target(), server.target()]);
    assert_eq!((samples[0].status, samples[0].labels.contains_key("retried")), (Some(200), false));
    assert_eq!((samples[1].status, samples[1].error.as_deref()), (Some(200), None));
    assert_eq!(samples[1].labels["retried"], "idle connection was closed");
    assert!(samples[1].connect_ns.is_some(), "it is the new connection's");
    assert_eq!((samples[1].reused, server.connections()), (Some(false), 2));
}

#[test]
fn a_post_that_may_have_been_received_is_not_repeated() {
    let server = responder(|stream| one_request_a_connection(&stream));
    let config = config(|http| http.connections = Connections::Reuse);
    let post: Target = server.target().method("POST").unwrap();
    let samples = fetch(&config, &[server.target(), post]);
    assert_eq!(samples[1].error.as_deref(), Some("closed before the response"));
    assert_eq!((samples[1].reused, server.connections()), (Some(true), 1));
}

fn one_stream_a_connection(stream: TcpStream) {
    stream.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::from_std(stream).unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        if let Some(Ok((_, mut respond))) = connection.accept().await {
            respond.send_response(http_stack::Response::new(()), true).unwrap();
        }
        let _second = connection.accept().await;
    });
}

#[test]
fn a_shared_connection_that_is_lost_is_replaced_too() {
    let server = responder(one_stream_a_connection);
    let config = config(|http| (http.protocol, http.connections) = (Protocol::Http2, Connections::Reuse));
    let samples = fetch(&config, &[server.target(), server.target()]);
    assert_eq!((samples[0].status, samples[0].labels.contains_key("retried")), (Some(200), false));
    assert_eq!((samples[1].status, samples[1].error.as_deref()), (Some(200), None));
    assert_eq!(samples[1].labels["retried"], "idle connection was closed");
    assert_eq!((samples[1].connect_ns.is_some(), server.connections()), (true, 2));
}

#[test]
fn a_connection_that_the_server_closes_is_not_used_again() {
    let server = responder(|stream| {
        read_request(&stream);
        send(&stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        stream.shutdown(Shutdown::Write).unwrap();
    });
    let config = config(|http| http.connections = Connections::Reuse);
    let samples = fetch(&config, &[server.target(), server.target()]);
    for sample in samples {
        assert_eq!((sample.status, sample.reused), (Some(200), Some(false)));
        assert!(sample.connect_ns.is_some());
    }
}

/// The second request on a connection uses another code path of the client than the first.
#[test]
fn what_comes_second_on_a_connection_is_measured_like_what_comes_first() {
    for (answer, error, status, body_bytes) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsome", None, Some(200), Some(4)),
        (
            "HTTP/1.1 404 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            None,
            Some(404),
            Some(2),
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nsome", Some("timeout: load"), Some(200), Some(4)),
        ("HTTP/1.1 200 OK\r\n", Some("timeout: wait"), None, None),
        ("", Some("timeout: wait"), None, None),
        ("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", Some("not an HTTP response"), None, None),
    ] {
        let server = responder(move |stream| {
            for answer in [EMPTY, answer] {
                if read_request(&stream).is_some() {
                    send(&stream, answer);
                }
            }
            while read_request(&stream).is_some() {}
        });
        let config = config(|http| http.connections = Connections::Reuse);
        let config = Config { timeout: Duration::from_millis(200), ..config };
        let sample = fetch(&config, &[server.target(), server.target()]).remove(1);
        assert_eq!(server.connections(), 1);
        assert_eq!((sample.reused, sample.error.as_deref()), (Some(true), error), "{answer}");
        assert_eq!((sample.status, sample.body_bytes), (status, body_bytes), "{answer}");
        assert_eq!(
            (sample.wait_ns.is_some(), sample.send_ns.is_some()),
            (status.is_some(), status.is_some())
        );
        assert_eq!(sample.last_byte_ns.is_some(), error.is_none(), "{answer}");
        assert_eq!((sample.connect_ns, sample.local), (None, None), "{answer}");
    }
}

#[test]
fn what_a_server_says_is_read_on_a_connection_that_is_kept() {
    let server = responder(|stream| {
        while let Some(request) = read_request(&stream) {
            let more = match request.split(' ').nth(1).unwrap() {
                "/" => "server-timing: a;dur=1\r\nserver-timing: b\r\ncache-status: lhr; hit\r\n",
                "/moved" => "location: /\r\n",
                other => panic!("{other}"),
            };
            let status = if more.starts_with("location") { "302 Found" } else { "200 OK" };
            send(&stream, &format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n{more}\r\n"));
        }
    });
    let config = config(|http| http.connections = Connections::Reuse);
    let config = Config { redirects: Redirects::Follow, ..config };
    let moved = format!("{}moved", server.target()).parse().unwrap();
    let samples = fetch(&config, &[server.target(), moved]);
    let statuses: Vec<_> = samples.iter().map(|sample| sample.status.unwrap()).collect();
    assert_eq!((statuses, server.connections()), (vec![200, 302, 200], 1));
    let last = &samples[2];
    assert_eq!(last.server_timing.as_deref(), Some("a;dur=1, b"));
    assert_eq!((last.cache.as_deref(), last.tier.as_deref()), (Some("hit"), Some("lhr")));
}
