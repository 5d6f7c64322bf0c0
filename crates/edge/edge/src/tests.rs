//! Tests of a data centre with an origin. Requests are passed to the edge without sockets.

mod aborted_transfers;
mod access_log;
mod admin_token;
mod by_status;
mod client_connection;
mod collapsing;
mod compress;
mod conditional_requests;
mod cuttable_link;
mod detours;
mod disk_only;
mod disk_tier;
mod fast_path;
mod forwarding_headers;
mod health_endpoints;
mod kv_links;
mod latest_response;
mod load_balancing;
mod model;
mod nats_server;
mod origin_failures;
mod origin_requests;
mod path_failures;
mod purges;
mod purges_over_nats;
mod ranges;
mod rate_limits;
mod raw_forward;
mod reload;
mod restart;
mod revalidation;
mod rule_decisions;
mod rules;
mod rules_in_tiers;
mod test_listener;
mod test_network;
mod tiers;
mod traces;
mod trusted_proxies;
mod uploads;
mod url_normalization;
mod variants;
mod zone_metrics;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use config_file::Document;
use http_cache::purge::{Depth, Purge};
use http_stack::{
    Body, Bytes, Method, Request, Response, Scheme, Server, ShutdownSignal, StatusCode, client::Trust,
    server::Peer,
};
use tokio::sync::Notify;

use crate::{
    Network,
    config::Disk,
    purge::record::RecoveredPurges,
    server::{node::Node, worker_state::WorkerState},
    store::disk::DiskTier,
    upstream::connectors::Connectors,
};

/// With a disk, an object may take a sixteenth of the memory.
const MEMORY: u64 = 4 << 20;

struct Fixture {
    node: Arc<WorkerState>,
    request_count: Arc<AtomicUsize>,
    stop: ShutdownSignal,
}

#[derive(Debug, PartialEq, Eq)]
struct ReceivedResponse {
    status: u16,
    told: String,
    body: Bytes,
}

impl Fixture {
    fn new<F>(zone: &str, respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::with_disk(None, zone, respond)
    }

    fn with_disk<F>(
        disk: Option<&Disk>,
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        Self::with_memory(MEMORY, disk, zone, respond)
    }

