//! Rules that act on requests and responses, over connections: redirects, fixed responses, rewrites,
//! header changes and CORS.

use http_cache::purge::{Depth, Purge};
use http_stack::{
    Body, Client, Method, Request, Response, Uri,
    client::{Config, Protocol},
};

use super::{
    Fixture, request, rule_decisions,
    test_listener::{Said, TestListener, fields_of},
    with,
};

/// The origin returns the request that it received.
async fn echo(request: Request<Body>, number: usize) -> Response<Body> {
    let field = |name: &str| {
        let values: Vec<_> =
            request.headers().get_all(name).iter().map(|value| value.to_str().unwrap()).collect();
        values.join("|")
    };
    let text = format!(
        "{number} {} cookie={} x-a={}",
        request.uri().path_and_query().unwrap(),
        field("cookie"),
        field("x-a")
    );
    let mut response = with("max-age=600", text);
    response.headers_mut().insert("server", "origin".parse().unwrap());
    response
}

fn listener(rules: &str) -> TestListener {
    TestListener::new(Fixture::new(rules, echo))
}

fn has(said: &Said, line: &str) -> bool {
    said.fields.contains(line)
}

#[tokio::test]
async fn redirects_and_responses_reach_no_origin() {
    let door = listener(
        "[[zone.rule]]\npath = \"/old/*\"\nredirect = { to = \"https://www.shop.example/${1}\", status = 301 }\n\
         [[zone.rule]]\npath = \"/health\"\nrespond = { body = \"ok\", headers = { x-a = \"1\" } }\n",
    );
    for method in ["GET", "HEAD", "POST"] {
        let (said, _) = door.ask(method, "/old/a?b=c", &[]).await;
        assert_eq!(said.status, "HTTP/1.1 301 Moved Permanently");
        assert!(has(&said, "location: https://www.shop.example/a?b=c"), "{said:?}");
        assert!(has(&said, "cache-status: lhr; fwd=bypass; detail=redirect"), "{said:?}");
        let (said, _) = door.ask(method, "/health", &[]).await;
        assert_eq!(
            (&said.status[..], &said.body[..]),
            ("HTTP/1.1 200 OK", if method == "HEAD" { "" } else { "ok" })
        );
        assert!(has(&said, "content-length: 2") && has(&said, "x-a: 1"), "{said:?}");
    }
    let client = Client::new(&Config { protocol: Protocol::Http2, ..Config::default() }).unwrap();
    for method in [Method::GET, Method::HEAD] {
        let (response, _) = door.ask_http2(&client, method.clone(), "/old/a").await;
        assert_eq!((response.status().as_u16(), response.body().len()), (301, 0));
        let (response, _) = door.ask_http2(&client, method.clone(), "/health").await;
        assert_eq!(response.body().len(), if method == Method::HEAD { 0 } else { 2 });
    }
    assert_eq!(door.fixture.request_count(), 0);
}

#[tokio::test]
async fn doubled_slash_does_not_redirect_to_another_host() {
    let door = listener("[[zone.rule]]\npath = \"*/\"\nredirect = { to = \"/${1}\", keep_query = false }\n");
    for path in ["//evil.example/", "///evil.example//"] {
        let (said, _) = door.get(path, &[]).await;
        let line = said.fields.iter().find(|line| line.starts_with("location: ")).unwrap();
        let to = line.trim_start_matches("location: ");
        assert!(to.starts_with('/') && !to.starts_with("//") && !to.contains('\\'), "{path} {to}");
    }
}

