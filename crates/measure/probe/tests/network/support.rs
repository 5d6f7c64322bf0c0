//! Test servers, and single requests.

use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
};

use probe::{
    ShutdownSignal,
    client::{self, Client, Target, Trust},
    serve::{self, Tls},
};
use recording::Sample;

pub struct Origin {
    pub ready: serve::Ready,
    scheme: &'static str,
    ca: tempfile::TempDir,
    stop: ShutdownSignal,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    Clear,
    Tls,
    Quic,
}

pub const V4: &str = "127.0.0.1:0";
pub const V6: &str = "[::1]:0";

pub fn origin(address: &str, security: Security, adjust: impl FnOnce(&mut serve::Config)) -> Origin {
    let ca = tempfile::tempdir().unwrap();
    let tls = (security != Security::Clear).then(|| Tls {
        write_ca: Some(ca.path().join("ca.pem")),
        http3: security == Security::Quic,
        ..Tls::default()
    });
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut config =
        serve::Config { listen: vec![address.parse().unwrap()], tls, ..serve::Config::default() };
    adjust(&mut config);
    let stop = ShutdownSignal::new();
    let (sender, receiver) = mpsc::channel();
    let asked = stop.clone();
    let thread = thread::spawn(move || {
        serve::serve(&config, |ready| sender.send(ready.clone()).unwrap(), &asked).unwrap();
    });
    Origin { ready: receiver.recv().unwrap(), scheme, ca, stop, thread: Some(thread) }
}

impl Origin {
    pub fn target(&self) -> Target {
        format!("{}://{}/", self.scheme, self.ready.addresses[0]).parse().unwrap()
    }

    pub fn ca(&self) -> PathBuf {
        self.ca.path().join("ca.pem")
    }

    pub fn client(&self) -> client::Config {
        let trust = if self.scheme == "https" { Trust::File(self.ca()) } else { Trust::System };
        config(|http| http.trust = trust)
    }

    pub fn client_with(&self, adjust: impl FnOnce(&mut http_stack::client::Config)) -> client::Config {
        let mut client = self.client();
        adjust(&mut client.http);
        client
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stop.request();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Calls `answer` for each connection, sequentially, until the test process ends.
pub struct Responder {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

pub fn responder(answer: impl Fn(TcpStream) + Send + 'static) -> Responder {
    let listener = TcpListener::bind(V4).unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Relaxed);
            answer(stream.unwrap());
        }
    });
    Responder { address, connections }
}

impl Responder {
    pub fn target(&self) -> Target {
        format!("http://{}/", self.address).parse().unwrap()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
}

pub fn read_request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::with_capacity(1, stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|&read| read > 0)?;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    Some(first)
}

pub fn config(adjust: impl FnOnce(&mut http_stack::client::Config)) -> client::Config {
    let mut config = client::Config::default();
    adjust(&mut config.http);
    config
}

pub fn fetch(config: &client::Config, targets: &[Target]) -> Vec<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = Client::new(config, &ShutdownSignal::new()).unwrap();
    runtime.block_on(async {
        let mut samples = Vec::new();
        for target in targets {
            samples.extend(client.fetch(target).await);
        }
        samples
    })
}

pub fn fetch_one(config: &client::Config, target: &Target) -> Sample {
    let mut samples = fetch(config, std::slice::from_ref(target));
    assert_eq!(samples.len(), 1);
    samples.remove(0)
}
