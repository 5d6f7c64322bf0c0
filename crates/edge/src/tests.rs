//! Tests of a data centre with an origin. Requests are passed to the edge without sockets.

mod access_log;
mod admin_token;
mod at_once;
mod bad_origin;
mod broken_off;
mod broken_path;
mod bus;
mod collapsing;
mod compress;
mod conditions;
mod connection;
mod detour;
mod door;
mod forwarding;
mod gate;
mod model;
mod most_recent;
mod nats;
mod network;
mod normal_form;
mod on_disk;
mod only_on_disk;
mod partial;
mod purges;
mod relay;
mod reload;
mod restart;
mod tiers;
mod traces;
mod uploads;
mod validation;
mod values;
mod variants;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cache::purge::{Depth, Purge};
use document::Document;
use http::{
    Body, Bytes, Method, Request, Response, Scheme, Server, StatusCode, Stop, client::Trust, server::Peer,
};
use tokio::sync::Notify;

use crate::{
    Network, centre::Edge, clients::Clients, core::Core, network::Disk, note::Before, on_disk::OnDisk,
};

/// Bytes of memory. With a disk, an object may take a sixteenth of it.
const MEMORY: u64 = 4 << 20;

/// An edge in front of an origin that responds with `respond`.
struct Stage {
    edge: Arc<Core>,
    asked: Arc<AtomicUsize>,
    stop: Stop,
}

/// A response: status, Cache-Status without its ttl, body.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    status: u16,
    told: String,
    body: Bytes,
}

impl Stage {
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
        let (asked, stop) = (Arc::new(AtomicUsize::new(0)), Stop::new());
        let (counter, respond) = (Arc::clone(&asked), Arc::new(respond));
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
        let edge = edge(network, memory, disk.map(|disk| OnDisk::open(disk).unwrap()));
        let edge = core(edge);
        Self { edge, asked, stop }
    }

    async fn restart(&mut self, disk: &Disk) {
        self.edge.on_disk.as_ref().unwrap().close();
        let network = Network::clone(&self.edge.network());
        self.edge = core(edge(network.clone(), MEMORY, None));
        let opened = loop {
            match OnDisk::open(disk) {
                // The directory stays locked until pending work of the old process is done.
                Err(crate::Error::Disk(disk::Error::Locked { .. })) => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                opened => break opened.unwrap(),
            }
        };
        self.edge = core(edge(network, MEMORY, Some(opened)));
    }

    async fn get(&self, path: &str, fields: &[(&'static str, &str)]) -> Came {
        self.send(request(Method::GET, path, fields)).await
    }

    async fn send(&self, request: Request<Body>) -> Came {
        came(self.edge.serve(request).await).await
    }

    fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }
}

fn edge(network: Network, memory: u64, opened: Option<(OnDisk, Before)>) -> Arc<Edge> {
    let (on_disk, before) = opened.unzip();
    let edge = Edge::new("lhr".into(), network, memory, on_disk, None, 1);
    edge.resume(before.unwrap_or_default());
    Arc::new(edge)
}

fn core(edge: Arc<Edge>) -> Arc<Core> {
    Arc::new(Core::new(edge, 0, Clients::new(Trust::System).unwrap()))
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.ask();
        self.stop.ask();
    }
}

