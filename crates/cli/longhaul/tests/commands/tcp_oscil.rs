//! `longhaul tcp oscil` on loopback and on a planet.

use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{Folder, LONGHAUL, Running, World, longhaul, number};

fn serve(arguments: &[&str]) -> (Running, String) {
    let mut command = Command::new(LONGHAUL);
    command.args(["tcp", "oscil", "serve", "--listen", "127.0.0.1:0"]).args(arguments);
    Running::listening(&mut command)
}

const PROGRAMME: &str = r#"
repeat = 2
[[phase]]
name = "fast"
rate = "unlimited"
duration = "70ms"
[[phase]]
name = "stopped"
rate = "stop"
duration = "30ms"
"#;

#[test]
fn what_was_read_is_recorded_and_can_be_shown_again() {
    let (folder, (_server, address)) = (Folder::new(), serve(&[]));
    let programme = folder.file("mine.toml", PROGRAMME);
    let path = |name: &str| folder.path(name).display().to_string();
    let (file, page, charts) = (path("a.json"), path("a.html"), path("charts"));
    let read = ["tcp", "oscil", "read", &address, "--programme", &programme, "--interval", "10ms"];
    let json = longhaul(&[read.as_slice(), &["--output", &file, "--json"]].concat()).measured();
    assert_eq!(
        (json["schema"].as_str(), json["ended"].as_str()),
        (Some("longhaul.tcp.oscil/1"), Some("complete"))
    );
    // Two rounds of 70 and 30 ms. Each phase is shorter than a second, so each has one entry.
    assert_eq!(json["seconds"].as_array().unwrap().len(), 4);
    assert!(number(&json, "/summary/bytes") > 0.0);
    assert_eq!((number(&json, "/seconds/1/bytes"), number(&json, "/seconds/3/t_s")), (0.0, 0.17));
    let sum: f64 = json["phases"].as_array().unwrap().iter().map(|phase| number(phase, "/bytes")).sum();
    assert_eq!(sum, number(&json, "/summary/bytes"));

    let again = longhaul(&["tcp", "oscil", "show", &file, "--json"]).json();
    assert_eq!((&again["samples"], &again["counters"]), (&json["samples"], &json["counters"]));
    let text = longhaul(&["tcp", "oscil", "show", &file, "--html", &page, "--svg", &charts]).ok();
    for expected in [
        address.as_str(),
        "mine.toml: 2 x (fast 70ms unlimited, stopped 30ms stop)",
        "longest pause",
        "none of",
    ] {
        assert!(text.contains(expected), "expected {expected}: {text}");
    }
    assert!(std::fs::read_to_string(page).unwrap().contains("longhaul.figures/1"));
    assert!(std::fs::read_to_string(folder.path("charts/timeline.svg")).unwrap().contains("Throughput"));
}

#[test]
fn a_recording_that_cannot_be_true_is_shown_all_the_same() {
    let (folder, (_server, address)) = (Folder::new(), serve(&["--bytes", "1MB"]));
    let programme = folder.file("mine.toml", PROGRAMME);
    let json = longhaul(&["tcp", "oscil", "read", &address, "--programme", &programme, "--json"]).measured();
    for (pointer, value) in [
        ("/summary/duration_s", 1e300),
        ("/summary/duration_s", -1.0),
        ("/seconds/0/duration_s", 0.0),
        ("/seconds/0/t_s", 1e300),
        ("/phases/0/t_s", -1e300),
        ("/phases/0/duration_s", 1e300),
        ("/samples/0/t_ms", 1e300),
        ("/samples/0/t_ms", -1.0),
        ("/conditions/interval_ms", 0.0),
    ] {
        let mut json = json.clone();
        *json.pointer_mut(pointer).unwrap() = value.into();
        let file = folder.file("odd.json", json.to_string());
        let page = folder.path("odd.html").display().to_string();
        let text = longhaul(&["tcp", "oscil", "show", &file, "--html", &page]).ok();
        assert!(text.contains(&address), "{pointer}: {text}");
    }
}

