//! Programs on loopback, each with a control that lacks the cause, and each pair in a separate
//! network namespace.

use std::process::Command;

use serde_json::Value;

use crate::{documents, harness::LONGHAUL};

/// `look(...)` runs `explain` with these arguments. Prints an object by name.
const PROGRAM: &str = "
import json, os, socket, subprocess, sys, threading, time
case, longhaul = sys.argv[1], sys.argv[2]
said = {}
def look(name, *arguments):
    run = subprocess.run([longhaul, 'tcp', 'explain', '--json', *map(str, arguments)], capture_output=True, text=True)
    said[name] = json.loads(run.stdout) if run.returncode == 0 else run.stderr
def text(name, *arguments):
    run = subprocess.run([longhaul, 'tcp', 'explain', *map(str, arguments)], capture_output=True, text=True)
    said[name] = run.stdout
def thread(body, *arguments):
    threading.Thread(target=body, args=arguments, daemon=True).start()
def listen(port, backlog=10, protocol=0):
    end = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    end.bind(('127.0.0.1', port))
    end.listen(backlog)
    return end
def client(port, *options, protocol=0):
    end = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    for level, name, value in options:
        end.setsockopt(level, name, value)
    end.connect(('127.0.0.1', port))
    return end
def read(end, rate=0, chunk=65536):
    done, begin = 0, time.monotonic()
    while data := end.recv(chunk):
        done += len(data)
        if rate:
            time.sleep(max(0, begin + done / rate - time.monotonic()))
def write(end, rate=0):
    done, begin = 0, time.monotonic()
    while True:
        end.sendall(bytes(20000))
        done += 20000
        if rate:
            time.sleep(max(0, begin + done / rate - time.monotonic()))
def transfer(port, *options, rate=0, reads=0, chunk=65536, protocol=0):
    listener = listen(port, protocol=protocol)
    near = client(port, *options, protocol=protocol)
    far, _ = listener.accept()
    thread(read, far, reads, chunk)
    thread(write, near, rate)
    return listener, near, far
def sends(port):
    return f'127.0.0.1:{port}'
PACING, CONTROL = (1, 47), (6, 13)
def paced():
    ends = [transfer(5000, (*CONTROL, b'bbr'), (*PACING, 1000000)), transfer(5001, (*CONTROL, b'cubic'), (*PACING, 1000000)),
            transfer(5002, (*CONTROL, b'bbr'), (*PACING, 10000000), rate=1000000)]
    time.sleep(0.5)
    for port, name in [(5000, 'bbr'), (5001, 'cubic'), (5002, 'slower')]:
        look(name, sends(port))
def closed():
    ends = []
    for port, is_closed in [(5000, False), (5001, True), (5002, True)]:
        listener = listen(port)
        pairs = []
        for _ in range(3):
            near = client(port)
            pairs.append((near, listener.accept()[0]))
            if is_closed:
                near.shutdown(socket.SHUT_WR)
        ends.append((listener, pairs))
        if port == 5002:
            for near, far in pairs:
                thread(read, near)
                thread(write, far, 1000000)
    for port, name in [(5000, 'open'), (5001, 'left'), (5002, 'answers')]:
        look(name, '--port', port)
    text('text', '--port', 5001)
def queue():
    full, half = listen(5000, 2), listen(5001, 4)
    ends = []
    for port in [5000] * 6 + [5001] * 3:
        end = socket.socket()
        end.setblocking(False)
        end.connect_ex(('127.0.0.1', port))
        ends.append(end)
    time.sleep(2.2)
    look('full', '--port', 5000)
    look('half', '--port', 5001)
def small():
    ends = []
    for port, is_set in [(5000, 0), (5001, 1)]:
        listener = listen(port)
        near = client(port, (6, 1, is_set))
        far, _ = listener.accept()
        def answer(end):
            while end.recv(399, socket.MSG_WAITALL):
                end.send(bytes(2))
        def ask(end):
            while True:
                end.send(bytes(200))
                end.send(bytes(199))
                end.recv(2)
                time.sleep(0.002)
        thread(answer, far)
        thread(ask, near)
        ends.append((listener, near, far))
    time.sleep(0.3)
    look('delayed', sends(5000))
    look('at once', sends(5001))
