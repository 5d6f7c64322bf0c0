//! Rate limits of clients' requests: keys, paths, response fields and the fast path.

use http_stack::{Method, Response, StatusCode};

use super::{Fixture, request, test_listener::TestListener, test_network::World, with};

const LIMIT: &str =
    "rate_limit = [{ path = \"/api/*\", by = \"header:x-user\", rate = \"2/h\", burst = 3 }]\n";

fn field<'r>(response: &'r Response<http_stack::Body>, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn requests_beyond_the_burst_are_rejected() {
    let fixture = Fixture::new(LIMIT, async |_, _| with("max-age=60", "it"));
    let send = |path: &'static str, user: &'static str| {
        fixture.node.serve(request(Method::GET, path, &[("x-user", user)]))
    };
    for left in ["2", "1", "0"] {
        let response = send("/api/a", "ann").await;
        assert_eq!(response.status(), 200);
        assert_eq!(field(&response, "ratelimit-policy"), "\"1\";q=3;w=5400");
        assert!(field(&response, "ratelimit").starts_with(&format!("\"1\";r={left};t=")));
    }
    let limited = send("/api/b", "ann").await;
    assert_eq!(limited.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(field(&limited, "cache-status"), "lhr; fwd=bypass; detail=rate-limited");
    assert!(field(&limited, "ratelimit").starts_with("\"1\";r=0;t="));
    // A token each half hour, of which a few seconds at most have passed.
    let wait: u64 = field(&limited, "retry-after").parse().unwrap();
    assert!((1500..=1800).contains(&wait), "{wait}");
    // An origin may decode the path.
    assert_eq!(send("/%61pi/a", "ann").await.status(), 429);
    assert_eq!(send("/api/a", "ben").await.status(), 200);
    assert_eq!(field(&send("/other", "ann").await, "ratelimit"), "");
    assert_eq!(fixture.node.rate_limiter.limited("z"), 2);
}

#[tokio::test]
async fn hits_on_a_connection_count_too() {
    let limit = "rate_limit = [{ rate = \"1/h\", burst = 5, status = 503 }]\n";
    let fixture = Fixture::new(limit, async |_, _| with("max-age=60", "it"));
    let listener = TestListener::new(fixture);
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let (said, is_fast) = listener.get("/a", &[]).await;
        assert!(!is_fast);
        statuses.push(said.status.split(' ').nth(1).unwrap().to_owned());
    }
    assert_eq!(statuses, ["200", "200", "200", "200", "200", "503", "503", "503"]);
    assert_eq!(listener.fixture.request_count(), 1);
}

#[tokio::test]
async fn requests_of_peers_are_not_limited() {
    let zone = "tiers = { lhr = \"fra\", syd = \"fra\" }\nrate_limit = [{ rate = \"1/h\", burst = 2 }]\n";
    let world = World::new(zone, async |_, _| with("no-store", "it"));
    for centre in [0, 2] {
        let mut statuses = Vec::new();
        for _ in 0..3 {
            statuses.push(world.get(centre, "/").await.status);
        }
        assert_eq!(statuses, [200, 200, 429]);
    }
    assert_eq!(world.centres[1].worker.rate_limiter.limited("z"), 0);
}