#[tokio::test]
async fn site_settings_redirect_to_the_canonical_url() {
    let door = listener("https_only = true\nhsts = \"365d\"\n");
    let (said, _) = door.get("/a?b", &[]).await;
    assert_eq!(said.status, "HTTP/1.1 308 Permanent Redirect");
    assert!(has(&said, "location: https://shop.example/a?b"));
    assert!(!said.fields.iter().any(|line| line.starts_with("strict")), "not over HTTP: {said:?}");
    let (said, _) = door.get("/.well-known/acme-challenge/x", &[]).await;
    assert_eq!(said.status, "HTTP/1.1 200 OK");
    let mut secure = request(Method::GET, "/a", &[]);
    let peer =
        http_stack::server::Peer { address: ([192, 0, 2, 1], 5).into(), scheme: http_stack::Scheme::Https };
    secure.extensions_mut().insert(peer);
    let response = door.fixture.node.serve(secure).await;
    assert_eq!(response.headers()["strict-transport-security"], "max-age=31536000");
}

#[tokio::test]
async fn rewritten_requests_share_one_object_and_its_purge() {
    let door = listener(
        "[[zone.rule]]\npath = \"/app/*\"\nrewrite = \"/v2/${1}\"\n\
         [[zone.rule]]\npath = \"/v2/*\"\nresponse_headers = { set = { x-direct = \"1\" } }\n",
    );
    let node = &door.fixture.node;
    for (round, purged) in (0..).zip(["http://shop.example/app/a", "http://shop.example/v2/a"]) {
        for path in ["/app/a", "/v2/a", "/app/a", "/app/a", "/v2/a"] {
            let (said, _) = door.get(path, &[]).await;
            assert_eq!(said.body, format!("{round} /v2/a cookie= x-a="), "{path}");
            assert_eq!(has(&said, "x-direct: 1"), path == "/v2/a", "{path} {said:?}");
        }
        let url: Uri = purged.parse().unwrap();
        let keys = node.network().zones[0].rules.key_urls(&url).into_iter().map(Purge::Url).collect();
        node.purge("z", keys, Depth::Hard).unwrap();
    }
    assert_eq!(door.get("/app/a", &[]).await.0.body, "2 /v2/a cookie= x-a=");
}

#[tokio::test]
async fn fast_hits_have_the_header_changes_of_their_request() {
    let door = listener(
        "[[zone.rule]]\nheader = { x-b = \"1\" }\nresponse_headers = { set = { x-b = \"one ${path}\" } }\n\
         [[zone.rule]]\npath = \"/b/*\"\nbrowser_ttl = \"5min\"\n\
         response_headers = { set = { cache-control = \"no-store\" }, remove = [\"server\"] }\n\
         [[zone.rule]]\nresponse_headers = { add = { x-all = \"1\" } }\nkey = { query = [] }\n",
    );
    let client = Client::new(&Config { protocol: Protocol::Http2, ..Config::default() }).unwrap();
    for path in ["/a", "/a?q", "/b/c"] {
        let mut quick = 0;
        for round in 0..4 {
            for fields in [&["x-b: 1"][..], &[]] {
                let (said, is_quick) = door.get(path, fields).await;
                let url = path.split('?').next().unwrap();
                assert_eq!(
                    has(&said, &format!("x-b: one {url}")),
                    !fields.is_empty(),
                    "{path} {round} {said:?}"
                );
                assert!(has(&said, "x-all: 1"), "{path} {round}");
                assert_eq!(has(&said, "server: origin"), !path.starts_with("/b/"), "{path} {round}");
                assert_eq!(has(&said, "cache-control: no-store"), path.starts_with("/b/"), "{said:?}");
                quick += usize::from(is_quick);
            }
            let (said, is_quick) = door.ask_http2(&client, Method::GET, path).await;
            let said = fields_of(path, &said);
            assert!(!said.iter().any(|line| line.starts_with("x-b: ")), "{path} {round} {said:?}");
            assert!(said.contains("x-all: 1"), "{path} {round}");
            quick += usize::from(is_quick);
        }
        assert!(quick > 0, "{path}");
    }
}

