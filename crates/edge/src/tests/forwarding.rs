//! Forwarding fields: client addresses and Max-Forwards.

use std::collections::BTreeMap;

use http::{Body, Method, Request, Response, Scheme, server::Peer};

use super::{Stage, door::Door, request, with};

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
async fn an_ipv4_client_of_a_socket_for_both_families_has_its_ipv4_address() {
    let stage = Stage::new("", async |request, _| told(&request));
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
        assert_eq!(stage.send(from(address, &[])).await.body, expected);
        // Appending to an unterminated quoted string would extend the string.
        assert_eq!(stage.send(from(address, &[("forwarded", "for=\"x")])).await.body, expected);
    }
    let continued = stage.send(from("192.0.2.7:5", &[("forwarded", "for=\"x\"")])).await.body;
    let continued = String::from_utf8(continued.to_vec()).unwrap();
    assert!(continued.contains("forwarded=for=\"x\", for=192.0.2.7;proto=http\n"), "{continued}");
}

#[tokio::test]
async fn the_same_is_told_line_by_line() {
    let door = Door::on("[::]:0", Stage::new("", async |request, _| told(&request)));
    let expected = "x-forwarded-for=127.0.0.1\nforwarded=for=127.0.0.1;proto=http\nmax-forwards=";
    for _ in 0..4 {
        assert_eq!(door.get("/", &[]).await.0.body, expected);
        assert_eq!(door.get("/", &["forwarded: for=\"x"]).await.0.body, expected);
    }
    assert!(door.relayed.load(std::sync::atomic::Ordering::SeqCst) > 0);
}

#[tokio::test]
async fn options_is_forwarded_as_often_as_it_says() {
    let stage = Stage::new("", async |request, _| told(&request));
    let ask = async |method: &Method, value: &str| {
        let before = stage.asked();
        let came = stage.edge.serve(request(method.clone(), "/", &[("max-forwards", value)])).await;
        let allowed = came.headers().contains_key("allow");
        let status = came.status().as_u16();
        let body = came.into_body().collect(1000).await.unwrap();
        let text = str::from_utf8(&body).unwrap();
        let left = text.rsplit_once("max-forwards=").map(|(_, left)| left.to_owned());
        (status, allowed, left.filter(|_| stage.asked() > before))
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
async fn a_rule_that_bypasses_the_cache_forwards_no_more_often() {
    let stage = Stage::new("[[zone.rule]]\npath = \"*\"\nbypass = true\n", async |request, _| told(&request));
    assert_eq!(stage.send(request(Method::OPTIONS, "/", &[("max-forwards", "0")])).await.status, 204);
    assert_eq!(stage.asked(), 0);
    let came = stage.send(request(Method::OPTIONS, "/", &[("max-forwards", "2")])).await;
    assert!(came.body.ends_with(b"max-forwards=1"));
}
