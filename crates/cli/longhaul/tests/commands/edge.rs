//! Tests of a running data centre and of its operator's commands.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
};

use nix::sys::signal::Signal;

use crate::harness::{Ended, Folder, LONGHAUL, Running, longhaul, number, wait_until};

struct Edge {
    folder: Folder,
    file: String,
    front: String,
    admin: String,
    token: String,
    running: Running,
    _origin: Running,
}

impl Edge {
    fn start() -> Self {
        Self::before("0ms")
    }

    fn before(service_time: &str) -> Self {
        let mut serve = Command::new(LONGHAUL);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--body", "1KB", "--service-time", service_time]);
        let (origin, at) = Running::listening(&mut serve);
        let token = longhaul(&["edge", "token", "--json"]).json();
        let folder = Folder::new();
        let text = network(at.trim_end_matches('/'), token["sha256"].as_str().unwrap());
        let file = folder.file("network.toml", text);
        let admin = free_address();
        let mut run = Command::new(LONGHAUL);
        let (running, front) = Running::listening(run.args(["edge", "run", &file, "--admin", &admin]));
        let front = front.trim_end_matches('/').to_owned();
        let token = token["token"].as_str().unwrap().to_owned();
        Self { folder, file, front, admin, token, running, _origin: origin }
    }

    fn get(&self, path: &str, requests: &str) {
        let url = format!("{}{path}", self.front);
        // `measured` accepts runs on a busy machine.
        longhaul(&["probe", &url, "--count", requests, "--json"]).measured();
    }

    fn ask(&self, words: &[&str]) -> Ended {
        Ended::of(
            Command::new(LONGHAUL)
                .arg("edge")
                .args(words)
                .args(["--admin", &self.admin])
                .env("LONGHAUL_TOKEN", &self.token)
                .output()
                .unwrap(),
        )
    }
}

fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn network(origin: &str, hash: &str) -> String {
    format!(
        "[network]\nname = \"n\"\n[admin]\ntokens = [\"{hash}\"]\n\
         [[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\n\
         [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"{origin}\"]\n\
         [[zone.rule]]\npath = \"/kept/*\"\nedge_ttl = \"1h\"\n"
    )
}

#[test]
fn what_is_kept_is_counted_explained_and_purged() {
    let edge = Edge::start();
    edge.get("/kept/a", "5");
    let status = edge.ask(&["status", "--json"]).json();
    assert_eq!(status["data_centre"], "lhr");
    let requests = &status["requests"];
    assert_eq!(
        (number(requests, "/total"), number(requests, "/by_cache_status/miss")),
        (5.0, 1.0),
        "{status}"
    );
    assert_eq!(number(&status, "/origins/0/requests"), 1.0);

    let url = format!("{}/kept/a", edge.front);
    let explained = edge.ask(&["explain", &url, "--json"]).json();
    assert_eq!((&explained["zone"], &explained["stored"]), (&"shop".into(), &true.into()));
    assert!(explained["rule"].as_str().unwrap().ends_with("network.toml:12:1"), "{explained}");
    assert!(edge.ask(&["explain", &url]).ok().contains("fresh for 3600 s by the rule's edge_ttl"));

    let purged = edge.ask(&["purge", "shop", "--url", &url, "--hard", "--json"]).json();
    assert_eq!((number(&purged, "/epoch"), number(&purged, "/objects")), (1.0, 1.0));
    edge.get("/kept/a", "1");
    let status = edge.ask(&["status", "--json"]).json();
    assert_eq!((number(&status, "/origins/0/requests"), number(&status, "/epoch")), (2.0, 1.0));
    assert!(edge.ask(&["status"]).ok().starts_with("lhr: 6 requests, purge epoch 1\n"));

    let mut operator = TcpStream::connect(&edge.admin).unwrap();
    operator.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    operator.read_to_string(&mut page).unwrap();
    assert!(page.contains("text/plain; version=0.0.4"), "{page}");
    assert!(page.contains("longhaul_edge_requests_total{data_centre=\"lhr\",cache=\"hit\"} 4\n"), "{page}");
}