#[tokio::test]
async fn request_changes_select_the_variant_without_poisoning() {
    let fixture = Fixture::new(
        "[[zone.rule]]\nheader = { x-b = \"1\" }\nrequest_headers = { add = { x-a = \"2\" }, remove = [\"cookie\"] }\n",
        async |request, number| {
            let mut response = echo(request, number).await;
            response.headers_mut().insert("vary", "x-a".parse().unwrap());
            response
        },
    );
    let door = TestListener::new(fixture);
    for _ in 0..4 {
        for (fields, x_a) in [
            (&["x-b: 1", "cookie: u=1"][..], "2"),
            (&["x-b: 1", "x-a: 2"], "2|2"),
            (&["x-b: 1", "x-a: 1"], "1|2"),
            (&["x-a: 2"], "2"),
            (&["x-a: 1"], "1"),
            (&[], ""),
        ] {
            let (said, _) = door.get("/", fields).await;
            assert!(said.body.ends_with(&format!(" cookie= x-a={x_a}")), "{fields:?} {said:?}");
        }
    }
    assert_eq!(door.fixture.request_count(), 5);
}

#[tokio::test]
async fn client_conditions_do_not_share_fast_hits() {
    let fixture = Fixture::new(
        "[[zone.rule]]\nclient = [\"192.0.2.1\"]\nresponse_headers = { set = { x-office = \"${client_ip}\" } }\n",
        echo,
    );
    let door = TestListener::new(fixture);
    for _ in 0..3 {
        let response = door.fixture.node.serve(request(Method::GET, "/", &[])).await;
        assert_eq!(response.headers()["x-office"], "192.0.2.1");
        let (said, is_quick) = door.get("/", &[]).await;
        assert!(!is_quick && !said.fields.iter().any(|line| line.starts_with("x-office")), "{said:?}");
    }
    assert_eq!(door.fixture.request_count(), 1);
}

#[tokio::test]
async fn requests_with_actions_are_not_relayed_unchanged() {
    let door = listener(
        "[[zone.rule]]\npath = \"/a/*\"\nrewrite = \"/v2/${1}\"\nresponse_headers = { set = { x-r = \"1\" } }\n\
         [[zone.rule]]\npath = \"*\"\nbypass = true\n",
    );
    for number in 0..4 {
        let (said, _) = door.get("/a/b", &[]).await;
        assert_eq!(said.body, format!("{number} /v2/b cookie= x-a="));
        assert!(has(&said, "x-r: 1"), "{said:?}");
    }
}

#[tokio::test]
async fn cors_is_granted_per_request_from_one_object() {
    let fixture = Fixture::new(
        "[[zone.rule]]\npath = \"/api/*\"\ncors = { origins = [\"https://app.example\", \"https://b.example\"], \
         methods = [\"GET\", \"PUT\"], headers = [\"x-token\"], credentials = true, max_age = \"1h\" }\n",
        async |request, number| {
            let mut response = echo(request, number).await;
            let own = "https://stored.example".parse().unwrap();
            response.headers_mut().insert("access-control-allow-origin", own);
            response
        },
    );
    let door = TestListener::new(fixture);
    let mut quick = 0;
    for _ in 0..4 {
        for (origin, is_granted) in
            [("https://app.example", true), ("https://b.example", true), ("https://evil.test", false)]
        {
            let (said, is_quick) = door.get("/api/a", &[&format!("origin: {origin}")]).await;
            let line = said.fields.iter().find(|line| line.starts_with("access-control-allow-origin: "));
            let expected = format!("access-control-allow-origin: {origin}");
            assert_eq!(line, is_granted.then_some(&expected), "{said:?}");
            assert!(has(&said, "vary: Origin"), "{said:?}");
            quick += usize::from(is_quick);
        }
        let (said, _) = door.get("/api/a", &[]).await;
        assert!(has(&said, "vary: Origin") && !said.fields.iter().any(|line| line.contains("allow-origin")));
    }
    assert!(quick > 0);
    let asked = ["origin: https://app.example", "access-control-request-method: PUT"];
    let (said, _) = door.ask("OPTIONS", "/api/a", &asked).await;
    assert_eq!(said.status, "HTTP/1.1 204 No Content");
    for line in [
        "access-control-allow-origin: https://app.example",
        "access-control-allow-methods: GET, PUT",
        "access-control-allow-headers: x-token",
        "access-control-allow-credentials: true",
        "access-control-max-age: 3600",
    ] {
        assert!(has(&said, line), "{line} {said:?}");
    }
    assert_eq!(door.fixture.request_count(), 1);
}

