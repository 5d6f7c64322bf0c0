//! `longhaul probe` against `longhaul serve`, on loopback.

use std::{
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixListener,
    process::{Command, Stdio},
};

use nix::sys::signal::Signal;

use crate::harness::{Ended, Folder, LONGHAUL, Running, longhaul, number, wait_until};

fn serve(arguments: &[&str]) -> (Running, String) {
    Running::listening(Command::new(LONGHAUL).args(["serve", "--listen", "127.0.0.1:0"]).args(arguments))
}

#[test]
fn a_run_becomes_a_recording_and_a_summary() {
    let (_origin, url) = serve(&["--body", "3KB"]);
    let folder = Folder::new();
    let file = folder.path("run.jsonl");
    let file = file.to_str().unwrap();
    let summary = longhaul(&[
        "probe",
        &url,
        "--rate",
        "100/s",
        "--duration",
        "1s",
        "-o",
        file,
        "--label",
        "mine",
        "--json",
    ])
    .measured();
    assert_eq!((summary["schema"].as_str(), number(&summary, "/n")), (Some("longhaul.probe/2"), 100.0));
    assert_eq!(number(&summary, "/body_bytes"), 300_000.0);
    let phases: Vec<_> = summary["phases"].as_object().unwrap().keys().map(String::as_str).collect();
    for expected in ["connect", "send", "wait", "load", "ttfb", "total"] {
        assert!(phases.contains(&expected), "{phases:?}");
    }
    assert!(!phases.contains(&"dns") && !phases.contains(&"tls"), "{phases:?}");

    let compared = longhaul(&["compare", file, "--metric", "wait", "--json"]).measured();
    assert_eq!(
        (compared["sides"][0]["label"].as_str(), number(&compared, "/sides/0/n")),
        (Some("mine"), 100.0)
    );
}

#[test]
fn several_servers_are_measured_side_by_side() {
    let (_near, near) = serve(&[]);
    let (_far, far) = serve(&["--body", "3KB"]);
    let folder = Folder::new();
    let files = ["near.jsonl", "far.jsonl"].map(|name| folder.path(name).display().to_string());
    let [a, b] = [&files[0], &files[1]].map(String::as_str);
    let run = ["probe", &near, &far, "--rate", "100/s", "--count", "50", "--json", "--label", "near"];
    let ended = longhaul(&[&run[..], &["-o", a, "-o", b]].concat());
    let summaries: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&ended.stdout).into_iter().map(Result::unwrap).collect();
    let asked: Vec<_> = summaries.iter().map(|summary| (number(summary, "/n"), &summary["url"])).collect();
    assert_eq!(asked, [(50.0, &near.clone().into()), (50.0, &far.clone().into())]);
    assert!(ended.stderr.contains(&format!("longhaul compare {a} {b}")), "{ended:?}");
    let headers = files.each_ref().map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        serde_json::from_str::<serde_json::Value>(text.lines().next().unwrap()).unwrap()
    });
    // The second server's requests start half an interval later.
    assert_eq!(
        headers.each_ref().map(|header| &header["conditions"]["offset"]),
        [&serde_json::Value::Null, &"5ms".into()]
    );
    let compared = longhaul(&["compare", a, b, "--json"]).measured();
    assert_eq!(["0", "1"].map(|side| number(&compared, &format!("/sides/{side}/n"))), [50.0; 2]);
    assert_eq!(compared["sides"][0]["label"], "near");

    let refused = |arguments: &[&str]| longhaul(&[&run[..3], arguments].concat()).refused();
    assert!(refused(&["-o", a]).contains("2 URLs and 1 file: give --output once for each URL"));
    assert!(refused(&["-o", a, "-o", a]).contains("two recordings cannot be one file"));
    let labels = ["-o", a, "-o", b, "--label", "1", "--label", "2", "--label", "3"];
    assert!(refused(&labels).contains("3 labels and 2 files"));
}

