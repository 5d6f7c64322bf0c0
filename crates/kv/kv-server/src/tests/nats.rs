//! Tests of a store in NATS: each test starts a server of the distribution's package in a temporary
//! folder.

use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use kv::{Expiration, Millis, TOMBSTONE};
use tokio::time::sleep;

use super::*;

mod lost;

/// Killed when it is dropped.
pub(super) struct Nats {
    folder: TempDir,
    pub(super) port: u16,
    process: Child,
}

impl Nats {
    pub(super) fn start() -> Self {
        Self::with("jetstream { store_dir: \"DIR\" }")
    }

    /// `DIR` in the settings stands for the server's folder.
    pub(super) fn with(settings: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let port = free_port();
        let settings = settings.replace("DIR", folder.path().to_str().unwrap());
        let all = format!("listen: \"127.0.0.1:{port}\"\n{settings}\n");
        fs::write(folder.path().join("nats.conf"), all).unwrap();
        let process = run(&folder);
        Self { folder, port, process }
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(super) fn lose(&mut self) {
        self.kill();
        fs::remove_dir_all(self.folder.path().join("jetstream")).unwrap();
        self.start_again();
    }

    pub(super) fn start_again(&mut self) {
        self.process = run(&self.folder);
    }

    pub(super) fn place(&self) -> Place {
        self.place_of("")
    }

    fn place_of(&self, user: &str) -> Place {
        Place::Nats(format!("nats://{user}127.0.0.1:{}", self.port).parse().unwrap())
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn run(folder: &TempDir) -> Child {
    let program = std::env::var("NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut server = Command::new(program);
    server.arg("-c").arg(folder.path().join("nats.conf")).stdout(Stdio::null()).stderr(log);
    server.spawn().expect("nats-server is installed: sh xtask/tools.sh test")
}

impl Store {
    pub(super) async fn each() -> [Self; 2] {
        let nats = Nats::start();
        let place = nats.place();
        let mut second = Self::at(place, "lhr").await;
        second.nats = Some(nats);
        [Self::open().await, second]
    }

    async fn at(place: Place, name: &str) -> Self {
        let store = Self::begun(place, name).await;
        store.usable().await;
        store
    }

    async fn begun(place: Place, name: &str) -> Self {
        let store = Self::with(Some(place), name, Config::LARGEST).await;
        let service = Arc::clone(&store.service);
        tokio::spawn(async move { service.sweep().await });
        store
    }

    async fn usable(&self) {
        while self.service.report().error.is_some() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn why(&self, part: &str) -> String {
        loop {
            let why = self.service.report().error;
            if let Some(why) = why.filter(|why| why.contains(part)) {
                return why;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_server_was_killed() {
    let mut nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    let mut versions = Vec::new();
    for number in 0..100 {
        let put = store.own(&format!("PUT /k{number}"), "", format!("v{number}").as_bytes()).await;
        assert_eq!(put.status, 200);
        versions.push(put.field("kv-version").unwrap().to_owned());
    }
    assert_eq!(store.own("GET /k1", "", b"").await.text(), "v1");
    store.own("DELETE /k7", "", b"").await;
    nats.kill();
    store.why("cannot be used").await;
    assert_eq!(store.own("GET /k1", "", b"").await.field("kv-source"), Some("lower"));
    for (line, body) in [("PUT /k1", &b"w"[..]), ("DELETE /k1", b""), ("GET /k2", b""), ("GET /", b"")] {
        let came = store.own(line, "", body).await;
        assert_eq!(came.status, 503, "{line}");
        assert!(came.text().contains("the store's NATS cannot be used now"), "{line}: {}", came.text());
    }
    nats.start_again();
    store.usable().await;
    for (number, version) in versions.iter().enumerate() {
        let got = store.own(&format!("GET /k{number}"), "", b"").await;
        if number == 7 {
            assert_eq!(got.status, 404);
        } else {
            assert_eq!(
                (got.text(), got.field("kv-version")),
                (&*format!("v{number}"), Some(version.as_str()))
            );
        }
    }
    let other = Store::at(nats.place(), "fra").await;
    assert_eq!(other.own("GET /k99", "", b"").await.text(), "v99");
    assert_eq!(other.service.report().keys, Some(99));
    let put = other.own("PUT /k99", "", b"new").await;
    assert!(put.field("kv-version").unwrap() > versions[99].as_str());
}

#[tokio::test]
async fn a_server_that_comes_later_is_used_then() {
    let mut nats = Nats::start();
    nats.kill();
    let store = Store::begun(nats.place(), "lhr").await;
    let why = store.why("cannot be used").await;
    assert!(why.starts_with(&format!("NATS at nats://127.0.0.1:{}/LONGHAUL_KV", nats.port)), "{why}");
    assert_eq!(store.own("PUT /k", "", b"v").await.status, 503);
    nats.start_again();
    store.usable().await;
    assert_eq!(store.own("PUT /k", "", b"v").await.status, 200);
}

#[tokio::test]
async fn two_writers_of_one_key_make_versions_that_only_grow() {
    let nats = Nats::start();
    let stores = [Store::at(nats.place(), "lhr").await, Store::at(nats.place(), "fra").await];
    let write = async |store: &Store| {
        let mut versions = Vec::new();
        for number in 0..50 {
            let put = store.own("PUT /k", "", format!("{number}").as_bytes()).await;
            assert_eq!(put.status, 200, "{}", put.text());
            versions.push(put.field("kv-version").unwrap().to_owned());
        }
        versions
    };
    let (a, b) = tokio::join!(write(&stores[0]), write(&stores[1]));
    assert!(a.is_sorted() && b.is_sorted());
    let newest = a.last().max(b.last()).unwrap();
    let all: std::collections::BTreeSet<_> = a.iter().chain(&b).collect();
    assert_eq!(all.len(), 100);
    for store in &stores {
        loop {
            let got = store.own("GET /k", "", b"").await;
            assert!(got.field("kv-version").unwrap() <= newest.as_str());
            if got.field("kv-version") == Some(newest) {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
    assert_eq!(stores[1].own("GET /k", "", b"").await.field("kv-source"), Some("lower"));
    stores[0].own("DELETE /k", "", b"").await;
    while stores[1].own("GET /k", "", b"").await.status != 404 {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_another_program_writes_in_its_own_way_is_no_value() {
    let nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    store.own("PUT /k", "", b"v").await;
    assert_eq!(store.own("GET /k", "", b"").await.text(), "v");
    // "aw" is "k" in base64.
    let publish = format!("CONNECT {{}}\r\nPUB LONGHAUL_KV.{}.aw 1\r\nx\r\n", Namespace::id_of("sessions"));
    let mut stream = TcpStream::connect(("127.0.0.1", nats.port)).await.unwrap();
    stream.write_all(publish.as_bytes()).await.unwrap();
    while store.own("GET /k", "", b"").await.status != 404 {
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(store.own("GET /", "", b"").await.text(), "{\"keys\":[],\"list_complete\":true}");
    assert_eq!(store.own("PUT /k", "", b"w").await.status, 200);
    assert_eq!(store.own("GET /k", "", b"").await.text(), "w");
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let nats = Nats::with("max_payload: 100000\njetstream { store_dir: \"DIR\", max_file_store: 400000 }");
    let store = Store::at(nats.place(), "lhr").await;
    let long = store.own("PUT /long", "", &vec![1; 100_001]).await;
    assert_eq!(
        (long.status, long.text()),
        (
            413,
            "Value length of 100001 exceeds the limit of the store's NATS: its max_payload of 100000 includes the value and its headers"
        )
    );
    assert_eq!(store.own("PUT /long", "", &vec![1; 99_990]).await.status, 413);
    let mut written = 0;
    let full = loop {
        let put = store.own(&format!("PUT /k{written}"), "", &vec![1; 90_000]).await;
        if put.status != 200 {
            break put;
        }
        written += 1;
        assert!(written < 9, "400 000 bytes hold no more than four of these");
    };
    assert_eq!(
        (full.status, full.text()),
        (507, "the store's stream in NATS is full, and nothing was written")
    );
    assert!(written > 0);
    assert_eq!(store.own("GET /k0", "", b"").await.body, vec![1; 90_000]);
    assert_eq!(store.own(&format!("GET /k{written}"), "", b"").await.status, 404);
}

#[tokio::test]
async fn why_a_server_cannot_be_used_is_said() {
    let plain = Nats::with("");
    let store = Store::begun(plain.place(), "lhr").await;
    store.why("JetStream is not enabled there: start nats-server with -js").await;
    let closed = "authorization { user: a, password: \"b c\" }\njetstream { store_dir: \"DIR\" }";
    let closed = Nats::with(closed);
    let store = Store::begun(closed.place_of("a:wrong@"), "lhr").await;
    let why = store.why("authorization violation").await;
    assert!(!why.contains("wrong"), "{why}");
    Store::at(closed.place_of("a:b%20c@"), "lhr").await;
}

async fn paired(nats: &Nats) -> kv_nats::Bucket {
    paired_at(nats, crate::service::now).await
}

async fn paired_at(nats: &Nats, now: fn() -> Millis) -> kv_nats::Bucket {
    opened(nats, "lhr", Pairing::Paired, now).await
}

async fn opened(nats: &Nats, name: &str, company: Pairing, now: fn() -> Millis) -> kv_nats::Bucket {
    let Place::Nats(address) = nats.place() else { panic!("it is in NATS") };
    let name = StoreName::new(name).unwrap();
    let open = move || kv_nats::Bucket::open(address, name, company, None, now).unwrap();
    let bucket = spawn_blocking(open).await.unwrap();
    while bucket.trouble().is_some() {
        sleep(Duration::from_millis(10)).await;
    }
    bucket
}

async fn noted(bucket: &kv_nats::Bucket) -> Vec<(String, kv::Version)> {
    let notes = bucket.notes(0, (1000, u64::MAX)).await.unwrap();
    let known = notes.into_iter().map(|noted| (noted.key, noted.found.unwrap().record.version));
    known.map(|(key, version)| (key.split_once('\0').unwrap().1.to_owned(), version)).collect()
}

#[tokio::test]
async fn what_the_other_store_lacks_is_known_to_a_new_process() {
    let nats = Nats::start();
    let bucket = paired(&nats).await;
    assert!(bucket.is_filling(), "it has never had a key");
    let put = |key: &str| kv_nats::Put {
        key: key.to_owned(),
        value: key.to_owned().into(),
        expiration: None,
        metadata: None,
        version: None,
    };
    for key in ["a", "b", "c"] {
        bucket.put("ns", vec![put(key)]).await.unwrap();
    }
    bucket.delete("ns", &[("b", None)]).await.unwrap();
    let keys = |noted: &[(String, kv::Version)]| noted.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let all = noted(&bucket).await;
    assert_eq!(keys(&all), ["a", "c", "b"]);
    let first = bucket.notes(0, (1000, 1)).await.unwrap();
    assert_eq!((first.len(), bucket.notes(first[0].at, (1, 9)).await.unwrap()[0].key.as_str()), (1, "ns\0c"));
    drop(bucket);
    let bucket = paired(&nats).await;
    assert_eq!(noted(&bucket).await, all);
    bucket.filled().await.unwrap();
    bucket.put("ns", vec![put("c")]).await.unwrap();
    bucket.unnote(
        &all[..2].iter().map(|(key, version)| (format!("ns\0{key}"), version.clone())).collect::<Vec<_>>(),
    );
    assert_eq!(keys(&noted(&bucket).await), ["b", "c"]);
    let written = async |bucket: &kv_nats::Bucket| bucket.sweep().await.unwrap();
    written(&bucket).await;
    drop(bucket);
    let bucket = paired(&nats).await;
    assert_eq!(
        (keys(&noted(&bucket).await), bucket.is_filling()),
        (vec!["b".to_owned(), "c".to_owned()], false)
    );
    let rest: Vec<_> =
        noted(&bucket).await.into_iter().map(|(key, version)| (format!("ns\0{key}"), version)).collect();
    bucket.unnote(&rest);
    while {
        written(&bucket).await;
        !noted(&paired(&nats).await).await.is_empty()
    } {
        sleep(Duration::from_millis(10)).await;
    }
    bucket.note(&["ns\0a".to_owned(), "ns\0none".to_owned()]).await.unwrap();
    drop(bucket);
    let again = keys(&noted(&paired(&nats).await).await);
    assert!(again.starts_with(&["a".to_owned()]), "{again:?}");
}

#[tokio::test]
async fn what_is_over_is_not_given_again_and_is_not_forgotten_before_the_other_store_knows_of_it() {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    static SECOND: AtomicU64 = AtomicU64::new(1_000_000);
    let nats = Nats::start();
    let bucket = paired_at(&nats, || Millis(SECOND.load(SeqCst) * 1000)).await;
    for key in ["given", "kept"] {
        let expiration = Some(Expiration(1_000_060));
        let put = kv_nats::Put {
            key: key.to_owned(),
            value: "v".into(),
            expiration,
            metadata: None,
            version: None,
        };
        let version = bucket.put("ns", vec![put]).await.unwrap().remove(0);
        if key == "given" {
            bucket.unnote(&[("ns\0given".to_owned(), version)]);
        }
    }
    let keys = async || noted(&bucket).await.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    SECOND.fetch_add(60, SeqCst);
    assert_eq!(bucket.sweep().await.unwrap().0.len(), 2);
    // The other store expires `given` itself.
    assert_eq!(keys().await, ["kept"]);
    SECOND.fetch_add(TOMBSTONE.as_secs(), SeqCst);
    bucket.sweep().await.unwrap();
    assert!(bucket.look("ns", "given").await.unwrap().is_none());
    let (_, version) = noted(&bucket).await.remove(0);
    bucket.unnote(&[("ns\0kept".to_owned(), version)]);
    bucket.sweep().await.unwrap();
    assert!(bucket.look("ns", "kept").await.unwrap().is_none());
}

async fn streams(monitor: u16) -> serde_json::Value {
    let mut stream = TcpStream::connect(("127.0.0.1", monitor)).await.unwrap();
    stream.write_all(b"GET /jsz HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_alone_writes_much_is_not_sent_it_and_hears_of_others_all_the_same() {
    let monitor = free_port();
    let nats = Nats::with(&format!("jetstream {{ store_dir: \"DIR\" }}\nhttp: \"127.0.0.1:{monitor}\""));
    let bucket = paired(&nats).await;
    let other = opened(&nats, "fra", Pairing::Alone, crate::service::now).await;
    let consumers = async || streams(monitor).await["consumers"].as_u64().unwrap();
    let put = |key: String| kv_nats::Put {
        key,
        value: kv_nats::Bytes::from_static(b"v"),
        expiration: None,
        metadata: None,
        version: None,
    };
    let mut written = 0;
    let mut write_until_alone = async || {
        while consumers().await > 1 {
            let many = (0..500).map(|number| put(format!("k{number}"))).collect();
            bucket.put("ns", many).await.unwrap();
            written += 500;
            assert!(written < 100_000, "it is sent what it writes");
        }
    };
    for round in 0..3 {
        write_until_alone().await;
        let key = format!("other{round}");
        other.put("ns", vec![put(key.clone())]).await.unwrap();
        while bucket.look("ns", &key).await.unwrap().is_none() {
            bucket.put("ns", vec![put("k".to_owned())]).await.unwrap();
        }
        while consumers().await < 2 {
            sleep(Duration::from_millis(10)).await;
        }
    }
    let known = noted(&bucket).await.into_iter().map(|(key, version)| (format!("ns\0{key}"), version));
    bucket.unnote(&known.collect::<Vec<_>>());
    write_until_alone().await;
    bucket.put("ns", vec![put("k7".to_owned())]).await.unwrap();
    let noted_here = noted(&bucket).await;
    bucket.sweep().await.unwrap();
    drop(bucket);
    assert_eq!(noted(&paired(&nats).await).await, noted_here);
}