    fn with_memory<F>(
        memory: u64,
        disk: Option<&Disk>,
        zone: &str,
        respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send,
    {
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let origin = server.addresses().unwrap()[0];
        let (request_count, stop) = (Arc::new(AtomicUsize::new(0)), ShutdownSignal::new());
        let (counter, respond) = (Arc::clone(&request_count), Arc::new(respond));
        let handler = move |request: Request<Body>| {
            let (number, respond) = (counter.fetch_add(1, SeqCst), Arc::clone(&respond));
            async move { Ok(respond(request, number).await) }
        };
        let ending = stop.clone();
        tokio::spawn(async move { server.serve(handler, &ending).await });
        let text = format!(
            "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\n\
             [[zone]]\nname = \"z\"\nhosts = [\"shop.example\"]\norigin = [\"http://{origin}\"]\n{zone}"
        );
        let network = Network::read(&Document::new("n.toml", text)).unwrap();
        let node = node(network, memory, disk.map(|disk| DiskTier::open(disk).unwrap()));
        let node = worker_state(node);
        Self { node, request_count, stop }
    }

    async fn restart(&mut self, disk: &Disk) {
        self.node.disk.as_ref().unwrap().close();
        let network = Network::clone(&self.node.network());
        self.node = worker_state(node(network.clone(), MEMORY, None));
        let opened = loop {
            match DiskTier::open(disk) {
                // The directory stays locked until pending work of the old process is done.
                Err(crate::Error::Disk(segment_store::Error::Locked { .. })) => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                opened => break opened.unwrap(),
            }
        };
        self.node = worker_state(node(network, MEMORY, Some(opened)));
    }

    async fn get(&self, path: &str, fields: &[(&'static str, &str)]) -> ReceivedResponse {
        self.send(request(Method::GET, path, fields)).await
    }

    async fn send(&self, request: Request<Body>) -> ReceivedResponse {
        receive(self.node.serve(request).await).await
    }

    fn request_count(&self) -> usize {
        self.request_count.load(SeqCst)
    }
}

fn node(network: Network, memory: u64, opened: Option<(DiskTier, RecoveredPurges)>) -> Arc<Node> {
    let (on_disk, before) = opened.unzip();
    let node = Node::new("lhr".into(), network, memory, on_disk, None, 1);
    node.resume(before.unwrap_or_default());
    Arc::new(node)
}

fn worker_state(node: Arc<Node>) -> Arc<WorkerState> {
    Arc::new(WorkerState::new(node, 0, Connectors::new(Trust::System).unwrap()))
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}

async fn receive(response: Response<Body>) -> ReceivedResponse {
    let told = response.headers().get("cache-status").unwrap().to_str().unwrap();
    let told: Vec<_> = told.split("; ").filter(|parameter| !parameter.starts_with("ttl=")).collect();
    let told = told.join("; ");
    let status = response.status().as_u16();
    ReceivedResponse { status, told, body: response.into_body().collect(1 << 24).await.unwrap() }
}

fn request(method: Method, path: &str, fields: &[(&'static str, &str)]) -> Request<Body> {
    let mut request = Request::new(Body::empty());
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().unwrap();
    request.headers_mut().insert("host", "shop.example".parse().unwrap());
    for (name, value) in fields {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request.extensions_mut().insert(Peer { address: ([192, 0, 2, 1], 5).into(), scheme: Scheme::Http });
    request
}

fn with(cache_control: &str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    response.headers_mut().insert("cache-control", cache_control.parse().unwrap());
    response
}

#[tokio::test]
async fn fresh_object_needs_no_origin_request() {
    let fixture = Fixture::new("", async |_, number| with("max-age=60", format!("answer {number}")));
    let first = fixture.get("/a", &[]).await;
    assert_eq!(
        first,
        ReceivedResponse {
            status: 200,
            told: "lhr; fwd=uri-miss; fwd-status=200; stored".into(),
            body: "answer 0".into()
        }
    );
    let second = fixture.get("/a", &[]).await;
    assert_eq!((second.told.as_str(), second.body), ("lhr; hit", Bytes::from("answer 0")));
    assert_eq!(fixture.get("/b", &[]).await.body, "answer 1");
}

#[tokio::test]
async fn thousand_concurrent_requests_are_one_streamed_fetch() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (origin_begun, origin_goes_on) = (Arc::clone(&begun), Arc::clone(&go_on));
    let fixture = Arc::new(Fixture::new("", move |_, _| {
        let (sender, body) = Body::channel(1);
        let (begun, go_on) = (Arc::clone(&origin_begun), Arc::clone(&origin_goes_on));
        tokio::spawn(async move {
            sender.send("first ").await.unwrap();
            begun.notify_one();
            go_on.notified().await;
            sender.send("second").await.unwrap();
            sender.finish().await.unwrap();
        });
        let mut response = with("max-age=60", "");
        *response.body_mut() = body;
        std::future::ready(response)
    }));
    let mut visitors = tokio::task::JoinSet::new();
    let (first_pieces, all_began) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    for _ in 0..1000 {
        let fixture = Arc::clone(&fixture);
        let (first_pieces, all_began) = (Arc::clone(&first_pieces), Arc::clone(&all_began));
        visitors.spawn(async move {
            let mut body = fixture.node.serve(request(Method::GET, "/", &[])).await.into_body();
            assert_eq!(body.data().await.unwrap().unwrap(), "first ");
            if first_pieces.fetch_add(1, SeqCst) == 999 {
                all_began.notify_one();
            }
            assert_eq!(body.data().await.unwrap().unwrap(), "second");
            assert_eq!(body.data().await.unwrap(), None);
        });
    }
    begun.notified().await;
    all_began.notified().await;
    go_on.notify_one();
    assert!(visitors.join_all().await.len() == 1000);
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn fetch_survives_its_first_client_leaving() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (origin_arrived, origin_goes_on) = (Arc::clone(&arrived), Arc::clone(&go_on));
    let fixture = Arc::new(Fixture::new("", move |_, _| {
        let (arrived, go_on) = (Arc::clone(&origin_arrived), Arc::clone(&origin_goes_on));
        async move {
            arrived.notify_one();
            go_on.notified().await;
            with("max-age=60", "it")
        }
    }));
    let visitor = || {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move { fixture.get("/", &[]).await })
    };
    let first = visitor();
    arrived.notified().await;
    let second = visitor();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    go_on.notify_one();
    assert_eq!(second.await.unwrap().body, "it");
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn private_response_is_fetched_per_client() {
    let fixture = Fixture::new("", async |_, number| with("private", format!("{number}")));
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; fwd=uri-miss; detail=private");
    assert_eq!(fixture.get("/", &[]).await.body, "1");
}

#[tokio::test]
async fn purge_hides_responses_requested_before_it() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (origin_arrived, origin_goes_on) = (Arc::clone(&arrived), Arc::clone(&go_on));
    let fixture = Arc::new(Fixture::new("", move |_, number| {
        let (arrived, go_on) = (Arc::clone(&origin_arrived), Arc::clone(&origin_goes_on));
        async move {
            if number == 0 {
                arrived.notify_one();
                go_on.notified().await;
            }
            let mut response = with("max-age=60", format!("{number}"));
            response.headers_mut().insert("cache-tag", "prices".parse().unwrap());
            response
        }
    }));
    let early = tokio::spawn({
        let fixture = Arc::clone(&fixture);
        async move { fixture.get("/", &[]).await }
    });
    arrived.notified().await;
    fixture.node.purge("z", vec![Purge::Tag("prices".into())], Depth::Hard);
    assert_eq!(fixture.get("/", &[]).await.body, "1");
    go_on.notify_one();
    assert_eq!(early.await.unwrap().body, "0");
    assert_eq!(fixture.get("/", &[]).await.body, "1");
}

#[tokio::test]
async fn soft_purge_revalidates() {
    let fixture = Fixture::new("", async |request, number| {
        let mut response = with("max-age=60", if number == 0 { "it" } else { "" });
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        if request.headers().get("if-none-match").is_some_and(|tag| tag == "\"a\"") {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response
    });
    fixture.get("/", &[]).await;
    fixture.node.purge("z", vec![Purge::Url("http://shop.example/".into())], Depth::Soft);
    let again = fixture.get("/", &[]).await;
    assert_eq!(
        (again.told.as_str(), again.body),
        ("lhr; fwd=stale; fwd-status=304; stored", Bytes::from("it"))
    );
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
}

#[tokio::test]
async fn cache_tags_of_a_304_are_indexed_and_not_sent() {
    let fixture = Fixture::new("", async |request, number| {
        let mut response = with("max-age=60", "it");
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        let tag = if number == 0 { "offers" } else { "prices" };
        response.headers_mut().insert("cache-tag", tag.parse().unwrap());
        if request.headers().contains_key("if-none-match") {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
        }
        response
    });
    fixture.get("/", &[]).await;
    fixture.node.purge("z", vec![Purge::Everything], Depth::Soft);
    for told in ["lhr; fwd=stale; fwd-status=304; stored", "lhr; hit"] {
        let response = fixture.node.serve(request(Method::GET, "/", &[])).await;
        let status = response.headers().get("cache-status").unwrap().to_str().unwrap();
        assert!(status.starts_with(told), "{status}");
        assert!(!response.headers().contains_key("cache-tag"), "{told}");
    }
    let purge = |tag: &str| fixture.node.purge("z", vec![Purge::Tag(tag.into())], Depth::Hard).unwrap().1;
    assert_eq!((purge("offers"), purge("prices")), (0, 1));
}

#[tokio::test]
async fn stale_object_hides_origin_failure() {
    let fixture = Fixture::new("stale_if_error = \"1h\"\n", async |_, number| {
        let mut response = with("max-age=0", "it");
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        if number > 0 {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        response
    });
    assert_eq!(fixture.get("/", &[]).await.status, 200);
    let stale = fixture.get("/", &[]).await;
    assert_eq!((stale.status, stale.body), (200, Bytes::from("it")));
    assert!(stale.told.ends_with("detail=origin-failed"), "{}", stale.told);
    assert_eq!(fixture.get("/other", &[]).await.status, 503);
}

#[tokio::test]
async fn ranges_are_served_from_a_whole_object() {
    let fixture = Fixture::new("", async |request, _| {
        assert!(!request.headers().contains_key("range"));
        with("max-age=60", "0123456789")
    });
    let part = fixture.get("/", &[("range", "bytes=2-4")]).await;
    assert_eq!((part.status, part.body), (206, Bytes::from("234")));
    let several = fixture.get("/", &[("range", "bytes=0-0, -1")]).await;
    let text = String::from_utf8(several.body.to_vec()).unwrap();
    assert!(
        text.contains("Content-Range: bytes 0-0/10\r\n\r\n0\r\n--")
            && text.contains("bytes 9-9/10\r\n\r\n9\r\n--"),
        "{text}"
    );
    assert_eq!(fixture.get("/", &[("range", "bytes=10-")]).await.status, 416);
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn conditional_request_gets_304() {
    let fixture = Fixture::new("", async |_, _| {
        let mut response = with("max-age=60", "it");
        for (name, value) in [("etag", "\"a\""), ("content-type", "text/plain"), ("content-language", "en")] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response
    });
    fixture.get("/", &[]).await;
    let response = fixture.node.serve(request(Method::GET, "/", &[("if-none-match", "\"a\"")])).await;
    let has = |names: [&str; 3]| names.map(|name| response.headers().contains_key(name));
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(has(["etag", "date", "cache-control"]), [true; 3]);
    assert_eq!(has(["content-type", "content-language", "content-length"]), [false; 3]);
}

#[tokio::test]
async fn silent_origin_is_replaced_by_a_stale_object() {
    let zone = "stale_if_error = \"1h\"\nstale_after = \"1ms\"\n";
    let fixture = Fixture::new(zone, async |_, number| {
        if number > 0 {
            std::future::pending::<()>().await;
        }
        let mut response = with("max-age=0", "old");
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        response
    });
    fixture.get("/", &[]).await;
    let old =
        |word| ReceivedResponse { status: 200, told: format!("lhr; hit; detail={word}"), body: "old".into() };
    // The first request waits for stale_after. Later ones do not wait.
    assert_eq!(fixture.get("/", &[]).await, old("origin-slow"));
    assert_eq!(fixture.get("/", &[]).await, old("origin-failed"));
    assert_eq!(fixture.get("/", &[]).await, old("origin-failed"));
    while fixture.request_count() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.get("/", &[]).await, old("origin-failed"));
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn aborted_body_is_not_stored() {
    let fixture = Fixture::new("", move |_, number| {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move {
            sender.send("half").await.unwrap();
            if number > 0 {
                sender.finish().await.unwrap();
            }
        });
        let mut response = with("max-age=60", "");
        *response.body_mut() = body;
        std::future::ready(response)
    });
    let broken = fixture.node.serve(request(Method::GET, "/", &[])).await;
    let status = broken.status();
    let is_short = broken.into_body().collect(100).await.is_err();
    // The response is an error if the origin closed the connection before the header was sent.
    assert!(is_short || status == StatusCode::BAD_GATEWAY);
    let whole = fixture.get("/", &[]).await;
    assert_eq!((fixture.request_count(), whole.body), (2, Bytes::from("half")));
}

#[tokio::test]
async fn oversized_body_is_forwarded_and_not_stored() {
    let large = vec![7_u8; 300_000];
    let fixture = Fixture::new("largest = \"100KB\"\n", move |_, number| {
        let large = large.clone();
        async move {
            if number == 0 {
                return with("max-age=60", large);
            }
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                for piece in large.chunks(1000) {
                    sender.send(piece.to_vec()).await.unwrap();
                }
                sender.finish().await.unwrap();
            });
            let mut response = with("max-age=60", "");
            *response.body_mut() = body;
            response
        }
    });
    for _ in 0..3 {
        let came = fixture.get("/", &[]).await;
        assert_eq!((came.status, came.body.len()), (200, 300_000));
    }
    assert_eq!((fixture.request_count(), fixture.node.store.usage().objects), (3, 0));
}

#[tokio::test]
async fn origin_gets_forwarding_fields_and_no_hop_by_hop_fields() {
    let fixture = Fixture::new("", async |request, _| {
        let fields = ["via", "cdn-loop", "x-forwarded-for", "x-forwarded-proto", "forwarded", "a", "host"];
        let of = |name: &&str| request.headers().get(*name).map(|value| value.to_str().unwrap().to_owned());
        with("max-age=60", format!("{:?}", fields.iter().map(of).collect::<Vec<_>>()))
    });
    let fields = [("connection", "a"), ("a", "1"), ("x-forwarded-for", "203.0.113.9")];
    let seen = fixture.get("/", &fields).await.body;
    let expected = format!(
        "{:?}",
        [
            Some("1.1 lhr"),
            Some("longhaul;network=n;data-centre=lhr"),
            Some("203.0.113.9, 192.0.2.1"),
            Some("http"),
            Some("for=192.0.2.1;proto=http"),
            None,
            Some("shop.example"),
        ]
    );
    assert_eq!(String::from_utf8(seen.to_vec()).unwrap(), expected);
}

#[tokio::test]
async fn rejected_request_states_the_reason() {
    let fixture = Fixture::new("", async |_, _| with("max-age=60", "it"));
    let here = "longhaul;network=n;data-centre=lhr";
    for (fields, status, word) in [
        (("host", "other.example"), 421, "unknown-host"),
        (("host", "user@shop.example"), 400, "bad-host"),
        (("cdn-loop", here), 508, "loop"),
        (("cache-control", "only-if-cached"), 504, "not-cached"),
    ] {
        let refused = fixture.get("/", &[fields]).await;
        assert_eq!(refused.status, status, "{word}");
        assert!(refused.told.ends_with(&format!("detail={word}")), "{}", refused.told);
    }
    assert_eq!(fixture.request_count(), 0);
}

#[tokio::test]
async fn unsafe_request_is_not_retried_at_a_second_origin() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fixture = Fixture::new("", async |_, _| with("no-store", "it"));
    let mut network = Network::clone(&fixture.node.network());
    network.zones[0].origins.insert(0, format!("http://{gone}").parse().unwrap());
    network.zones[0].first_byte = Duration::from_secs(5);
    fixture.node.replace_network(network);
    let post = fixture.send(request(Method::POST, "/", &[])).await;
    assert_eq!((post.status, fixture.request_count()), (502, 0));
    assert_eq!(fixture.get("/", &[]).await.body, "it");
    let report = fixture.node.origins.report(
        fixture.node.network().zones[0].origins.iter(),
        |_| 0,
        fixture.node.now(),
    );
    assert_eq!(report.iter().map(|origin| origin.healthy).collect::<Vec<_>>(), [false, true]);
}

#[tokio::test]
async fn uncacheable_requests_are_not_serialized() {
    let together = Arc::new(tokio::sync::Barrier::new(2));
    let fixture = Fixture::new("", move |_, number| {
        let together = Arc::clone(&together);
        async move {
            if matches!(number, 1 | 2) {
                together.wait().await;
            }
            with(if number < 3 { "no-store" } else { "max-age=60" }, format!("answer {number}"))
        }
    });
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; fwd=uri-miss; detail=no-store");
    let (second, third) = tokio::join!(fixture.get("/", &[]), fixture.get("/", &[]));
    assert_ne!(second.body, third.body);
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; fwd=uri-miss; fwd-status=200; stored");
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(fixture.request_count(), 4);
}

#[tokio::test]
async fn internal_headers_neither_enter_nor_leave() {
    let fixture = Fixture::new("", async |request: Request<Body>, _| {
        let came = request
            .headers()
            .keys()
            .any(|name| http_cache::internal_headers::is_internal(name.as_str().as_bytes()));
        let mut response = with("max-age=60", format!("{came}"));
        response.headers_mut().insert("lh-cache-tier", "fra".parse().unwrap());
        response
    });
    for _ in 0..2 {
        let response =
            fixture.node.serve(request(Method::GET, "/", &[("lh-hop-count", "1"), ("accept", "a")])).await;
        assert!(!response.headers().contains_key("lh-cache-tier"));
        assert_eq!(response.into_body().collect(10).await.unwrap(), "false");
    }
}

#[tokio::test]
async fn post_response_may_answer_a_later_get() {
    let fixture = Fixture::new("", async |_, number| {
        let mut response = with("max-age=60", format!("answer {number}"));
        response.headers_mut().insert("content-location", "/".parse().unwrap());
        response
    });
    let mut post = request(Method::POST, "/", &[]);
    *post.body_mut() = Body::whole("12345");
    assert_eq!(fixture.send(post).await.told, "lhr; fwd=method; fwd-status=200; stored");
    let got = fixture.get("/", &[]).await;
    assert_eq!((got.told.as_str(), got.body), ("lhr; hit", Bytes::from("answer 0")));
}

#[tokio::test]
async fn post_response_purged_in_flight_is_not_fresh() {
    let (request_count, purged) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let told = (Arc::clone(&request_count), Arc::clone(&purged));
    let fixture = Fixture::new("", move |_, number| {
        let (request_count, purged) = (Arc::clone(&told.0), Arc::clone(&told.1));
        async move {
            if number == 0 {
                request_count.notify_one();
                purged.notified().await;
            }
            let mut response = with("max-age=60", format!("answer {number}"));
            response.headers_mut().insert("content-location", "/".parse().unwrap());
            response
        }
    });
    let purging = async {
        request_count.notified().await;
        fixture.node.purge("z", vec![Purge::Everything], Depth::Soft);
        purged.notify_one();
    };
    tokio::join!(fixture.send(request(Method::POST, "/", &[])), purging);
    assert_eq!(fixture.get("/", &[]).await.body, "answer 1");
}

#[tokio::test]
async fn ambiguous_headers_do_not_reach_the_origin() {
    let fixture = Fixture::new("", async |request: Request<Body>, _| {
        let names: Vec<_> = request.headers().keys().map(|name| name.as_str().to_owned()).collect();
        with("no-store", names.join(" "))
    });
    let fields = [
        ("x_forwarded_for", "10.0.0.1"),
        ("lh_hop_count", "1"),
        ("accept_", "x"),
        ("my_own", "y"),
        ("transfer_encoding", "chunked"),
        ("x_original_url", "/admin"),
    ];
    let names = fixture.get("/", &fields).await.body;
    let names: Vec<_> = std::str::from_utf8(&names).unwrap().split(' ').collect();
    assert!(names.contains(&"my_own") && names.contains(&"x-forwarded-for"), "{names:?}");
    assert!(
        !names.contains(&"x_forwarded_for")
            && !names.contains(&"lh_hop_count")
            && !names.contains(&"transfer_encoding")
            && !names.contains(&"x_original_url"),
        "{names:?}"
    );
}
