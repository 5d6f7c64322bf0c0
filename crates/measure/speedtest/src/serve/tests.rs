//! A server over loopback, with the client of `http_stack`.

use std::{sync::mpsc, thread};

use http_stack::{
    Client, Method, Origin, Response,
    client::{Config as ClientConfig, Protocol, Trace, Trust},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;
use crate::{
    stored_results::{self, TokenHash},
    wire::{self, Datagram, Greeting, Left, Offer, Received, Told, Way},
};

pub(crate) struct Served {
    pub(crate) ready: Ready,
    stop: ShutdownSignal,
    thread: Option<thread::JoinHandle<Totals>>,
}

impl Served {
    pub(crate) fn with(config: Config) -> Self {
        let stop = ShutdownSignal::new();
        let (sender, ready) = mpsc::channel();
        let asked = stop.clone();
        let thread = thread::spawn(move || {
            serve(&config, |ready| sender.send(ready.clone()).unwrap(), &asked).unwrap()
        });
        Self { ready: ready.recv().unwrap(), stop, thread: Some(thread) }
    }

    pub(crate) fn config() -> Config {
        Config { listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))], ..Config::default() }
    }

    pub(crate) fn over_tls() -> Self {
        let tls = Some(Tls::Made { names: Vec::new(), write_ca: None });
        Self::with(Config { tls, ..Self::config() })
    }

    pub(crate) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.ready.addresses[0])
    }

    pub(crate) fn end(mut self) -> Totals {
        self.stop.request();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
        self.stop.request();
    }
}

struct Asking {
    client: Client,
    origin: Origin,
}

impl Asking {
    fn new(url: &str, protocol: Protocol) -> Self {
        let config = ClientConfig { protocol, trust: Trust::Anyone, ..ClientConfig::default() };
        Self { client: Client::new(&config).unwrap(), origin: url.parse().unwrap() }
    }

    async fn ask(&self, method: Method, path: &str, body: Body) -> Response<Body> {
        self.send(Request::builder().method(method).uri(path).body(body).unwrap()).await
    }

    async fn send(&self, request: Request<Body>) -> Response<Body> {
        let mut trace = Trace::start(self.client.clock().now());
        self.client.send(&self.origin, request, &mut trace).await.unwrap()
    }

    async fn json<T: serde::de::DeserializeOwned>(&self, method: Method, path: &str, body: Body) -> T {
        let response = self.ask(method, path, body).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        serde_json::from_slice(&response.into_body().collect(10_000).await.unwrap()).unwrap()
    }
}

async fn status(asking: &Asking, method: Method, path: &str) -> u16 {
    asking.ask(method, path, Body::empty()).await.status().as_u16()
}

#[tokio::test]
async fn bodies_go_down_and_up_over_each_version_and_are_counted() {
    let served = Served::over_tls();
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
        let asking = Asking::new(&served.url("https"), protocol);
        let response = asking.ask(Method::GET, "/__down?bytes=300000", Body::empty()).await;
        assert!(wire::own_time(response.headers()["server-timing"].to_str().unwrap()).is_some());
        assert_eq!(response.headers()["content-length"], "300000");
        assert_eq!(response.into_body().collect(300_000).await.unwrap().len(), 300_000);
        let received: Received =
            asking.json(Method::POST, wire::UP, crate::random_body::body(200_000, |_| ())).await;
        assert_eq!(received.bytes, 200_000);
        assert!((1..=200_000).contains(&received.first_bytes) && received.first_ns <= received.last_ns);
        let nothing: Received = asking.json(Method::POST, wire::UP, Body::empty()).await;
        assert_eq!((nothing.bytes, nothing.first_bytes), (0, 0));
    }
    let totals = served.end();
    assert_eq!((totals.bytes_down, totals.bytes_up), (900_000, 600_000));
}

#[tokio::test]
async fn one_address_may_have_several_ports() {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let served = Served::with(Config { listen: vec![any, any], ..Served::config() });
    assert_eq!(served.ready.addresses.len(), 2);
    for address in &served.ready.addresses {
        let asking = Asking::new(&format!("http://{address}"), Protocol::Http1);
        let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
        assert_eq!(greeting.loss_port, served.ready.loss_port);
    }
}

