//! `longhaul tcp mptcp` on planets. Python programs open the MPTCP sockets.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    documents,
    harness::{Ended, LONGHAUL, Planet, Running, World, wait_until},
};

const SERVER: &str = "
import socket, sys, threading
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1]))
listener.bind(('', int(sys.argv[2])))
listener.listen()
print('listening', file=sys.stderr, flush=True)
def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
while True:
    threading.Thread(target=echo, args=[listener.accept()[0]], daemon=True).start()
";

const CLIENT: &str = "
import signal, socket, sys
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
connection.connect(('server', int(sys.argv[1])))
for _ in range(5):
    connection.sendall(b'x' * 1000)
    connection.recv(65536)
print('connected', file=sys.stderr, flush=True)
signal.pause()
";

const MPTCP: &str = "262";
const PLAIN_TCP: &str = "0";

fn planet(name: &str) -> Planet {
    let lines = "[[access]]\nname = \"wifi\"\nrtt = \"2ms\"\n[[access]]\nname = \"cell\"\nrtt = \"6ms\"\n";
    let phone =
        "[[host]]\nname = \"phone\"\ncity = \"london\"\naccess = [\"wifi\", \"cell\"]\nmptcp = \"subflow\"\n";
    World::named(name).host("server", "paris").tables(&(lines.to_owned() + phone)).up()
}

fn program(planet: &Planet, host: &str, arguments: &[&str], sign: &str) -> Running {
    let command = [&["python3", "-c"], arguments].concat();
    let mut running = Running::start(planet.command(host, &command).stderr(Stdio::piped()));
    running.says(sign);
    running
}

fn serve(planet: &Planet, port: &str, protocol: &str) -> Running {
    program(planet, "server", &[SERVER, protocol, port], "listening")
}

fn client(planet: &Planet, port: &str) -> Running {
    program(planet, "phone", &[CLIENT, port], "connected")
}

fn connect_to(planet: &Planet, port: &str, protocol: &str) -> [Running; 2] {
    [serve(planet, port, protocol), client(planet, port)]
}

fn connect(planet: &Planet, protocol: &str) -> [Running; 2] {
    connect_to(planet, "80", protocol)
}

fn audit(planet: &Planet, host: &str, arguments: &[&str]) -> Ended {
    planet.exec(host, &[&[LONGHAUL, "tcp", "mptcp", "--json"], arguments].concat())
}

