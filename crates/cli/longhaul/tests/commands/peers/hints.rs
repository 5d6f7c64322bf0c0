//! Early hints (RFC 8297) in each version of HTTP.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
};

use recording::Sample;

use super::{BODY, certified, in_python, label, samples};
use crate::harness::wait_until;

#[test]
fn hints_of_hyper_h2_and_aioquic_are_not_the_response() {
    let folder = certified(Ipv4Addr::LOCALHOST);
    for (script, version, label) in [("http2.py", "http2", "h2"), ("quic.py", "http3", "h3")] {
        let (_server, url) = in_python(script, &folder);
        let url = format!("{url}hints");
        let samples = samples(&folder, &url, &["--protocol", version, "--count", "6", "--concurrency", "1"]);
        assert_eq!(samples.len(), 6);
        samples.iter().for_each(|sample| hints_come_first(sample, label));
    }
}

#[test]
fn hints_over_http1_are_not_the_response() {
    let folder = certified(Ipv4Addr::LOCALHOST);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || listener.incoming().for_each(|stream| answer(stream.unwrap())));
    let samples = samples(&folder, &url, &["--count", "6", "--concurrency", "1"]);
    assert_eq!(samples.len(), 6);
    samples.iter().for_each(|sample| hints_come_first(sample, "http/1.1"));
}

#[track_caller]
fn hints_come_first(sample: &Sample, protocol: &str) {
    assert_eq!(label(sample, "protocol"), Some(protocol));
    let (hints, last) = (sample.first_interim_ns.unwrap(), sample.final_headers_ns.unwrap());
    // One read may contain the next header of HTTP/2 or HTTP/3 too.
    assert!(if protocol == "http/1.1" { hints < last } else { hints <= last }, "{sample:?}");
    assert!(last <= sample.last_byte_ns.unwrap(), "{sample:?}");
}

/// Sends the response only after the client has read the hints.
fn answer(mut stream: TcpStream) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    lines.map(Result::unwrap).find(String::is_empty).unwrap();
    stream.write_all(b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n").unwrap();
    let (here, there) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
    // The hints enter the client's queue, and leave it when the client reads them.
    wait_until(|| queues(here, there).unsent == 0);
    wait_until(|| queues(there, here).unread == 0);
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {BODY}\r\nconnection: close\r\n\r\n").unwrap();
    stream.write_all(&vec![b'x'; usize::try_from(BODY).unwrap()]).unwrap();
}

struct Queues {
    unsent: u32,
    unread: u32,
}

/// Of a local connection (proc_pid_net(5)).
fn queues(local: SocketAddr, remote: SocketAddr) -> Queues {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let ends = [local, remote].map(in_table);
    let fields = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|fields| fields[1..3] == ends)
        .unwrap();
    let (unsent, unread) = fields[4].split_once(':').unwrap();
    let [unsent, unread] = [unsent, unread].map(|bytes| u32::from_str_radix(bytes, 16).unwrap());
    Queues { unsent, unread }
}

fn in_table(address: SocketAddr) -> String {
    let SocketAddr::V4(address) = address else { panic!("{address} is not of IPv4") };
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}