async fn came(response: Response<Body>) -> Came {
    let told = response.headers().get("cache-status").unwrap().to_str().unwrap();
    // The remaining lifetime depends on the clock.
    let told: Vec<_> = told.split("; ").filter(|parameter| !parameter.starts_with("ttl=")).collect();
    let told = told.join("; ");
    let status = response.status().as_u16();
    Came { status, told, body: response.into_body().collect(1 << 24).await.unwrap() }
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
async fn what_is_fresh_is_not_asked_for_again() {
    let stage = Stage::new("", async |_, number| with("max-age=60", format!("answer {number}")));
    let first = stage.get("/a", &[]).await;
    assert_eq!(
        first,
        Came {
            status: 200,
            told: "lhr; fwd=uri-miss; fwd-status=200; stored".into(),
            body: "answer 0".into()
        }
    );
    let second = stage.get("/a", &[]).await;
    assert_eq!((second.told.as_str(), second.body), ("lhr; hit", Bytes::from("answer 0")));
    assert_eq!(stage.get("/b", &[]).await.body, "answer 1");
}

#[tokio::test]
async fn a_thousand_who_want_the_same_are_one_request_and_read_it_as_it_comes() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (origin_begun, origin_goes_on) = (Arc::clone(&begun), Arc::clone(&go_on));
    let stage = Arc::new(Stage::new("", move |_, _| {
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
        let stage = Arc::clone(&stage);
        let (first_pieces, all_began) = (Arc::clone(&first_pieces), Arc::clone(&all_began));
        visitors.spawn(async move {
            let mut body = stage.edge.serve(request(Method::GET, "/", &[])).await.into_body();
            assert_eq!(body.data().await.unwrap().unwrap(), "first ");
            if first_pieces.fetch_add(1, SeqCst) == 999 {
                all_began.notify_one();
            }
            assert_eq!(body.data().await.unwrap().unwrap(), "second");
            assert_eq!(body.data().await.unwrap(), None);
        });
    }
    begun.notified().await;
    // All have received the first piece before the origin sends the second.
    all_began.notified().await;
    go_on.notify_one();
    assert!(visitors.join_all().await.len() == 1000);
    assert_eq!(stage.asked(), 1);
}

#[tokio::test]
async fn the_first_visitor_may_go_and_the_others_get_it_all_the_same() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (origin_arrived, origin_goes_on) = (Arc::clone(&arrived), Arc::clone(&go_on));
    let stage = Arc::new(Stage::new("", move |_, _| {
        let (arrived, go_on) = (Arc::clone(&origin_arrived), Arc::clone(&origin_goes_on));
        async move {
            arrived.notify_one();
            go_on.notified().await;
            with("max-age=60", "it")
        }
    }));
    let visitor = || {
        let stage = Arc::clone(&stage);
        tokio::spawn(async move { stage.get("/", &[]).await })
    };
    let first = visitor();
    arrived.notified().await;
    let second = visitor();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    go_on.notify_one();
    assert_eq!(second.await.unwrap().body, "it");
    assert_eq!(stage.asked(), 1);
}

#[tokio::test]
async fn what_is_for_one_is_fetched_for_each() {
    let stage = Stage::new("", async |_, number| with("private", format!("{number}")));
    assert_eq!(stage.get("/", &[]).await.told, "lhr; fwd=uri-miss; detail=private");
    assert_eq!(stage.get("/", &[]).await.body, "1");
}

#[tokio::test]
async fn after_a_purge_nobody_sees_what_was_asked_for_before_it() {
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (origin_arrived, origin_goes_on) = (Arc::clone(&arrived), Arc::clone(&go_on));
    let stage = Arc::new(Stage::new("", move |_, number| {
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
        let stage = Arc::clone(&stage);
        async move { stage.get("/", &[]).await }
    });
    arrived.notified().await;
    // The response from before the purge is still in flight. It is only for requests from before the purge.
    stage.edge.purge("z", vec![Purge::Tag("prices".into())], Depth::Hard);
    assert_eq!(stage.get("/", &[]).await.body, "1");
    go_on.notify_one();
    assert_eq!(early.await.unwrap().body, "0");
    assert_eq!(stage.get("/", &[]).await.body, "1");
}

#[tokio::test]
async fn a_soft_purge_asks_whether_it_has_changed() {
    let stage = Stage::new("", async |request, number| {
        let mut response = with("max-age=60", if number == 0 { "it" } else { "" });
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        if request.headers().get("if-none-match").is_some_and(|tag| tag == "\"a\"") {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response
    });
    stage.get("/", &[]).await;
    stage.edge.purge("z", vec![Purge::Url("http://shop.example/".into())], Depth::Soft);
    let again = stage.get("/", &[]).await;
    assert_eq!(
        (again.told.as_str(), again.body),
        ("lhr; fwd=stale; fwd-status=304; stored", Bytes::from("it"))
    );
    assert_eq!(stage.get("/", &[]).await.told, "lhr; hit");
}

#[tokio::test]
async fn tags_of_a_confirmation_are_for_purges_and_not_for_visitors() {
    let stage = Stage::new("", async |request, number| {
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
    stage.get("/", &[]).await;
    stage.edge.purge("z", vec![Purge::Everything], Depth::Soft);
    for told in ["lhr; fwd=stale; fwd-status=304; stored", "lhr; hit"] {
        let response = stage.edge.serve(request(Method::GET, "/", &[])).await;
        let status = response.headers().get("cache-status").unwrap().to_str().unwrap();
        assert!(status.starts_with(told), "{status}");
        assert!(!response.headers().contains_key("cache-tag"), "{told}");
    }
    let purge = |tag: &str| stage.edge.purge("z", vec![Purge::Tag(tag.into())], Depth::Hard).unwrap().1;
    assert_eq!((purge("offers"), purge("prices")), (0, 1));
}

#[tokio::test]
async fn an_origin_that_fails_is_not_seen_while_something_may_stand_in() {
    let stage = Stage::new("stale_if_error = \"1h\"\n", async |_, number| {
        let mut response = with("max-age=0", "it");
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        if number > 0 {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        response
    });
    assert_eq!(stage.get("/", &[]).await.status, 200);
    let stale = stage.get("/", &[]).await;
    assert_eq!((stale.status, stale.body), (200, Bytes::from("it")));
    assert!(stale.told.ends_with("detail=origin-failed"), "{}", stale.told);
    assert_eq!(stage.get("/other", &[]).await.status, 503);
}

#[tokio::test]
async fn parts_come_from_the_whole() {
    let stage = Stage::new("", async |request, _| {
        assert!(!request.headers().contains_key("range"));
        with("max-age=60", "0123456789")
    });
    let part = stage.get("/", &[("range", "bytes=2-4")]).await;
    assert_eq!((part.status, part.body), (206, Bytes::from("234")));
    let several = stage.get("/", &[("range", "bytes=0-0, -1")]).await;
    let text = String::from_utf8(several.body.to_vec()).unwrap();
    assert!(
        text.contains("Content-Range: bytes 0-0/10\r\n\r\n0\r\n--")
            && text.contains("bytes 9-9/10\r\n\r\n9\r\n--"),
        "{text}"
    );
    assert_eq!(stage.get("/", &[("range", "bytes=10-")]).await.status, 416);
    assert_eq!(stage.asked(), 1);
}

#[tokio::test]
async fn who_has_it_is_not_told_again_what_it_is() {
    let stage = Stage::new("", async |_, _| {
        let mut response = with("max-age=60", "it");
        for (name, value) in [("etag", "\"a\""), ("content-type", "text/plain"), ("content-language", "en")] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response
    });
    stage.get("/", &[]).await;
    let response = stage.edge.serve(request(Method::GET, "/", &[("if-none-match", "\"a\"")])).await;
    let has = |names: [&str; 3]| names.map(|name| response.headers().contains_key(name));
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(has(["etag", "date", "cache-control"]), [true; 3]);
    assert_eq!(has(["content-type", "content-language", "content-length"]), [false; 3]);
}

#[tokio::test]
async fn an_origin_that_is_silent_is_not_waited_for_where_something_stale_will_do() {
    let zone = "stale_if_error = \"1h\"\nstale_after = \"1ms\"\n";
    let stage = Stage::new(zone, async |_, number| {
        if number > 0 {
            std::future::pending::<()>().await;
        }
        let mut response = with("max-age=0", "old");
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        response
    });
    stage.get("/", &[]).await;
    let old = |word| Came { status: 200, told: format!("lhr; hit; detail={word}"), body: "old".into() };
    // The first request waits for stale_after. Later ones do not wait.
    assert_eq!(stage.get("/", &[]).await, old("origin-slow"));
    assert_eq!(stage.get("/", &[]).await, old("origin-failed"));
    assert_eq!(stage.get("/", &[]).await, old("origin-failed"));
    // Only one revalidation is in flight. It may not have arrived yet.
    while stage.asked() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.get("/", &[]).await, old("origin-failed"));
    assert_eq!(stage.asked(), 2);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_stored() {
    let stage = Stage::new("", move |_, number| {
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
    let broken = stage.edge.serve(request(Method::GET, "/", &[])).await;
    let status = broken.status();
    let is_short = broken.into_body().collect(100).await.is_err();
    // The response is an error if the origin closed the connection before the header was sent.
    assert!(is_short || status == StatusCode::BAD_GATEWAY);
    let whole = stage.get("/", &[]).await;
    assert_eq!((stage.asked(), whole.body), (2, Bytes::from("half")));
}

#[tokio::test]
async fn what_is_too_large_is_passed_on_and_not_stored() {
    let large = vec![7_u8; 300_000];
    let stage = Stage::new("largest = \"100KB\"\n", move |_, number| {
        let large = large.clone();
        async move {
            // Once with Content-Length, once without.
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
        let came = stage.get("/", &[]).await;
        assert_eq!((came.status, came.body.len()), (200, 300_000));
    }
    assert_eq!((stage.asked(), stage.edge.store.usage().objects), (3, 0));
}

#[tokio::test]
async fn the_origin_learns_where_a_request_came_from_and_nothing_of_the_connection() {
    let stage = Stage::new("", async |request, _| {
        let fields = ["via", "cdn-loop", "x-forwarded-for", "x-forwarded-proto", "forwarded", "a", "host"];
        let of = |name: &&str| request.headers().get(*name).map(|value| value.to_str().unwrap().to_owned());
        with("max-age=60", format!("{:?}", fields.iter().map(of).collect::<Vec<_>>()))
    });
    let fields = [("connection", "a"), ("a", "1"), ("x-forwarded-for", "203.0.113.9")];
    let seen = stage.get("/", &fields).await.body;
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
async fn who_is_not_let_in_is_told_why() {
    let stage = Stage::new("", async |_, _| with("max-age=60", "it"));
    let here = "longhaul;network=n;data-centre=lhr";
    for (fields, status, word) in [
        (("host", "other.example"), 421, "unknown-host"),
        (("host", "user@shop.example"), 400, "bad-host"),
        (("cdn-loop", here), 508, "loop"),
        (("cache-control", "only-if-cached"), 504, "not-cached"),
    ] {
        let refused = stage.get("/", &[fields]).await;
        assert_eq!(refused.status, status, "{word}");
        assert!(refused.told.ends_with(&format!("detail={word}")), "{}", refused.told);
    }
    assert_eq!(stage.asked(), 0);
}

#[tokio::test]
async fn another_origin_is_asked_when_one_is_gone_but_not_twice_for_what_changes_something() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let stage = Stage::new("", async |_, _| with("no-store", "it"));
    let mut network = Network::clone(&stage.edge.network());
    network.zones[0].origins.insert(0, format!("http://{gone}").parse().unwrap());
    network.zones[0].first_byte = Duration::from_secs(5);
    stage.edge.replace(network);
    let post = stage.send(request(Method::POST, "/", &[])).await;
    assert_eq!((post.status, stage.asked()), (502, 0));
    assert_eq!(stage.get("/", &[]).await.body, "it");
    let report =
        stage.edge.origins.report(stage.edge.network().zones[0].origins.iter(), |_| 0, stage.edge.now());
    assert_eq!(report.iter().map(|origin| origin.healthy).collect::<Vec<_>>(), [false, true]);
}

#[tokio::test]
async fn requests_for_what_is_not_stored_do_not_wait_for_one_another() {
    let together = Arc::new(tokio::sync::Barrier::new(2));
    let stage = Stage::new("", move |_, number| {
        let together = Arc::clone(&together);
        async move {
            // The second and third responses wait for each other.
            if matches!(number, 1 | 2) {
                together.wait().await;
            }
            with(if number < 3 { "no-store" } else { "max-age=60" }, format!("answer {number}"))
        }
    });
    assert_eq!(stage.get("/", &[]).await.told, "lhr; fwd=uri-miss; detail=no-store");
    let (second, third) = tokio::join!(stage.get("/", &[]), stage.get("/", &[]));
    assert_ne!(second.body, third.body);
    // A response that may be stored is stored again.
    assert_eq!(stage.get("/", &[]).await.told, "lhr; fwd=uri-miss; fwd-status=200; stored");
    assert_eq!(stage.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(stage.asked(), 4);
}

#[tokio::test]
async fn the_networks_own_fields_neither_come_in_nor_go_out() {
    let stage = Stage::new("", async |request: Request<Body>, _| {
        let came =
            request.headers().keys().any(|name| cache::internal::is_internal(name.as_str().as_bytes()));
        let mut response = with("max-age=60", format!("{came}"));
        response.headers_mut().insert("lh-cache-tier", "fra".parse().unwrap());
        response
    });
    for _ in 0..2 {
        let response =
            stage.edge.serve(request(Method::GET, "/", &[("lh-hop-count", "1"), ("accept", "a")])).await;
        assert!(!response.headers().contains_key("lh-cache-tier"));
        assert_eq!(response.into_body().collect(10).await.unwrap(), "false");
    }
}

#[tokio::test]
async fn what_a_post_was_answered_with_is_the_answer_to_a_get_if_it_says_so() {
    let stage = Stage::new("", async |_, number| {
        let mut response = with("max-age=60", format!("answer {number}"));
        response.headers_mut().insert("content-location", "/".parse().unwrap());
        response
    });
    let mut post = request(Method::POST, "/", &[]);
    *post.body_mut() = Body::whole("12345");
    assert_eq!(stage.send(post).await.told, "lhr; fwd=method; fwd-status=200; stored");
    let got = stage.get("/", &[]).await;
    assert_eq!((got.told.as_str(), got.body), ("lhr; hit", Bytes::from("answer 0")));
}

#[tokio::test]
async fn an_answer_to_a_post_that_was_purged_on_its_way_is_not_fresh() {
    let (asked, purged) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let told = (Arc::clone(&asked), Arc::clone(&purged));
    let stage = Stage::new("", move |_, number| {
        let (asked, purged) = (Arc::clone(&told.0), Arc::clone(&told.1));
        async move {
            if number == 0 {
                asked.notify_one();
                purged.notified().await;
            }
            let mut response = with("max-age=60", format!("answer {number}"));
            response.headers_mut().insert("content-location", "/".parse().unwrap());
            response
        }
    });
    let purging = async {
        asked.notified().await;
        stage.edge.purge("z", vec![Purge::Everything], Depth::Soft);
        purged.notify_one();
    };
    tokio::join!(stage.send(request(Method::POST, "/", &[])), purging);
    assert_eq!(stage.get("/", &[]).await.body, "answer 1");
}

#[tokio::test]
async fn fields_that_an_origin_could_take_for_others_do_not_reach_it() {
    let stage = Stage::new("", async |request: Request<Body>, _| {
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
    let names = stage.get("/", &fields).await.body;
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