#[test]
fn nobody_purges_without_a_token_or_what_is_not_there() {
    let mut edge = Edge::start();
    assert!(edge.ask(&["purge", "shop"]).refused().contains("nothing to purge"));
    assert!(edge.ask(&["purge", "shoe", "--everything"]).refused().contains("no zone \"shoe\", only shop"));
    edge.token = "another".to_owned();
    assert!(edge.ask(&["purge", "shop", "--everything"]).refused().contains("the request has no token"));
}

#[test]
fn a_hangup_reads_the_file_again_and_a_mistake_changes_nothing() {
    let mut edge = Edge::start();
    let text = std::fs::read_to_string(&edge.file).unwrap();
    edge.folder.file("network.toml", text.replace("/kept/", "/other/"));
    edge.running.signal(Signal::SIGHUP);
    edge.running.says("the network's file was reloaded");
    edge.get("/kept/a", "2");
    assert_eq!(number(&edge.ask(&["status", "--json"]).json(), "/origins/0/requests"), 2.0);
    edge.folder.file("network.toml", text.replace("hosts", "hoste"));
    edge.running.signal(Signal::SIGHUP);
    let said = edge.running.says("the network is unchanged: ");
    assert!(said.contains("network.toml:10:1: unknown field `hoste`"), "{said}");
    assert_eq!(edge.ask(&["status", "--json"]).json()["data_centre"], "lhr");
    edge.running.signal(Signal::SIGTERM);
    wait_until(|| edge.ask(&["status"]).code == Some(2));
    assert!(edge.ask(&["status"]).refused().contains("no response from"));
    assert_eq!(edge.running.wait(), Some(0));
}

#[test]
fn what_is_in_flight_when_it_is_stopped_arrives_whole() {
    let edge = Edge::before("300ms");
    let address = edge.front.strip_prefix("http://").unwrap().to_owned();
    let mut visitor = TcpStream::connect(&address).unwrap();
    visitor.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    wait_until(|| number(&edge.ask(&["status", "--json"]).json(), "/origins/0/in_flight") > 0.5);
    edge.running.signal(Signal::SIGTERM);
    let mut said = String::new();
    visitor.read_to_string(&mut said).unwrap();
    assert!(said.contains("connection: close\r\n") && said.len() > 1000, "{said}");
    assert_eq!(edge.running.wait(), Some(0));
    TcpStream::connect(&address).unwrap_err();
}

#[test]
fn a_certificate_of_an_authority_of_ones_own_is_shown_and_renewed() {
    let folder = Folder::new();
    let [old, new] = ["old", "new"].map(|name| folder.path(name).display().to_string());
    for place in [&old, &new] {
        longhaul(&["edge", "ca", "new", place]).ok();
        let signed = longhaul(&["edge", "ca", "issue", place, "lhr", "--for", "127.0.0.1", "--json"]).json();
        assert_eq!(signed["certificate"], format!("{place}/lhr.pem"));
    }
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.path(name));
    let install = |place: &str| {
        std::fs::copy(format!("{place}/lhr.pem"), &certificate).unwrap();
        std::fs::copy(format!("{place}/lhr-key.pem"), &key).unwrap();
    };
    install(&old);
    let mut serve = Command::new(LONGHAUL);
    let (_origin, at) = Running::listening(serve.args(["serve", "--listen", "127.0.0.1:0"]));
    let tls = format!(
        "listen_tls = [\"127.0.0.1:0\"]\ncertificate = \"{}\"\nkey = \"{}\"",
        certificate.display(),
        key.display()
    );
    let text = network(at.trim_end_matches('/'), &"a".repeat(64)).replace("listen = [\"127.0.0.1:0\"]", &tls);
    let file = folder.file("network.toml", text);
    let (mut running, front) = Running::listening(Command::new(LONGHAUL).args(["edge", "run", &file]));
    let ask = |place: &str| longhaul(&["probe", &front, "--ca", &format!("{place}/ca.pem"), "--quiet"]).code;
    assert_eq!((ask(&old), ask(&new)), (Some(0), Some(1)));
    install(&new);
    running.signal(Signal::SIGHUP);
    running.says("the network's file was reloaded");
    assert_eq!((ask(&old), ask(&new)), (Some(1), Some(0)));
    folder.file("key.pem", "nothing");
    running.signal(Signal::SIGHUP);
    assert!(running.says("the network is unchanged: ").contains("key.pem"));
    assert_eq!(ask(&new), Some(0));
}

