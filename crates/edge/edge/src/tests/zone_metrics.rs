//! Metrics of client requests by zone, over all paths of a request.

use std::sync::atomic::Ordering::SeqCst;

use super::{Fixture, test_listener::TestListener, with};

const BYPASS: &str = "[[zone.rule]]\npath = \"/pass\"\nbypass = true\n";

#[tokio::test]
async fn each_client_request_is_counted_once() {
    let door = TestListener::new(Fixture::new(BYPASS, async |_, _| with("max-age=60", "twelve bytes")));
    for _ in 0..4 {
        for path in ["/", "/pass"] {
            assert_eq!(door.get(path, &[]).await.0.body, "twelve bytes");
        }
        door.ask("HEAD", "/", &[]).await;
        door.ask("BREW", "/pass", &[]).await;
    }
    assert!(door.at_once.load(SeqCst) > 0 && door.relayed.load(SeqCst) > 0);
    let traffic = &door.fixture.node.traffic;
    // A miss has a body of another task, whose last byte may be counted after the client has it.
    while traffic.report().iter().map(|zone| zone.body_bytes).sum::<u64>() < 12 * 12 {
        tokio::task::yield_now().await;
    }
    let report = traffic.report();
    let [none, z] = &report[..] else { panic!("{report:?}") };
    assert_eq!((none.name, &none.requests[..]), ("", &[("GET", "4xx", "refused", 16)][..]));
    assert_eq!(
        (z.name, &z.requests[..]),
        (
            "z",
            &[
                ("GET", "2xx", "hit", 3),
                ("GET", "2xx", "miss", 1),
                ("GET", "2xx", "bypass", 4),
                ("HEAD", "2xx", "hit", 4),
                ("other", "2xx", "bypass", 4)
            ][..]
        )
    );
    assert_eq!(z.body_bytes, 12 * 12);
    let counts: Vec<_> = z.durations.iter().map(|(result, counts)| (*result, counts.total())).collect();
    assert_eq!(counts, [("hit", 7), ("miss", 1), ("bypass", 8)]);
    let origins: Vec<_> = z.origins.iter().map(|(_, counts)| counts.total()).collect();
    assert_eq!(origins, [9]);
}

#[tokio::test]
async fn counters_survive_a_reload() {
    let door = TestListener::new(Fixture::new("", async |_, _| with("max-age=60", "it")));
    door.get("/", &[]).await;
    let node = &door.fixture.node;
    node.replace_network(crate::Network::clone(&node.network()));
    door.get("/", &[]).await;
    let report = node.traffic.report();
    assert_eq!(report[1].requests, [("GET", "2xx", "hit", 1), ("GET", "2xx", "miss", 1)]);
}
