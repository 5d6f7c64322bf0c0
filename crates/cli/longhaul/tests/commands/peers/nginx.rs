//! nginx with each version of HTTP. A header field has its view of a request.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process::Stdio,
};

use recording::Sample;

use super::{CLEAR, REUSED, SECURE, certified, has_phases, label, samples, server};
use crate::harness::{Folder, Running};

struct Nginx {
    folder: Folder,
    clear: SocketAddr,
    /// HTTP/1.1 and HTTP/2 over TLS.
    secure: SocketAddr,
    /// HTTP/1.1 over TLS 1.2 at most.
    older: SocketAddr,
    /// With 0-RTT over TLS 1.3: HTTP/1.1, and HTTP/1.1 with HTTP/2.
    early: [SocketAddr; 2],
    _running: Running,
}

impl Nginx {
    fn start() -> Self {
        let [_, a, b, c] = std::process::id().to_be_bytes();
        // Only this process uses the address, so the ports stay free until nginx binds them.
        let address = Ipv4Addr::new(127, 64 | (a & 63), b, c);
        let folder = certified(address);
        let ports = [(); 5].map(|()| TcpListener::bind((address, 0)).unwrap());
        let [clear, secure, older, early, early_http2] = ports.map(|port| port.local_addr().unwrap());
        folder.file("body", vec![b'x'; 20_000]);
        let config = format!(
            "daemon off; master_process off; pid pid; error_log stderr notice; events {{}}
             http {{
               access_log off; root .; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t;
               uwsgi_temp_path t; scgi_temp_path t; ssl_certificate cert.pem; ssl_certificate_key key.pem;
               # What nginx has to say of a request: its connection, protocol, version of TLS, whether a session was resumed,
               # and whether the request came ahead of the handshake.
               add_header Server-Timing
                 'nginx;desc=\"$connection $server_protocol $ssl_protocol $ssl_session_reused $ssl_early_data\"';
               server {{ listen {clear}; }}
               server {{ listen {secure} ssl http2; ssl_protocols TLSv1.2 TLSv1.3; }}
               server {{ listen {older} ssl; ssl_protocols TLSv1.2; }}
               server {{ listen {early} ssl; ssl_protocols TLSv1.3; ssl_early_data on; }}
               server {{ listen {early_http2} ssl http2; ssl_protocols TLSv1.3; ssl_early_data on; }}
             }}"
        );
        let config = folder.file("nginx.conf", config);
        let prefix = folder.path("").display().to_string();
        let mut command = server("nginx");
        command.args(["-p", &prefix, "-c", &config, "-e", "stderr"]).stderr(Stdio::piped());
        let mut running = Running::start(&mut command);
        running.says("nginx/");
        Self { folder, clear, secure, older, early: [early, early_http2], _running: running }
    }

    fn six(&self, scheme: &str, address: SocketAddr, arguments: &[&str]) -> Vec<Told> {
        let url = format!("{scheme}://{address}/body");
        let arguments = [&["--count", "6", "--concurrency", "1"], arguments].concat();
        samples(&self.folder, &url, &arguments).into_iter().map(Told::of).collect()
    }
}

struct Told {
    sample: Sample,
    connection: String,
    protocol: String,
    tls: Option<String>,
    resumed: bool,
    early: bool,
}

impl Told {
    fn of(sample: Sample) -> Self {
        let said = sample.server_timing.clone().unwrap();
        let said = said.trim_start_matches("nginx;desc=\"").trim_end_matches('"');
        let words: Vec<_> = said.split(' ').collect();
        let [connection, protocol, tls, reused, ref early @ ..] = words[..] else { panic!("{said}") };
        let tls = tls.strip_prefix("TLSv").map(|version| format!("TLS {version}"));
        Self {
            connection: connection.to_owned(),
            protocol: protocol.to_owned(),
            tls,
            // "r": a session was resumed; ".": it was not.
            resumed: reused == "r",
            early: early == ["1"],
            sample,
        }
    }
}

