//! Traces: spans received by a test collector, and trace context received by origins.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use http_stack::{Body, Bytes, Request, Response, Server, StatusCode, client::Trust};
use serde_json::Value;

use super::{Fixture, test_listener::TestListener, with};
use crate::{admin::api::TraceStatus, telemetry::traces::Exporter, upstream::connectors::Connectors};

struct Collector {
    address: SocketAddr,
    messages: Arc<Mutex<Vec<Value>>>,
}

#[derive(Debug, Clone)]
struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    name: String,
    kind: u64,
    times: (u64, u64),
    attributes: HashMap<String, String>,
    is_error: bool,
}

impl Collector {
    fn answering(answers: &[(u16, &'static str)]) -> Self {
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let address = server.addresses().unwrap()[0];
        let messages = Arc::new(Mutex::new(Vec::new()));
        let (got, left) = (Arc::clone(&messages), Arc::new(Mutex::new(answers.to_vec())));
        let handler = move |request: Request<Body>| {
            let (got, left) = (Arc::clone(&got), Arc::clone(&left));
            async move {
                assert_eq!((request.method().as_str(), request.uri().path()), ("POST", "/v1/traces"));
                assert_eq!(request.headers()["content-type"], "application/json");
                let text = request.into_body().collect(1 << 20).await?;
                let mut left = left.lock().unwrap();
                let (status, body) = if left.is_empty() { (200, "{}") } else { left.remove(0) };
                got.lock().unwrap().push(serde_json::from_slice(&text).unwrap());
                let mut response = Response::new(Body::whole(body));
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
                Ok(response)
            }
        };
        tokio::spawn(async move { server.serve(handler, &http_stack::ShutdownSignal::new()).await });
        Self { address, messages }
    }

    fn spans(&self) -> Vec<Span> {
        let messages = self.messages.lock().unwrap();
        let resources = messages.iter().flat_map(|message| message["resourceSpans"].as_array().unwrap());
        let scopes = resources.flat_map(|resource| {
            assert_eq!(attributes(&resource["resource"])["service.namespace"], "n");
            resource["scopeSpans"].as_array().unwrap()
        });
        let spans = scopes.flat_map(|scope| scope["spans"].as_array().unwrap());
        spans.map(Span::read).collect()
    }
}

impl Span {
    fn read(span: &Value) -> Self {
        let text = |name: &str| span[name].as_str().unwrap().to_owned();
        let time = |name: &str| text(name).parse().unwrap();
        Self {
            trace: text("traceId"),
            id: text("spanId"),
            parent: span["parentSpanId"].as_str().map(ToOwned::to_owned),
            name: text("name"),
            kind: span["kind"].as_u64().unwrap(),
            times: (time("startTimeUnixNano"), time("endTimeUnixNano")),
            attributes: attributes(span),
            is_error: span["status"]["code"] == 2,
        }
    }
}

fn attributes(of: &Value) -> HashMap<String, String> {
    let attributes = of["attributes"].as_array().unwrap().iter();
    let text =
        |value: &Value| value["stringValue"].as_str().or(value["intValue"].as_str()).unwrap().to_owned();
    attributes.map(|one| (one["key"].as_str().unwrap().to_owned(), text(&one["value"]))).collect()
}

fn door(collector: SocketAddr, settings: &str) -> TestListener {
    let zone = format!("[traces]\nendpoint = \"http://{collector}\"\n{settings}\n");
    TestListener::new(Fixture::new(&zone, async |request: Request<Body>, _| {
        let field = |name: &str| request.headers().get(name).map_or("none", |value| value.to_str().unwrap());
        let said = format!("{} {}", field("traceparent"), field("tracestate"));
        if request.uri().path() == "/broken" {
            let mut response = with("no-store", "");
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return response;
        }
        with("max-age=60", said)
    }))
}

impl TestListener {
    fn sender(&self) -> Exporter {
        let traces = Arc::clone(&self.fixture.node.traces);
        Exporter::new(traces, Connectors::new(Trust::System).unwrap().requests, "n", "lhr")
    }

    fn report(&self) -> TraceStatus {
        self.fixture.node.traces.report().unwrap()
    }

    async fn send(&self, spans: u64) {
        while self.report().waiting < spans {
            tokio::task::yield_now().await;
        }
        assert_eq!(self.report().waiting, spans);
        self.sender().send().await;
    }
}

const VISITORS: &str = "0af7651916cd43dd8448eb211c80319c";

fn of_visitor(flags: &str) -> String {
    format!("traceparent: 00-{VISITORS}-b7ad6b7169203331-{flags}")
}

#[tokio::test]
async fn request_has_spans_for_origin_and_phases() {
    let collector = Collector::answering(&[]);
    let door = door(collector.address, "share = \"100%\"");
    let fields = ["User-Agent: agent", "tracestate: a=b", &of_visitor("01")];
    let (said, _) = door.ask("GET", "/a?b=c", &fields).await;
    door.send(6).await;
    let spans = collector.spans();
    let find = |key: &str, value: &str| {
        spans.iter().find(|span| span.attributes.get(key).is_some_and(|found| found == value)).unwrap()
    };
    let request = find("longhaul.cache", "miss");
    assert!(request.parent.is_none() && request.trace != VISITORS && !request.is_error);
    assert_eq!((request.name.as_str(), request.kind), ("GET", 2));
    for (key, value) in [
        ("http.request.method", "GET"),
        ("url.scheme", "http"),
        ("url.path", "/a"),
        ("url.query", "b=c"),
        ("server.address", "shop.example"),
        ("client.address", "127.0.0.1"),
        ("network.protocol.version", "1.1"),
        ("user_agent.original", "agent"),
        ("http.response.status_code", "200"),
        ("longhaul.tier", "origin"),
        ("longhaul.zone", "z"),
        ("http.response.body.size", &said.body.len().to_string()),
    ] {
        assert_eq!(request.attributes.get(key).map(String::as_str), Some(value), "{key}: {request:?}");
    }
    let origin = spans.iter().find(|span| span.kind == 3).unwrap();
    assert_eq!((&origin.trace, origin.parent.as_ref()), (&request.trace, Some(&request.id)));
    assert!(origin.attributes["url.full"].ends_with("/a?b=c"), "{origin:?}");
    assert_eq!(origin.attributes["http.response.status_code"], "200");
    assert_eq!(said.body, format!("00-{}-{}-01 none", request.trace, origin.id));
    let phases: Vec<_> = spans.iter().filter(|span| span.parent.as_ref() == Some(&origin.id)).collect();
    let names: Vec<_> = phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["connect", "send", "wait"]);
    let is_within =
        |inner: &Span, outer: &Span| outer.times.0 <= inner.times.0 && inner.times.1 <= outer.times.1;
    assert!(phases.iter().all(|phase| is_within(phase, origin)), "{spans:?}");
    assert!(is_within(origin, request), "{spans:?}");
    let refused = find("longhaul.cache", "refused");
    assert_eq!((refused.attributes["http.response.status_code"].as_str(), refused.is_error), ("421", false));
    assert!(refused.trace != request.trace && refused.id != request.id);
}

#[tokio::test]
async fn hit_has_one_span_and_errors_are_marked() {
    let collector = Collector::answering(&[]);
    let door = door(collector.address, "share = \"100%\"");
    door.ask("GET", "/a", &[]).await;
    door.send(6).await;
    collector.messages.lock().unwrap().clear();
    assert!(!door.ask("GET", "/a", &[]).await.1);
    door.send(2).await;
    assert_eq!(collector.spans()[0].attributes["longhaul.cache"], "hit");
    collector.messages.lock().unwrap().clear();
    door.ask("GET", "/broken", &[]).await;
    door.send(5).await;
    let errors: Vec<_> = collector.spans().into_iter().filter(|span| span.is_error).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|span| span.attributes["error.type"] == "503"));
}