#[test]
fn a_network_is_checked_without_running_it() {
    let folder = Folder::new();
    let file = folder.file("network.toml", network("http://127.0.0.1:1", &"a".repeat(64)));
    let checked = longhaul(&["edge", "check", &file, "--json"]).json();
    assert_eq!(checked["zones"][0]["origins"], serde_json::json!(["http://127.0.0.1:1"]));
    assert!(
        longhaul(&["edge", "check", &file]).ok().contains("zone shop: * from http://127.0.0.1:1, 1 rule")
    );
    let said = longhaul(&["edge", "run", &file, "--data-centre", "lhs"]).refused();
    assert!(said.contains("did you mean \"lhr\"?"), "{said}");
}

#[test]
fn what_visitors_will_say_against_a_certificate_is_said_when_it_is_checked() {
    let folder = Folder::new();
    let place = folder.path("ca").display().to_string();
    longhaul(&["edge", "ca", "new", &place]).ok();
    longhaul(&["edge", "ca", "issue", &place, "lhr", "--for", "shop.example"]).ok();
    let said = |certificate: &str| {
        let tls = format!(
            "listen_tls = [\"127.0.0.1:0\"]\ncertificate = \"{place}/{certificate}.pem\"\nkey = \"{place}/lhr-key.pem\""
        );
        let text = network("http://127.0.0.1:1", &"a".repeat(64)).replace("listen = [\"127.0.0.1:0\"]", &tls);
        let text = text.replace("[\"*\"]", "[\"shop.example\", \"*.shop.example\"]");
        let checked = longhaul(&["edge", "check", &folder.file("network.toml", text)]);
        assert_eq!(checked.code, Some(0));
        checked.stderr
    };
    let other = said("lhr");
    assert!(other.contains("warning: data centre lhr, certificate"), "{other}");
    assert!(
        other.contains("lhr.pem: it is not for www.shop.example") && other.lines().count() == 1,
        "{other}"
    );
    let gone = said("gone");
    assert!(gone.contains("data centre lhr: cannot use") && gone.contains("gone.pem"), "{gone}");
}

#[test]
fn what_would_stop_a_data_centre_is_found_when_its_file_is_checked() {
    let folder = Folder::new();
    let text = network("http://127.0.0.1:1", &"a".repeat(64));
    let log = folder.path("none/access.jsonl").display().to_string();
    let lines = format!("listen = [\"127.0.0.1:0\"]\naccess_log = \"{log}\"");
    let file = folder.file("network.toml", text.replace("listen = [\"127.0.0.1:0\"]", &lines));
    let line =
        1 + std::fs::read_to_string(&file).unwrap().lines().position(|line| line.contains(&log)).unwrap();
    let sentence = format!("the access log {log} cannot be written: No such file or directory");
    let stopped = longhaul(&["edge", "run", &file]).refused();
    assert!(stopped.contains(&sentence), "{stopped}");
    let warned = longhaul(&["edge", "check", &file]);
    assert_eq!(warned.code, Some(0));
    assert!(warned.stderr.contains("warning:") && warned.stderr.contains(&sentence), "{}", warned.stderr);
    let found = longhaul(&["edge", "check", &file, "--data-centre", "lhr"]).refused();
    assert!(found.contains(&format!("{file}:{line}:14: data centre lhr: {sentence}")), "{found}");
    let said = longhaul(&["edge", "check", &file, "--data-centre", "lhs"]).refused();
    assert!(said.contains("did you mean \"lhr\"?"), "{said}");
    std::fs::create_dir(folder.path("none")).unwrap();
    longhaul(&["edge", "check", &file, "--data-centre", "lhr"]).ok();
    assert!(!folder.path("none/access.jsonl").exists());
}

