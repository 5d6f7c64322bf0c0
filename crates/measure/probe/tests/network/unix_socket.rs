//! Requests over a Unix socket: their phases, and failures of the socket.

use std::{
    fs, io,
    net::TcpStream,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    thread,
};

use probe::client::{Connections, Protocol};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::support::{Origin, Security, V4, config, fetch, fetch_one, origin};

fn in_front_of(origin: &Origin, folder: &Path) -> PathBuf {
    let (path, address) = (folder.join("origin.sock"), origin.ready.addresses[0]);
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(address).unwrap());
            let (mut there, mut back) = (client.try_clone().unwrap(), client);
            let (mut sent, mut received) = (server.try_clone().unwrap(), server);
            thread::spawn(move || {
                io::copy(&mut there, &mut sent).ok();
                sent.shutdown(std::net::Shutdown::Write).ok();
            });
            thread::spawn(move || {
                io::copy(&mut received, &mut back).ok();
                back.shutdown(std::net::Shutdown::Write).ok();
            });
        }
    });
    path
}

#[test]
fn there_is_no_name_and_no_handshake_of_tcp() {
    for security in [Security::Clear, Security::Tls] {
        let (origin, folder) = (origin(V4, security, |_| ()), tempfile::tempdir().unwrap());
        let path = in_front_of(&origin, folder.path());
        for (protocol, spoken) in [(Protocol::Http1, "http/1.1"), (Protocol::Http2, "h2")] {
            let config = origin.client_with(|http| {
                (http.protocol, http.unix_socket) = (protocol, Some(path.clone()));
                http.connections = Connections::Reuse;
            });
            let target = match security {
                Security::Clear => "http://nowhere.invalid/".parse().unwrap(),
                _ => origin.target(),
            };
            let samples = fetch(&config, &[target.clone(), target]);
            for (sample, reused) in samples.iter().zip([false, true]) {
                assert_eq!((sample.error.as_deref(), sample.status), (None, Some(200)), "{protocol:?}");
                assert_eq!((sample.body_bytes, sample.labels["protocol"].as_str()), (Some(1000), spoken));
                assert_eq!((sample.dns_ns, sample.connect_ns, sample.quic_ns), (None, None, None));
                assert_eq!(sample.tls_ns.is_some(), security == Security::Tls && !reused);
                assert!(sample.wait_ns.is_some() && sample.last_byte_ns.is_some(), "{sample:?}");
                assert_eq!((&sample.remote, &sample.local, &sample.family), (&None, &None, &None));
                assert_eq!((sample.reused, sample.fallback), (Some(reused), None));
            }
        }
    }
}

#[test]
fn each_way_in_which_a_socket_does_not_answer_has_a_phrase() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "").unwrap();
    let bound = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    bound.bind(&SockAddr::unix(at("bound")).unwrap()).unwrap();
    let full = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    full.bind(&SockAddr::unix(at("full")).unwrap()).unwrap();
    full.listen(0).unwrap();
    let _waiting = UnixStream::connect(at("full")).unwrap();
    for (name, said) in [
        ("absent", "no such socket"),
        ("file", "connection refused"),
        ("bound", "connection refused"),
        ("full", "the listener's queue is full"),
    ] {
        let config = config(|http| http.unix_socket = Some(at(name)));
        let sample = fetch_one(&config, &"http://localhost/".parse().unwrap());
        assert_eq!(sample.error.as_deref(), Some(said), "{name}");
        assert_eq!((sample.connect_ns, sample.last_byte_ns), (None, None));
    }
}

#[test]
fn http3_needs_udp() {
    let config = config(|http| {
        (http.protocol, http.unix_socket) = (Protocol::Http3, Some("/run/none.sock".into()));
    });
    let sample = fetch_one(&config, &"https://localhost/".parse().unwrap());
    assert_eq!(sample.error.as_deref(), Some("quic: HTTP/3 does not go over a Unix socket"));
}
