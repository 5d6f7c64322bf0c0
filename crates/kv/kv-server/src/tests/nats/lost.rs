//! Tests of streams that lack acknowledged messages because they were deleted, recreated or
//! restored from an older copy.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};

use super::*;
use crate::{RefusedStream, Seen};

impl Nats {
    pub(super) fn ask(&self, subject: &str, text: &str) -> String {
        let mut stream = BufReader::new(std::net::TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        let question = format!("CONNECT {{}}\r\nSUB R 1\r\nPUB {subject} R {}\r\n{text}\r\n", text.len());
        stream.get_mut().write_all(question.as_bytes()).unwrap();
        loop {
            let mut line = String::new();
            assert!(stream.read_line(&mut line).unwrap() > 0, "the server closed the connection");
            let Some(rest) = line.strip_prefix("MSG R 1 ") else { continue };
            let mut answer = vec![0; rest.trim().parse().unwrap()];
            stream.read_exact(&mut answer).unwrap();
            return String::from_utf8(answer).unwrap();
        }
    }

    fn tell(&self, subject: &str) {
        let mut stream = BufReader::new(std::net::TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        stream
            .get_mut()
            .write_all(format!("CONNECT {{}}\r\nPUB {subject} 0\r\n\r\nPING\r\n").as_bytes())
            .unwrap();
        let mut line = String::new();
        while line != "PONG\r\n" {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0, "the server closed the connection");
        }
    }

    fn delete_stream(&self) {
        let deleted = self.ask("$JS.API.STREAM.DELETE.LONGHAUL_KV", "");
        assert!(deleted.contains("\"success\":true"), "{deleted}");
    }

    fn has_stream(&self) -> bool {
        !self.ask("$JS.API.STREAM.INFO.LONGHAUL_KV", "").contains("\"error\"")
    }

    fn copy(&self) -> TempDir {
        let copy = TempDir::new().unwrap();
        copy_all(&self.folder.path().join("jetstream"), copy.path());
        copy
    }

    fn restore(&mut self, copy: &TempDir) {
        let own = self.folder.path().join("jetstream");
        fs::remove_dir_all(&own).unwrap();
        fs::create_dir(&own).unwrap();
        copy_all(copy.path(), &own);
    }
}

fn copy_all(from: &Path, to: &Path) {
    let mut copy = Command::new("cp");
    assert!(copy.arg("-a").arg(from.join(".")).arg(to).status().unwrap().success());
}

impl Store {
    async fn put_keys(&self, keys: std::ops::Range<u64>) {
        for key in keys {
            let put = self.own(&format!("PUT /k{key}"), "", format!("v{key}").as_bytes()).await;
            assert_eq!(put.status, 200, "{}", put.text());
        }
    }

    async fn get_anew(&self, key: u64) -> Came {
        self.service.copies.forget_all();
        self.own(&format!("GET /k{key}"), "", b"").await
    }