#[track_caller]
fn finding(planet: &Planet, host: &str) -> Value {
    let ended = audit(planet, host, &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let audit: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(audit["connections"].as_array().unwrap().len(), 1, "{audit}");
    assert_eq!(audit["connections"][0]["has_second"], false);
    audit["connections"][0]["finding"].clone()
}

#[test]
fn a_phone_with_two_networks_uses_both() {
    let planet = planet("mptcp");
    let _connection = connect(&planet, MPTCP);
    for (host, devices) in [("phone", ["net0", "net1"]), ("server", ["net0", "net0"])] {
        wait_until(|| audit(&planet, host, &[]).code == Some(0));
        let audit = audit(&planet, host, &["--port", "80"]).json();
        let connection = &audit["connections"][0];
        let subflows = connection["subflows"].as_array().unwrap();
        let seen: Vec<_> = subflows.iter().map(|subflow| subflow["device"].as_str().unwrap()).collect();
        assert_eq!(seen, devices, "{connection}");
        assert!(connection.get("finding").is_none(), "{connection}");
        assert_eq!((&connection["bytes_sent"], &connection["bytes_received"]), (&5000.into(), &5000.into()));
    }
    let none = audit(&planet, "phone", &["--port", "81"]);
    assert!(none.code == Some(1) && none.stdout.contains("\"connections\": []"), "{none:?}");
    let said = audit(&planet, "phone", &["--pid", "999999"]).refused();
    assert!(said.contains("cannot look at process 999999: No such file"), "{said}");
}

#[test]
fn a_second_address_that_mptcp_may_not_use_is_named_with_the_remedy() {
    let planet = planet("no-endpoint");
    planet.exec("phone", &["ip", "mptcp", "endpoint", "flush"]).ok();
    let _connection = connect(&planet, MPTCP);
    let finding = finding(&planet, "phone");
    assert_eq!(finding["cause"], "no_endpoint", "{finding}");
    let remedy: Vec<_> = finding["remedy"].as_str().unwrap().split(' ').collect();
    planet.exec("phone", &remedy).ok();
    wait_until(|| audit(&planet, "phone", &[]).code == Some(0));
}

#[test]
fn a_server_without_mptcp_is_named() {
    let planet = planet("plain-server");
    let _connection = connect(&planet, PLAIN_TCP);
    let finding = finding(&planet, "phone");
    assert_eq!(finding["cause"], "peer_without_mptcp", "{finding}");
    assert_eq!(
        (finding["evidence"][1].as_str(), &finding["is_certain"]),
        (Some("MPCapableFallbackSYNACK is 1"), &true.into())
    );
    let server = audit(&planet, "server", &[]);
    assert!(server.code == Some(1) && server.stdout.contains("\"plain_tcp\": 1"), "{server:?}");
}

#[test]
fn limits_of_either_end_are_named() {
    let planet = planet("limits");
    planet.exec("phone", &["ip", "mptcp", "limits", "set", "subflows", "0"]).ok();
    let _connection = connect(&planet, MPTCP);
    assert_eq!(finding(&planet, "phone")["cause"], "no_subflows_admitted");
    assert_eq!(finding(&planet, "server")["cause"], "peer_opens");
}

/// Drops initial SYNs with the MPTCP option, like some firewalls.
const LOSE_MPTCP: [&str; 3] = [
    "add table inet f",
    "add chain inet f in { type filter hook input priority 0; }",
    "add rule inet f in tcp option mptcp exists tcp flags & (syn|ack) == syn drop",
];

#[test]
fn a_pause_is_told_from_what_caused_it_and_sticks_to_no_other_connection() {
    let planet = planet("pause");
    let [_plain_server, _refused] = connect_to(&planet, "81", PLAIN_TCP);
    let _server = serve(&planet, "80", MPTCP);
    planet.exec("server", &["nft", &LOSE_MPTCP.join("; ")]).ok();
    // The first SYN is lost three times, and then acknowledged without MPTCP: the kernel uses plain
    // TCP.
    let _dropped = client(&planet, "80");
    let _paused = client(&planet, "80");
    let audit: Value = serde_json::from_str(&audit(&planet, "phone", &[]).stdout).unwrap();
    let of = |port: &str, token: bool| {
        let all = audit["connections"].as_array().unwrap();
        let is_it = |each: &&Value| {
            each["remote"].as_str().unwrap().ends_with(port) && (each["token"] != "00000000") == token
        };
        let found: Vec<_> = all.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{port}: {audit}");
        (found[0]["finding"]["cause"].as_str().unwrap(), found[0]["finding"]["is_certain"] == true)
    };
    assert_eq!(of(":80", true), ("option_dropped", true));
    assert_eq!(of(":80", false), ("paused", true));
    assert_eq!(of(":81", true), ("peer_without_mptcp", true));
    assert_eq!(audit["counters"]["Blackhole"], 1);
}

#[test]
fn a_look_before_a_connection_takes_older_counts_away() {
    let planet = planet("watched");
    let _server = serve(&planet, "80", MPTCP);
    planet.exec("server", &["ip", "mptcp", "limits", "set", "subflows", "0"]).ok();
    // The server refuses joins; later it accepts them, but there is no endpoint for a subflow.
    let first = client(&planet, "80");
    wait_until(|| {
        finding(&planet, "phone")["cause"] == "join_refused"
            || finding(&planet, "phone")["cause"] == "subflow_lost"
    });
    drop(first);
    planet.exec("server", &["ip", "mptcp", "limits", "set", "subflows", "8"]).ok();
    planet.exec("phone", &["ip", "mptcp", "endpoint", "flush"]).ok();
    let mut watching = planet.command("server", &[LONGHAUL, "tcp", "mptcp", "--watch", "--json"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut look = || -> Value {
        let line = lines.next().unwrap().unwrap();
        documents::keep(&line);
        serde_json::from_str(&line).unwrap()
    };
    look();
    let _second = client(&planet, "80");
    let seen = loop {
        let now = look();
        let new = now["connections"]
            .as_array()
            .unwrap()
            .iter()
            .find(|each| each["counted"]["since"] == "look_before");
        if let Some(connection) = new {
            break connection.clone();
        }
    };
    drop(lines);
    watching.wait().unwrap();
    assert_eq!(seen["counted"], json!({ "since": "look_before", "connections": 1 }), "{seen}");
    assert_eq!(
        (&seen["finding"]["cause"], &seen["finding"]["is_certain"]),
        (&"peer_opens".into(), &true.into())
    );
    let all: Value = serde_json::from_str(&audit(&planet, "server", &[]).stdout).unwrap();
    let once =
        all["connections"].as_array().unwrap().iter().find(|each| each["remote"] == seen["remote"]).unwrap();
    let evidence = once["finding"]["evidence"].as_array().unwrap();
    assert!(evidence.last().unwrap().as_str().unwrap().contains("of all its 2 connections"), "{once}");
}