#[test]
fn a_cache_runs_in_front_of_an_origin_without_a_file() {
    let mut serve = Command::new(LONGHAUL);
    serve.args(["serve", "--listen", "127.0.0.1:0", "-H", "Cache-Control: max-age=60"]);
    let (_origin, at) = Running::listening(&mut serve);
    let to = at.trim_end_matches('/');
    let admin = free_address();
    let mut run = Command::new(LONGHAUL);
    run.args(["edge", "run", "--from", ":0", "--to", to, "--admin", &admin]);
    let (mut running, front) = Running::listening(&mut run);
    assert!(front.starts_with("http://127.0.0.1:"), "{front}");
    longhaul(&["probe", &front, "--count", "3", "--json"]).measured();
    let status = longhaul(&["edge", "status", "--json", "--admin", &admin]).json();
    assert_eq!(number(&status, "/requests/by_cache_status/hit"), 2.0);
    running.signal(Signal::SIGHUP);
    running.says("the network is unchanged: this data centre runs without a network file");
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait(), Some(0));

    for (words, why) in [
        (&["--from", ":0"][..], "--to <URL>"),
        (&["--to", to], "--from <[ADDRESS:]PORT>"),
        (&["network.toml", "--from", ":0", "--to", to], "cannot be used with"),
        (&["--from", ":0", "--to", "127.0.0.1:80"], "it has to begin with http:// or https://"),
        (&["--from", ":5", "--from", ":5", "--to", to], "127.0.0.1:5 is given twice"),
        (&[], "longhaul edge run [OPTIONS] --from <[ADDRESS:]PORT> --to <URL>"),
    ] {
        let said = longhaul(&[&["edge", "run"], words].concat()).refused();
        assert!(said.contains(why), "{words:?}: {said}");
    }
}

#[test]
fn init_writes_a_valid_file_and_never_replaces_one() {
    let folder = Folder::new();
    let file = folder.path("network.toml").display().to_string();
    let init = |words: &[&str]| {
        let mut command = Command::new(LONGHAUL);
        Ended::of(
            command.args(["edge", "init"]).args(words).stdin(std::process::Stdio::null()).output().unwrap(),
        )
    };
    let to = ["--to", "http://127.0.0.1:8000"];
    let written = init(&[&[&*file, "--kv", ":4490", "--json"], &to[..]].concat()).json();
    assert_eq!(written["schema"], "longhaul.edge.init/1");
    assert_eq!(written["token"].as_str().unwrap().len(), 48);
    assert!(longhaul(&["edge", "check", &file]).ok().contains("namespace default: id "));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(init(&[&[&*file], &to[..]].concat()).refused().contains("network.toml: already exists"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert!(
        init(&[&[&*file], &to[..], &["--json", "--host", "a b"]].concat())
            .refused()
            .contains("already exists")
    );
    let other = folder.path("other.toml").display().to_string();
    let refused = init(&[&[&*other], &to[..], &["--host", "a b"]].concat()).refused();
    assert!(refused.contains("\"a b\" is not a host") && !std::path::Path::new(&other).exists(), "{refused}");
    assert!(init(&[&*other]).refused().contains("--to is missing"));
    let refused = init(&[&[&*other], &to[..], &["--host", "a:80"]].concat()).refused();
    assert!(refused.contains("\"a:80\" has a port"), "{refused}");
    let refused = init(&[&[&*other], &to[..], &["--from", ":4480"]].concat()).refused();
    assert!(refused.contains("127.0.0.1:4480 is given twice"), "{refused}");
    let nowhere = folder.path("nowhere/network.toml").display().to_string();
    assert!(init(&[&[&*nowhere], &to[..]].concat()).refused().contains("nowhere: no such directory"));
    assert!(init(&[&["-"], &to[..]].concat()).ok().contains("\norigin = [\"http://127.0.0.1:8000\"]\n"));
}
