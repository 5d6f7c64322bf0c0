//! Tests of stores in London and New York in two NATS servers.

use tokio::time::sleep;

use super::{
    two_stores::{Pair, STORES},
    *,
};
use crate::tests::nats::Nats;

struct InNats {
    servers: [Nats; 2],
    pair: Pair,
}

const OF_NYC: usize = 1;

impl InNats {
    async fn new() -> Self {
        let mut this = Self::idle().await;
        this.pair.run();
        this
    }

    async fn idle() -> Self {
        let servers = [Nats::start(), Nats::start()];
        let pair = begun(&servers).await;
        let this = Self { servers, pair };
        this.usable(&STORES).await;
        this
    }

    fn world(&self) -> Arc<World> {
        Arc::clone(&self.pair.world)
    }

    async fn restart(self) -> Self {
        let Self { servers, pair } = self;
        drop(pair);
        let mut pair = begun(&servers).await;
        pair.run();
        Self { servers, pair }
    }

    async fn usable(&self, stores: &[usize]) {
        for &store in stores {
            while self.pair.world.services[store].report().error.is_some() {
                sleep(Duration::from_millis(10)).await;
            }
        }
    }

    async fn kill_one(&mut self) {
        self.servers[OF_NYC].kill();
        while self.pair.world.services[NYC].report().error.is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn revive(&mut self) {
        self.servers[OF_NYC].start_again();
        self.usable(&STORES).await;
    }
}

async fn begun(servers: &[Nats; 2]) -> Pair {
    let places: Vec<_> = STORES.into_iter().zip(servers.iter().map(Nats::place)).collect();
    Pair::of(World::at(true, &places, TempDir::new().unwrap(), false).await)
}

#[tokio::test]
async fn what_is_written_to_one_stream_is_in_both() {
    let in_nats = InNats::new().await;
    let (world, pair) = (in_nats.world(), &in_nats.pair);
    for centre in [SIN, LHR, NYC] {
        let version = world.put(centre, "a", "1").await;
        pair.agree("a", &version).await;
    }
    let deleted = world.ask(SIN, Method::DELETE, "/a", "").await;
    pair.agree("a", deleted.field("kv-version")).await;
    assert_eq!(pair.known(NYC, "a").await.unwrap().1, None);
    let bulk = r#"[{"key":"b1","value":"1"},{"key":"b2","value":"2"}]"#;
    let put =
        world.ask(SIN, Method::PUT, "/client/v4/accounts/a/storage/kv/namespaces/sessions/bulk", bulk).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let large = "x".repeat(600_000);
    let version = world.put(SIN, "large", &large).await;
    pair.agree("large", &version).await;
    assert_eq!(pair.known(NYC, "large").await.unwrap().1.as_deref(), Some(large.as_bytes()));
    pair.settled().await;
    for store in STORES {
        let version = pair.known(store, "b2").await.unwrap().0;
        pair.agree("b2", &version).await;
        assert_eq!(world.services[store].report().keys, Some(3));
        while world.services[store].report().pair.unwrap().is_filling {
            sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn what_is_written_while_one_server_is_away_is_in_both_when_it_is_back() {
    let mut in_nats = InNats::new().await;
    let world = in_nats.world();
    let before = world.put(SIN, "before", "1").await;
    in_nats.pair.agree("before", &before).await;
    in_nats.kill_one().await;
    let mut versions = Vec::new();
    for (centre, key) in [(SIN, "a"), (NYC, "b"), (LHR, "c")] {
        versions.push((key, world.put(centre, key, "away").await));
        for reader in [FRA, SEA, SIN, NYC] {
            world.services[reader].copies.forget_all();
            let read = world.get(reader, key).await;
            assert_eq!((read.status, read.text()), (200, "away"), "{key} in {reader}");
        }
    }
    let list = world.ask(NYC, Method::GET, "/", "").await;
    assert!(list.status == 200 && list.text().contains("\"a\""), "{}", list.text());
    let deleted = world.ask(NYC, Method::DELETE, "/before", "").await;
    assert_eq!(deleted.status, 200, "{}", deleted.text());
    in_nats.revive().await;
    let newer = world.put(NYC, "a", "newer").await;
    versions[0].1 = newer;
    for (key, version) in &versions {
        in_nats.pair.agree(key, version).await;
    }
    in_nats.pair.agree("before", deleted.field("kv-version")).await;
    in_nats.pair.settled().await;
    for centre in 0..NAMES.len() {
        world.services[centre].copies.forget_all();
        assert_eq!(world.get(centre, "before").await.status, 404, "{centre}");
    }
}

#[tokio::test]
async fn what_the_other_store_said_meanwhile_is_not_unknown_when_a_server_is_back() {
    let mut in_nats = InNats::idle().await;
    let world = in_nats.world();
    in_nats.kill_one().await;
    let first = world.put(LHR, "a", "first").await;
    world.put(LHR, "a", "second").await;
    assert_eq!(world.get(NYC, "a").await.text(), "second");
    in_nats.revive().await;
    let put = kv_redb::Put {
        key: "a".to_owned(),
        value: "first".into(),
        expiration: None,
        metadata: None,
        version: Some(first.parse().unwrap()),
    };
    let store = world.services[NYC].store().unwrap();
    store.put(&Namespace::id_of("sessions"), vec![put]).await.unwrap();
    for _ in 0..2 {
        assert_eq!(world.get(NYC, "a").await.text(), "second");
    }
}

#[tokio::test]
async fn what_the_other_stream_lacks_outlives_the_process_that_knows_it() {
    let mut in_nats = InNats::new().await;
    let world = in_nats.world();
    let before = world.put(SIN, "before", "1").await;
    in_nats.pair.agree("before", &before).await;
    in_nats.pair.settled().await;
    in_nats.kill_one().await;
    let version = world.put(SIN, "a", "1").await;
    let deleted = world.ask(SIN, Method::DELETE, "/before", "").await;
    drop(world);
    let mut in_nats = in_nats.restart().await;
    in_nats.usable(&[LHR]).await;
    assert!(in_nats.world().services[LHR].report().pair.unwrap().behind >= 2);
    in_nats.revive().await;
    in_nats.pair.agree("a", &version).await;
    in_nats.pair.agree("before", deleted.field("kv-version")).await;
    in_nats.pair.settled().await;
    assert_eq!(in_nats.world().get(NYC, "before").await.status, 404);
}

#[tokio::test]
async fn a_stream_that_lost_all_is_filled_again_and_nobody_is_told_meanwhile_that_there_is_nothing() {
    let mut in_nats = InNats::new().await;
    let world = in_nats.world();
    let mut versions = Vec::new();
    for number in 0..300 {
        versions.push(world.put(LHR, &format!("k{number}"), &number.to_string()).await);
    }
    let deleted = world.ask(LHR, Method::DELETE, "/k9", "").await.field("kv-version").to_owned();
    in_nats.pair.agree("k9", &deleted).await;
    in_nats.pair.settled().await;
    in_nats.servers[OF_NYC].lose();
    while world.services[NYC].report().pair.unwrap().taken < 600 {
        let read = world.get(NYC, "k299").await;
        assert_eq!((read.status, read.text()), (200, "299"));
        let list = world.ask(NYC, Method::GET, "/", "").await;
        let names = list.text().matches("\"name\"").count();
        assert!(list.status == 503 || names == 299, "{} with {names} keys", list.status);
        sleep(Duration::from_millis(10)).await;
    }
    for number in [0, 7, 299] {
        in_nats.pair.agree(&format!("k{number}"), &versions[number]).await;
    }
    in_nats.pair.agree("k9", &deleted).await;
    in_nats.pair.settled().await;
    while world.services[NYC].report().pair.unwrap().is_filling {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_store_that_is_not_filled_yet_says_so_while_the_other_one_is_away() {
    let in_nats = InNats::idle().await;
    let world = in_nats.world();
    world.put(LHR, "a", "1").await;
    assert_eq!(world.get(NYC, "a").await.text(), "1");
    world.services[NYC].copies.forget_all();
    world.cut(NYC, LHR);
    for target in ["/a", "/b"] {
        let came = world.ask(NYC, Method::GET, target, "").await;
        assert_eq!(came.status, 503, "{target}");
        assert!(
            came.text().starts_with("this store is being filled from the other store"),
            "{}",
            came.text()
        );
    }
    world.put(NYC, "c", "2").await;
    world.services[NYC].copies.forget_all();
    assert_eq!(world.get(NYC, "c").await.text(), "2");
}

#[tokio::test]
async fn a_file_and_a_stream_are_two_stores_as_well() {
    let nats = Nats::start();
    let folder = TempDir::new().unwrap();
    let places = [(LHR, Place::File(folder.path().join("kv.redb"))), (NYC, nats.place())];
    let mut pair = Pair::of(World::at(true, &places, folder, false).await);
    pair.run();
    let world = Arc::clone(&pair.world);
    while world.services[NYC].report().error.is_some() {
        sleep(Duration::from_millis(10)).await;
    }
    for centre in [LHR, NYC, SIN] {
        let version = world.put(centre, "a", &centre.to_string()).await;
        pair.agree("a", &version).await;
    }
    // A value that does not fit into a message does not block other keys.
    let large = world.put(LHR, "large", &"x".repeat(2_000_000)).await;
    let version = world.put(LHR, "b", "1").await;
    pair.agree("b", &version).await;
    pair.settled().await;
    assert_eq!(pair.known(LHR, "large").await.unwrap().0, large);
    assert_eq!(pair.known(NYC, "large").await, None);
}
