//! Requests that leave for an origin: host, path prefix, header fields and signature.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use config_file::Document;
use http_cache::purge::{Depth, Purge};
use http_stack::{
    Body, Method, Request, Response, Server, ShutdownSignal, StatusCode,
    client::Trust,
    server::{HandshakeCounts, Identity, TlsHandshakes},
};
use ring::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key, sign},
};

use super::{
    Fixture, MEMORY, detours::nowhere, node, request, test_listener::TestListener, test_network::World, with,
};
use crate::{server::worker_state::WorkerState, upstream::connectors::Connectors};

/// Responds with the request's target and fields.
fn echo(request: &Request<Body>) -> Response<Body> {
    let mut text = format!("{}\n", request.uri().path_and_query().unwrap());
    for (name, value) in request.headers() {
        writeln!(text, "{name}: {}", value.to_str().unwrap()).unwrap();
    }
    with("max-age=60", text)
}

/// The zone of a fixture with other origins: `{}` is the address of the fixture's origin.
fn fixture_with(
    suffix: &str,
    zone: &str,
    respond: impl Fn(&Request<Body>) -> Response<Body> + Send + Sync + 'static,
) -> Fixture {
    let fixture = Fixture::new(zone, move |request, _| std::future::ready(respond(&request)));
    let mut network = crate::Network::clone(&fixture.node.network());
    let origin = &mut network.zones[0].origins[0];
    *origin = format!("{}{suffix}", origin.origin()).parse().unwrap();
    fixture.node.replace_network(network);
    fixture
}

