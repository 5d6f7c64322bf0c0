//! Data centres with certificates of Pebble: first orders, renewal, restarts, failures and shared storage.

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use http_stack::{Serial, ShutdownSignal, client::Trust};
use serde_json::Value;

use super::pebble::{Pebble, free_address, get, send};
use crate::{Config, Event, InheritedSockets, Network};

async fn wait_until(condition: impl AsyncFn() -> bool) {
    while !condition().await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

struct Edge {
    stop: ShutdownSignal,
    thread: Option<JoinHandle<()>>,
    admin: SocketAddr,
    tls: SocketAddr,
    sentences: Arc<Mutex<Vec<String>>>,
}

struct Place {
    listen: SocketAddr,
    listen_tls: SocketAddr,
    admin: SocketAddr,
}

impl Place {
    fn free() -> Self {
        Self { listen: free_address(), listen_tls: free_address(), admin: free_address() }
    }

    fn lines(&self, name: &str) -> String {
        let Self { listen, listen_tls, admin } = self;
        format!(
            "[[data_centre]]\nname = \"{name}\"\nlisten = [\"{listen}\"]\nlisten_tls = [\"{listen_tls}\"]\n\
             admin = \"{admin}\"\ndrain = \"0s\"\nmemory = \"1MB\"\n"
        )
    }
}

fn file(folder: &Path, acme: &str, centres: &str) -> PathBuf {
    let path = folder.join("network.toml");
    let text = format!(
        "[network]\nname = \"n\"\n{acme}{centres}[[zone]]\nname = \"shop\"\n\
         hosts = [\"a.shop.example\", \"b.shop.example\"]\nacme = true\norigin = [\"http://127.0.0.1:1\"]\n"
    );
    fs::write(&path, text).unwrap();
    path
}

impl Edge {
    async fn start(file: &Path, name: &str) -> Self {
        let network = Network::open(file).unwrap();
        let data_centre = network.data_centre(name).unwrap().clone();
        let (admin, tls) = (data_centre.admin.unwrap(), data_centre.listen_tls[0]);
        let (trust, sockets) = (Trust::System, InheritedSockets::default());
        let config = Config { path: Some(file.to_owned()), data_centre, trust, takes_over: false, sockets };
        let (stop, sentences) = (ShutdownSignal::new(), Arc::new(Mutex::new(Vec::new())));
        let (stopped, told) = (stop.clone(), Arc::clone(&sentences));
        let tell = move |event: Event| {
            if let Event::Certificate(sentence) = event {
                told.lock().unwrap().push(sentence);
            }
        };
        let run = move || {
            crate::run(network, config, |_| {}, tell, &stopped).unwrap();
        };
        let edge = Self { stop, thread: Some(thread::spawn(run)), admin, tls, sentences };
        wait_until(async || edge.try_status().await.is_some()).await;
        edge
    }

    async fn try_status(&self) -> Option<Value> {
        let origin = format!("http://{}", self.admin);
        let (_, text) = send(&origin, self.admin, Trust::System, "/status").await.ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    async fn certificates(&self) -> Vec<Value> {
        self.try_status().await.unwrap()["certificates"].as_array().unwrap().clone()
    }

    async fn serves(&self, host: &str, root: &Trust) -> bool {
        get(host, self.tls, root.clone(), "/").await.is_ok()
    }

    fn told(&self, part: &str) -> Vec<String> {
        let all = self.sentences.lock().unwrap();
        all.iter().filter(|sentence| sentence.contains(part)).cloned().collect()
    }

    fn end(mut self) {
        self.stop.request();
        self.stop.request();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serial(file: &Path) -> Option<Serial> {
    let text = fs::read_to_string(file).ok()?;
    Serial::of_pem(text.as_bytes())
}

#[tokio::test]
async fn certificates_are_issued_kept_renewed_and_kept_on_failure() {
    let (folder, place) = (tempfile::tempdir().unwrap(), Place::free());
    let storage = folder.path().join("acme");
    // Renewal after 30 seconds: enough for a restart before it.
    let pebble = Pebble::start(place.listen.port(), place.listen_tls.port(), 45).await;
    let acme = pebble.lines("http-01", &storage);
    let network = file(folder.path(), &acme, &place.lines("lhr"));
    let root = pebble.root().await;
    let edge = Edge::start(&network, "lhr").await;
    let hosts = ["a.shop.example", "b.shop.example"];
    for host in hosts {
        wait_until(async || edge.serves(host, &root).await).await;
    }
    assert_eq!(edge.told("the ACME server issued it").len(), 2);
    let stored = |host: &str| pebble.place(&storage).join(format!("{host}.pem"));
    for path in [stored(hosts[0]), pebble.place(&storage).join("account.json")] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(pebble.place(&storage).join("challenges")).unwrap().count(), 0);
    let reported = edge.certificates().await;
    assert_eq!(reported.len(), 2, "{reported:?}");
    for (one, host) in reported.iter().zip(hosts) {
        assert_eq!((&one["names"][0], &one["source"]), (&Value::from(host), &Value::from("acme")));
        assert!(one["error"].is_null() && one["next_order_in_s"].as_i64() <= Some(32), "{one}");
    }
    edge.end();

    let first = serial(&stored(hosts[0])).unwrap();
    let account = fs::read(pebble.place(&storage).join("account.json")).unwrap();
    let edge = Edge::start(&network, "lhr").await;
    assert!(edge.serves(hosts[0], &root).await, "the stored certificate is used");
    assert_eq!(edge.told("the ACME server issued it"), [""; 0]);
    wait_until(async || !edge.told("the ACME server issued it").is_empty()).await;
    wait_until(async || serial(&stored(hosts[0])).is_some_and(|now| now != first)).await;
    assert!(edge.serves(hosts[0], &root).await);
    assert_eq!(fs::read(pebble.place(&storage).join("account.json")).unwrap(), account);
    assert_eq!(pebble.log().matches("There are now 1 accounts in memory").count(), 1, "{}", pebble.log());
    edge.end();

    // The server finds a closed port.
    let elsewhere = Place { listen: free_address(), ..place };
    let network = file(folder.path(), &acme, &elsewhere.lines("lhr"));
    let edge = Edge::start(&network, "lhr").await;
    let kept = serial(&stored(hosts[0])).unwrap();
    wait_until(async || edge.certificates().await[0]["error"].is_string()).await;
    let one = &edge.certificates().await[0];
    assert!(one["error"].as_str().unwrap().contains("refused"), "{one}");
    // The first pause is 5 minutes and up to a tenth more.
    assert!(matches!(one["next_order_in_s"].as_i64(), Some(270..=331)), "{one}");
    let sentences = edge.told("the order failed and is repeated in");
    assert!(sentences[0].contains("the old one"), "{sentences:?}");
    assert_eq!(serial(&stored(hosts[0])), Some(kept));
    assert!(get(hosts[0], edge.tls, Trust::Anyone, "/").await.is_ok());
    edge.end();
}

#[tokio::test]
async fn challenge_over_tls_needs_no_plain_listener() {
    let (folder, place) = (tempfile::tempdir().unwrap(), Place::free());
    let storage = folder.path().join("acme");
    let pebble = Pebble::start(free_address().port(), place.listen_tls.port(), 86_400).await;
    let centre = place.lines("lhr").replace(&format!("listen = [\"{}\"]\n", place.listen), "");
    let network = file(folder.path(), &pebble.lines("tls-alpn-01", &storage), &centre);
    let root = pebble.root().await;
    let edge = Edge::start(&network, "lhr").await;
    for host in ["a.shop.example", "b.shop.example"] {
        wait_until(async || edge.serves(host, &root).await).await;
    }
    assert!(!edge.serves("c.shop.example", &root).await);
    assert_eq!(edge.told("failed"), [""; 0]);
    edge.end();
}

#[tokio::test]
async fn data_centres_with_one_storage_share_certificates() {
    let (folder, places) = (tempfile::tempdir().unwrap(), [Place::free(), Place::free()]);
    let storage = folder.path().join("acme");
    // The server reaches only the first, whichever orders.
    let pebble = Pebble::start(places[0].listen.port(), free_address().port(), 86_400).await;
    let centres = places[0].lines("lhr") + &places[1].lines("fra");
    let network = file(folder.path(), &pebble.lines("http-01", &storage), &centres);
    let root = pebble.root().await;
    let (lhr, fra) = tokio::join!(Edge::start(&network, "lhr"), Edge::start(&network, "fra"));
    for host in ["a.shop.example", "b.shop.example"] {
        for edge in [&lhr, &fra] {
            wait_until(async || edge.serves(host, &root).await).await;
        }
    }
    let issued = lhr.told("the ACME server issued it").len() + fra.told("the ACME server issued it").len();
    assert_eq!(issued, 2, "one order per host");
    assert_eq!([lhr.told("failed"), fra.told("failed")], [[""; 0], [""; 0]]);
    lhr.end();
    fra.end();
}
