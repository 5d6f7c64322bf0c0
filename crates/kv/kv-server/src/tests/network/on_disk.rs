//! Tests of copies on disk: conditional requests, restarts, and outdated copies.

use super::*;

async fn world() -> World {
    World::in_folder(true, &[LHR], TempDir::new().unwrap(), true).await
}

async fn restarted(world: World) -> World {
    let World { services, wires, folder } = world;
    for service in services {
        spawn_blocking(move || service.release()).await.unwrap();
    }
    drop(wires);
    World::in_folder(true, &[LHR], folder, true).await
}

async fn has_on_disk(world: &World, centre: usize, values: u64) {
    while world.services[centre].report().disk.unwrap().values < values {
        tokio::task::yield_now().await;
    }
}

async fn with_copy(value: &str) -> (World, String, String) {
    let world = world().await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    let version = world.put(LHR, &key, value).await;
    assert_eq!(world.get(SIN, &key).await.text(), value);
    has_on_disk(&world, SIN, 1).await;
    has_on_disk(&world, FRA, 1).await;
    (world, key, version)
}

fn unchanged(world: &World, centre: usize) -> u64 {
    world.services[centre].report().network.unwrap().unchanged
}

#[tokio::test]
async fn after_a_restart_a_value_is_asked_for_and_not_sent_again() {
    let (before, key, version) = with_copy("1").await;
    let world = restarted(before).await;
    let got = world.get(SIN, &key).await;
    assert_eq!((got.text(), got.field("kv-version"), got.source()), ("1", version.as_str(), "store"));
    assert_eq!((unchanged(&world, SIN), unchanged(&world, FRA)), (1, 1));
    let again = world.get(SIN, &key).await;
    assert_eq!((again.text(), again.source()), ("1", "lower"));
}

#[tokio::test]
async fn what_was_written_since_is_sent_whatever_lies_on_disk() {
    let (before, key, _) = with_copy("old").await;
    let world = restarted(before).await;
    world.put(LHR, &key, "new").await;
    assert_eq!(world.get(SIN, &key).await.text(), "new");
    assert_eq!(unchanged(&world, SIN), 0);
    world.ask(LHR, Method::DELETE, &format!("/{key}"), "").await;
    world.told().await;
    let gone = world.get(SIN, &key).await;
    assert_eq!(gone.status, 404, "{}", gone.text());
    let world = restarted(world).await;
    assert_eq!(world.get(SIN, &key).await.status, 404);
}

#[tokio::test]
async fn nothing_on_disk_is_an_answer_while_nobody_says_that_it_is_the_newest() {
    let (before, key, _) = with_copy("1").await;
    let world = restarted(before).await;
    world.cut(SIN, LHR);
    world.cut(SIN, FRA);
    assert_eq!(world.get(SIN, &key).await.status, 503);
    world.heal();
    assert_eq!(world.get(SIN, &key).await.text(), "1");
}

#[tokio::test]
async fn a_copy_that_memory_has_no_room_for_is_read_from_disk() {
    let world = world().await;
    let value = |number: usize| format!("{number}").repeat(50_000 / 3);
    let keys: Vec<_> = (100..300).collect();
    for number in &keys {
        world.put(LHR, &format!("k{number}"), &value(*number)).await;
        assert_eq!(world.get(SIN, &format!("k{number}")).await.text(), value(*number));
        has_on_disk(&world, SIN, (number - 99) as u64).await;
    }
    let asked = world.asked();
    for number in &keys {
        let got = world.get(SIN, &format!("k{number}")).await;
        assert_eq!((got.text(), got.source()), (value(*number).as_str(), "lower"), "{number}");
    }
    assert_eq!(world.asked(), asked, "nobody was asked for what is on disk");
    let status = world.services[SIN].report();
    assert!(status.memory_bytes <= 4 << 20 && status.disk.unwrap().bytes > 9_000_000);
}

#[tokio::test]
async fn a_value_that_is_too_large_for_memory_is_sent_once() {
    let large = "x".repeat(3 << 20);
    let (before, key, _) = with_copy(&large).await;
    let asked = before.asked();
    let again = before.get(SIN, &key).await;
    assert_eq!((again.text() == large, again.source(), before.asked()), (true, "lower", asked));
    before.pass(61);
    let later = before.get(SIN, &key).await;
    assert_eq!((later.text() == large, later.source(), unchanged(&before, SIN)), (true, "store", 1));

    let world = restarted(before).await;
    let got = world.get(SIN, &key).await;
    assert_eq!((got.text() == large, got.source(), unchanged(&world, SIN)), (true, "store", 1));
}

#[tokio::test]
async fn what_the_disk_has_lost_is_sent_again() {
    let large = "x".repeat(3 << 20);
    let (world, key, _) = with_copy(&large).await;
    let directory = world.folder.path().join("values-sin");
    for file in std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "log") {
            std::fs::File::options().write(true).open(file).unwrap().set_len(100).unwrap();
        }
    }
    let again = world.get(SIN, &key).await;
    assert_eq!((again.status, again.text() == large, again.source()), (200, true, "upper"));
}

#[tokio::test]
async fn a_copy_is_asked_for_again_without_being_sent() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "1").await;
    world.get(SIN, &key).await;
    world.pass(61);
    let later = world.get(SIN, &key).await;
    assert_eq!((later.text(), later.source(), later.age()), ("1", "store", 0));
    assert_eq!((unchanged(&world, SIN), unchanged(&world, FRA)), (1, 1));
}
