//! `longhaul speed`: server and client, on loopback and over a line on a planet.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::harness::{Ended, Folder, LONGHAUL, Running, World, longhaul, number, wait_until};

fn serve(arguments: &[&str]) -> (Running, String) {
    let server = ["speed", "serve", "--listen", "127.0.0.1:0"];
    Running::listening(Command::new(LONGHAUL).args(server).args(arguments))
}

const SMALL: &str =
    "[[step]]\nlatency = 3\n[[step]]\ndownload = '200KB'\ncount = 2\n[[step]]\nupload = '100KB'\n";

#[test]
fn a_test_is_a_document_a_text_and_a_recording() {
    let (_server, url) = serve(&[]);
    let folder = Folder::new();
    let plan = folder.file("small.toml", SMALL);
    let recordings = ["a.jsonl", "b.jsonl"].map(|name| folder.path(name).display().to_string());
    let test = |more: &[&str]| longhaul(&[&["speed", "test", &url, "--plan", &plan], more].concat());
    let found = test(&["--json", "--record", &recordings[0], "--label", "before"]).json();
    assert_eq!((found["schema"].as_str(), found["plan"].as_str()), (Some("longhaul.speed/1"), Some("small")));
    assert_eq!(number(&found, "/download/sets/0/bytes"), 200_000.0);
    assert_eq!((number(&found, "/download/sets/0/n"), number(&found, "/upload/sets/0/n")), (2.0, 1.0));
    assert_eq!(number(&found, "/latency/idle_ms/n"), 3.0);
    assert_eq!(found["latency"]["samples"].as_array().unwrap().len(), 3);
    assert_eq!(found["loss"], Value::Null);
    let missing = found["missing"].as_array().unwrap();
    assert!(missing.iter().any(|missing| missing["what"] == "loss"), "{missing:?}");
    assert!(number(&found, "/scores/rtc/points") < number(&found, "/scores/rtc/points_at_best"));

    let text = test(&["--record", &recordings[1]]).ok();
    for words in
        ["plan small", "download 200KB", "streaming", "packet loss was not measured", "not measured: loss"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let compared = longhaul(&["compare", &recordings[0], &recordings[1], "--json"]).measured();
    assert_eq!(["0", "1"].map(|side| number(&compared, &format!("/sides/{side}/n"))), [3.0; 2]);
    assert_eq!(compared["sides"][0]["label"], "before");

    let file = folder.file("found.json", found.to_string());
    let scored = longhaul(&["speed", "score", &file, "--json"]).json();
    assert_eq!(scored["scores"], found["scores"]);
    assert_eq!((&scored["sentence"], &scored["rubric"]), (&found["sentence"], &found["rubric"]));
}

#[test]
fn a_result_is_left_at_a_server_that_keeps_results() {
    let token = longhaul(&["speed", "token", "--json"]).json();
    let folder = Folder::new();
    let file = folder.path("results.redb").display().to_string();
    let plan = folder.file("small.toml", SMALL);
    let (_server, url) =
        serve(&["--keep", &file, "--keep-for", "2d", "--operator", token["sha256"].as_str().unwrap()]);
    let kept = longhaul(&["speed", "test", &url, "--plan", &plan, "--quiet", "--json", "--keep"]);
    let link = kept.stderr.split_once("kept: ").map(|(_, link)| link.trim().to_owned()).unwrap();
    let outcome = kept.json();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let id = link.strip_prefix(&format!("http://{address}/#k=")).unwrap();
    let found: Value = serde_json::from_str(&body(address, &format!("/__kept?id={id}"), "")).unwrap();
    assert_eq!(found["latency"]["samples"], outcome["latency"]["samples"]);
    let authorization = format!("Authorization: Bearer {}\r\n", token["token"].as_str().unwrap());
    let overview: Value = serde_json::from_str(&body(address, "/operator.json", &authorization)).unwrap();
    assert_eq!((&overview["kept"], &overview["keep_for_s"]), (&1.into(), &(2 * 86_400).into()));
    assert_eq!(overview["latest"][0]["id"], id);

    let said = longhaul(&["speed", "serve", "--listen", "127.0.0.1:0", "--keep", &file]).refused();
    assert!(said.contains("results.redb is in use by another process"), "{said}");
    let said = longhaul(&["speed", "serve", "--keep", &file, "--operator", "secret"]).refused();
    assert!(said.contains("64 hexadecimal digits"), "{said}");
    let (_forgetful, url) = serve(&[]);
    let said = longhaul(&["speed", "test", &url, "--plan", &plan, "--quiet", "--keep"]).refused();
    assert!(
        said.contains("keeps no results; a server does with `longhaul speed serve --keep FILE`"),
        "{said}"
    );
    assert!(longhaul(&["speed", "token"]).ok().contains("--operator"));
}

fn body(address: &str, path: &str, fields: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{fields}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}

#[test]
fn figures_are_scored_without_a_test() {
    let folder = Folder::new();
    let close = folder.file(
        "close.json",
        r#"{"download_bps": 25.7e6, "upload_bps": 5.26e6, "idle_ms": 19.5, "jitter_ms": 37.9, "loss_ratio": 0}"#,
    );
    let scored = longhaul(&["speed", "score", &close, "--json"]).json();
    assert_eq!(
        (number(&scored, "/scores/streaming/points"), number(&scored, "/scores/streaming/points_at_best")),
        (10.0, 50.0)
    );
    assert_eq!(scored["scores"]["streaming"]["missing"], serde_json::json!(["loaded_increase"]));
    let text = longhaul(&["speed", "score", &close]).ok();
    assert!(text.contains("bad to good: 10 to 50 of 80 points"), "{text}");
    for (content, expected) in [
        ("{\n  \"idle\": 3\n}", "f.json:2:8: unknown field `idle`"),
        ("{\"loss_ratio\": 7.7}", "f.json: loss_ratio cannot be: a share is from 0 to 1"),
        ("{\"schema\": \"longhaul.ping/1\"}", "\"longhaul.ping/1\" is not what a speed test prints"),
        ("nothing", "f.json:1:2: expected"),
    ] {
        let file = folder.file("f.json", content);
        let said = longhaul(&["speed", "score", &file]).refused();
        assert!(said.contains(expected), "expected {expected}: {said}");
    }
}

#[test]
fn what_cannot_be_tested_is_refused_with_a_sentence() {
    let folder = Folder::new();
    let nonsense = folder.file("plan.toml", "[[step]]\ndonwload = '1MB'\n");
    let (_origin, other) =
        Running::listening(Command::new(LONGHAUL).args(["serve", "--listen", "127.0.0.1:0"]));
    for (arguments, expected) in [
        (
            ["http://127.0.0.1:1", "--plan", "quick"],
            "no server listens there: is `longhaul speed serve` running",
        ),
        (["ftp://a.example", "--plan", "quick"], "it has to begin with http:// or https://"),
        ([&other, "--plan", "quick"], "is not a speed server of Longhaul"),
        ([&other, "--plan", &nonsense], "plan.toml:2:1: unknown field `donwload`"),
        ([&other, "--plan", "fast"], "fast: cannot be read, and is no plan of ours (quick, full)"),
        ([&other, "--protocol", "http3"], "HTTP/3 is spoken over QUIC only"),
    ] {
        let said = longhaul(&[&["speed", "test"], &arguments[..]].concat()).refused();
        assert!(said.starts_with("error: ") && said.contains(expected), "expected {expected}: {said}");
    }
    let file = folder.path("none/a.jsonl");
    let said =
        longhaul(&["speed", "test", "http://127.0.0.1:1", "--record", file.to_str().unwrap()]).refused();
    assert!(said.contains("a.jsonl: cannot be written"), "{said}");
}

#[test]
fn an_interrupted_test_shows_what_it_has_and_a_server_says_what_it_did() {
    let mut server = Command::new(LONGHAUL);
    server
        .args(["speed", "serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"])
        .stderr(Stdio::piped());
    let mut server = Server(server.spawn().unwrap());
    let mut said = BufReader::new(server.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut says = |words: &str| said.find_map(|line| Some(line.split_once(words)?.1.to_owned())).unwrap();
    let url = says("listening on ");
    let metrics = says("metrics at http://");
    let folder = Folder::new();
    // 10 000 datagrams take 50 s; the test is interrupted meanwhile.
    let plan = folder.file("long.toml", "[[step]]\nlatency = 3\n[[step]]\nloss = 10000\n");
    let mut test = Command::new(LONGHAUL);
    test.args(["speed", "test", &url, "--plan", &plan, "--quiet", "--json"]).stdout(Stdio::piped());
    let test = test.spawn().unwrap();
    let in_the_middle = || {
        let told = get(metrics.trim_end_matches("/metrics"));
        !told.contains("longhaul_speed_datagrams_sent_back_total 0\n")
    };
    wait_until(in_the_middle);
    kill(Pid::from_raw(i32::try_from(test.id()).unwrap()), Signal::SIGINT).unwrap();
    let ended = Ended::of(test.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&found["interrupted"], number(&found, "/latency/idle_ms/n")), (&true.into(), 3.0));
    kill(Pid::from_raw(i32::try_from(server.0.id()).unwrap()), Signal::SIGTERM).unwrap();
    says("1 test, 0 B sent, 0 B received");
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    told
}

/// A line of 5 Mbit/s with HTTP/2: throughput, loss, and latency under load.
#[test]
fn a_line_of_a_planet_is_measured() {
    let planet = World::named("speed")
        .host("server", "frankfurt")
        .host("home", "london")
        .link("frankfurt", "london", "rtt = '20ms'\nrate = '5Mbit'\n")
        .up();
    let server = [LONGHAUL, "speed", "serve", "--listen", "0.0.0.0:443", "--tls"];
    let _server = Running::listening(&mut planet.command("server", &server));
    let folder = Folder::new();
    let plan = folder.file(
        "plan.toml",
        "probe_every = '100ms'\n[[step]]\nlatency = 2\n[[step]]\ndownload = '600KB'\n[[step]]\nupload = '600KB'\n\
         [[step]]\nloss = 50\n",
    );
    let test = ["speed", "test", "https://server", "--insecure", "--plan", &plan, "--json", "--quiet"];
    let found = planet.exec("home", &[&[LONGHAUL], &test[..]].concat()).json();
    assert_eq!(found["protocol"], "h2");
    for direction in ["download", "upload"] {
        assert_eq!(found[direction]["limited_by"], "network", "{found:#}");
        // The link's rate minus headers, a twentieth: 5 x 1448/1538.
        assert!(number(&found, &format!("/{direction}/bps_p90")) < 5e6);
    }
    // 600 KB take at least 0.96 s, with a probe every 0.1 s from 0.25 s on.
    assert!(
        number(&found, "/latency/loaded_down_ms") >= 20.0 && number(&found, "/latency/loaded_up_ms") >= 20.0
    );
    assert!(number(&found, "/latency/idle_ms/min") >= 20.0);
    assert!(number(&found, "/rpm/value") > 0.0);
    assert_eq!((number(&found, "/loss/sent"), number(&found, "/loss/lost")), (50.0, 0.0));
}