#[tokio::test]
async fn changes_apply_to_errors_of_the_edge() {
    let door = listener(
        "[[zone.rule]]\nresponse_headers = { set = { x-frame-options = \"DENY\" } }\n\
         [[zone.rule]]\nstatus = [504]\nresponse_headers = { set = { x-504 = \"1\" } }\n",
    );
    let (said, _) = door.get("/", &["cache-control: only-if-cached"]).await;
    assert_eq!(said.status, "HTTP/1.1 504 Gateway Timeout");
    assert!(has(&said, "x-frame-options: DENY") && has(&said, "x-504: 1"), "{said:?}");
    let (said, _) = door.get("/", &[]).await;
    assert!(has(&said, "x-frame-options: DENY") && !has(&said, "x-504: 1"), "{said:?}");
}

#[tokio::test]
async fn unsafe_request_invalidates_the_rewritten_object() {
    let door = listener("[[zone.rule]]\npath = \"/app/*\"\nrewrite = \"/v2/${1}\"\n");
    assert_eq!(door.get("/app/a", &[]).await.0.body, "0 /v2/a cookie= x-a=");
    door.ask("POST", "/app/a", &["content-length: 0"]).await;
    assert_eq!(door.get("/v2/a", &[]).await.0.body, "2 /v2/a cookie= x-a=");
}

#[tokio::test]
async fn reload_replaces_rules_of_fast_hits() {
    let door = listener("[[zone.rule]]\nresponse_headers = { set = { x-a = \"1\" } }\n");
    for _ in 0..3 {
        assert!(has(&door.get("/", &[]).await.0, "x-a: 1"));
    }
    let node = &door.fixture.node;
    let mut network = crate::Network::clone(&node.network());
    let rule = "[[zone.rule]]\nresponse_headers = { set = { x-a = \"2\" } }\n";
    network.zones[0].rules = rule_decisions::network(rule).unwrap().zones.remove(0).rules;
    node.node.replace_network(network);
    for _ in 0..3 {
        let (said, _) = door.get("/", &[]).await;
        assert!(has(&said, "x-a: 2") && !has(&said, "x-a: 1"), "{said:?}");
    }
    assert_eq!(door.fixture.request_count(), 1);
}

#[tokio::test]
async fn explanation_lists_rules_in_order() {
    let fixture = Fixture::new(
        "[[zone.rule]]\npath = \"/a/*\"\nrewrite = \"/v2/${1}\"\n[[zone.rule]]\npath = \"/b\"\n\
         respond = { status = 410 }\n[[zone.rule]]\nedge_ttl = \"1h\"\n",
        echo,
    );
    let explained = |url: &str| fixture.node.node.explain(&url.parse::<Uri>().unwrap()).unwrap();
    let about = explained("http://shop.example/a/b");
    let rules: Vec<_> = about.rules.iter().map(|rule| (&*rule.place, &*rule.effect)).collect();
    assert_eq!(rules, [("n.toml:10:1", "rewrite to /v2/${1}"), ("n.toml:16:1", "edge_ttl 3600s")]);
    assert_eq!(about.rewritten.as_deref(), Some("http://shop.example/v2/b"));
    assert_eq!((&*about.key, about.rule.as_deref()), ("http://shop.example/v2/b", Some("n.toml:16:1")));
    assert!(about.purged_as.contains(&"http://shop.example/v2/b".to_owned()), "{about:?}");
    assert_eq!(explained("http://shop.example/b").why, "A rule responds with 410, before the cache.");
    let unclear = explained("http://shop.example/a/..%2fb");
    assert!(unclear.rules[0].is_ambiguous && unclear.rewritten.is_none(), "{unclear:?}");
}
