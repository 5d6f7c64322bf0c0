//! Zones with several origins: shares, failover, health checks, ejection and limits.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use config_file::Document;
use http_stack::{Body, Method, Request, Response, Server, ShutdownSignal, StatusCode};
use tokio::sync::Notify;

use super::{
    Fixture, MEMORY, ReceivedResponse, node, receive, request, test_listener::TestListener,
    test_network::World, with, worker_state,
};
use crate::{Network, admin::api::PoolMemberStatus, server::worker_state::WorkerState};

struct Balanced {
    worker: Arc<WorkerState>,
    counts: Vec<Arc<AtomicUsize>>,
    urls: Vec<String>,
    stop: ShutdownSignal,
}

impl Balanced {
    /// Starts an origin for each of `settings`, the keys of its table.
    fn new<F>(
        settings: &[&str],
        zone: &str,
        respond: impl Fn(usize, Request<Body>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        let (respond, stop) = (Arc::new(respond), ShutdownSignal::new());
        let (mut counts, mut urls) = (Vec::new(), Vec::new());
        for number in 0..settings.len() {
            let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
            urls.push(format!("http://{}", server.addresses().unwrap()[0]));
            let count = Arc::new(AtomicUsize::new(0));
            let (respond, counter, ending) = (Arc::clone(&respond), Arc::clone(&count), stop.clone());
            counts.push(count);
            let handler = move |request: Request<Body>| {
                counter.fetch_add(usize::from(request.uri().path() != "/healthz"), SeqCst);
                let respond = Arc::clone(&respond);
                async move { Ok(respond(number, request).await) }
            };
            tokio::spawn(async move { server.serve(handler, &ending).await });
        }
        let worker = worker_state(node(network(&urls, settings, zone), MEMORY, None));
        worker.origins.pools.start_checks(worker.connectors.requests.fresh(), &worker.network());
        Self { worker, counts, urls, stop }
    }

    fn reload(&self, settings: &[&str], zone: &str) {
        self.worker.replace_network(network(&self.urls, settings, zone));
    }

    async fn send(&self, method: Method, path: &str) -> ReceivedResponse {
        receive(self.worker.serve(request(method, path, &[])).await).await
    }

    async fn get(&self, path: &str) -> ReceivedResponse {
        self.send(Method::GET, path).await
    }

    fn counts(&self) -> Vec<usize> {
        self.counts.iter().map(|count| count.load(SeqCst)).collect()
    }

    fn origin(&self, number: usize) -> PoolMemberStatus {
        self.worker.origins.pools.report().remove(0).origins.remove(number)
    }

    async fn wait_for(&self, number: usize, state: &str) {
        while self.origin(number).state != state {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for Balanced {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}

fn network(urls: &[String], settings: &[&str], zone: &str) -> Network {
    let table = |(url, settings): (&String, &&str)| match *settings {
        "" => format!("\"{url}\""),
        settings => format!("{{ url = \"{url}\", {settings} }}"),
    };
    let origins: Vec<_> = urls.iter().zip(settings).map(table).collect();
    let text = format!(
        "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\n\
         [[zone]]\nname = \"z\"\nhosts = [\"shop.example\"]\norigin = [{}]\n{zone}",
        origins.join(", ")
    );
    Network::read(&Document::new("n.toml", text)).unwrap()
}

fn error(status: u16, body: String) -> Response<Body> {
    let mut response = with("no-store", body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

#[tokio::test]
async fn requests_are_shared_by_weight() {
    for balance in ["round-robin", "least-connections"] {
        let zone = format!("balance = \"{balance}\"\n");
        let pool = Balanced::new(&["weight = 3", ""], &zone, async |_, _| with("no-store", "it"));
        for method in [Method::GET, Method::HEAD, Method::POST, Method::GET].into_iter().cycle().take(8) {
            assert_eq!(pool.send(method, "/").await.status, 200);
        }
        assert_eq!(pool.counts(), [6, 2], "{balance}");
        assert_eq!([0, 1].map(|number| pool.origin(number).requests), [6, 2]);
        assert_eq!([0, 1].map(|number| pool.origin(number).in_flight), [0, 0]);
    }
}

#[tokio::test]
async fn key_chooses_the_origin() {
    let zone = "balance = \"hash\"\nbalance_by = \"cookie:session\"\n";
    let pool = Balanced::new(&["", "", ""], zone, async |number, _| with("no-store", number.to_string()));
    let mut used = HashSet::new();
    for session in 0..20 {
        let mut bodies = HashSet::new();
        for path in ["/a", "/b", "/c"] {
            let cookie = format!("session={session}");
            let asked = request(Method::GET, path, &[("cookie", &cookie)]);
            bodies.insert(receive(pool.worker.serve(asked).await).await.body);
        }
        assert_eq!(bodies.len(), 1, "{session}");
        used.extend(bodies);
    }
    // One of three is unused with a probability of 3 (2/3)^20 = 0.0009, the same in each run but for
    // the ports.
    assert!(used.len() > 1);
}

#[tokio::test]
async fn chosen_status_goes_to_the_next_origin() {
    let zone = "failover_statuses = [502, 503]\n";
    let pool = Balanced::new(&["", ""], zone, async |number, request| {
        let is_bad = number == 0 || request.uri().path() == "/bad";
        if is_bad { error(503, format!("from {number}")) } else { with("no-store", format!("from {number}")) }
    });
    for method in [Method::GET, Method::HEAD] {
        assert_eq!(pool.send(method, "/").await.status, 200);
    }
    assert_eq!(pool.counts(), [2, 2]);
    let post = pool.send(Method::POST, "/").await;
    assert_eq!((post.status, &post.body[..]), (503, &b"from 0"[..]));
    let last = pool.get("/bad").await;
    assert_eq!((last.status, &last.body[..]), (503, &b"from 1"[..]));
    assert_eq!(pool.counts(), [4, 3]);
}

#[tokio::test]
async fn answer_is_passed_if_the_next_origin_is_unreachable() {
    let mut pool = Balanced::new(&["", ""], "", async |_, _| error(503, "busy".to_owned()));
    pool.urls[1] =
        format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    pool.reload(&["", ""], "failover_statuses = [503]\n");
    let passed = pool.get("/").await;
    assert_eq!((passed.status, &passed.body[..]), (503, &b"busy"[..]));
    assert_eq!(pool.origin(1).state, "down");
}

#[tokio::test]
async fn unsent_post_goes_to_another_origin() {
    let mut pool = Balanced::new(&["", ""], "", async |_, _| with("no-store", "it"));
    pool.urls[0] =
        format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    pool.reload(&["", ""], "balance = \"round-robin\"\n");
    for _ in 0..4 {
        assert_eq!(pool.send(Method::POST, "/").await.status, 200);
    }
    assert_eq!(pool.counts(), [0, 4]);
    let down = pool.origin(0);
    assert_eq!((down.state.as_str(), down.reason.as_deref()), ("down", Some("origin-unreachable")));
}

#[tokio::test]
async fn outlier_is_ejected_and_stays_so_after_a_reload() {
    let zone = "balance = \"round-robin\"\neject_after = 2\neject_for = \"1h\"\n";
    let pool = Balanced::new(&["", ""], zone, async |number, _| match number {
        1 => error(500, String::new()),
        _ => with("no-store", "it"),
    });
    let mut statuses = Vec::new();
    for _ in 0..10 {
        statuses.push(pool.get("/").await.status);
    }
    assert_eq!(statuses.iter().filter(|&&status| status == 500).count(), 2, "{statuses:?}");
    assert_eq!(pool.counts(), [8, 2]);
    let ejected = pool.origin(1);
    assert_eq!((ejected.state.as_str(), ejected.reason.as_deref()), ("ejected", Some("status 500")));
    assert_eq!((ejected.ejections, pool.origin(0).state.as_str()), (1, "up"));
    pool.reload(&["weight = 2", ""], zone);
    assert_eq!((pool.origin(1).state.as_str(), pool.origin(0).weight), ("ejected", 2.0));
    assert_eq!(pool.get("/").await.status, 200);
    pool.reload(&["", ""], "balance = \"round-robin\"\neject_after = 3\nfailover_statuses = [500]\n");
    assert_eq!(pool.get("/").await.status, 200);
}

#[tokio::test]
async fn health_check_takes_an_origin_out_and_back() {
    let is_well = Arc::new(AtomicBool::new(true));
    let told = Arc::clone(&is_well);
    let zone = "balance = \"round-robin\"\nslow_start = \"1ms\"\n[zone.health_check]\npath = \"/healthz\"\n\
                interval = \"10ms\"\nhealthy = 2\nunhealthy = 2\nstatuses = [204]\n";
    let pool = Balanced::new(&["", ""], zone, move |number, request| {
        let is_well = number == 1 || told.load(SeqCst);
        let is_check = request.uri().path() == "/healthz" && request.headers()["host"] == "shop.example";
        std::future::ready(match (is_check, is_well) {
            (true, true) => error(204, String::new()),
            (true, false) => error(500, String::new()),
            (false, _) => with("no-store", "it"),
        })
    });
    pool.get("/").await;
    pool.get("/").await;
    assert_eq!(pool.counts(), [1, 1]);
    is_well.store(false, SeqCst);
    pool.wait_for(0, "down").await;
    let down = pool.origin(0);
    assert_eq!(down.reason.as_deref(), Some("status 500"));
    assert!(down.check_failures >= 2 && down.checks >= down.check_failures, "{down:?}");
    for _ in 0..4 {
        pool.get("/").await;
    }
    assert_eq!(pool.counts(), [1, 5]);
    is_well.store(true, SeqCst);
    pool.wait_for(0, "up").await;
    // Checks end with a reload that removes them.
    is_well.store(false, SeqCst);
    pool.reload(&["", ""], "balance = \"round-robin\"\n");
    assert_eq!((pool.origin(0).state.as_str(), pool.origin(0).checks), ("up", 0));
}

#[tokio::test]
async fn request_waits_for_a_free_place() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (told_arrival, held) = (Arc::clone(&arrived), Arc::clone(&go_on));
    let pool = Arc::new(Balanced::new(&["max_connections = 1"], "", move |_, request| {
        let (arrived, go_on) = (Arc::clone(&told_arrival), Arc::clone(&held));
        async move {
            let (sender, body) = Body::channel(1);
            let is_held = request.uri().path() == "/held";
            tokio::spawn(async move {
                let _ = sender.send("it").await;
                if is_held {
                    arrived.notify_one();
                    go_on.notified().await;
                }
                let _ = sender.finish().await;
            });
            let mut response = with("no-store", "");
            *response.body_mut() = body;
            response
        }
    }));
    let spawn = |path: &'static str| {
        let pool = Arc::clone(&pool);
        tokio::spawn(async move { pool.get(path).await })
    };
    let held = spawn("/held");
    arrived.notified().await;
    // The body is still in flight.
    assert_eq!(pool.origin(0).in_flight, 1);
    let waiting = spawn("/waiting");
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert_eq!(pool.counts(), [1]);
    go_on.notify_one();
    assert_eq!(held.await.unwrap().body, "it");
    assert_eq!(waiting.await.unwrap().body, "it");
    assert_eq!(pool.origin(0).in_flight, 0);
    let held = spawn("/held");
    arrived.notified().await;
    pool.reload(&["max_connections = 1"], "first_byte = \"20ms\"\n");
    let refused = pool.get("/refused").await;
    assert_eq!((refused.status, refused.told.as_str()), (503, "lhr; fwd=bypass; detail=busy"));
    go_on.notify_one();
    assert_eq!(held.await.unwrap().body, "it");
}

#[tokio::test]
async fn pool_is_used_by_data_centres_with_links() {
    let world = World::new("", async |_, number| with("no-store", number.to_string()));
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let worker = &world.centres[0].worker;
    let mut network = Network::clone(&worker.network());
    let zone = &mut network.zones[0];
    zone.origins.insert(0, format!("http://{gone}").parse().unwrap());
    zone.balancing.balance = crate::config::Balance::RoundRobin;
    zone.detours = crate::config::Detours::Off;
    worker.node.update_peers(&network).unwrap();
    worker.replace_network(network);
    for method in [Method::POST, Method::GET, Method::HEAD, Method::POST] {
        assert_eq!(world.send(0, request(method, "/", &[])).await.status, 200);
    }
    assert_eq!(world.asked(), 4);
    let members = worker.origins.pools.report().remove(0).origins;
    assert_eq!((members[0].state.as_str(), members[1].state.as_str()), ("down", "up"));
}

#[tokio::test]
async fn pool_excludes_the_relay_of_passes() {
    for (zone, relayed) in [("", 2), ("balance = \"round-robin\"\n", 0)] {
        let listener = TestListener::new(Fixture::new(zone, async |_, _| with("no-store", "it")));
        for _ in 0..4 {
            assert_eq!(listener.get("/", &[]).await.0.body, "it");
        }
        assert_eq!((listener.relayed.load(SeqCst), listener.fixture.request_count()), (relayed, 4));
    }
}