#[test]
fn a_page_is_several_requests_and_its_recording_can_be_made_again() {
    let (_origin, url) = serve(&[]);
    let folder = Folder::new();
    let [first, again] = ["first.jsonl", "again.jsonl"].map(|name| folder.path(name).display().to_string());
    let pages = ["--connections", "pages", "--requests", "10"];
    let run = ["probe", &url, "--rate", "50/s", "--count", "4", "--json", "-o", &first];
    let summary = longhaul(&[&run[..], &pages].concat()).measured();
    assert_eq!((number(&summary, "/n"), number(&summary, "/errors")), (40.0, 0.0));
    let compared = longhaul(&["compare", &first, "--requests", "10", "--json"]).measured();
    assert_eq!(compared["page"]["requests"], 10);
    let replay = ["probe", &url, "--replay", &first, "--json", "-o", &again];
    let summary = longhaul(&replay).measured();
    assert_eq!((number(&summary, "/n"), summary["valid"].is_boolean()), (40.0, true));

    let refused = |arguments: &[&str]| longhaul(&[&["probe", &url], arguments].concat()).refused();
    let said = refused(&["--rate", "9/s", "--connections", "pages"]);
    assert!(said.contains("--connections pages needs --requests N"), "{said}");
    let said = refused(&["--rate", "9/s", "--requests", "3"]);
    assert!(said.contains("--requests is for --connections pages"), "{said}");
    let said = refused(&["--replay", "/nowhere.jsonl"]);
    assert!(said.contains("cannot open /nowhere.jsonl"), "{said}");
}