def multipath():
    # Segments of 64 KiB are half of a small buffer, and stall by themselves.
    subprocess.run(['ip', 'link', 'set', 'lo', 'mtu', '1500'], check=True)
    ends = [transfer(5000, reads=200000, chunk=4096, protocol=262), transfer(5001, reads=0, rate=1000000, protocol=262)]
    time.sleep(2)
    look('slow', '--port', 5000)
    look('quick', '--port', 5001)
    ends = transfer(5002, (*PACING, 500000), reads=0)
    time.sleep(0.5)
    look('plain', sends(5002))
def even():
    ends = [transfer(5000, reads=2000000), transfer(5001, (*CONTROL, b'cubic'), reads=2000000)]
    time.sleep(1)
    for n in range(3):
        look(f'bbr {n}', sends(5000))
        look(f'cubic {n}', sends(5001))
def ended():
    listener = listen(5000)
    for _ in range(50):
        near = client(5000)
        far, _ = listener.accept()
        near.shutdown(socket.SHUT_WR)
        far.recv(1)
        far.close()
        near.close()
    listener.close()
    text('text', '--port', 5000, '--for', '100ms')
    look('few', '--port', 5000)
    open('/proc/sys/net/ipv4/ip_local_port_range', 'w').write('40000 40099')
    listener = listen(5001)
    for _ in range(60):
        near = client(5001)
        far, _ = listener.accept()
        near.shutdown(socket.SHUT_WR)
        far.recv(1)
        far.close()
        near.close()
    listener.close()
    look('used again', '--port', 5001)
    open('/proc/sys/net/ipv4/tcp_tw_reuse', 'w').write('0')
    look('many', '--port', 5001)
globals()[case]()
print(json.dumps(said), flush=True)
os._exit(0)
";

#[track_caller]
fn said(case: &str) -> Value {
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", "ip link set lo up && exec python3 -c \"$@\"", "sh"]);
    let output = command.args([PROGRAM, case, LONGHAUL]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{case}: {}", String::from_utf8_lossy(&output.stderr)));
    for document in said.as_object().unwrap().values().filter(|value| value.is_array()) {
        documents::keep(&document.to_string());
    }
    said
}

#[track_caller]
fn sender<'a>(said: &'a Value, name: &str) -> &'a Value {
    let all = said[name].as_array().unwrap_or_else(|| panic!("{name}: {said:#}"));
    // Servers listen from port 5000 on; a client's port may begin with the same digits.
    let port = |address: &str| address.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
    let sends = |each: &&Value| (5000..5100).contains(&port(each["remote"].as_str().unwrap()));
    all.iter().find(sends).unwrap_or_else(|| panic!("{name}: {said:#}"))
}

#[track_caller]
fn found(each: &Value, limit: &str, kind: &str) {
    assert_eq!((&each["limit"], &each["kind"]), (&limit.into(), &kind.into()), "{each:#}");
}

/// Segments of 64 KiB at 1 MB/s are 66 ms apart: in most samples no data is in flight.
#[test]
fn a_rate_that_was_asked_for_is_seen_between_two_segments() {
    let said = said("paced");
    for control in ["bbr", "cubic"] {
        found(sender(&said, control), "pacing", "paced");
    }
    found(sender(&said, "slower"), "sender_application", "sender_idle");
}

#[test]
fn a_connection_that_the_peer_closed_and_the_program_keeps() {
    let said = said("closed");
    let state = |name: &str, state: &str| -> Vec<Value> {
        let all = said[name].as_array().unwrap().iter();
        all.filter(|each| each["state"] == state).cloned().collect()
    };
    let left = state("left", "close_wait");
    assert_eq!(left.len(), 3, "{said:#}");
    for each in &left {
        found(each, "peer_closed", "close_wait");
        let evidence = each["evidence"].to_string();
        assert!(evidence.contains("has not read the end"), "{evidence}");
        assert!(evidence.contains("has 3 such connections"), "{evidence}");
    }
    let text = said["text"].as_str().unwrap();
    assert_eq!(text.matches("has closed the connection").count(), 1, "{text}");
    assert!(text.contains("  and 2 more like it\nand 3 more, idle\n"), "{text}");
    assert!(state("left", "fin_wait2").iter().all(|each| each["limit"] == "idle"), "{said:#}");
    let open = state("open", "established");
    assert_eq!(open.len(), 6);
    open.iter().for_each(|each| found(each, "idle", "idle"));
    let answers = state("answers", "close_wait");
    assert_eq!(answers.len(), 3);
    answers.iter().for_each(|each| found(each, "sender_application", "sender_idle"));
}

