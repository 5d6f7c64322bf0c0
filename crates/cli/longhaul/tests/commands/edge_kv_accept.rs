//! A store in NATS whose stream is missing after a restart.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{
    documents,
    harness::{Ended, Folder, LONGHAUL, Running, free_address, longhaul, wait_until},
};

struct Nats {
    folder: Folder,
    address: String,
    process: Child,
}

impl Nats {
    fn start() -> Self {
        let (folder, address) = (Folder::new(), free_address());
        let place = folder.path("nats").display().to_string();
        folder.file("nats.conf", format!("listen: \"{address}\"\njetstream {{ store_dir: \"{place}\" }}\n"));
        let process = run_server(&folder, &address);
        Self { folder, address, process }
    }

    fn end(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn lose(&mut self) {
        self.end();
        fs::remove_dir_all(self.folder.path("nats")).unwrap();
        self.process = run_server(&self.folder, &self.address);
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run_server(folder: &Folder, address: &str) -> Child {
    let program = std::env::var("NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
    let mut server = Command::new(program);
    server.arg("-c").arg(folder.path("nats.conf")).stdout(Stdio::null()).stderr(Stdio::null());
    let server = server.spawn().expect("nats-server is installed: sh xtask/tools.sh test");
    wait_until(|| TcpStream::connect(address).is_ok());
    server
}

fn end(running: Running) {
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait(), Some(0));
}

fn metrics(admin: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

#[test]
fn a_stream_that_is_gone_after_a_restart_is_refused_until_it_is_accepted() {
    let mut nats = Nats::start();
    let token = longhaul(&["edge", "token", "--json"]).json();
    let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap().to_owned());
    let (folder, at, admin) = (Folder::new(), free_address(), free_address());
    let text = format!(
        "[network]\nname = \"n\"\n\
         [admin]\ntokens = [\"{hash}\"]\n\
         [[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\nadmin = \"{admin}\"\ndisk = \"{}\"\ndisk_size = \"1GB\"\n\
         [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:1\"]\n\
         [kv]\nlisten = [\"{at}\"]\nstore = \"nats://{}\"\n\
         [[kv.namespace]]\nname = \"sessions\"\ntokens = [\"{hash}\"]\n",
        folder.path("cache").display(),
        nats.address,
    );
    let file = folder.file("network.toml", text);
    let run = || Running::listening(Command::new(LONGHAUL).args(["edge", "run", &file])).0;
    let kv = |words: &[&str]| {
        let mut command = Command::new(LONGHAUL);
        command.args(["edge", "kv"]).args(words).env("LONGHAUL_TOKEN", &token);
        Ended::of(command.output().unwrap())
    };
    let key = |words: &[&str]| kv(&[words, &["--at", &at]].concat());
    let accept = |words: &[&str]| kv(&[&["accept", "--admin", &admin], words].concat());
    let status = || longhaul(&["edge", "status", "--json", "--admin", &admin]).json()["kv"].clone();
    let running = run();
    wait_until(|| status()["error"].is_null());
    assert_eq!(accept(&[]).ok(), "no stream is refused\n");
    let none = accept(&["--json"]).json();
    assert_eq!((&none["refused"], &none["is_accepted"]), (&Value::Null, &Value::Bool(false)));
    for number in 0..3 {
        key(&["put", &format!("k{number}"), "v"]).ok();
    }
    end(running);
    nats.lose();
    let running = run();
    wait_until(|| status()["refused_stream"].is_object());
    let refused = key(&["get", "k1"]).refused();
    assert!(refused.contains("stream LONGHAUL_KV is missing: expected the one created "), "{refused}");
    let shown = longhaul(&["edge", "status", "--admin", &admin]).ok();
    assert!(shown.contains("not answering: stream LONGHAUL_KV is missing"), "{shown}");
    assert!(metrics(&admin).contains("longhaul_edge_kv_stream_refused{data_centre=\"lhr\"} 1\n"));
    let told = accept(&[]);
    assert_eq!(told.code, Some(1));
    assert!(
        told.stdout.contains("last sequence 3, 3 keys\nfound:    missing\n--yes accepts it"),
        "{}",
        told.stdout
    );
    let shown = accept(&["--json"]);
    documents::keep(&shown.stdout);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((shown.code, &document["refused"]["expected"]["last_sequence"]), (Some(1), &3.into()));
    assert!(status()["refused_stream"].is_object(), "nothing has changed");
    assert!(accept(&["--yes"]).ok().ends_with("accepted\n"));
    assert!(metrics(&admin).contains("longhaul_edge_kv_stream_refused{data_centre=\"lhr\"} 0\n"));
    assert!(key(&["put", "k1", "again"]).ok().starts_with("k1: version "));
    end(running);
    let _running = run();
    wait_until(|| status()["error"].is_null());
    assert_eq!(status()["keys"], 1);
}
