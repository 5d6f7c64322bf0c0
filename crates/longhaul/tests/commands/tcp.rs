//! `longhaul tcp mptcp` on planets: a phone with two networks and a server. The programs that ask for MPTCP are Python.

use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Ended, LONGHAUL, Planet, Running, World, wait_until};

/// Listens with the protocol that it is given, and sends back what it gets.
const SERVER: &str = "
import socket, sys, threading
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1]))
listener.bind(('', 80))
listener.listen()
print('listening', file=sys.stderr, flush=True)
def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
while True:
    threading.Thread(target=echo, args=[listener.accept()[0]], daemon=True).start()
";

/// Opens an MPTCP connection, uses it five times, and keeps it.
const CLIENT: &str = "
import signal, socket, sys
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
connection.connect(('server', 80))
for _ in range(5):
    connection.sendall(b'x' * 1000)
    connection.recv(65536)
print('connected', file=sys.stderr, flush=True)
signal.pause()
";

const MPTCP: &str = "262";
const PLAIN_TCP: &str = "0";

/// A phone with two networks, and a server.
fn planet(name: &str) -> Planet {
    let lines = "[[access]]\nname = \"wifi\"\nrtt = \"2ms\"\n[[access]]\nname = \"cell\"\nrtt = \"6ms\"\n";
    let phone =
        "[[host]]\nname = \"phone\"\ncity = \"london\"\naccess = [\"wifi\", \"cell\"]\nmptcp = \"subflow\"\n";
    World::named(name).host("server", "paris").tables(&(lines.to_owned() + phone)).up()
}

/// Connects the phone to a server that speaks this protocol. The connection lives as long as both.
fn connect(planet: &Planet, protocol: &str) -> [Running; 2] {
    let program = |host: &str, arguments: &[&str], sign: &str| {
        let command = [&["python3", "-c"], arguments].concat();
        let mut running = Running::start(planet.command(host, &command).stderr(Stdio::piped()));
        running.says(sign);
        running
    };
    [program("server", &[SERVER, protocol], "listening"), program("phone", &[CLIENT], "connected")]
}

fn audit(planet: &Planet, host: &str, arguments: &[&str]) -> Ended {
    planet.exec(host, &[&[LONGHAUL, "tcp", "mptcp", "--json"], arguments].concat())
}

/// What is said about the only connection, which has one subflow.
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
        // The second subflow is joined after the first data.
        wait_until(|| audit(&planet, host, &[]).code == Some(0));
        let audit = audit(&planet, host, &["--port", "80"]).json();
        let connection = &audit["connections"][0];
        let subflows = connection["subflows"].as_array().unwrap();
        let seen: Vec<_> = subflows.iter().map(|subflow| subflow["device"].as_str().unwrap()).collect();
        assert_eq!(seen, devices, "{connection}");
        assert!(connection.get("finding").is_none(), "{connection}");
        // Five times 1000 bytes each way.
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
    // The remedy is one, also for a connection that is open.
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
    assert_eq!(finding["evidence"][0], "MPCapableFallbackSYNACK is 1");
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