#[tokio::test]
async fn trusted_client_decides_sampling() {
    let collector = Collector::answering(&[]);
    let door = door(collector.address, "requests_decide = true");
    let (said, _) = door.ask("GET", "/a", &[&of_visitor("01"), "tracestate: a=b"]).await;
    door.send(5).await;
    let spans = collector.spans();
    assert!(spans.iter().all(|span| span.trace == VISITORS), "{spans:?}");
    let request = spans.iter().find(|span| span.kind == 2).unwrap();
    assert_eq!(request.parent.as_deref(), Some("b7ad6b7169203331"));
    let origin = spans.iter().find(|span| span.kind == 3).unwrap();
    assert_eq!(said.body, format!("00-{VISITORS}-{}-01 a=b", origin.id));
    // Unsampled, missing and malformed contexts create no trace. The origin receives the client's
    // field.
    let unsampled = of_visitor("00");
    let (said, _) = door.ask("GET", "/b", &[&unsampled]).await;
    assert_eq!(said.body, format!("{} none", unsampled.trim_start_matches("traceparent: ")));
    // The first hit uses the slow path and prepares the fast path.
    door.ask("GET", "/b", &[]).await;
    assert!(door.ask("GET", "/b", &[]).await.1 && !door.ask("GET", "/b", &[&unsampled]).await.1);
    door.ask("GET", "/c", &["traceparent: 00-x"]).await;
    assert_eq!(door.report().waiting, 0);
    assert!(!door.ask("GET", "/b", &[&of_visitor("01")]).await.1);
    door.send(1).await;
    assert_eq!(collector.spans().last().unwrap().attributes["longhaul.cache"], "hit");
}

