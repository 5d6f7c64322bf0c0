//! Tests of namespaces that are created in one data centre and used in others.

use super::*;

const BASE: &str = "/client/v4/accounts/any/storage/kv/namespaces";

pub(super) async fn make(world: &World, centre: usize, title: &str) -> String {
    let body = format!("{{\"title\":\"{title}\"}}");
    let made = world.ask_as("root", centre, Method::POST, BASE, body).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let made: serde_json::Value = serde_json::from_str(made.text()).unwrap();
    format!("{BASE}/{}", made["result"]["id"].as_str().unwrap())
}

pub(super) async fn get(world: &World, centre: usize, path: &str) -> Answer {
    world.ask_as("root", centre, Method::GET, path, "").await
}

#[tokio::test]
async fn what_is_made_in_one_data_centre_is_there_in_all_at_once() {
    let world = World::new().await;
    let path = make(&world, SIN, "staging").await;
    let put = world.ask_as("root", SEA, Method::PUT, &format!("{path}/values/a"), "1").await;
    assert_eq!(put.status, 200, "{}", put.text());
    for centre in 0..NAMES.len() {
        assert_eq!(get(&world, centre, &format!("{path}/values/a")).await.text(), "1");
        assert!(get(&world, centre, BASE).await.text().contains("\"total_count\":3"));
    }
    assert_eq!(world.ask_as("root", NYC, Method::DELETE, &path, "").await.status, 200);
    // Others may serve copies until they read the list of namespaces again.
    assert_eq!(get(&world, LHR, &format!("{path}/values/a")).await.status, 404);
    let put = world.ask_as("root", SIN, Method::PUT, &format!("{path}/values/b"), "2").await;
    assert_eq!(put.status, 503, "{}", put.text());
    assert_eq!(get(&world, SIN, &format!("{path}/values/a")).await.text(), "1");
    world.services[SIN].look_for_namespaces().await.unwrap();
    assert_eq!(get(&world, SIN, &format!("{path}/values/a")).await.status, 404);
}

#[tokio::test]
async fn without_the_store_known_ones_are_served_and_others_are_not_denied() {
    let world = World::new().await;
    let path = make(&world, SIN, "staging").await;
    let value = format!("{path}/values/a");
    world.ask_as("root", SIN, Method::PUT, &value, "1").await;
    assert_eq!(get(&world, SIN, &value).await.text(), "1");
    (1..NAMES.len()).for_each(|other| world.cut(LHR, other));
    assert_eq!(get(&world, SIN, &value).await.text(), "1");
    assert_eq!(get(&world, SIN, &format!("{BASE}/none")).await.status, 404);
    let asked = get(&world, NYC, &value).await;
    assert!(asked.status == 503 && asked.text().contains("is not known"), "{}", asked.text());
    let listed = get(&world, NYC, BASE).await;
    assert!(
        listed.text().contains("made over the API may be missing") && listed.text().contains("flags"),
        "{}",
        listed.text()
    );
    let refused = world.ask_as("root", NYC, Method::POST, BASE, "{\"title\":\"b\"}").await;
    assert_eq!(refused.status, 503, "{}", refused.text());
    world.heal();
    assert_eq!(get(&world, NYC, &value).await.text(), "1");
}

#[tokio::test]
async fn questions_that_come_together_ask_the_store_together() {
    let world = Arc::new(World::new().await);
    make(&world, LHR, "staging").await;
    let (begun, go_on) = world.hold(LHR, Method::GET);
    let asking = async || world.services[SIN].look_for_namespaces().await;
    let before = world.asked();
    let rest = async {
        begun.notified().await;
        let some = tokio::join!(asking(), asking(), asking(), async { go_on.notify_one() });
        (some.0.is_ok(), some.1.is_ok(), some.2.is_ok())
    };
    let (first, others) = tokio::join!(asking(), rest);
    assert_eq!((first.is_ok(), others, world.asked() - before), (true, (true, true, true), 2));
}