fn lines(body: &[u8]) -> (String, BTreeMap<String, String>) {
    let text = str::from_utf8(body).unwrap();
    let (target, fields) = text.split_once('\n').unwrap();
    let fields = fields.lines().filter_map(|line| line.split_once(": "));
    (target.to_owned(), fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[tokio::test]
async fn origin_receives_its_host_and_the_visitors() {
    for (setting, expected) in [
        ("\"origin\"", None),
        ("\"Bucket.example\"", Some("bucket.example")),
        ("\"b.example:81\"", Some("b.example:81")),
    ] {
        let fixture = fixture_with("", &format!("origin_host = {setting}\n"), echo);
        let address = fixture.node.network().zones[0].origins[0].authority();
        let body =
            fixture.get("/a", &[("x-forwarded-host", "forged.example"), ("forwarded", "for=x")]).await.body;
        let (target, fields) = lines(&body);
        assert_eq!((target.as_str(), fields["host"].as_str()), ("/a", expected.unwrap_or(&address)));
        assert_eq!(fields["x-forwarded-host"], "shop.example");
        assert!(fields["forwarded"].starts_with("for=x, for="), "{fields:?}");
        assert!(fields["forwarded"].ends_with(";proto=http;host=\"shop.example\""), "{fields:?}");
    }
    let fixture = fixture_with("", "", echo);
    let (_, fields) = lines(&fixture.get("/a", &[("x-forwarded-host", "other.example")]).await.body);
    assert_eq!(
        (fields["host"].as_str(), fields["x-forwarded-host"].as_str()),
        ("shop.example", "other.example")
    );
    assert!(!fields["forwarded"].contains("host="));
}

#[tokio::test]
async fn prefix_is_not_part_of_the_key() {
    let fixture = fixture_with("/bucket?sig=s", "[[zone.rule]]\npath = \"/bucket/*\"\nbypass = true\n", echo);
    assert_eq!(lines(&fixture.get("/a?b", &[]).await.body).0, "/bucket/a?b&sig=s");
    assert_eq!(fixture.get("/a?b", &[]).await.told, "lhr; hit");
    fixture.node.purge("z", vec![Purge::Url("http://shop.example/a?b".into())], Depth::Hard);
    assert!(fixture.get("/a?b", &[]).await.told.ends_with("stored"));
    assert_eq!(lines(&fixture.get("/bucket/a", &[]).await.body).0, "/bucket/bucket/a?sig=s");
    assert!(fixture.get("/bucket/a", &[]).await.told.contains("fwd=bypass"));
    let before = fixture.request_count();
    let left = fixture.get("/..%2Fother", &[]).await;
    assert_eq!((left.status, left.told.as_str()), (400, "lhr; fwd=bypass; detail=outside-prefix"));
    assert_eq!(fixture.request_count(), before);
}

#[tokio::test]
async fn changed_requests_are_not_forwarded_raw() {
    let zone = "origin_host = \"origin\"\n[[zone.rule]]\npath = \"*\"\nbypass = true\n";
    let door = TestListener::on("127.0.0.1:0", fixture_with("/p", zone, echo));
    for _ in 0..4 {
        let (target, fields) = lines(door.get("/", &[]).await.0.body.as_bytes());
        assert_eq!((target.as_str(), fields["x-forwarded-host"].as_str()), ("/p/", "shop.example"));
        assert!(fields["host"].starts_with("127.0.0.1:"), "{fields:?}");
    }
    assert_eq!(door.relayed.load(std::sync::atomic::Ordering::SeqCst), 0);
}

const HEADERS: &str = "origin_headers = { set = { X-Key = \"k\", Accept-Language = { file = \"FILE\" } }, \
                       remove = [\"Cookie\", \"X-Forwarded-For\"] }\n";

#[tokio::test]
async fn fields_are_set_and_removed_for_the_origin_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("language");
    std::fs::write(&file, "de\n").unwrap();
    let zone = HEADERS.replace("FILE", &file.display().to_string())
        + "[[zone.rule]]\npath = \"*\"\ncookie = { user = \"*\" }\nbypass = true\n";
    let fixture = fixture_with("", &zone, echo);
    let (_, fields) = lines(
        &fixture
            .get(
                "/a",
                &[("x-key", "forged"), ("x_key", "forged"), ("accept-language", "en"), ("cookie", "a=b")],
            )
            .await
            .body,
    );
    assert_eq!((fields["x-key"].as_str(), fields["accept-language"].as_str()), ("k", "de"));
    assert!(
        !fields.contains_key("x_key")
            && !fields.contains_key("cookie")
            && !fields.contains_key("x-forwarded-for"),
        "{fields:?}"
    );
    // Rules match the visitor's request.
    assert!(fixture.get("/a", &[("cookie", "user=1")]).await.told.contains("fwd=bypass"));
}

#[tokio::test]
async fn response_does_not_vary_by_a_field_with_a_fixed_value() {
    let zone = "origin_headers = { set = { Accept-Language = \"de\" }, remove = [\"Cookie\"] }\n";
    for (vary, is_shared) in [
        ("Accept-Language", true),
        ("cookie, accept-language", true),
        ("Cookie, Accept-Encoding", true),
        ("X-Other, Cookie", false),
        ("*", false),
    ] {
        let fixture = fixture_with("", zone, move |request| {
            let mut response = echo(request);
            response.headers_mut().insert("vary", vary.parse().unwrap());
            response
        });
        fixture.get("/", &[("cookie", "a=1"), ("accept-language", "en"), ("x-other", "1")]).await;
        let told = fixture.get("/", &[("cookie", "a=2"), ("x-other", "2")]).await.told;
        assert_eq!(told == "lhr; hit", is_shared, "{vary}: {told}");
    }
}

const AUTH: &str = "origin_auth = { sigv4 = { region = \"eu-central-1\", access_key = \"AKIDEXAMPLE\", \
                    secret_key = \"not a secret\", session_token = \"token\" } }\n";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server's check of a signature: it depends on the received request alone.
fn has_valid_signature(request: &Request<Body>) -> bool {
    let field = |name: &str| request.headers().get(name).map_or("", |value| value.to_str().unwrap().trim());
    let Some(written) = field("authorization").strip_prefix("AWS4-HMAC-SHA256 ") else { return false };
    let parts: BTreeMap<_, _> = written.split(',').map(|part| part.trim().split_once('=').unwrap()).collect();
    let Some(scope) = parts["Credential"].strip_prefix("AKIDEXAMPLE/") else { return false };
    let names: Vec<_> = parts["SignedHeaders"].split(';').collect();
    if !names.contains(&"host") || !names.is_sorted() || names.contains(&"if-none-match") {
        return false;
    }
    let mut all_amz = request.headers().keys().filter(|name| name.as_str().starts_with("x-amz-"));
    if !all_amz.all(|name| names.contains(&name.as_str())) {
        return false;
    }
    let path: String = request.uri().path().replace('!', "%21").replace('+', "%2B").replace("%2F", "/");
    let mut query: Vec<_> = request.uri().query().unwrap_or_default().split('&').collect();
    query.sort_unstable();
    let fields: String = names.iter().map(|name| format!("{name}:{}\n", field(name))).collect();
    let canonical = format!(
        "{}\n{path}\n{}\n{fields}\n{}\n{}",
        request.method(),
        query.join("&"),
        parts["SignedHeaders"],
        field("x-amz-content-sha256")
    );
    let text = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
        field("x-amz-date"),
        hex(digest(&SHA256, canonical.as_bytes()).as_ref())
    );
    let mut key = b"AWS4not a secret".to_vec();
    for part in scope.split('/').chain([&text[..]]) {
        key = sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
    }
    hex(&key) == parts["Signature"]
}

fn bucket(request: &Request<Body>) -> Response<Body> {
    if !has_valid_signature(request) {
        let mut response = with("no-store", "");
        *response.status_mut() = StatusCode::FORBIDDEN;
        return response;
    }
    let mut response = echo(request);
    response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
    response
}

