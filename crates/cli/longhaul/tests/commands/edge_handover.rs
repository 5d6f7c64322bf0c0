//! Hot restarts of a data centre: successful, failed, and with sockets from systemd.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use crate::harness::{Ended, Folder, LONGHAUL, Running, longhaul, number, wait_until};

struct Place {
    folder: Folder,
    admin: String,
    origin: String,
    token: String,
    hash: String,
    _origin: Running,
}

impl Place {
    fn new() -> Self {
        let mut serve = Command::new(LONGHAUL);
        let (running, origin) =
            Running::listening(serve.args(["serve", "--listen", "127.0.0.1:0", "--body", "1KB"]));
        let token = longhaul(&["edge", "token", "--json"]).json();
        let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap().to_owned());
        let admin = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let origin = origin.trim_end_matches('/').to_owned();
        Self { folder: Folder::new(), admin, origin, token, hash, _origin: running }
    }

    fn network(&self, name: &str, centre: &str) -> String {
        let text = format!(
            "[network]\nname = \"n\"\n[admin]\ntokens = [\"{}\"]\n\
             [[data_centre]]\nname = \"{name}\"\nlisten = [\"127.0.0.1:0\"]\nadmin = \"{}\"\nhandover = \"{}\"\n{centre}\n\
             [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"{}\"]\n\
             [[zone.rule]]\npath = \"/kept/*\"\nedge_ttl = \"1h\"\n",
            self.hash,
            self.admin,
            self.folder.path("handover").display(),
            self.origin
        );
        self.folder.file("network.toml", text)
    }

    fn with_disk(&self) -> String {
        self.network("lhr", &format!("disk = \"{}\"", self.folder.path("disk").display()))
    }

    fn ask(&self, words: &[&str]) -> Ended {
        let mut command = Command::new(LONGHAUL);
        command.arg("edge").args(words).args(["--admin", &self.admin]).env("LONGHAUL_TOKEN", &self.token);
        Ended::of(command.output().unwrap())
    }

    fn status(&self) -> serde_json::Value {
        self.ask(&["status", "--json"]).json()
    }
}

fn run(file: &str, more: &[&str]) -> (Running, String) {
    let (running, front) = Running::listening(Command::new(LONGHAUL).args(["edge", "run", file]).args(more));
    (running, front.trim_start_matches("http://").trim_end_matches('/').to_owned())
}

fn get(front: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(front)?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    Ok(said)
}

#[test]
fn visitors_notice_nothing_when_one_process_takes_the_place_of_another() {
    let place = Place::new();
    let file = place.with_disk();
    let (mut old, front) = run(&file, &[]);
    get(&front, "/kept/a").unwrap();
    assert_eq!(number(&place.ask(&["purge", "shop", "--tag", "x", "--json"]).json(), "/epoch"), 1.0);
    let mut idle = TcpStream::connect(&front).unwrap();

    let is_over = Arc::new(AtomicBool::new(false));
    let visitors: Vec<_> = (0..4)
        .map(|_| {
            let (front, is_over) = (front.clone(), Arc::clone(&is_over));
            thread::spawn(move || {
                while !is_over.load(SeqCst) {
                    let said = get(&front, "/kept/a").unwrap();
                    assert!(said.contains("cache-status: lhr; hit") && said.len() > 1000, "{said}");
                }
            })
        })
        .collect();
    let (new, same) = run(&file, &["--take-over"]);
    assert_eq!(same, front);
    old.says("another process has taken over");
    idle.write_all(b"GET /kept/a HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut said = String::new();
    idle.read_to_string(&mut said).unwrap();
    assert!(said.contains("connection: close\r\n") && said.contains("lhr; hit"), "{said}");
    assert_eq!(old.wait(), Some(0));
    get(&front, "/kept/a").unwrap();
    is_over.store(true, SeqCst);
    visitors.into_iter().for_each(|visitor| visitor.join().unwrap());

    let status = place.status();
    assert_eq!(number(&status, "/epoch"), 1.0);
    assert_eq!(number(&status, "/requests/by_cache_status/miss"), 0.0);
    let (_third, same) = run(&file, &["--take-over"]);
    assert_eq!((same, new.wait()), (front, Some(0)));
}

#[test]
fn a_process_that_cannot_take_the_place_leaves_all_as_it_was() {
    let place = Place::new();
    let file = place.with_disk();
    let (mut old, front) = run(&file, &[]);
    let said = longhaul(&["edge", "run", &file]).refused();
    assert!(said.contains("a data centre is already running; --take-over replaces it"), "{said}");

    let refused = |file: &str| longhaul(&["edge", "run", file, "--take-over"]).refused();
    let said = refused(&place.network("jfk", ""));
    assert!(said.contains("this is data centre lhr"), "{said}");
    old.says("no other process took over");
    let said = refused(&place.network("lhr", "access_log = \"/nowhere/log\""));
    assert!(said.contains("/nowhere/log"), "{said}");
    old.says("no other process took over");
    assert!(place.status()["store"]["disk_error"].is_null());

    // The successor detects this error after its predecessor has released the disk.
    let wrong = place.folder.file("no-directory", "");
    refused(&place.network("lhr", &format!("disk = \"{wrong}\"")));
    old.says("no other process took over");
    let status = place.status();
    let why = status["store"]["disk_error"].as_str().unwrap();
    assert!(why.contains("the directory was released to another process"), "{status}");
    get(&front, "/kept/a").unwrap();
    assert!(get(&front, "/kept/a").unwrap().contains("lhr; hit"));
    place.ask(&["purge", "shop", "--everything", "--hard"]).ok();
    assert!(get(&front, "/kept/a").unwrap().contains("fwd=uri-miss"));

    let (_new, same) = run(&place.with_disk(), &["--take-over"]);
    assert_eq!((same, old.wait()), (front, Some(0)));
    assert!(place.status()["store"]["disk_error"].is_null());
}

#[test]
fn a_place_that_nobody_has_is_taken_all_the_same() {
    let place = Place::new();
    let file = place.network("lhr", "");
    let (old, _) = run(&file, &["--take-over"]);
    drop(old);
    assert!(place.folder.path("handover").exists());
    let (new, front) = run(&file, &["--take-over"]);
    get(&front, "/").unwrap();
    new.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(new.wait(), Some(0));
    wait_until(|| !place.folder.path("handover").exists());
    let bare = std::fs::read_to_string(&file).unwrap().replace("handover", "#");
    let said = longhaul(&["edge", "run", &place.folder.file("bare.toml", bare), "--take-over"]).refused();
    assert!(said.contains("has no handover = PATH"), "{said}");
}

#[test]
fn a_socket_that_listens_already_is_used() {
    let place = Place::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let front = socket.local_addr().unwrap().to_string();
    let file = place.network("lhr", "");
    let text = std::fs::read_to_string(&file).unwrap();
    let file = place.folder.file("network.toml", text.replace("127.0.0.1:0", &front));
    let early = thread::spawn({
        let front = front.clone();
        move || get(&front, "/early").unwrap()
    });
    // Like systemd: descriptors from 3 on, and the process id of their owner.
    let shell = "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" edge run \"$1\" 3<&0 </dev/null";
    let mut command = Command::new("sh");
    command.args(["-c", shell, LONGHAUL, &file]).stdin(Stdio::from(std::os::fd::OwnedFd::from(socket)));
    let mut running = Running::with_stdin(command.stderr(Stdio::piped()));
    assert_eq!(running.says("listening on "), format!("http://{front}/"));
    assert!(early.join().unwrap().starts_with("HTTP/1.1 200 OK\r\n"));
}
