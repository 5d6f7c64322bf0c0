//! Connections that end, paths that fail, ports that run out, and missing permissions.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use world::file::{Down, Fault};

use super::{explain, traffic};
use crate::harness::{Folder, LONGHAUL, Planet, Running, World, longhaul, wait_until};

fn atlantic(name: &str) -> Planet {
    let link = "rtt = \"100ms\"\nrate = \"20Mbit\"";
    World::named(name)
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", link)
        .up()
}

fn transfer(planet: &Planet, sends: &[&str], reads: &[&str]) -> [Running; 2] {
    let mut reader = traffic(planet, "visitor", &[&["read", "warm=500000"], reads].concat());
    reader.says("listening");
    let sender = traffic(planet, "origin", &[&["send", "to=visitor"], sends].concat());
    reader.says("moved");
    [reader, sender]
}

#[test]
fn who_may_not_look_into_processes_is_told_what_follows() {
    let planet = atlantic("explain-nobody");
    let _transfer = transfer(&planet, &[], &["rcvbuf=65536"]);
    // Readable by all users, wherever the project was built.
    let folder = Folder::new();
    let program = folder.path("longhaul");
    fs::copy(LONGHAUL, &program).unwrap();
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", &program, "tcp", "explain"];
    let said = planet.exec("visitor", &[&nobody[..], &["--json"]].concat()).json();
    assert_eq!(
        (&said[0]["limit"], &said[0]["kind"]),
        (&"receiver_window".into(), &"fixed_receive_buffer".into())
    );
    assert_eq!(
        (&said[0]["is_inferred"], said[0].get("pid"), &said[0]["uid"]),
        (&true.into(), None, &0.into())
    );
    let text = planet.exec("visitor", &nobody).ok();
    assert!(text.contains("run it as root") && text.contains("(the cause is inferred)"), "{text}");
    let said = explain(&planet, "visitor", &["origin"]);
    assert_eq!((&said["kind"], &said["is_inferred"]), (&"fixed_receive_buffer".into(), &false.into()));
}

#[test]
fn a_path_that_breaks_and_a_connection_that_ends() {
    let planet = atlantic("explain-end");
    // 3 MB at 8 Mbit/s take three seconds, so the transfer ends while it is sampled.
    let [reader, sender] = transfer(&planet, &["pacing=1000000", "bytes=3000000"], &[]);
    let said = explain(&planet, "origin", &["visitor:5000", "--for", "8s"]);
    assert_eq!((&said["has_closed"], &said["limit"]), (&true.into(), &"pacing".into()), "{said:#}");
    drop((reader, sender));

    let _transfer = transfer(&planet, &[], &[]);
    let down = Fault {
        between: Some(["newyork".to_owned(), "london".to_owned()]),
        down: Some(Down::Plain(true)),
        ..Fault::default()
    };
    planet::Planet::find(Some(planet.name())).unwrap().fault(&down).unwrap();
    // Acknowledgements of data in flight arrive until the first retransmission timeout.
    let said = || {
        planet
            .exec("origin", &[LONGHAUL, "tcp", "explain", "--json", "--port", "5000", "--for", "500ms"])
            .json()
    };
    wait_until(|| said().as_array().unwrap().iter().any(|each| each["kind"] == "no_answer"));
    let other = planet.exec("visitor", &[LONGHAUL, "tcp", "explain", "--json"]).json();
    assert_eq!(other[0]["limit"], "idle", "{other:#}");
}

const ASKS: &str = "
import os, socket, sys, time
end = socket.socket()
for option in [4, 5]:
    end.setsockopt(6, option, 1)