#[test]
fn what_was_read_is_shown_where_it_cannot_be_recorded() {
    let (_server, address) = serve(&["--bytes", "1MB"]);
    let ended = longhaul(&["tcp", "oscil", "read", &address, "--output", "/dev/full"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stdout.contains("1.00 MB"), "{}", ended.stdout);
    assert!(ended.stderr.contains("/dev/full: cannot be written"), "{}", ended.stderr);
}

#[test]
fn a_sender_that_has_no_more_is_exit_code_1_and_says_so() {
    let (mut server, address) = serve(&["--bytes", "1MB"]);
    let ended = longhaul(&["tcp", "oscil", "read", &address, "--for", "10min"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for expected in ["the sender closed the connection", "1.00 MB"] {
        assert!(ended.stdout.contains(expected), "expected {expected}: {}", ended.stdout);
    }
    let said = server.says("1.00 MB in ");
    assert!(said.contains("all was sent") && said.ends_with("sent again"), "{said}");
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn programmes_are_printed_as_they_are_read() {
    let folder = Folder::new();
    let all = longhaul(&["tcp", "oscil", "programmes", "--json"]).json();
    let names: Vec<_> =
        all.as_array().unwrap().iter().map(|programme| programme["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["oscillating", "steady", "stalls", "disk", "batch"]);
    let (_server, address) = serve(&["--bytes", "1KB"]);
    for name in names {
        let file = folder.file(&format!("{name}.toml"), longhaul(&["tcp", "oscil", "programmes", name]).ok());
        let read = ["tcp", "oscil", "read", &address, "--programme", &file, "--for", "10min", "--json"];
        let json = longhaul(&read).measured();
        let shipped = all.as_array().unwrap().iter().find(|programme| programme["name"] == name).unwrap();
        assert_eq!(json["conditions"]["programme"]["phase"], shipped["phase"]);
    }
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::new();
    let file = folder.file("bad.toml", PROGRAMME.replace("unlimited", "unlimitted"));
    let not_one = folder.file("not.json", "{}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (arguments, expected) in [
        (["read", "127.0.0.1:1"].as_slice(), "cannot connect to 127.0.0.1:1"),
        (&["read", "no-such-host.invalid"], "no-such-host.invalid"),
        (&["read", "127.0.0.1:1", "--programme", "stals"], "did you mean \"stalls\"?"),
        (&["read", "127.0.0.1:1", "--programme", &file], "bad.toml:5:8: \"unlimitted\""),
        (&["read", "127.0.0.1:1", "--programme", "/nowhere.toml"], "cannot read the programme /nowhere.toml"),
        (&["read", "127.0.0.1:1", "--interval", "10us"], "an interval of 1ms to 1s"),
        (&["read", "127.0.0.1:1", "--buffer", "0B"], "a buffer of 1B to 1GiB"),
        (&["serve", "--listen", &taken], "cannot listen on 127.0.0.1"),
        (&["serve", "--congestion", "hope"], "congestion control \"hope\""),
        (&["show", "/nowhere.json"], "/nowhere.json: cannot be read"),
        (&["show", &not_one], "not a recording of an oscillating reader"),
        (&["programmes", "stals"], "stalls"),
    ] {
        let said = longhaul(&[&["tcp", "oscil"], arguments].concat()).refused();
        assert!(said.contains(expected), "expected {expected}: {said}");
    }
}

#[test]
fn a_server_that_sends_nothing_is_no_measurement() {
    let folder = Folder::new();
    let programme = folder.file("mine.toml", PROGRAMME);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let read = ["tcp", "oscil", "read", &address, "--programme", &programme];
    let said = longhaul(&read);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stdout.contains(&format!("INVALID: {address} accepted the connection and sent nothing")),
        "{said:?}"
    );
    let json = longhaul(&[read.as_slice(), &["--json"]].concat()).measured();
    assert_eq!((&json["valid"], &json["ended"]), (&false.into(), &"complete".into()));
}

#[test]
fn ctrl_c_keeps_what_was_seen() {
    let (folder, (_server, address)) = (Folder::new(), serve(&[]));
    let file = folder.path("a.json");
    let mut command = Command::new(LONGHAUL);
    command.args(["tcp", "oscil", "read", &address, "--for", "10min", "--output"]).arg(&file);
    let reader = Running::start(command.stdout(std::process::Stdio::null()));
    // The sender reports only the end of a connection.
    let diag = tcp::diag::Diag::open().unwrap();
    let port: u16 = address.rsplit(':').next().unwrap().parse().unwrap();
    crate::harness::wait_until(|| {
        let mut has_received = false;
        diag.all(tcp::diag::States::CONNECTED, |socket| {
            has_received |=
                socket.remote.port() == port && socket.info.is_some_and(|info| info.bytes_received > 0);
        })
        .unwrap();
        has_received
    });
    reader.signal(Signal::SIGINT);
    assert_eq!(reader.wait(), Some(1));
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(json["ended"], "interrupted");
}

#[test]
fn over_300_ms_the_window_is_what_the_buffer_allows_and_bounds_what_comes() {
    const BUFFER: f64 = 1_048_576.0;
    let rmem = "[world]\nsysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 1048576\" }\n";
    let planet = World::named("oscil")
        .tables(rmem)
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"300ms\"\nrate = \"1Gbit\"")
        .up();
    let mut command = planet.command("origin", &[LONGHAUL, "tcp", "oscil", "serve", "--congestion", "cubic"]);
    let _server = Running::listening(&mut command).0;
    let folder = Folder::new();
    // Six round trips each: the window opens in the first phase, the queue fills in the second.
    let programme = folder.file("p.toml", PROGRAMME.replace("70ms", "1800ms").replace("30ms", "1800ms"));
    let read = [
        LONGHAUL,
        "tcp",
        "oscil",
        "read",
        "origin",
        "--programme",
        &programme,
        "--interval",
        "20ms",
        "--json",
    ];
    let json = planet.exec("visitor", &read).measured();
    assert_eq!(json["conditions"]["settings"]["net.ipv4.tcp_rmem"], "4096 131072 1048576");
    assert!(number(&json, "/conditions/rtt_ms") >= 300.0);
    let [window, buffer, queue] = ["window_bytes", "rcvbuf_bytes", "queue_bytes"]
        .map(|name| number(&json, &format!("/summary/{name}")));
    // The initial window is half of the buffer, 65 535 bytes here. The kernel grows the buffer to its limit,
    // part of which is metadata.
    assert!((65_535.0..=buffer).contains(&window) && buffer <= BUFFER, "{}", json["summary"]);
    // At most one buffer arrives per round trip, plus one in flight.
    let received = number(json["samples"].as_array().unwrap().last().unwrap(), "/tcp_info/bytes_received");
    assert!(received <= 25.0 * BUFFER, "{received}");
    assert!((65_535.0..=BUFFER).contains(&queue), "{queue}");
    let closed = ["Want", "To"].map(|how| number(&json, &format!("/counters/TCP{how}ZeroWindowAdv")));
    assert!(closed.iter().sum::<f64>() > 0.0, "{}", json["counters"]);
}
