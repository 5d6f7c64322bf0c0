//! `longhaul transfer` on loopback and on a planet.

use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use world::file::{Down, Fault};

use crate::harness::{Ended, LONGHAUL, Planet, Running, World, longhaul, number, wait_until};

fn serve(planet: &Planet, arguments: &[&str]) -> Running {
    let mut command = vec![LONGHAUL, "transfer", "serve"];
    command.extend(arguments);
    Running::listening(&mut planet.command("origin", &command)).0
}

fn send(planet: &Planet, port: &str, arguments: &[&str]) -> Ended {
    let server = format!("origin:{port}");
    let mut command = vec![LONGHAUL, "transfer", "send", &server];
    command.extend(arguments);
    planet.exec("visitor", &command)
}

fn atlantic(name: &str, link: &str) -> World {
    World::named(name).host("origin", "newyork").host("visitor", "london").link("newyork", "london", link)
}

#[test]
fn a_lossy_path_costs_time_and_no_byte() {
    let planet = atlantic("transfer", "rtt = \"10ms\"\nrate = \"200Mbit\"\nloss = \"1%\"").up();
    let _server = serve(&planet, &[]);
    let summary = send(&planet, "5201", &["--bytes", "5MB", "--interval", "20ms", "--json"]).json();
    for (pointer, expected) in
        [("/bytes_sent", 5e6), ("/bytes_received", 5e6), ("/bytes_lost", 0.0), ("/bytes_bad", 0.0)]
    {
        assert_eq!(number(&summary, pointer), expected, "{pointer}");
    }
    // 3450 segments: all arrive without a retransmission with probability 0.99^3450 = 1e-15.
    assert!(number(&summary, "/retransmits") > 0.0, "{summary}");
    assert!(number(&summary, "/rtt_min_ms") >= 10.0, "{summary}");
    let intervals = summary["intervals"].as_array().unwrap();
    assert_eq!(intervals.iter().map(|interval| number(interval, "/bytes")).sum::<f64>(), 5e6);
    assert_eq!(number(&intervals[1], "/t_s"), 0.02);
}

#[test]
fn multipath_tcp_is_spoken_by_both_ends_or_falls_back() {
    let planet = atlantic("transfer-mptcp", "rtt = \"4ms\"").up();
    for (port, flag, fell_back) in [("5201", Some("--mptcp"), false), ("5202", None, true)] {
        let listen = format!("[::]:{port}");
        let _server = serve(&planet, &[["--listen", &listen].as_slice(), flag.as_slice()].concat());
        let summary = send(&planet, port, &["--bytes", "1MB", "--mptcp", "--json"]).json();
        assert_eq!((number(&summary, "/bytes_received"), summary["protocol"].as_str()), (1e6, Some("mptcp")));
        assert_eq!(summary["fell_back"], fell_back, "{summary}");
        assert_eq!(summary.get("subflows").and_then(|n| n.as_u64()), (!fell_back).then_some(1));
    }
}

#[test]
fn a_path_that_is_down_for_a_second_is_a_stall_of_a_second() {
    let planet = atlantic("transfer-stall", "rtt = \"4ms\"\nrate = \"50Mbit\"\nqueue = \"20ms\"").up();
    let _server = serve(&planet, &[]);
    let sender = begin(&planet, &["--bytes", "5MB", "--json"]);
    set_down(&planet, true);
    assert!(Command::new("sleep").arg("1").status().unwrap().success());
    set_down(&planet, false);
    let summary = Ended::of(sender.wait_with_output().unwrap()).json();
    // Data in flight arrives within 22 ms. The margin is for a receiver that gets no processor
    // time.
    assert!(number(&summary, "/stall/longest_s") >= 0.5, "{summary}");
    assert_eq!((number(&summary, "/bytes_received"), number(&summary, "/bytes_lost")), (5e6, 0.0));
    let intervals = summary["intervals"].as_array().unwrap();
    assert!(intervals.iter().any(|interval| number(interval, "/bytes") == 0.0), "{summary}");
}