#[test]
fn a_server_of_dns_can_be_named() {
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let ended = longhaul(&["probe", "http://shop.example/", "--dns", &nobody, "--timeout", "20s"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("dns: "), "{ended:?}");
    let said = longhaul(&["probe", "http://shop.example/", "--dns", "resolver.example"]).refused();
    assert!(said.contains("expected an address"), "{said}");
}

#[test]
fn a_server_at_a_unix_socket() {
    let folder = Folder::new();
    let path = folder.path("app.sock").display().to_string();
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let read = client.read(&mut request).unwrap();
        client.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let file = folder.path("run.jsonl").display().to_string();
    let summary =
        longhaul(&["probe", "http://shop.example/a?b", "--unix-socket", &path, "--json", "-o", &file])
            .measured();
    assert_eq!((number(&summary, "/n"), number(&summary, "/errors")), (1.0, 0.0), "{summary}");
    let phases: Vec<_> = summary["phases"].as_object().unwrap().keys().map(String::as_str).collect();
    assert!(
        phases.contains(&"wait") && !phases.contains(&"dns") && !phases.contains(&"connect"),
        "{phases:?}"
    );
    let asked = server.join().unwrap();
    assert!(asked.starts_with("GET /a?b HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_ascii_lowercase().contains("\r\nhost: shop.example\r\n"), "{asked}");
    let recorded = std::fs::read_to_string(&file).unwrap();
    assert!(recorded.contains(&format!("\"unix socket\":\"{path}\"")), "{recorded}");

    let ended = longhaul(&["probe", "http://shop.example/", "--unix-socket", &path]);
    assert_eq!((ended.code, ended.stdout.contains("connection refused")), (Some(1), true), "{ended:?}");
    let refused = |path: &str, more: &[&str]| {
        longhaul(&[&["probe", "http://shop.example/", "--unix-socket", path], more].concat()).refused()
    };
    assert!(refused(&file, &[]).contains("this is not a socket"));
    assert!(refused("/nowhere.sock", &[]).contains("there is no such socket"));
    assert!(refused(&"/x".repeat(60), &[]).contains("up to 107 bytes"));
    assert!(refused(&path, &["--protocol", "http3"]).contains("HTTP/3 needs UDP"));
    for other in [&["-4"][..], &["-6"], &["--dns", "192.0.2.53"], &["--resolve", "a:80:192.0.2.1"]] {
        assert!(refused(&path, other).contains("cannot be used with"), "{other:?}");
    }
}

#[test]
fn a_bad_server_does_not_stop_the_others() {
    let (_good, good) = serve(&[]);
    let (_other, other) = serve(&["--tls"]);
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = format!("http://{nowhere}/");
    let ended = longhaul(&["probe", &nowhere, &good, &other, "--rate", "100/s", "--count", "20", "--json"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let summaries = serde_json::Deserializer::from_str(&ended.stdout).into_iter().map(Result::unwrap);
    let counts: Vec<(f64, f64, String)> = summaries
        .map(|told: serde_json::Value| {
            let reasons = told["errors_by_reason"].to_string();
            assert_eq!(
                told["phases"].as_object().unwrap().is_empty(),
                number(&told, "/errors") > 0.0,
                "{told}"
            );
            (number(&told, "/n"), number(&told, "/errors"), reasons)
        })
        .collect();
    let expected = [
        (20.0, 20.0, "{\"connection refused\":20}"),
        (20.0, 0.0, "{}"),
        (20.0, 20.0, "{\"tls: unknown issuer\":20}"),
    ];
    assert_eq!(counts, expected.map(|(all, failed, why)| (all, failed, why.to_owned())));
}

#[test]
fn tls_is_trusted_by_its_certificate_only() {
    let folder = Folder::new();
    let ca = folder.path("ca.pem");
    let ca = ca.to_str().unwrap();
    let (_origin, url) = serve(&["--tls", "--write-ca", ca]);
    let summary = longhaul(&["probe", &url, "--ca", ca, "--count", "3", "--json"]).measured();
    assert_eq!(number(&summary, "/protocol/h2"), 3.0);
    assert!(summary["phases"].to_string().contains("\"tls\""));
    let distrusted = longhaul(&["probe", &url, "--count", "1"]);
    assert_eq!(distrusted.code, Some(1));
    assert!(distrusted.stderr.contains("tls"), "{distrusted:?}");
}

#[test]
fn http3_has_one_handshake_and_a_name_may_have_a_given_address() {
    let folder = Folder::new();
    let ca = folder.path("ca.pem");
    let ca = ca.to_str().unwrap();
    let (_origin, url) = serve(&["--tls", "--http3", "--name", "shop.example", "--write-ca", ca]);
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let named = format!("https://shop.example:{port}/");
    let given = format!("shop.example:{port}:127.0.0.1");
    let ask = ["probe", &named, "--resolve", &given, "--ca", ca, "--protocol", "http3"];
    let shown = longhaul(&ask).ok();
    for expected in ["200  h3", "quic", "TLS 1.3", "to our 127.0.0.1:", "at: header", "last byte"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("connect") && !shown.contains("dns"), "{shown}");
    let summary = longhaul(&[&ask[..], &["--count", "3", "--json"]].concat()).measured();
    assert_eq!(number(&summary, "/protocol/h3"), 3.0);
}

#[test]
fn a_share_of_failures_may_be_too_many() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_origin, url) = serve(&[]);
    let run = |url: &str, limit: &str| longhaul(&["probe", url, "--count", "3", "--fail-above", limit]);
    assert_eq!(run(&url, "0%").code, Some(0));
    let failed = run(&format!("http://{nowhere}/"), "1%");
    assert_eq!(failed.code, Some(1));
    assert!(
        failed.stderr.contains("100 % of the requests failed, more than 1%: 3 connection refused"),
        "{failed:?}"
    );
    assert_eq!(run(&url, "150%").code, Some(2));
}

#[test]
fn a_body_makes_a_post_of_it() {
    let folder = Folder::new();
    let file = folder.path("body.txt");
    std::fs::write(&file, "a body").unwrap();
    let (_origin, url) = serve(&[]);
    let body = format!("@{}", file.display());
    assert!(longhaul(&["probe", &url, "--body", &body]).ok().contains("200"));
    assert!(longhaul(&["probe", &url, "--body", "text", "--method", "PUT"]).ok().contains("200"));
    assert!(longhaul(&["probe", &url, "--method", "DELETE"]).ok().contains("405"));
    let missing = longhaul(&["probe", &url, "--body", "@/nonexistent"]);
    assert!(
        missing.code == Some(2)
            && missing.stderr.contains("/nonexistent: the body of the request cannot be read"),
        "{missing:?}"
    );
    let wrong = longhaul(&["probe", &url, "--resolve", "shop.example"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("a name, a port and an address"), "{wrong:?}");
}

#[test]
fn one_request_is_shown_phase_by_phase() {
    let (_origin, url) = serve(&[]);
    let text = longhaul(&["probe", &url]).ok();
    assert!(
        text.contains("200") && text.contains("connect") && text.contains("wait") && !text.contains("dns"),
        "{text}"
    );
}

#[test]
fn an_address_in_use_is_named_with_a_remedy() {
    let (_origin, url) = serve(&[]);
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let said = longhaul(&["serve", "--listen", address]).refused();
    assert!(said.contains(address) && said.contains("in use"), "{said}");
}

#[test]
fn nonsense_is_refused() {
    for arguments in [
        ["probe", "not a url", "--json"],
        ["probe", "ftp://example.com/", "--json"],
        ["probe", "http://127.0.0.1/", "--rate=10 parsecs"],
        ["probe", "http://127.0.0.1/", "--duration=-3s"],
        ["serve", "--service-time=sometimes", "--seed=1"],
        ["serve", "--listen=everywhere", "--seed=1"],
    ] {
        assert!(longhaul(&arguments).refused().starts_with("error: "), "{arguments:?}");
    }
}

#[test]
fn nobody_who_listens_is_an_error() {
    let (origin, url) = serve(&[]);
    drop(origin);
    let folder = Folder::new();
    let file = folder.path("refused.jsonl");
    let file = file.to_str().unwrap();
    for arguments in [
        &["--count", "2"] as &[_],
        &[],
        &["-o", file],
        &["--json"],
        &["--count", "2", "--json"],
        &["--rate", "20/s", "--duration", "100ms", "-o", file, "--quiet"],
        &["--concurrency", "2", "--count", "4"],
    ] {
        let ended = longhaul(&[&["probe", &url], arguments].concat());
        assert_eq!(ended.code, Some(1), "{arguments:?}: {ended:?}");
        let said = ended.stdout + &ended.stderr;
        assert!(said.contains("connection refused"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_recording_of_one_request_holds_one() {
    let (_origin, url) = serve(&["--body", "3KB"]);
    let folder = Folder::new();
    let file = folder.path("one.jsonl");
    let file = file.to_str().unwrap();
    let shown = longhaul(&["probe", &url, "-o", file, "--label", "mine"]).ok();
    assert!(shown.contains("200") && shown.contains("wait"), "{shown}");
    let lines: Vec<serde_json::Value> = std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [header, sample, end] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(header["label"], "mine");
    assert_eq!((&sample["status"], &sample["body_bytes"]), (&200.into(), &3000.into()));
    assert_eq!((&sample["family"], &sample["fallback"]), (&"ipv4".into(), &false.into()));
    assert!(url.contains(sample["remote"].as_str().unwrap()), "{sample}");
    assert_eq!((&end["end"]["samples"], end["end"].get("interrupted")), (&1.into(), None));
    let said = longhaul(&["probe", &url, &url, "-o", file]).refused();
    assert!(said.contains("give --output once for each URL"), "{said}");
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 3);
}

#[test]
fn an_interrupted_probe_says_so_in_its_file() {
    let (_origin, url) = serve(&[]);
    let folder = Folder::new();
    let file = folder.path("cut.jsonl");
    let mut command = Command::new(LONGHAUL);
    command
        .args(["probe", &url, "--rate", "200/s", "--duration", "600s", "-o", file.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut probe = Running::start(&mut command);
    wait_until(|| file.metadata().is_ok_and(|data| data.len() > 4000));
    probe.signal(Signal::SIGINT);
    probe.says("interrupted: the run ended before its time");
    assert_eq!(probe.wait(), Some(130));
    let text = std::fs::read_to_string(&file).unwrap();
    let end: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(end["end"]["interrupted"], true);
    assert_eq!(end["end"]["samples"], text.lines().count() - 2);
    let compared = longhaul(&["compare", file.to_str().unwrap(), "--json"]).measured();
    assert!(compared["warnings"].to_string().contains("interrupted"), "{}", compared["warnings"]);
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_watch_goes_on_and_says_what_it_counts() {
    let (_origin, url) = serve(&[]);
    let (mut collector, otlp) = serve(&[]);
    let mut command = Command::new(LONGHAUL);
    let push = format!("{otlp}v1/metrics");
    command
        .args(["probe", &url, "--watch", "--rate", "50/s", "--listen", "127.0.0.1:0", "--otlp", &push])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut watch = Running::start(&mut command);
    let address = watch.says("metrics at http://");
    let address = address.trim_end_matches("/metrics");
    let counted = |page: &str| {
        let line = page.lines().find(|line| line.starts_with("probe_requests_total"));
        line.and_then(|line| line.rsplit_once(' ')).map_or(0, |(_, n)| n.parse::<u64>().unwrap())
    };
    wait_until(|| counted(&get(address, "/metrics")) > 20);
    let page = get(address, "/metrics");
    assert!(page.contains("text/plain; version=0.0.4"), "{page}");
    assert!(page.contains(&format!("probe_success{{target=\"{url}\"}} 1")), "{page}");
    assert!(page.contains("phase=\"connect\",le=\"+Inf\"}"), "{page}");
    assert!(get(address, "/nothing").starts_with("HTTP/1.1 404"), "there is nothing else");
    watch.signal(Signal::SIGINT);
    assert_eq!(watch.wait(), Some(0));
    collector.signal(Signal::SIGINT);
    assert_eq!(collector.says("requests served"), "");
    let said = longhaul(&["probe", &url, "--listen", "127.0.0.1:0", "--count", "1"]).refused();
    assert!(said.contains("--watch"), "{said}");
    let said = longhaul(&["probe", &url, "--watch", "--otlp", "localhost:4318"]).refused();
    assert!(said.contains("http://"), "{said}");
}

#[test]
fn the_system_s_store_is_trusted_or_what_stands_for_it() {
    let folder = Folder::new();
    let ca = folder.path("ca.pem");
    let (_origin, url) = serve(&["--tls", "--write-ca", ca.to_str().unwrap()]);
    let with = |name: &str, value: &std::path::Path| {
        let mut command = Command::new(LONGHAUL);
        command.args(["probe", &url, "--json"]).env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
        Ended::of(command.env(name, value).output().unwrap())
    };
    assert_eq!(number(&with("SSL_CERT_FILE", &ca).json(), "/status/200"), 1.0);
    let empty = folder.file("empty.pem", "nothing\n");
    for missing in [folder.path("no.pem"), empty.into()] {
        let said = with("SSL_CERT_FILE", &missing).refused();
        assert!(said.contains("SSL_CERT_FILE") && said.contains(missing.to_str().unwrap()), "{said}");
    }
    let refused = with("UNRELATED", &ca);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--ca FILE") && refused.stderr.contains("SSL_CERT_FILE"), "{refused:?}");
}

#[test]
fn header_fields_and_families_are_asked_for() {
    let (_origin, url) = serve(&[]);
    longhaul(&["probe", &url, "-4", "-H", "Accept: text/html", "--header", "X-Test: 1"]).ok();
    let said = longhaul(&["probe", &url, "-6"]).refused();
    assert!(said.contains("127.0.0.1 is not an IPv6 address; leave out -6"), "{said}");
    let said = longhaul(&["probe", &url, "-H", "no colon"]).refused();
    assert!(said.contains("a colon and a value"), "{said}");
    let said = longhaul(&["probe", &url.replace("http://", "http://me:secret@")]).refused();
    assert!(said.contains("-H \"Authorization: Basic") && !said.contains("secret"), "{said}");
    longhaul(&["probe", &url, "-H", "Authorization: Basic bWU6c2VjcmV0"]).ok();
}
