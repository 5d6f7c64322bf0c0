//! Tests of stores in London and New York: one store is sufficient for reads, writes, lists and
//! bulk requests, and the stores converge.

use tokio::time::sleep;

use super::*;
use crate::store::paired::Reached;

pub(super) struct Pair {
    pub(super) world: Arc<World>,
    running: Vec<JoinHandle<()>>,
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.running.iter().for_each(JoinHandle::abort);
    }
}

pub(super) const STORES: [usize; 2] = [LHR, NYC];

impl Pair {
    async fn new() -> Self {
        let mut pair = Self::idle().await;
        pair.run();
        pair
    }

    async fn idle() -> Self {
        Self::of(World::with(true, &STORES).await)
    }

    pub(super) fn of(world: World) -> Self {
        Self { world: Arc::new(world), running: Vec::new() }
    }

    pub(super) fn run(&mut self) {
        for store in STORES {
            let service = Arc::clone(&self.world.services[store]);
            self.running.push(tokio::spawn(async move { service.sweep().await }));
        }
    }

    pub(super) async fn known(&self, store: usize, key: &str) -> Option<(String, Option<Vec<u8>>)> {
        let found = self.world.services[store].read_only(&Namespace::id_of("sessions"), key).await.unwrap();
        match found {
            Ok(found) => {
                let version = found.version.clone();
                Some((version, Some(found.collect().await.unwrap().to_vec())))
            }
            Err(absent) => absent.version.map(|version| (version, None)),
        }
    }

    pub(super) async fn agree(&self, key: &str, version: &str) {
        for store in STORES {
            while self.known(store, key).await.is_none_or(|(known, _)| known != version) {
                sleep(Duration::from_millis(5)).await;
            }
        }
    }

    pub(super) async fn settled(&self) {
        for store in STORES {
            while self.world.services[store].report().pair.unwrap().behind > 0 {
                sleep(Duration::from_millis(5)).await;
            }
        }
    }

    fn isolate(&self, centre: usize) {
        (0..NAMES.len()).filter(|&other| other != centre).for_each(|other| self.world.cut(centre, other));
    }
}

#[tokio::test]
async fn what_is_written_to_one_store_is_in_both() {
    let pair = Pair::new().await;
    let world = &pair.world;
    for centre in [SIN, LHR, NYC] {
        let version = world.put(centre, "a", "1").await;
        pair.agree("a", &version).await;
    }
    let deleted = world.ask(SIN, Method::DELETE, "/a", "").await;
    pair.agree("a", deleted.field("kv-version")).await;
    assert_eq!(pair.known(NYC, "a").await.unwrap().1, None);
    let large = "x".repeat(600_000);
    let version = world.put(SIN, "large", &large).await;
    pair.agree("large", &version).await;
    for store in STORES {
        assert_eq!(pair.known(store, "large").await.unwrap().1.as_deref(), Some(large.as_bytes()));
    }
    pair.settled().await;
    for store in STORES {
        let status = world.services[store].report().pair.unwrap();
        assert_eq!((status.repaired, status.is_reachable), (0, true));
    }
}