#[test]
fn a_path_that_dies_leaves_the_transfer_unfinished() {
    let planet = atlantic("transfer-dead", "rtt = \"4ms\"\nrate = \"50Mbit\"").up();
    let _server = serve(&planet, &[]);
    let sender = begin(&planet, &["--bytes", "10GB", "--grace", "2s", "--json"]);
    set_down(&planet, true);
    let ended = Ended::of(sender.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let summary = ended.measured();
    let why = summary["unfinished"].as_str().unwrap();
    assert!(why.contains("no receipt arrived for 2s"), "{why}");
    // Data in flight is not known to be lost, but acknowledged data has arrived.
    assert_eq!((summary.get("bytes_lost"), summary.get("bytes_received")), (None, None));
    let (sent, unknown) = (number(&summary, "/bytes_sent"), number(&summary, "/bytes_unacknowledged"));
    assert!(unknown > 0.0 && unknown < sent, "{summary}");
}

fn begin(planet: &Planet, arguments: &[&str]) -> Child {
    let mut command = vec![LONGHAUL, "transfer", "send", "origin:5201"];
    command.extend(arguments);
    let mut sender = planet.command("visitor", &command);
    let sender = sender.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let running = planet::Planet::find(Some(planet.name())).unwrap();
    wait_until(|| running.status().unwrap().fidelity.bytes_out > 1_000_000);
    sender
}

fn set_down(planet: &Planet, down: bool) {
    let running = planet::Planet::find(Some(planet.name())).unwrap();
    if down {
        let between = Some(["newyork".to_owned(), "london".to_owned()]);
        running.fault(&Fault { between, down: Some(Down::Plain(true)), ..Fault::default() }).unwrap();
    } else {
        running.lift(None).unwrap();
    }
}

#[test]
fn a_window_of_a_power_of_two_is_kept_and_a_start_left_out() {
    let planet = atlantic("transfer-window", "rtt = \"100ms\"").up();
    let _server = serve(&planet, &["--window", "256KiB"]);
    let arguments = ["--for", "3s", "--omit", "1s", "--congestion", "reno", "--json"];
    let summary = send(&planet, "5201", &arguments).json();
    // 256 KiB every 100 ms are 20.97 Mbit/s. 2 s contain 20 windows, of which one at an end may or may not
    // count: 5 %. If the kernel doubled the window, the result would be 42; a late receiver lowers it.
    assert!(number(&summary, "/goodput_mbps") < 20.97 * 1.05, "{summary}");
    assert_eq!(number(&summary, "/omitted_s"), 1.0);
    // The memory is about the data in flight, which the window limits.
    assert!(number(&summary, "/memory/most_bytes") >= 262_080.0, "{summary}");
}

#[test]
fn ctrl_c_ends_both_ends_in_order() {
    let mut server = Command::new(LONGHAUL);
    let (server, address) = Running::listening(server.args(["transfer", "serve", "--listen", "127.0.0.1:0"]));
    let text = longhaul(&["transfer", "send", &address, "--bytes", "10MB"]).ok();
    for expected in ["10.0 MB, none lost, none bad", "goodput", "sent again"] {
        assert!(text.contains(expected), "expected {expected}: {text}");
    }
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait(), Some(0));
    let said = longhaul(&["transfer", "send", &address, "--bytes", "1MB"]).refused();
    assert!(said.contains("longhaul transfer serve") && said.contains("refused"), "{said}");
}

#[test]
fn mistakes_are_named() {
    for (arguments, expected) in [
        (["transfer", "send", "nowhere"].as_slice(), "expected HOST:PORT"),
        (&["transfer", "send", "no-such-host.invalid:1"], "no-such-host.invalid:1"),
        (&["transfer", "send", "127.0.0.1:1", "--for", "1s", "--bytes", "1KB"], "cannot be used with"),
        (&["transfer", "send", "127.0.0.1:1", "--interval", "1us"], "from 1ms to 1h"),
        (&["transfer", "send", "127.0.0.1:1", "--congestion", "hope"], "congestion control \"hope\""),
        (
            &["transfer", "send", "127.0.0.1:1", "--for", "1s", "--omit", "1s"],
            "of 1s the first 1s do not count",
        ),
        (&["transfer", "send", "127.0.0.1:1", "--notsent-lowat", "0B"], "expected 1B to 2GB"),
        (&["transfer", "serve", "--listen", "127.0.0.1:0", "--window", "3GB"], "window cannot be 3GB"),
        (
            &["transfer", "serve", "--listen", "127.0.0.1:0", "--rcvbuf", "2GB"],
            "sysctl net.core.rmem_max=2000000000",
        ),
        (&["transfer", "serve", "--listen", "everywhere"], "everywhere"),
        // RFC 5737: no machine has this address.
        (&["transfer", "serve", "--listen", "192.0.2.1:1"], "cannot listen on 192.0.2.1:1"),
    ] {
        let said = longhaul(arguments).refused();
        assert!(said.contains(expected), "expected {expected}: {said}");
    }
}