end.setsockopt(6, 6, 100)
end.setsockopt(1, 9, 1)
end.connect((sys.argv[1], 80))
print('open', file=sys.stderr, flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
socket.create_connection((sys.argv[1], 80))
";

#[test]
fn a_peer_that_is_silent_and_one_that_has_gone() {
    let planet = atlantic("explain-silent");
    let start = |host: &str, arguments: &[&str], sign: &str| {
        let mut command = planet.command(host, &[&["python3", "-c"], arguments].concat());
        let mut running = Running::start(command.stderr(Stdio::piped()));
        running.says(sign);
        running
    };
    let _server = start("origin", &[SERVER], "listening");
    let folder = Folder::new();
    let sign = folder.path("again").display().to_string();
    let _asks = start("visitor", &[ASKS, "origin", &sign], "open");
    let said = |of: &str| -> Value {
        planet.exec("visitor", &[LONGHAUL, "tcp", "explain", "--json", "--for", of]).json()
    };
    let idle = said("3s");
    assert_eq!((&idle[0]["limit"], &idle[0]["kind"]), (&"idle".into(), &"idle".into()), "{idle:#}");
    let down = Fault {
        between: Some(["newyork".to_owned(), "london".to_owned()]),
        down: Some(Down::Plain(true)),
        ..Fault::default()
    };
    planet::Planet::find(Some(planet.name())).unwrap().fault(&down).unwrap();
    let of_kind = |kind: &str| {
        let all = said("200ms").as_array().unwrap().clone();
        all.into_iter().find(|each| each["kind"] == kind)
    };
    wait_until(|| of_kind("no_answer").is_some());
    let gone = of_kind("no_answer").unwrap();
    assert!(
        gone["evidence"][0].as_str().unwrap().contains("keep-alives sent in a row without a reply"),
        "{gone:#}"
    );
    folder.file("again", "");
    let asking = || {
        let all = said("200ms").as_array().unwrap().clone();
        all.into_iter().find(|each| each["state"] == "syn_sent")
    };
    wait_until(|| asking().is_some_and(|each| each["kind"] == "no_answer"));
    let asking = asking().unwrap();
    assert!(asking["evidence"][0].as_str().unwrap().starts_with("the request (SYN) was sent"), "{asking:#}");
    // The kernel's initial timestamps must not count as a reply of the peer.
    assert!(!asking.to_string().contains("ago"), "{asking:#}");
}

/// The queue of one port, which is never accepted, holds 2 connections.
const HALF_DEAF: &str = "
import socket, sys
deaf, listener = socket.socket(), socket.socket()
deaf.bind(('', 80))
deaf.listen(1)
listener.bind(('', 81))
listener.listen()
print('listening', file=sys.stderr, flush=True)
end, _ = listener.accept()
while data := end.recv(100):
    end.send(data)
";

const SPEAKS: &str = "
import socket, sys, time
talk = socket.create_connection(('origin', 81))
ends = [socket.socket() for _ in range(8)]
for end in ends:
    end.setblocking(False)
    end.connect_ex(('origin', 80))
time.sleep(0.5)
for end in ends:
    try:
        end.send(bytes(100))
    except OSError:
        pass
print('open', file=sys.stderr, flush=True)
while True:
    talk.send(bytes(10))
    talk.recv(10)
    time.sleep(0.05)
";

/// The kernel replies to eight SYNs before the queue is full; data of six connections is never
/// acknowledged.
#[test]
fn a_full_listen_queue_is_inferred_from_the_other_end() {
    let planet = atlantic("explain-deaf");
    let start = |host: &str, program: &str, sign: &str| {
        let mut command = planet.command(host, &["python3", "-c", program]);
        let mut running = Running::start(command.stderr(Stdio::piped()));
        running.says(sign);
        running
    };
    let _server = start("origin", HALF_DEAF, "listening");
    let _client = start("visitor", SPEAKS, "open");
    let of_kind = |host: &str, kind: &str| -> Vec<Value> {
        let all = planet.exec(host, &[LONGHAUL, "tcp", "explain", "--json", "--for", "300ms"]).json();
        all.as_array().unwrap().iter().filter(|each| each["kind"] == kind).cloned().collect()
    };
    wait_until(|| of_kind("visitor", "peer_does_not_accept").len() == 6);
    for each in of_kind("visitor", "peer_does_not_accept") {
        assert_eq!(
            (&each["limit"], &each["is_inferred"]),
            (&"accept_queue".into(), &true.into()),
            "{each:#}"
        );
        assert!(each["remote"].as_str().unwrap().ends_with(":80"), "{each:#}");
    }
    assert_eq!(of_kind("visitor", "sender_idle").len(), 1, "the one that is answered");
    assert_eq!(of_kind("origin", "listen_queue_full").len(), 1);
    assert_eq!(of_kind("origin", "not_accepted").len(), 2);
}

#[test]
fn two_limits_at_once_are_both_named() {
    let link = "rtt = \"100ms\"\nrate = \"200Mbit\"";
    let planet = World::named("explain-two")
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", link)
        .up();
    let named = |sends: &[&str]| {
        let _transfer = transfer(&planet, &[&["control=bbr"], sends].concat(), &["rcvbuf=131072"]);
        let said = explain(&planet, "origin", &["visitor:5000"]);
        let has = |kind: &str| super::kinds(&said).contains(&kind);
        (
            has("small_window"),
            has("fixed_send_buffer"),
            said["advice"].as_str().unwrap().contains("change both"),
        )
    };
    assert_eq!(named(&["sndbuf=131072"]), (true, true, true));
    assert_eq!(named(&["sndbuf=1000000"]), (true, false, false));
    assert_eq!(named(&[]), (true, false, false));
}

const SERVER: &str = "
import socket, sys, threading
listener = socket.socket()
listener.bind(('', 80))
listener.listen(100)
print('listening', file=sys.stderr, flush=True)
def serve(connection):
    connection.recv(1)
    connection.close()
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
";

/// Waits until the server has closed its ends too.
const CLIENT: &str = "
import signal, socket, sys
connections = [socket.create_connection(('origin', 80)) for _ in range(int(sys.argv[1]))]
for connection in connections[:int(sys.argv[2])]:
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    connection.close()
print('done', file=sys.stderr, flush=True)
signal.pause()
";

#[test]
fn source_ports_that_run_out_are_counted_for_each_destination() {
    let link = "rtt = \"2ms\"";
    let visitor = |name: &str| {
        format!(
            "[[host]]\nname = \"{name}\"\ncity = \"london\"\nsysctl = {{ \"net.ipv4.ip_local_port_range\" = \"40000 40099\" }}\n"
        )
    };
    let visitors = ["few", "half", "most"].map(visitor).concat();
    let planet = World::named("explain-ports").host("origin", "newyork").tables(&visitors);
    let planet = planet.link("newyork", "london", link).up();
    let python = |host: &str, arguments: &[&str], sign: &str| {
        let command = [&["python3", "-c"], arguments].concat();
        let mut running = Running::start(planet.command(host, &command).stderr(Stdio::piped()));
        running.says(sign);
        running
    };
    let _server = python("origin", &[SERVER], "listening");
    // Of 100 ports; ports whose connection the client closes first stay in TIME_WAIT for a minute.
    let _clients = [("few", "49", "0"), ("half", "60", "0"), ("most", "95", "60")]
        .map(|(host, all, closed)| python(host, &[CLIENT, all, closed], "done"));
    let of = |host: &str| -> Value {
        planet.exec(host, &[LONGHAUL, "tcp", "explain", "--json", "--for", "100ms"]).json()
    };
    let scarce =
        |said: &Value| said.as_array().unwrap().iter().filter(|each| each["limit"] == "source_ports").count();
    assert_eq!(scarce(&of("few")), 0);
    let half = of("half");
    assert_eq!(scarce(&half), 1);
    assert!(
        half[0]["local"].as_str().unwrap().ends_with(":*")
            && half[0]["remote"].as_str().unwrap().ends_with(":80")
    );
    let evidence = half[0]["evidence"][0].as_str().unwrap();
    assert!(evidence.starts_with("60 of 100 ports") && evidence.contains("60 %; 0 of them"), "{evidence}");
    assert!(half[0]["advice"].as_str().unwrap().contains("ip_local_port_range=\"1024 65535\""), "{half}");
    let most = of("most");
    assert!(most[0]["evidence"][0].as_str().unwrap().contains("95 of 100"), "{most}");
    assert!(most[0]["sentence"].as_str().unwrap().contains("Almost all source ports"), "{most}");
    assert!(most[0]["advice"].as_str().unwrap().contains("tcp_tw_reuse=1"), "{most}");
    assert_eq!(scarce(&of("origin")), 0);
}

#[test]
fn watching_prints_a_line_each_time_until_ctrl_c() {
    let mut command = Command::new(LONGHAUL);
    command.args(["tcp", "explain", "--watch", "--json", "--for", "100ms"]).stdout(Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    for line in lines.take(2) {
        assert!(serde_json::from_str::<Value>(&line.unwrap()).unwrap().is_array());
    }
    kill(Pid::from_raw(watching.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(watching.wait().unwrap().code(), Some(0));
}

#[test]
fn what_is_not_there_is_named() {
    for (arguments, expected) in [
        (["--pid", "999999"].as_slice(), "cannot look at process 999999: No such file"),
        (&["--port", "1"], "there is no TCP connection with port 1 in this network namespace"),
        // RFC 5737: no machine has these addresses.
        (&["192.0.2.1"], "there is no TCP connection with 192.0.2.1 in this network namespace"),
        (&["[2001:db8::1]:443"], "there is no TCP connection with 2001:db8::1 port 443"),
        (&["192.0.2.1:99999"], "a port is between 1 and 65535"),
        (&["no-such-host.invalid"], "cannot find the address of \"no-such-host.invalid\""),
        (&["--for", "1ms"], "expected a time between 100ms and 1h"),
    ] {
        let said = longhaul(&[&["tcp", "explain"], arguments].concat()).refused();
        assert!(said.contains(expected), "expected {expected}: {said}");
    }
    let mut shell = Command::new("sh");
    let shell = shell.arg("-c").arg(format!("{LONGHAUL} tcp explain --pid $$; echo $?")).output().unwrap();
    let (said, code) = (String::from_utf8(shell.stderr).unwrap(), String::from_utf8(shell.stdout).unwrap());
    assert!(
        said.contains("has no TCP connection in this network namespace") && code == "2\n",
        "{said}{code}"
    );
    assert!(said.contains("nsenter --net --target"), "{said}");
}