/// A queue of 2 accepts 3 connections; of 6, the others get no reply.
#[test]
fn a_listen_queue_that_is_full_is_seen_from_both_ends() {
    let said = said("queue");
    let all = said["full"].as_array().unwrap();
    found(&all[0], "accept_queue", "listen_queue_full");
    assert_eq!((&all[0]["remote"], &all[0]["process"]), (&"*".into(), &"python3".into()), "{said:#}");
    assert!(all[0]["evidence"][0].as_str().unwrap().starts_with("3 connections"), "{said:#}");
    let of = |all: &[Value], kind: &str| all.iter().filter(|each| each["kind"] == kind).count();
    assert_eq!((of(all, "not_accepted"), of(all, "peer_does_not_accept")), (3, 3), "{said:#}");
    let half = said["half"].as_array().unwrap();
    assert_eq!((of(half, "not_accepted"), of(half, "idle"), half.len()), (3, 3, 6), "{said:#}");
}

/// 199 bytes wait until the previous 200 bytes are acknowledged, which takes 40 ms.
#[test]
fn small_pieces_wait_for_acknowledgements_that_are_delayed() {
    let said = said("small");
    let delayed = sender(&said, "delayed");
    found(delayed, "nagle", "nagle");
    assert!(delayed["evidence"][0].as_str().unwrap().contains("up to 199 B"), "{delayed:#}");
    assert_eq!(delayed["is_inferred"], false);
    found(sender(&said, "at once"), "sender_application", "sender_idle");
}

#[test]
fn a_subflow_s_window_and_queue_are_its_connection_s() {
    let said = said("multipath");
    let slow = said["slow"].as_array().unwrap();
    assert_eq!(slow.len(), 2, "{said:#}");
    assert!(slow.iter().all(|each| each["is_subflow"] == true), "{slow:#?}");
    let end = |all: &[Value], role: &str| all.iter().find(|each| each["role"] == role).unwrap().clone();
    found(&end(slow, "receiver"), "receiver_application", "reads_slowly");
    // It may resemble the window of a small buffer, but neither a path nor an idle program.
    let limits = ["receiver_application", "receiver_window", "other_end"];
    assert!(limits.contains(&end(slow, "sender")["limit"].as_str().unwrap()), "{slow:#?}");
    let quick = said["quick"].as_array().unwrap();
    found(&end(quick, "receiver"), "other_end", "other_end");
    found(&end(quick, "sender"), "sender_application", "sender_idle");
    let plain = sender(&said, "plain");
    assert_eq!((&plain["is_subflow"], &plain["limit"]), (&false.into(), &"pacing".into()), "{plain:#}");
}

/// The finding must report that a slow reader resembles a small buffer.
#[test]
fn a_reader_of_two_megabytes_a_second_is_no_path() {
    let said = said("even");
    for (name, _) in said.as_object().unwrap() {
        let each = sender(&said, name);
        let limits = ["receiver_application", "receiver_window", "other_end"];
        assert!(limits.contains(&each["limit"].as_str().unwrap()), "{name}: {each:#}");
    }
}

#[test]
fn connections_that_have_ended_are_counted() {
    let said = said("ended");
    let text = said["text"].as_str().unwrap();
    assert!(text.contains("no open TCP connection here; 50 have ended"), "{text}");
    assert_eq!(said["few"], serde_json::json!([]));
    assert_eq!(said["used again"], serde_json::json!([]));
    let many = said["many"].as_array().unwrap();
    assert_eq!(many.len(), 1, "{said:#}");
    found(&many[0], "source_ports", "source_ports");
}