    /// Each read returns the acknowledged value or fails.
    async fn read_until_refused(&self, keys: u64) -> RefusedStream {
        loop {
            for key in 0..keys {
                let got = self.get_anew(key).await;
                match got.status {
                    200 => assert_eq!(got.text(), format!("v{key}")),
                    status => assert_eq!(status, 503, "k{key}: {}", got.text()),
                }
            }
            let list = self.own("GET /", "", b"").await;
            if list.status == 200 {
                assert_eq!(list.text().matches("\"name\"").count() as u64, keys, "{}", list.text());
            }
            if let Some(refused) = self.service.report().refused_stream {
                return refused;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn refuses(&self, sentence: &str) {
        self.service.copies.forget_all();
        for (line, body) in [("GET /k1", &b""[..]), ("GET /", b""), ("PUT /k1", b"w"), ("DELETE /k1", b"")] {
            let came = self.own(line, "", body).await;
            assert_eq!(came.status, 503, "{line}");
            assert!(came.text().starts_with(sentence), "{line}: {}", came.text());
            assert!(came.text().ends_with("`longhaul edge kv accept`"), "{line}: {}", came.text());
        }
    }

    async fn has_keys(&self, keys: std::ops::Range<u64>) {
        for key in keys {
            let got = self.get_anew(key).await;
            assert_eq!((got.status, got.text()), (200, &*format!("v{key}")), "k{key}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_was_deleted_is_missed_until_the_operator_accepts_that() {
    let nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    store.put_keys(0..20).await;
    nats.delete_stream();
    let refused = store.read_until_refused(20).await;
    assert_eq!((refused.found, refused.missing_keys), (None, Some(20)));
    assert_eq!((refused.expected.last_sequence, refused.expected.keys), (20, Some(20)));
    store.refuses("stream LONGHAUL_KV is missing: expected the one created ").await;
    assert!(!nats.has_stream(), "it is not made anew");
    let other = Some(Seen { created: "2026-01-01T00:00:00.000000000Z".into(), last_sequence: 1, keys: None });
    let problem = store.service.accept_stream(other).await.unwrap_err();
    assert_eq!(problem.status, 409);
    assert!(problem.message.starts_with("the stream has changed meanwhile: stream LONGHAUL_KV is missing"));
    let lost = store.service.accept_stream(None).await.unwrap();
    assert_eq!(lost.missing_keys, Some(20));
    assert_eq!(store.get_anew(1).await.status, 404);
    assert_eq!(store.own("GET /", "", b"").await.text(), "{\"keys\":[],\"list_complete\":true}");
    store.put_keys(0..3).await;
    store.has_keys(0..3).await;
    let again = store.service.accept_stream(None).await.unwrap_err();
    assert_eq!((again.status.as_u16(), again.message.as_str()), (409, "no stream is refused"));
}

#[tokio::test]
async fn a_stream_that_was_made_anew_is_not_the_one_that_was_there() {
    let nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    store.put_keys(0..20).await;
    nats.delete_stream();
    let other = Store::at(nats.place(), "fra").await;
    assert_eq!(other.own("PUT /new", "", b"new").await.status, 200);
    // Its expected sequence number does not exist in the stream yet.
    let put = store.own("PUT /k20", "", b"v20").await;
    assert_eq!(
        (put.status, put.text()),
        (503, "the store's NATS has not confirmed the write: it may have been done")
    );
    let refused = store.read_until_refused(20).await;
    let found = refused.found.clone().unwrap();
    assert_ne!(found.created, refused.expected.created);
    assert_eq!((refused.missing_keys, found.keys, refused.expected.keys), (Some(20), Some(2), Some(20)));
    store.refuses("stream LONGHAUL_KV is a different one: expected the one created ").await;
    store.service.accept_stream(refused.found).await.unwrap();
    assert_eq!(store.own("GET /new", "", b"").await.text(), "new");
    assert_eq!(store.get_anew(1).await.status, 404);
}

#[tokio::test]
async fn a_stream_that_was_put_back_is_refused_until_what_is_newer_is_there_again() {
    let mut nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    store.put_keys(0..9).await;
    store.own("PUT /k9", "", b"older").await;
    nats.kill();
    store.why("cannot be used").await;
    let older = nats.copy();
    nats.start_again();
    store.usable().await;
    store.put_keys(9..20).await;
    store.own("PUT /gone", "", b"").await;
    store.own("DELETE /gone", "", b"").await;
    nats.kill();
    store.why("cannot be used").await;
    let newer = nats.copy();
    nats.restore(&older);
    nats.start_again();
    let refused = store.read_until_refused(20).await;
    let found = refused.found.unwrap();
    assert_eq!(found.created, refused.expected.created);
    assert_eq!((refused.expected.last_sequence, found.last_sequence), (23, 10));
    assert_eq!((refused.missing_keys, refused.expected.keys, found.keys), (Some(11), Some(20), Some(10)));
    store
        .refuses(
            "stream LONGHAUL_KV is older than before: expected sequence 23 and 20 keys, found 10 (11 keys",
        )
        .await;
    nats.kill();
    nats.restore(&newer);
    nats.start_again();
    store.usable().await;
    store.has_keys(0..20).await;
    assert_eq!(store.own("GET /gone", "", b"").await.status, 404);
}

#[tokio::test]
async fn a_stream_that_went_back_and_grew_again_is_refused() {
    let mut nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    store.put_keys(0..9).await;
    nats.kill();
    store.why("cannot be used").await;
    let older = nats.copy();
    nats.start_again();
    store.usable().await;
    store.put_keys(9..11).await;
    nats.kill();
    store.why("cannot be used").await;
    nats.restore(&older);
    let folder = TempDir::new().unwrap();
    let port = free_port();
    copy_all(nats.folder.path(), folder.path());
    let settings =
        format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {:?} }}\n", nats.folder.path());
    fs::write(folder.path().join("nats.conf"), settings).unwrap();
    let mut elsewhere = Nats { process: run(&folder), folder, port };
    let other = Store::at(elsewhere.place(), "fra").await;
    for key in 0..4 {
        assert_eq!(other.own(&format!("PUT /other{key}"), "", b"o").await.status, 200);
    }
    elsewhere.kill();
    drop(other);
    nats.start_again();
    let refused = store.read_until_refused(11).await;
    assert_eq!((refused.expected.last_sequence, refused.found.unwrap().last_sequence), (11, 13));
    assert_eq!(refused.missing_keys, Some(2));
    store.refuses("stream LONGHAUL_KV has a different history: it had sequence 11").await;
}

#[tokio::test]
async fn one_key_may_be_removed_by_another_program_and_not_all() {
    let nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    store.put_keys(0..9).await;
    // "azI" is "k2" in base64.
    let filter = format!("{{\"filter\":\"LONGHAUL_KV.{}.azI\"}}", Namespace::id_of("sessions"));
    let purged = nats.ask("$JS.API.STREAM.PURGE.LONGHAUL_KV", &filter);
    assert!(purged.contains("\"purged\":1"), "{purged}");
    assert_eq!(store.get_anew(2).await.status, 404);
    store.has_keys(3..9).await;
    let purged = nats.ask("$JS.API.STREAM.PURGE.LONGHAUL_KV", "");
    assert!(purged.contains("\"purged\":8"), "{purged}");
    assert_eq!(store.get_anew(3).await.status, 503);
    while store.service.report().refused_stream.is_none() {
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(store.service.report().refused_stream.unwrap().missing_keys, Some(8));
    store.refuses("stream LONGHAUL_KV has a different history: it had sequence 9").await;
}

fn put(key: u64) -> kv_nats::Put {
    kv_nats::Put {
        key: format!("k{key}"),
        value: format!("v{key}").into(),
        expiration: None,
        metadata: None,
        version: None,
    }
}

async fn bucket(nats: &Nats, streams: Option<&TempDir>) -> kv_nats::Bucket {
    let Place::Nats(address) = nats.place() else { panic!("it is in NATS") };
    let streams = streams.map(|folder| folder.path().to_owned());
    let name = StoreName::new("lhr").unwrap();
    let open = move || {
        let now = crate::service::now;
        kv_nats::Bucket::open(address, name, Pairing::Alone, streams.as_deref(), now).unwrap()
    };
    spawn_blocking(open).await.unwrap()
}

async fn usable(bucket: &kv_nats::Bucket) {
    while bucket.trouble().is_some() {
        sleep(Duration::from_millis(10)).await;
    }
}

async fn refused(bucket: &kv_nats::Bucket) -> kv_nats::Loss {
    loop {
        if let Some(loss) = bucket.loss() {
            return loss;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_the_stream_had_is_known_to_a_new_process() {
    let (nats, streams) = (Nats::start(), TempDir::new().unwrap());
    let first = bucket(&nats, Some(&streams)).await;
    usable(&first).await;
    first.put("ns", (0..5).map(put).collect()).await.unwrap();
    drop(first);
    let second = bucket(&nats, Some(&streams)).await;
    usable(&second).await;
    second.put("ns", vec![put(5)]).await.unwrap();
    second.sweep().await.unwrap();
    drop(second);
    nats.delete_stream();
    let third = bucket(&nats, Some(&streams)).await;
    let loss = refused(&third).await;
    assert_eq!((loss.expected.last_sequence, loss.expected.keys, loss.missing_keys), (6, Some(6), None));
    drop(third);
    let fourth = bucket(&nats, Some(&streams)).await;
    assert_eq!(refused(&fourth).await, loss, "a restart is no word of the operator");
    fourth.accept(None).unwrap();
    usable(&fourth).await;
    drop(fourth);
    let fifth = bucket(&nats, Some(&streams)).await;
    usable(&fifth).await;
    assert_eq!(fifth.usage().keys, 0);
    drop(fifth);
    nats.delete_stream();
    usable(&bucket(&nats, None).await).await;
}

#[tokio::test]
async fn what_was_acknowledged_last_is_known_to_a_new_process_if_the_server_ended_first() {
    let (mut nats, streams) = (Nats::start(), TempDir::new().unwrap());
    let first = bucket(&nats, Some(&streams)).await;
    usable(&first).await;
    first.put("ns", (0..5).map(put).collect()).await.unwrap();
    first.sweep().await.unwrap();
    nats.kill();
    let older = nats.copy();
    nats.start_again();
    while first.put("ns", vec![put(5)]).await.is_err() {
        sleep(Duration::from_millis(10)).await;
    }
    nats.kill();
    while first.trouble().is_none() {
        sleep(Duration::from_millis(10)).await;
    }
    drop(first);
    nats.restore(&older);
    nats.start_again();
    let second = bucket(&nats, Some(&streams)).await;
    let loss = refused(&second).await;
    assert_eq!((loss.expected.last_sequence, loss.found.unwrap().last_sequence), (6, 5));
}

#[tokio::test]
async fn another_stream_with_all_that_was_acknowledged_is_as_good() {
    let nats = Nats::start();
    let first = bucket(&nats, None).await;
    usable(&first).await;
    first.put("ns", (0..5).map(put).collect()).await.unwrap();
    first.delete("ns", &[("k4", None)]).await.unwrap();
    let mut all = Vec::new();
    for key in 0..4 {
        let found = first.look("ns", &format!("k{key}")).await.unwrap().unwrap();
        all.push((format!("ns\0k{key}"), found.record, found.value));
    }
    nats.delete_stream();
    let second = opened(&nats, "fra", Pairing::Alone, crate::service::now).await;
    second.take(all).await.unwrap();
    usable_again(&first).await;
    for key in 0..4 {
        assert_eq!(first.look("ns", &format!("k{key}")).await.unwrap().unwrap().value, format!("v{key}"));
    }
    assert_eq!(first.usage().keys, 4);
    first.put("ns", vec![put(4)]).await.unwrap();
}

async fn usable_again(bucket: &kv_nats::Bucket) {
    while bucket.look("ns", "k0").await.is_ok() {
        sleep(Duration::from_millis(10)).await;
    }
    while bucket.trouble().is_some() {
        assert_eq!(bucket.loss(), None);
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn two_stores_of_which_one_has_not_given_all_miss_what_was_lost() {
    let nats = Nats::start();
    let bucket = paired(&nats).await;
    let versions = bucket.put("ns", (0..3).map(put).collect()).await.unwrap();
    let known: Vec<_> = (0..2).map(|key| (format!("ns\0k{key}"), versions[key].clone())).collect();
    bucket.unnote(&known);
    nats.delete_stream();
    let loss = refused(&bucket).await;
    assert_eq!((loss.found, loss.missing_keys), (None, Some(3)));
    bucket.accept(None).unwrap();
    usable(&bucket).await;
    assert!(bucket.is_filling(), "the other store may have what is lost");
}

struct Watch(Arc<AtomicBool>);

impl Watch {
    fn of(store: &Store) -> Self {
        let watch = Self(Arc::default());
        let (service, was_refused) = (Arc::clone(&store.service), Arc::clone(&watch.0));
        tokio::spawn(async move {
            while service.report().refused_stream.is_none() {
                sleep(Duration::from_millis(5)).await;
            }
            was_refused.store(true, SeqCst);
        });
        watch
    }

    fn was_refused(&self) -> bool {
        self.0.load(SeqCst)
    }
}

#[tokio::test]
async fn a_server_that_is_killed_again_and_again_with_its_data_is_not_refused() {
    let mut nats = Nats::start();
    let store = Store::at(nats.place(), "lhr").await;
    let watch = Watch::of(&store);
    for round in 0..5 {
        store.put_keys(round * 10..round * 10 + 10).await;
        store.own("DELETE /last", "", b"").await;
        nats.kill();
        store.why("cannot be used").await;
        nats.start_again();
        store.usable().await;
        store.has_keys(0..round * 10 + 10).await;
    }
    assert!(!watch.was_refused());
}

fn cluster() -> [Nats; 3] {
    let ports = [free_port(), free_port(), free_port()];
    let routes: Vec<_> = ports.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
    [0, 1, 2].map(|number: usize| {
        Nats::with(&format!(
            "server_name: n{number}\njetstream {{ store_dir: \"DIR\" }}\ncluster {{ name: c, listen: \"127.0.0.1:{}\", routes: [{}] }}",
            ports[number],
            routes.join(", ")
        ))
    })
}

#[tokio::test]
async fn a_leader_that_changes_is_not_refused() {
    let mut servers = cluster();
    let all: Vec<_> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
    let address = format!("nats://{}?replicas=3", all.join(","));
    let store = Store::at(Place::Nats(address.parse().unwrap()), "lhr").await;
    let watch = Watch::of(&store);
    let mut written = 0;
    let mut write = async |store: &Store| {
        for _ in 0..10 {
            // A server that has just lost its leader confirms no writes.
            while store.own(&format!("PUT /k{written}"), "", format!("v{written}").as_bytes()).await.status
                != 200
            {
                sleep(Duration::from_millis(50)).await;
            }
            written += 1;
        }
        written
    };
    for round in 0..9 {
        write(&store).await;
        let up = if round < 6 { 2 } else { 0 };
        match round % 3 {
            0 => servers[up].tell("$JS.API.STREAM.LEADER.STEPDOWN.LONGHAUL_KV"),
            1 => {
                servers[round / 3].kill();
                write(&store).await;
                servers[round / 3].start_again();
            }
            _ => servers[up].tell("$JS.API.META.LEADER.STEPDOWN"),
        }
    }
    servers.iter_mut().for_each(Nats::kill);
    store.why("cannot be used").await;
    servers.iter_mut().for_each(Nats::start_again);
    store.usable().await;
    let written = write(&store).await;
    for key in 0..written {
        while store.get_anew(key).await.status == 503 {
            sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(store.get_anew(key).await.text(), format!("v{key}"));
    }
    assert!(!watch.was_refused());
}
