//! Forwarding fields: client addresses and Max-Forwards.

use std::collections::BTreeMap;

use http_stack::{Body, Method, Request, Response, Scheme, server::Peer};

use super::{Fixture, request, test_listener::TestListener, with};

fn told(request: &Request<Body>) -> Response<Body> {
    let field = |name: &'static str| {
        request.headers().get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    };
    let names = ["x-forwarded-for", "forwarded", "max-forwards"];
    let text: Vec<_> = names.iter().map(|name| format!("{name}={}", field(name))).collect();
    with("no-store", text.join("\n"))
}

fn from(address: &str, fields: &[(&'static str, &str)]) -> Request<Body> {
    let mut request = request(Method::GET, "/", fields);
    request.extensions_mut().insert(Peer { address: address.parse().unwrap(), scheme: Scheme::Http });
    request
}

#[tokio::test]
async fn dual_stack_socket_reports_ipv4_clients() {
    let fixture = Fixture::new("", async |request, _| told(&request));
    for (address, expected) in [
        (
            "[::ffff:192.0.2.7]:5",
            "x-forwarded-for=192.0.2.7\nforwarded=for=192.0.2.7;proto=http\nmax-forwards=",
        ),
        ("192.0.2.7:5", "x-forwarded-for=192.0.2.7\nforwarded=for=192.0.2.7;proto=http\nmax-forwards="),
        (
            "[2001:db8::7]:5",
            "x-forwarded-for=2001:db8::7\nforwarded=for=\"[2001:db8::7]\";proto=http\nmax-forwards=",
        ),
    ] {
        assert_eq!(fixture.send(from(address, &[])).await.body, expected);
        assert_eq!(fixture.send(from(address, &[("forwarded", "for=\"x")])).await.body, expected);
    }
    let continued = fixture.send(from("192.0.2.7:5", &[("forwarded", "for=\"x\"")])).await.body;
    let continued = String::from_utf8(continued.to_vec()).unwrap();
    assert!(continued.contains("forwarded=for=\"x\", for=192.0.2.7;proto=http\n"), "{continued}");
}

#[tokio::test]
async fn raw_forward_sends_the_same_forwarding_fields() {
    let door = TestListener::on("[::]:0", Fixture::new("", async |request, _| told(&request)));
    let expected = "x-forwarded-for=127.0.0.1\nforwarded=for=127.0.0.1;proto=http\nmax-forwards=";
    for _ in 0..4 {
        assert_eq!(door.get("/", &[]).await.0.body, expected);
        assert_eq!(door.get("/", &["forwarded: for=\"x"]).await.0.body, expected);
    }
    assert!(door.relayed.load(std::sync::atomic::Ordering::SeqCst) > 0);
}

#[tokio::test]
async fn options_honours_max_forwards() {
    let fixture = Fixture::new("", async |request, _| told(&request));
    let ask = async |method: &Method, value: &str| {
        let before = fixture.request_count();
        let received = fixture.node.serve(request(method.clone(), "/", &[("max-forwards", value)])).await;
        let allowed = received.headers().contains_key("allow");
        let status = received.status().as_u16();
        let body = received.into_body().collect(1000).await.unwrap();
        let text = str::from_utf8(&body).unwrap();
        let left = text.rsplit_once("max-forwards=").map(|(_, left)| left.to_owned());
        (status, allowed, left.filter(|_| fixture.request_count() > before))
    };
    let left = |value: &str| (200, false, Some(value.to_owned()));
    for (method, answers) in [
        (Method::OPTIONS, BTreeMap::from([("0", (204, true, None)), ("00", (204, true, None))])),
        (Method::GET, BTreeMap::from([("0", left("0")), ("5", left("5"))])),
        (Method::POST, BTreeMap::from([("0", left("0"))])),
    ] {
        for (value, expected) in answers {
            assert_eq!(ask(&method, value).await, expected, "{method} {value}");
        }
    }
    for (value, forwarded) in [
        ("5", "4"),
        ("1", "0"),
        ("012", "11"),
        ("a", "a"),
        ("-1", "-1"),
        ("184467440737095516160", "18446744073709551614"),
    ] {
        assert_eq!(ask(&Method::OPTIONS, value).await, left(forwarded), "{value}");
    }
}

#[tokio::test]
async fn bypass_rule_honours_max_forwards() {
    let fixture =
        Fixture::new("[[zone.rule]]\npath = \"*\"\nbypass = true\n", async |request, _| told(&request));
    assert_eq!(fixture.send(request(Method::OPTIONS, "/", &[("max-forwards", "0")])).await.status, 204);
    assert_eq!(fixture.request_count(), 0);
    let received = fixture.send(request(Method::OPTIONS, "/", &[("max-forwards", "2")])).await;
    assert!(received.body.ends_with(b"max-forwards=1"));
}