#[tokio::test]
async fn failing_collector_blocks_nobody() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let door = door(nobody, "share = \"100%\"");
    let (said, _) = door.ask("GET", "/a", &[]).await;
    assert_eq!(said.status, "HTTP/1.1 200 OK");
    door.send(6).await;
    let report = door.report();
    assert_eq!((report.sent, report.lost, report.waiting), (0, 0, 6));
    assert!(report.error.as_ref().unwrap().contains(&format!("http://{nobody}/v1/traces: ")), "{report:?}");
    // The new collector is busy, then rejects the spans, then rejects some of them.
    let answers = [(503, ""), (400, "{}"), (200, "{\"partialSuccess\":{\"rejectedSpans\":\"1\"}}")];
    let collector = Collector::answering(&answers);
    let mut network = crate::Network::clone(&door.fixture.node.network());
    network.traces.as_mut().unwrap().origin = format!("http://{}", collector.address).parse().unwrap();
    door.fixture.node.replace_network(network);
    door.send(6).await;
    let report = door.report();
    assert_eq!((report.sent, report.lost, report.waiting), (0, 0, 6));
    assert!(report.error.unwrap().ends_with("it responded with 503"));
    door.send(6).await;
    assert_eq!((door.report().sent, door.report().lost, door.report().waiting), (0, 6, 0));
    door.ask("GET", "/a", &[]).await;
    door.send(2).await;
    let report = door.report();
    assert_eq!((report.sent, report.lost, report.waiting, report.error), (1, 7, 0, None));
    let mut network = crate::Network::clone(&door.fixture.node.network());
    network.traces = None;
    door.fixture.node.replace_network(network);
    door.ask("GET", "/a", &[]).await;
    assert!(door.fixture.node.traces.report().is_none() && door.ask("GET", "/a", &[]).await.1);
}

#[tokio::test]
async fn aborted_request_is_in_its_trace() {
    let collector = Collector::answering(&[]);
    let zone = format!("[traces]\nendpoint = \"http://{}\"\nshare = \"100%\"\n", collector.address);
    let fixture =
        Fixture::new(&zone, async |_: Request<Body>, _| std::future::pending::<Response<Body>>().await);
    let door = TestListener::new(fixture);
    let mut visitor = tokio::net::TcpStream::connect(door.address).await.unwrap();
    let ask = Bytes::from_static(b"GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    tokio::io::AsyncWriteExt::write_all(&mut visitor, &ask).await.unwrap();
    while door.fixture.request_count() == 0 {
        tokio::task::yield_now().await;
    }
    drop(visitor);
    door.send(1).await;
    let span = collector.spans().remove(0);
    assert_eq!((span.attributes["error.type"].as_str(), span.is_error), ("the client left", true));
}