#[tokio::test]
async fn signed_requests_are_accepted_and_cached() {
    let fixture = fixture_with("/bucket", AUTH, bucket);
    for path in ["/", "/a b", "/a%20b!+c", "/%C3%A9/x%2Fy", "/?prefix=a+b&max-keys=2&list", "/a?b=%2f"] {
        let path = path.replace(' ', "%20");
        let received = fixture.get(&path, &[]).await;
        assert_eq!(received.status, 200, "{path}");
        assert_eq!(fixture.get(&path, &[]).await.told, "lhr; hit", "{path}");
        let (_, fields) = lines(&received.body);
        assert_eq!(fields["x-amz-security-token"], "token");
        assert!(fields["host"].starts_with("127.0.0.1:"));
    }
    assert_eq!(fixture.get("/part", &[("range", "bytes=0-9")]).await.status, 206);
    for method in [Method::PUT, Method::DELETE, Method::HEAD] {
        assert_eq!(fixture.send(request(method.clone(), "/b", &[])).await.status, 200, "{method}");
    }
    let forged = [("authorization", "Basic x"), ("x-amz-acl", "public-read"), ("x-amz-date", "x")];
    let received = fixture.get("/forged", &forged).await;
    assert_eq!(received.status, 200);
    assert!(!lines(&received.body).1.contains_key("x-amz-acl"));
}

#[tokio::test]
async fn set_fields_of_aws_are_signed() {
    let zone = format!("{AUTH}origin_headers = {{ set = {{ X-Amz-Request-Payer = \"requester\" }} }}\n");
    let fixture = fixture_with("", &zone, bucket);
    let received = fixture.get("/", &[]).await;
    assert_eq!((received.status, &lines(&received.body).1["x-amz-request-payer"][..]), (200, "requester"));
}

#[tokio::test]
async fn wrong_secret_is_refused_by_the_origin() {
    let fixture = fixture_with("", &AUTH.replace("not a secret", "another"), bucket);
    assert_eq!(fixture.get("/", &[]).await.status, 403);
}

#[tokio::test]
async fn tiers_and_detours_change_a_request_once() {
    let zone = "tiers = { lhr = \"fra\" }\norigin_host = \"bucket.example\"\n\
                origin_headers = { set = { X-Key = \"k\" } }\n";
    let world = World::new(zone, |request, _| std::future::ready(echo(&request)));
    let received = world.get(0, "/a").await;
    let (_, fields) = lines(&received.body);
    assert_eq!(
        (fields["host"].as_str(), fields["x-forwarded-host"].as_str()),
        ("bucket.example", "shop.example")
    );
    assert_eq!(fields["x-key"], "k");
    assert_eq!(fields["via"].split(',').count(), 2, "{fields:?}");
    assert_eq!(fields["forwarded"].matches("host=").count(), 1);
    // The direct path of the first data centre is cut.
    let zone = &format!("origin_host = \"bucket.example\"\n{AUTH}").replace("not a secret", "x");
    let zones = [Some(nowhere()), None, None].map(|found_at| (zone.clone(), found_at));
    let world = World::with(zones, |request, _| std::future::ready(echo(&request)));
    let received = world.get(0, "/a?b").await;
    let (target, fields) = lines(&received.body);
    assert_eq!((target.as_str(), fields["host"].as_str()), ("/a?b=", "bucket.example"));
    assert_eq!(fields["x-forwarded-host"], "shop.example");
    assert_eq!(fields["authorization"].matches("Signature=").count(), 1);
}

#[tokio::test]
async fn server_name_of_tls_is_the_origin_host() {
    let made = Identity::make(&["bucket.example".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("ca.pem");
    std::fs::write(&trusted, &made.ca_pem).unwrap();
    let handshakes = Arc::<TlsHandshakes>::default();
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let server = server.with_tls(&made.identity).with_handshakes(&handshakes);
    let (address, stop) = (server.addresses().unwrap()[0], ShutdownSignal::new());
    let ending = stop.clone();
    let handler = |request: Request<Body>| {
        let named = request.headers().get("host").and_then(|host| host.to_str().ok());
        let host = named.or(request.uri().authority().map(|authority| authority.as_str()));
        std::future::ready(Ok(with("no-store", host.unwrap_or_default().to_owned())))
    };
    tokio::spawn(async move { server.serve(handler, &ending).await });
    let ask = async |zone: &str| {
        let text = format!(
            "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\n\
             [[zone]]\nname = \"z\"\nhosts = [\"shop.example\"]\norigin = [\"https://{address}\"]\n{zone}"
        );
        let network = crate::Network::read(&Document::new("n.toml", text)).unwrap();
        let clients = Connectors::new(Trust::File(trusted.clone())).unwrap();
        let worker = Arc::new(WorkerState::new(node(network, MEMORY, None), 0, clients));
        let received = super::receive(worker.serve(request(Method::GET, "/", &[])).await).await;
        let network = worker.network();
        (
            received,
            worker.origins.report(network.zones[0].origins.iter(), |_| 0, worker.now()).remove(0).address,
        )
    };
    let (received, label) = ask("origin_host = \"bucket.example:8443\"\n").await;
    assert_eq!(received.body, "bucket.example:8443");
    assert_eq!(label, format!("https://{address} as bucket.example"));
    assert_eq!(handshakes.counts(), HandshakeCounts { tls13: 1, ..HandshakeCounts::default() });
    for zone in ["", "origin_host = \"other.example\"\n"] {
        let (received, _) = ask(zone).await;
        assert_eq!(
            (received.status, received.told.as_str()),
            (502, "lhr; fwd=bypass; detail=origin-not-trusted")
        );
    }
    stop.request();
}