#[tokio::test]
async fn a_request_for_nothing_tells_how_much_of_an_upload_has_arrived() {
    let served = Served::with(Served::config());
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
    let look = format!("/__down?bytes=0&test={}", greeting.test);
    let received = async || {
        let response = asking.ask(Method::GET, &look, Body::empty()).await;
        assert_eq!(response.headers()["timing-allow-origin"], "*");
        response.headers()[wire::RECEIVED_BYTES].to_str().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(received().await, 0);
    let (sender, body) = Body::channel(1);
    let path = format!("{}?test={}", wire::UP, greeting.test);
    let uploading = asking.ask(Method::POST, &path, body);
    let halfway = async {
        sender.send("half").await.unwrap();
        while received().await == 0 {}
        assert_eq!(received().await, 4, "what has arrived, with the rest to come");
        sender.send("rest").await.unwrap();
        sender.finish().await.unwrap();
    };
    let (response, ()) = tokio::join!(uploading, halfway);
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(received().await, 8);
    let unnamed = asking.ask(Method::GET, "/__down?bytes=0", Body::empty()).await;
    assert!(!unnamed.headers().contains_key(wire::RECEIVED_BYTES));
}

#[tokio::test]
async fn mistakes_are_answered_in_words() {
    let limits = Limits { largest: units::Bytes(1000), ..Limits::default() };
    let served = Served::with(Config { limits, ..Served::config() });
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    for (method, path, expected) in [
        (Method::GET, "/", 200),
        (Method::GET, "/__down", 400),
        (Method::GET, "/__down?bytes=-1", 400),
        (Method::GET, "/__down?bytes=1001", 400),
        (Method::GET, "/__down?bytes=0", 200),
        (Method::HEAD, "/__down?bytes=1000", 200),
        (Method::POST, "/__down?bytes=1", 405),
        (Method::GET, "/__up", 405),
        (Method::GET, "/__limits", 400),
        (Method::GET, "/favicon.ico", 404),
        (Method::POST, "/", 405),
        (Method::GET, "/__result", 405),
        (Method::PUT, "/__nothing", 404),
        (Method::GET, "/operator.json", 404),
    ] {
        assert_eq!(status(&asking, method.clone(), path).await, expected, "{method} {path}");
    }
    for (path, methods) in [
        ("/", "GET, HEAD"),
        ("/speed.js", "GET, HEAD"),
        ("/__down", "GET, HEAD"),
        ("/__test", "POST"),
        ("/__up", "POST"),
        ("/__result", "POST"),
        ("/__keep", "GET, POST"),
        ("/__kept", "GET"),
        ("/__limits", "GET"),
        ("/__plan", "GET"),
        ("/.well-known/nq", "GET"),
    ] {
        let refused = asking.ask(Method::PUT, path, Body::empty()).await;
        let allowed = refused.headers().get("allow").and_then(|allowed| allowed.to_str().ok());
        assert_eq!((refused.status().as_u16(), allowed), (405, Some(methods)), "{path}");
    }
    let too_large = asking.ask(Method::POST, wire::UP, Body::whole(vec![0; 100_000])).await;
    assert_eq!(too_large.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere_and_gets_its_result_from_the_server() {
    let served = Served::with(Served::config());
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    for (path, kind) in [("/", "text/html"), ("/speed.js", "text/javascript"), ("/speed.css", "text/css")] {
        let response = asking.ask(Method::GET, path, Body::empty()).await;
        let fields = response.headers();
        assert!(fields["content-type"].to_str().unwrap().starts_with(kind), "{path}");
        assert!(fields["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
        let content = response.into_body().collect(1_000_000).await.unwrap();
        let content = String::from_utf8(content.to_vec()).unwrap();
        assert!(!content.contains("<style") && !content.contains("://cdn"), "{path}");
    }
    let plan: Value = asking.json(Method::GET, "/__plan?plan=full", Body::empty()).await;
    assert_eq!((&plan["name"], &plan["stop_after_ms"]), (&"full".into(), &1000.0.into()));
    assert_eq!(status(&asking, Method::GET, "/__plan?plan=x").await, 404);
    let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
    let path = format!("/__down?bytes=5000000&test={}", greeting.test);
    let body = asking.ask(Method::GET, &path, Body::empty()).await.into_body();
    body.collect(5_000_000).await.unwrap();
    let told = r#"{"plan": "quick", "protocol": "http/1.1", "took_ms": 900, "interrupted": false, "upload": [],
        "download": [{"bytes": 5000000, "behind_first": 4000000, "over_ms": 800, "took_ms": 900}],
        "latencies": [{"at_s": 0, "during": "idle", "on": "same", "ms": 1.5}]}"#;
    let path = format!("/__result?test={}", greeting.test);
    let outcome: Value = asking.json(Method::POST, &path, Body::whole(told)).await;
    // 32 Mbit over 0.8 s; the server's kernel reports the limit of its downloads.
    assert_eq!(
        (&outcome["download"]["bps_p90"], &outcome["schema"]),
        (&40e6.into(), &"longhaul.speed/1".into())
    );
    assert!(outcome["download"]["limited_by"].is_string(), "{outcome:#}");
    let nonsense = asking.ask(Method::POST, &path, Body::whole("{}")).await;
    assert_eq!(nonsense.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_late_pages_download_has_the_rate_of_what_was_acknowledged() {
    let served = Served::with(Served::config());
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let outcome = async |forwarded: Option<&str>| -> Value {
        let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
        let path = format!("/__down?bytes=40000000&number=0&test={}", greeting.test);
        let mut request = Request::builder().uri(path);
        if let Some(client) = forwarded {
            request = request.header("x-forwarded-for", client);
        }
        let mut body = asking.send(request.body(Body::empty()).unwrap()).await.into_body();
        // At most 40 MB in 400 ms.
        let began = tokio::time::Instant::now();
        let mut came = 0;
        while let Some(piece) = body.data().await.unwrap() {
            came += u32::try_from(piece.len()).unwrap();
            tokio::time::sleep_until(began + Duration::from_nanos(10) * came).await;
        }
        // A page that read its first bytes late: 320 Mbit in 100 ms.
        let told = r#"{"plan": "quick", "protocol": "http/1.1", "took_ms": 900, "interrupted": false, "upload": [],
            "download": [{"bytes": 40000000, "behind_first": 40000000, "over_ms": 100, "took_ms": 100, "number": 0}],
            "latencies": [{"at_s": 0, "during": "idle", "on": "same", "ms": 0.5}]}"#;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let path = format!("/__result?test={}", greeting.test);
        asking.json(Method::POST, &path, Body::whole(told)).await
    };
    let rate = |outcome: &Value| outcome["download"]["bps_p90"].as_f64().unwrap();
    let own = outcome(None).await;
    // The kernels acknowledge the last byte before it is read: 320 Mbit in more than 267 ms.
    assert!(rate(&own) < 1.2e9, "{own:#}");
    assert!(own["download"]["limits"]["device"].is_number());
    // Through a proxy the server cannot measure the page's connection.
    assert_eq!(rate(&outcome(Some("192.0.2.1")).await), 3.2e9);
}

async fn made(asking: &Asking) -> (wire::Token, Value) {
    let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
    let told = r#"{"plan": "quick", "protocol": "http/1.1", "took_ms": 900, "interrupted": false, "upload": [],
        "download": [{"bytes": 5000000, "behind_first": 4000000, "over_ms": 800, "took_ms": 900}],
        "latencies": [{"at_s": 0, "during": "idle", "on": "same", "ms": 1.5}]}"#;
    let path = format!("/__result?test={}", greeting.test);
    (greeting.test, asking.json(Method::POST, &path, Body::whole(told)).await)
}

fn keeping(directory: &tempfile::TempDir) -> Config {
    let keep = stored_results::Config {
        path: directory.path().join("results"),
        keep_for: stored_results::Config::KEEP_FOR,
    };
    Config { keep: Some(keep), operator: Some(TokenHash::of(b"secret")), ..Served::config() }
}

#[tokio::test]
async fn a_result_is_kept_if_its_visitor_wants_that_and_found_by_its_link() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::with(keeping(&directory));
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let offer: Offer = asking.json(Method::GET, wire::KEEP, Body::empty()).await;
    assert_eq!(offer, Offer { keep_for_s: Some(30 * 86_400), network: Some("127.0.0.0/24".to_owned()) });
    let (test, outcome) = made(&asking).await;
    let path = format!("{}?test={test}", wire::KEEP);
    let keep = |text: String| asking.ask(Method::POST, &path, Body::whole(text));
    let refused = keep("{}".to_owned()).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let left: Left = asking.json(Method::POST, &path, Body::whole(outcome.to_string())).await;
    let id = left.link.strip_prefix(&format!("{}/#k=", served.url("http"))).unwrap().to_owned();
    let found: Value = asking.json(Method::GET, &format!("/__kept?id={id}"), Body::empty()).await;
    assert_eq!(found, outcome);
    assert_eq!(keep(outcome.to_string()).await.status(), StatusCode::CONFLICT);
    let of_nobody = format!("{}?test={}", wire::KEEP, wire::Token([0; 16]));
    let refused = asking.ask(Method::POST, &of_nobody, Body::whole(outcome.to_string())).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    for (path, expected) in [
        ("/__kept?id=0123456789abcdef0123456789abcdef", 404),
        ("/__kept?id=1", 400),
        ("/operator", 200),
        ("/operator.js", 200),
        ("/operator.css", 200),
        ("/operator.json", 401),
    ] {
        assert_eq!(status(&asking, Method::GET, path).await, expected, "{path}");
    }
    served.end();
    let served = Served::with(keeping(&directory));
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let found: Value = asking.json(Method::GET, &format!("/__kept?id={id}"), Body::empty()).await;
    assert_eq!(found, outcome);
}

#[tokio::test]
async fn the_operator_sees_all_results_and_nobody_else_does() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::with(keeping(&directory));
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    for _ in 0..2 {
        let (test, outcome) = made(&asking).await;
        let path = format!("{}?test={test}", wire::KEEP);
        let _: Left = asking.json(Method::POST, &path, Body::whole(outcome.to_string())).await;
    }
    let ask = |query: &str, field: &str| {
        let request = Request::get(format!("/operator.json{query}")).header("authorization", field);
        asking.send(request.body(Body::empty()).unwrap())
    };
    for field in ["Bearer another", "Basic secret", "Bearer"] {
        let refused = ask("", field).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{field}");
        assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    }
    let overview = ask("?days=1&network=127.0.0.0/24", "Bearer secret").await;
    assert_eq!(overview.status(), StatusCode::OK);
    let overview = overview.into_body().collect(100_000).await.unwrap();
    let overview: Value = serde_json::from_slice(&overview).unwrap();
    assert_eq!((&overview["schema"], &overview["kept"]), (&"longhaul.speed.kept/1".into(), &2.into()));
    let group = &overview["by_network"][0];
    assert_eq!((&group["name"], &group["n"]), (&"127.0.0.0/24".into(), &2.into()));
    assert_eq!(group["figures"]["download_bps"]["p50"], 40e6);
    assert_eq!(overview["latest"].as_array().unwrap().len(), 2);
    assert_eq!(ask("?days=x", "Bearer secret").await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(ask("?network=127.0.0.1", "Bearer secret").await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn without_a_file_nothing_is_kept() {
    let served = Served::with(Served::config());
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let offer: Offer = asking.json(Method::GET, wire::KEEP, Body::empty()).await;
    assert_eq!(offer, Offer { keep_for_s: None, network: None });
    let (test, outcome) = made(&asking).await;
    let path = format!("{}?test={test}", wire::KEEP);
    let refused = asking.ask(Method::POST, &path, Body::whole(outcome.to_string())).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    for path in ["/__kept?id=0123456789abcdef0123456789abcdef", "/operator", "/operator.json"] {
        assert_eq!(status(&asking, Method::GET, path).await, 404, "{path}");
    }
}

#[tokio::test]
async fn other_clients_find_what_they_need() {
    let served = Served::over_tls();
    let asking = Asking::new(&served.url("https"), Protocol::Http2);
    let nq: Value = asking.json(Method::GET, wire::NQ, Body::empty()).await;
    assert_eq!(nq["version"], 1);
    let large = nq["urls"]["large_download_url"].as_str().unwrap();
    assert_eq!(large, format!("{}/__down?bytes=8000000000", served.url("https")));
    let small = nq["urls"]["small_download_url"].as_str().unwrap();
    let path = small.strip_prefix(&served.url("https")).unwrap();
    assert_eq!(
        asking.ask(Method::GET, path, Body::empty()).await.into_body().collect(10).await.unwrap().len(),
        1
    );
}

#[tokio::test]
async fn who_has_too_many_transfers_is_told_so_and_metrics_count_it() {
    let limits = Limits { transfers_per_address: 1, ..Limits::default() };
    let metrics = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let served = Served::with(Config { limits, metrics, ..Served::config() });
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let first = asking.ask(Method::GET, "/__down?bytes=100000000", Body::empty()).await;
    assert_eq!(first.status(), StatusCode::OK);
    let second = asking.ask(Method::GET, "/__down?bytes=1", Body::empty()).await;
    assert_eq!(
        (second.status(), &second.headers()["retry-after"]),
        (StatusCode::TOO_MANY_REQUESTS, &"1".parse().unwrap())
    );
    let metrics = Asking::new(&format!("http://{}", served.ready.metrics[0]), Protocol::Http1);
    let told = metrics.ask(Method::GET, "/metrics", Body::empty()).await.into_body().collect(10_000).await;
    let told = String::from_utf8(told.unwrap().to_vec()).unwrap();
    assert!(
        told.contains("longhaul_speed_refused_total 1\n") && told.contains("longhaul_speed_transfers 1\n"),
        "{told}"
    );
    drop(first);
}

#[tokio::test]
async fn who_tells_leaves_or_reads_results_has_a_share_of_these_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { transfers_per_address: 1, ..Limits::default() };
    let served = Served::with(Config { limits, ..keeping(&directory) });
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let known = "/__kept?id=0123456789abcdef0123456789abcdef";
    let each = [(Method::POST, "/__result"), (Method::POST, "/__keep?test=0"), (Method::GET, known)];
    let mut first = TcpStream::connect(served.ready.addresses[0]).await.unwrap();
    let head =
        "POST /__result HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    first.write_all(head.as_bytes()).await.unwrap();
    let mut room = [0; 12];
    first.read_exact(&mut room).await.unwrap();
    assert_eq!(&room, b"HTTP/1.1 100");
    for (method, path) in each.clone() {
        assert_eq!(status(&asking, method, path).await, 429, "{path}");
    }
    assert_eq!(status(&asking, Method::GET, "/__down?bytes=1").await, 200);
    first.write_all(b"{}").await.unwrap();
    let mut rest = Vec::new();
    while !rest.windows(4).any(|end| end == b"400 ") {
        assert_ne!(first.read_buf(&mut rest).await.unwrap(), 0, "it is answered");
    }
    for ((method, path), expected) in each.into_iter().zip([400, 400, 404]) {
        assert_eq!(status(&asking, method, path).await, expected, "{path}");
    }
}

#[tokio::test]
async fn datagrams_come_back_to_those_who_began_a_test() {
    let served = Served::with(Served::config());
    let asking = Asking::new(&served.url("http"), Protocol::Http1);
    let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
    assert_eq!((greeting.schema.as_str(), greeting.loss_port), (wire::GREETING, served.ready.loss_port));
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, greeting.loss_port.unwrap()));
    let mine = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let there = Datagram { way: Way::There, test: greeting.test, number: 9 };
    let strangers = Datagram { test: wire::Token([0; 16]), ..there };
    let looping = Datagram { way: Way::Back, ..there };
    // Ignored datagrams are sent first, so that a reply to one of them would arrive first.
    for bytes in [&strangers.encode()[..], &looping.encode(), &there.encode()[..100], &there.encode()] {
        mine.send_to(bytes, server).await.unwrap();
    }
    let mut room = [0; 500];
    let (length, from) = mine.recv_from(&mut room).await.unwrap();
    assert_eq!(
        (Datagram::decode(&room[..length]), from),
        (Some(Datagram { way: Way::Back, ..there }), server)
    );
    let other = tokio::net::UdpSocket::bind("127.0.0.2:0").await.unwrap();
    other.send_to(&there.encode(), server).await.unwrap();
    mine.send_to(&there.encode(), server).await.unwrap();
    mine.recv_from(&mut room).await.unwrap();
    assert!(other.try_recv_from(&mut room).is_err());
}

#[tokio::test]
async fn the_kernel_tells_who_limited_a_download() {
    for listen in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
        let served = Served::with(Config { listen: vec![listen.parse().unwrap()], ..Served::config() });
        let url = format!("http://127.0.0.1:{}", served.ready.addresses[0].port());
        let asking = Asking::new(&url, Protocol::Http1);
        let greeting: Greeting = asking.json(Method::POST, wire::BEGIN, Body::empty()).await;
        let path = format!("/__down?bytes=5000000&test={}", greeting.test);
        let body = asking.ask(Method::GET, &path, Body::empty()).await.into_body();
        assert_eq!(body.collect(5_000_000).await.unwrap().len(), 5_000_000);
        let path = format!("{}?test={}", wire::LIMITS, greeting.test);
        let told: Told = asking.json(Method::GET, &path, Body::empty()).await;
        assert!(told.times.unwrap().sent > 0, "{listen}: {told:?}");
    }
}