#[tokio::test]
async fn while_one_store_is_gone_the_other_one_is_enough() {
    let pair = Pair::new().await;
    let world = &pair.world;
    let before = world.put(SIN, "before", "1").await;
    pair.agree("before", &before).await;
    for gone in STORES {
        pair.isolate(gone);
        let version = world.put(SIN, "a", &format!("without {gone}")).await;
        for reader in [FRA, SEA, SIN] {
            world.services[reader].copies.forget_all();
            let read = world.get(reader, "a").await;
            assert_eq!((read.status, read.text()), (200, format!("without {gone}").as_str()));
        }
        let bulk = r#"[{"key":"b1","value":"1"},{"key":"b2","value":"2"}]"#;
        let namespace = "/client/v4/accounts/a/storage/kv/namespaces/sessions";
        let put = world.ask(SIN, Method::PUT, &format!("{namespace}/bulk"), bulk).await;
        assert_eq!(put.status, 200, "{}", put.text());
        let list = world.ask(SIN, Method::GET, "/", "").await;
        assert!(list.status == 200 && list.text().contains("b2"), "{}", list.text());
        let read = world.ask(SIN, Method::POST, "/bulk/get", r#"{"keys":["a","b1"]}"#).await;
        assert_eq!(read.text(), format!("{{\"a\":\"without {gone}\",\"b1\":\"1\"}}"));
        let deleted = world.ask(SEA, Method::DELETE, "/before", "").await;
        assert_eq!(deleted.status, 200);
        world.heal();
        pair.agree("a", &version).await;
        pair.agree("before", deleted.field("kv-version")).await;
    }
    pair.settled().await;
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_not_waited_for() {
    let pair = Pair::new().await;
    let world = &pair.world;
    let namespace = Namespace::id_of("sessions");
    let (begun, go_on) = world.hold(LHR, Method::PUT);
    let version = world.put(SIN, "a", "1").await;
    begun.notified().await;
    assert_eq!(world.services[SIN].counts.asked_both.get(), 1);
    pair.agree("a", &version).await;
    let newer = world.put(SIN, "a", "2").await;
    assert!(newer > version);
    go_on.notify_one();
    pair.agree("a", &newer).await;
    // Older than the stored version.
    let mut late = Request::new(Body::whole("1"));
    *late.method_mut() = Method::PUT;
    *late.uri_mut() = "/a".parse().unwrap();
    for (name, value) in
        [("lh-tier-name", "write"), ("kv-namespace", &namespace), ("lh-kv-version", &version)]
    {
        late.headers_mut().insert(name, value.parse().unwrap());
    }
    let refused = world.services[NYC].answer_other(late).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert_eq!(refused.headers()["kv-version"], newer.as_str());
    pair.agree("a", &newer).await;
}

#[tokio::test]
async fn who_is_behind_in_time_writes_a_newer_version_all_the_same() {
    let pair = Pair::new().await;
    let world = &pair.world;
    let store = world.services[LHR].store().unwrap();
    let ahead = kv::Version::from_parts(32_000_000_000_000 << 16, StoreName::new("fra").unwrap());
    let namespace = Namespace::id_of("sessions");
    store.delete(&namespace, &[("a", Some(ahead.clone()))]).await.unwrap();
    world.services[LHR].linked.as_ref().unwrap().noted.notify_one();
    pair.agree("a", &ahead.to_string()).await;
    let version = world.put(SIN, "a", "1").await;
    assert!(version > ahead.to_string());
    pair.agree("a", &version).await;
    assert_eq!(world.get(FRA, "a").await.text(), "1");
}

#[tokio::test]
async fn a_read_finds_that_the_stores_differ_and_has_them_repaired() {
    let mut pair = Pair::idle().await;
    let namespace = Namespace::id_of("sessions");
    let world = Arc::clone(&pair.world);
    let key = key_with(&world, |_, upper| upper == FRA, SIN);
    let old = world.put(LHR, &key, "old").await;
    pair.isolate(NYC);
    world.put(NYC, &key, "new").await;
    let new = pair.known(NYC, &key).await.unwrap().0;
    assert!(new > old);
    world.heal();
    let (begun, go_on) = world.hold(NYC, Method::GET);
    let read = world.get(SIN, &key).await;
    assert_eq!((read.text(), read.source()), ("old", "store"));
    begun.notified().await;
    go_on.notify_one();
    while world.services[SIN].copies.version(&crate::value_cache::Name::of(&namespace, &key)).as_deref()
        != Some(&*new)
    {
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(world.get(SIN, &key).await.text(), "new");
    pair.run();
    pair.agree(&key, &new).await;
    pair.settled().await;
}

#[tokio::test]
async fn a_lost_file_is_filled_again_and_nobody_is_told_meanwhile_that_there_is_nothing() {
    let mut pair = Pair::idle().await;
    let world = Arc::clone(&pair.world);
    let mut versions = Vec::new();
    for number in 0..1200 {
        versions.push(world.put(LHR, &format!("k{number}"), &number.to_string()).await);
    }
    // New York has a new file, and no keys are marked.
    let store = world.services[LHR].store().unwrap();
    let noted = store.notes(Reached::default(), (2000, u64::MAX)).await.ok().unwrap();
    assert_eq!(noted.len(), versions.len());
    store.unnote(noted.into_iter().map(|noted| (noted.key, newest())).collect()).await.unwrap();
    assert_eq!(store.usage().noted, 0);
    drop(store);
    assert_eq!(world.get(NYC, "k7").await.text(), "7");
    assert_eq!(world.get(SIN, "k8").await.text(), "8");
    assert_eq!(world.get(NYC, "never").await.status, 404);
    pair.run();
    for number in [0, 7, 999, 1000, 1199] {
        pair.agree(&format!("k{number}"), &versions[number]).await;
    }
    pair.settled().await;
    while world.services[NYC].report().pair.unwrap().is_filling {
        sleep(Duration::from_millis(5)).await;
    }
    let differed: u64 =
        STORES.iter().map(|&store| world.services[store].report().pair.unwrap().differed).sum();
    assert!(differed >= 1200, "{differed}");
}

#[tokio::test]
async fn what_the_other_store_was_heard_to_know_is_not_unknown_when_something_older_arrives() {
    let mut pair = Pair::idle().await;
    let world = Arc::clone(&pair.world);
    // The first of two writes arrives at New York's new file.
    let old = world.put(LHR, "a", "first").await;
    let new = world.put(LHR, "a", "second").await;
    assert_eq!(world.get(NYC, "a").await.text(), "second");
    let first = kv_redb::Put {
        key: "a".to_owned(),
        value: "first".into(),
        expiration: None,
        metadata: None,
        version: None,
    };
    let (service, namespace) = (&world.services[NYC], Namespace::id_of("sessions"));
    let place = service.large(&service.large_writes).await.unwrap();
    service.put_several(&namespace, vec![first], Some(old.parse().unwrap()), place).await.unwrap();
    for _ in 0..2 {
        assert_eq!(world.get(NYC, "a").await.text(), "second");
    }
    pair.run();
    pair.agree("a", &new).await;
    assert_eq!(world.get(NYC, "a").await.text(), "second");
}

fn newest() -> kv::Version {
    kv::Version::from_parts(u64::MAX, StoreName::new("z").unwrap())
}

#[tokio::test]
async fn one_store_is_enough_to_make_and_remove_a_namespace() {
    let mut pair = Pair::idle().await;
    pair.isolate(LHR);
    let path = namespaces::make(&pair.world, SIN, "staging").await;
    let value = format!("{path}/values/a");
    let put = pair.world.ask_as("root", SEA, Method::PUT, &value, "1").await;
    assert_eq!((put.status, namespaces::get(&pair.world, LHR, &path).await.status), (200, 404));
    pair.world.heal();
    pair.run();
    pair.settled().await;
    pair.isolate(NYC);
    assert_eq!(namespaces::get(&pair.world, LHR, &value).await.text(), "1");
    assert_eq!(pair.world.ask_as("root", SIN, Method::DELETE, &path, "").await.status, 200);
    pair.world.heal();
    pair.settled().await;
    pair.world.services[NYC].look_for_namespaces().await.unwrap();
    assert_eq!(namespaces::get(&pair.world, NYC, &value).await.status, 404);
}
