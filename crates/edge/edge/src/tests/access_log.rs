//! Access log: content of its lines, and rotation of its file.

use std::{fs, path::Path, sync::Arc};

use http_stack::{Body, Server, server::Delivery};
use recording::{Metric, Sample};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Fixture, with};
use crate::{
    config::LogFormat, request::handler::ClientHandler, server::worker_state::WorkerState,
    telemetry::access_log::AccessLog,
};

fn samples(path: &Path) -> Vec<Sample> {
    recording::open(path).unwrap().map(Result::unwrap).collect()
}

impl Fixture {
    fn logged(self, path: &Path) -> Self {
        self.logged_as(path, LogFormat::Recording)
    }

    fn logged_as(mut self, path: &Path, format: LogFormat) -> Self {
        let network = crate::Network::clone(&self.node.network());
        let log = AccessLog::open(path, format, "lhr", 1).unwrap();
        self.node = super::worker_state(Arc::new(crate::server::node::Node::new(
            "lhr".into(),
            network,
            1 << 20,
            None,
            Some(log),
            1,
        )));
        self
    }

    fn log(&self) -> &AccessLog {
        self.node.access_log.as_ref().unwrap()
    }
}

fn serve(worker: &Arc<WorkerState>, stop: http_stack::ShutdownSignal) -> std::net::SocketAddr {
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let address = server.addresses().unwrap()[0];
    let visitors = ClientHandler(Arc::clone(worker));
    tokio::spawn(async move { server.serve(visitors, &stop).await });
    address
}

#[tokio::test]
async fn combined_format_has_a_line_for_hits_and_misses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let fixture = Fixture::new("", |_, _| async { with("max-age=60", "twelve bytes") })
        .logged_as(&path, LogFormat::Combined);
    let address = serve(&fixture.node, fixture.stop.clone());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut text = String::new();
    for number in 0..4 {
        text += &format!(
            "GET /a?b HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: test/{number}\r\nReferer: https://r/\"\r\n\r\n"
        );
    }
    text += "POST / HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n";
    stream.write_all(text.as_bytes()).await.unwrap();
    stream.read_to_end(&mut Vec::new()).await.unwrap();
    fixture.log().close();
    let written = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = written.lines().collect();
    assert_eq!(lines.len(), 5, "{written}");
    for (number, line) in lines[..4].iter().enumerate() {
        let (client, rest) = line.split_once("] ").unwrap();
        assert!(client.starts_with("127.0.0.1 - - ["), "{line}");
        let expected = format!("\"GET /a?b HTTP/1.1\" 200 12 \"https://r/\\x22\" \"test/{number}\"");
        assert_eq!(rest, expected);
    }
    assert!(lines[4].contains("\"POST / HTTP/1.1\" 421 "), "{}", lines[4]);
    // Later processes append, as servers with this format do.
    let again = AccessLog::open(&path, LogFormat::Combined, "lhr", 1).unwrap();
    again.close();
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
}

#[tokio::test]
async fn each_request_has_a_line_with_its_cache_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.jsonl");
    let fixture = Fixture::new("", |_, _| async { with("max-age=60", "twelve bytes") }).logged(&path);
    let address = serve(&fixture.node, fixture.stop.clone());
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut text = String::new();
    for _ in 0..4 {
        text += "GET /a\"b HTTP/1.1\r\nHost: shop.example\r\n\r\n";
    }
    text += "GET / HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n";
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).await.unwrap();
    fixture.log().close();
    let lines = samples(&path);
    let column = |name: &str| -> Vec<_> {
        lines.iter().map(|line| line.label(name).map(std::borrow::Cow::into_owned)).collect()
    };
    let some = |values: [&str; 5]| values.map(|value| Some(value.to_owned()).filter(|value| value != "-"));
    assert_eq!(column("cache"), some(["miss", "hit", "hit", "hit", "refused"]));
    assert_eq!(column("tier"), some(["origin", "lhr", "lhr", "lhr", "-"]));
    assert_eq!(column("zone"), some(["z", "z", "z", "z", "-"]));
    assert_eq!(column("url")[0].as_deref(), Some("http://shop.example/a\"b"));
    assert_eq!(column("url")[2], column("url")[0]);
    assert_eq!(column("remote"), vec![Some(stream.local_addr().unwrap().to_string()); 5]);
    let sizes: Vec<_> = lines.iter().map(|line| line.body_bytes.unwrap()).collect();
    assert_eq!(sizes[..4], [12; 4]);
    let bytes: u64 = lines.iter().map(|line| line.bytes_out.unwrap()).sum();
    assert_eq!(bytes, said.len() as u64);
    for line in &lines {
        let (ttfb, load) = (line.get(Metric::Ttfb).unwrap(), line.load_ns.unwrap());
        assert_eq!(line.last_byte_ns, Some(ttfb + load));
    }
    let asked = [Metric::Connect, Metric::Send, Metric::Wait].map(|phase| lines[0].phase(phase));
    let sum = asked.iter().map(|took| took.unwrap()).sum::<u64>();
    assert!(sum <= lines[0].get(Metric::Ttfb).unwrap() && lines[0].tls_ns.is_none(), "{asked:?}");
    assert!(lines[1..].iter().all(|line| line.connect_ns.is_none() && line.wait_ns.is_some()));
}

#[tokio::test]
async fn aborted_request_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.jsonl");
    let fixture = Fixture::new("", |_, _| async {
        std::future::pending::<()>().await;
        http_stack::Response::new(Body::empty())
    })
    .logged(&path);
    let address = serve(&fixture.node, fixture.stop.clone());
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /never HTTP/1.1\r\nHost: shop.example\r\n\r\n").await.unwrap();
    while fixture.request_count() == 0 {
        tokio::task::yield_now().await;
    }
    drop(stream);
    // The connection's task must run once to detect it.
    while fs::read_to_string(&path).unwrap().lines().count() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    fixture.log().close();
    let [line] = &samples(&path)[..] else { panic!("one request, one line") };
    assert_eq!((line.error.as_deref(), line.status), (Some("the client left"), None));
}

#[tokio::test]
async fn log_is_kept_on_restart_and_reopened_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.jsonl");
    fs::write(&path, "another's\n").unwrap();
    let log = AccessLog::open(&path, LogFormat::Recording, "lhr", 1).unwrap();
    let write = |path: &str| {
        let request = super::request(http_stack::Method::GET, path, &[]);
        let note = log.begin_request(0, &request).into_entry(http_stack::StatusCode::OK, None);
        log.write_entry(0, &note, Delivery { is_whole: true, body_bytes: 0, bytes: None });
    };
    write("/first");
    let moved = folder.path().join("moved.jsonl");
    fs::rename(&path, &moved).unwrap();
    log.reopen();
    while !path.exists() || fs::read_to_string(&moved).unwrap().lines().count() < 3 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    write("/second");
    log.close();
    let url =
        |path: &Path| samples(path).iter().map(|line| line.label("url").unwrap().into_owned()).collect();
    let (first, second): (Vec<_>, Vec<_>) = (url(&moved), url(&path));
    assert_eq!((first.len(), second.len()), (1, 1));
    assert!(first[0].ends_with("/first") && second[0].ends_with("/second"));
    let kept = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let old: Vec<_> = kept.filter(|other| *other != path && *other != moved).collect();
    assert_eq!(fs::read_to_string(&old[0]).unwrap(), "another's\n");
    assert_eq!(old.len(), 1);
}