#[test]
fn nginx_and_we_agree_on_versions_and_on_a_connection_for_each_request() {
    let nginx = Nginx::start();
    let (http1, http2) = (("http/1.1", "HTTP/1.1"), ("h2", "HTTP/2.0"));
    for (address, version, expected, tls) in [
        (nginx.clear, "auto", http1, None),
        (nginx.secure, "http1", http1, Some("TLS 1.3")),
        (nginx.secure, "auto", http2, Some("TLS 1.3")),
        (nginx.secure, "http2", http2, Some("TLS 1.3")),
        (nginx.older, "auto", http1, Some("TLS 1.2")),
    ] {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let told = nginx.six(scheme, address, &["--protocol", version]);
        let mut connections: Vec<_> = told.iter().map(|told| told.connection.as_str()).collect();
        connections.sort_unstable();
        connections.dedup();
        assert_eq!((told.len(), connections.len()), (6, 6), "{version}");
        for Told { sample, protocol, tls: its, resumed, .. } in &told {
            assert_eq!((label(sample, "protocol"), protocol.as_str()), (Some(expected.0), expected.1));
            assert_eq!((label(sample, "tls"), its.as_deref()), (tls, tls));
            assert_eq!((label(sample, "resumed"), *resumed), (None, false));
            assert_eq!(sample.reused, Some(false));
            has_phases(sample, if tls.is_some() { &SECURE } else { &CLEAR });
        }
    }
}

#[test]
fn a_connection_to_nginx_carries_many_requests() {
    let nginx = Nginx::start();
    for (address, version, first, others) in [
        (nginx.clear, "http1", &CLEAR[..], 5),
        (nginx.secure, "http1", &SECURE, 5),
        (nginx.secure, "http2", &SECURE, 5),
    ] {
        let scheme = if address == nginx.clear { "http" } else { "https" };
        let told = nginx.six(scheme, address, &["--protocol", version, "--connections", "reuse"]);
        has_phases(&told[0].sample, first);
        assert_eq!((told[0].sample.reused, told[0].sample.local.is_some()), (Some(false), true));
        assert_eq!(told[1..].len(), others);
        for Told { sample, connection, .. } in &told[1..] {
            assert_eq!((connection, sample.reused), (&told[0].connection, Some(true)), "{version}");
            assert_eq!((&sample.local, label(sample, "tls")), (&None, None));
            has_phases(sample, &REUSED);
        }
    }
    let url = format!("https://{}/body", nginx.secure);
    let many =
        samples(&nginx.folder, &url, &["--count", "40", "--concurrency", "8", "--connections", "reuse"]);
    let told: Vec<_> = many.into_iter().map(Told::of).collect();
    assert!(told.iter().all(|each| each.connection == told[0].connection && each.protocol == "HTTP/2.0"));
    assert_eq!(told.iter().filter(|each| each.sample.tls_ns.is_some()).count(), 1);
    assert_eq!(told.len(), 40);
}

#[test]
fn nginx_resumes_sessions_where_we_say_that_it_does() {
    let nginx = Nginx::start();
    for address in [nginx.secure, nginx.older] {
        let told = nginx.six("https", address, &["--connections", "resume"]);
        let ours: Vec<_> = told.iter().map(|told| label(&told.sample, "resumed").unwrap()).collect();
        assert_eq!(ours, ["false", "true", "true", "true", "true", "true"]);
        let its: Vec<_> = told.iter().map(|told| told.resumed.to_string()).collect();
        assert_eq!(its, ours);
        told.iter().for_each(|told| has_phases(&told.sample, &SECURE));
        assert!(told.iter().all(|told| told.sample.reused == Some(false)));
    }
}

#[test]
fn nginx_takes_requests_ahead_of_the_handshake_where_we_say_that_it_does() {
    let nginx = Nginx::start();
    for (address, version) in [(nginx.early[0], "h1"), (nginx.early[1], "h2")] {
        let told = nginx.six("https", address, &["--connections", "early"]);
        let ours: Vec<_> = told.iter().map(|told| label(&told.sample, "early")).collect();
        assert_eq!((&ours[1..], ours[0]), (&[Some("accepted"); 5][..], None), "{version}");
        has_phases(&told[0].sample, &SECURE);
        // Only for requests served before the handshake ends, possibly none.
        assert!(!told[0].early, "{version}");
        for Told { sample, resumed, .. } in &told[1..] {
            assert_eq!((label(sample, "resumed"), *resumed), (Some("true"), true));
            has_phases(sample, &CLEAR);
        }
    }
    for address in [nginx.older, nginx.secure] {
        let told = nginx.six("https", address, &["--connections", "early"]);
        assert!(told.iter().all(|told| label(&told.sample, "early").is_none() && !told.early));
        assert!(told[1..].iter().all(|told| told.resumed));
        told.iter().for_each(|told| has_phases(&told.sample, &SECURE));
    }
}
