//! A NATS server (`nats-server` from the distribution) in a temporary folder, with raw requests and
//! messages.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use tokio::time::sleep;

pub(super) struct Nats {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl Nats {
    pub(super) async fn start() -> Self {
        let mut nats = Self::absent();
        nats.begin().await;
        nats
    }

    pub(super) fn absent() -> Self {
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let place = folder.path().display();
        let settings = format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{place}\" }}\n");
        fs::write(folder.path().join("nats.conf"), settings).unwrap();
        Self { folder, port, process: None }
    }

    pub(super) async fn begin(&mut self) {
        self.spawn();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    pub(super) fn spawn(&mut self) {
        let program = std::env::var("NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let mut server = Command::new(program);
        server.arg("-c").arg(self.folder.path().join("nats.conf")).stdout(Stdio::null()).stderr(log);
        self.process = Some(server.spawn().expect("nats-server is installed: sh xtask/tools.sh test"));
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub(super) fn runs(&self) -> bool {
        self.process.is_some()
    }

    pub(super) fn line(&self, rest: &str) -> String {
        format!("bus = \"nats://127.0.0.1:{}{rest}\"\n", self.port)
    }

    pub(super) fn ask(&self, subject: &str, text: &str) -> String {
        let mut stream = self.connected();
        write!(stream.get_mut(), "SUB R 1\r\nPUB {subject} R {}\r\n{text}\r\n", text.len()).unwrap();
        loop {
            let line = line(&mut stream);
            let Some(rest) = line.strip_prefix("MSG R 1 ") else { continue };
            let mut answer = vec![0; rest.trim().parse().unwrap()];
            stream.read_exact(&mut answer).unwrap();
            return String::from_utf8(answer).unwrap();
        }
    }

    pub(super) fn tell(&self, subject: &str, text: &str) {
        let mut stream = self.connected();
        write!(stream.get_mut(), "PUB {subject} {}\r\n{text}\r\nPING\r\n", text.len()).unwrap();
        while !line(&mut stream).starts_with("PONG") {}
    }

    fn connected(&self) -> BufReader<TcpStream> {
        let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        assert!(line(&mut stream).starts_with("INFO"));
        stream.get_mut().write_all(b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\n").unwrap();
        stream
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    assert!(stream.read_line(&mut line).unwrap() > 0, "the server closed the connection");
    line
}
