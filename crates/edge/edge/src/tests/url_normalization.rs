//! Spellings of one URL: rules, keys, purges and the origin see the same one.

use std::sync::{Arc, Mutex};

use http_stack::{Body, Method, Request, StatusCode};
use serde_json::{Value, json};

use super::{
    Fixture,
    purges::{FRA, LHR, SYD, TO_FRA},
    receive, request,
    test_network::World,
    with,
};
use crate::{admin::server, config::Network, server::node::Node};

const TOKEN: &str = "token";

fn stage(rules: &str, cache_control: &'static str) -> (Fixture, Arc<Mutex<Vec<String>>>) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let fixture = Fixture::new(rules, move |request, number| {
        noted.lock().unwrap().push(request.uri().path_and_query().unwrap().to_string());
        std::future::ready(with(cache_control, format!("{number}")))
    });
    let mut network = Network::clone(&fixture.node.network());
    network.tokens = vec![http_stack::token::TokenHash::of(TOKEN.as_bytes())];
    fixture.node.node.replace_network(network);
    (fixture, seen)
}

async fn purge(fixture: &Fixture, asked: Value) -> (StatusCode, Value) {
    purge_at(&fixture.node.node, TOKEN, &asked).await
}

async fn purge_at(node: &Arc<Node>, token: &str, asked: &Value) -> (StatusCode, Value) {
    let mut purge = Request::new(Body::whole(asked.to_string()));
    *purge.method_mut() = Method::POST;
    *purge.uri_mut() = "/client/v4/zones/z/purge_cache".parse().unwrap();
    purge.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let response = server::serve(node, purge).await;
    let status = response.status();
    let text = response.into_body().collect(1 << 20).await.unwrap();
    (status, serde_json::from_slice(&text).unwrap())
}

async fn is_hit(fixture: &Fixture, target: &str) -> bool {
    fixture.get(target, &[]).await.told.contains("hit")
}

#[tokio::test]
async fn path_spellings_are_one_object() {
    let (fixture, seen) = stage("", "max-age=60");
    for target in
        ["/a/~x?q=%7e", "/a/%7Ex?q=%7e", "/./a/~x?q=%7e", "/b/../a/%7ex?q=%7e", "/b/%2e%2E/a/~x?q=%7e"]
    {
        fixture.get(target, &[]).await;
    }
    assert_eq!(*seen.lock().unwrap(), ["/a/~x?q=%7e"]);
    fixture.get("/a/~x?q=~", &[]).await;
    fixture.get("//a//~x?q=%7e", &[]).await;
    fixture.get("//evil.test/x", &[]).await;
    assert_eq!(seen.lock().unwrap()[1..], ["/a/~x?q=~", "//a//~x?q=%7e", "//evil.test/x"]);
}

#[tokio::test]
async fn path_traversal_does_not_match_a_storing_rule() {
    let (fixture, _) = stage("[[zone.rule]]\npath = \"/static/*\"\nedge_ttl = \"1h\"\n", "max-age=0");
    for target in [
        "/static/../account",
        "/static/%2e%2e/account",
        "/static/..%2faccount",
        "/static/..%5caccount",
        "/static%2f..%2faccount",
        "/static/%252e%252e/account",
        "/static/..;/account",
        "/static/..%3b/account",
        "/static/..%20/account",
        "/static/%c0%ae%c0%ae/account",
        "/static/x/..%2f..%2faccount",
    ] {
        fixture.get(target, &[]).await;
        assert!(!is_hit(&fixture, target).await, "{target}");
    }
    for target in ["/static/a.css", "//static//b.css", "/x/../static/c.css", "/static/a%20b", "/static/a%2Fb"]
    {
        fixture.get(target, &[]).await;
        assert!(is_hit(&fixture, target).await, "{target}");
    }
}

#[tokio::test]
async fn bypass_matches_each_spelling_of_its_path() {
    let rules = "[[zone.rule]]\npath = \"/admin/*\"\nbypass = true\n\
                 [[zone.rule]]\nquery = { preview = \"1\" }\nbypass = true\n\
                 [[zone.rule]]\ncookie = { session = \"*\" }\nbypass = true\n";
    let (fixture, _) = stage(rules, "max-age=60");
    for target in [
        "//admin/x",
        "/%61dmin/x",
        "/./admin/x",
        "/admin%2fx",
        "/%2Fadmin/x",
        "/%c1%a1dmin/x",
        "/x/..%2fadmin/x",
        "/admin;a=b/x",
        "/a?preview=1",
        "/a?%70review=1",
        "/a?preview=0&preview=1",
        "/a?x=1;preview=1",
        "/a?preview=%31",
    ] {
        fixture.get(target, &[]).await;
        assert!(!is_hit(&fixture, target).await, "{target}");
    }
    for cookie in [&b"session=\xe9"[..], b"a=\xff; session=1", b"session=", b"a=1; session"] {
        for _ in 0..2 {
            let mut asked = request(Method::GET, "/page", &[]);
            asked.headers_mut().insert("cookie", http_stack::HeaderValue::from_bytes(cookie).unwrap());
            assert!(!receive(fixture.node.serve(asked).await).await.told.contains("hit"), "{cookie:?}");
        }
    }
    fixture.get("/a", &[]).await;
    assert!(is_hit(&fixture, "/a").await);
}

#[tokio::test]
async fn repeated_key_parameter_is_another_key() {
    let rules = "[[zone.rule]]\nedge_ttl = \"1h\"\nkey = { query = [\"v\"], cookie = [\"lang\"] }\n";
    let (fixture, _) = stage(rules, "max-age=60");
    fixture.get("/a?v=1", &[("cookie", "lang=de")]).await;
    for (target, cookie) in [
        ("/a?v=1&v=2", "lang=de"),
        ("/a?v=1&%76=2", "lang=de"),
        ("/a?v=1&utm=x;v=2", "lang=de"),
        ("/a?v=1", "lang=de; lang=fr"),
        ("/a?v=1", "lang=\u{e9}"),
        ("/a?v=1", "lang="),
        ("/a?v=1", "x=1"),
    ] {
        let mut asked = request(Method::GET, target, &[]);
        asked.headers_mut().insert("cookie", http_stack::HeaderValue::from_bytes(cookie.as_bytes()).unwrap());
        assert!(!receive(fixture.node.serve(asked).await).await.told.contains("hit"), "{target} {cookie}");
    }
    assert!(fixture.get("/a?v=1&utm=x", &[("cookie", "lang=de")]).await.told.contains("hit"));
}

#[tokio::test]
async fn purge_matches_each_spelling_of_a_url() {
    let (fixture, _) = stage("", "max-age=60");
    let object = "/img/~a%2Fb?q=%7e";
    for asked in [
        json!({"files": ["http://shop.example/img/%7Ea%2fb?q=~"]}),
        json!({"files": ["HTTP://Shop.Example:80//img/x/../~a%2fb?q=%7E"]}),
        json!({"prefixes": ["Shop.Example/img/"]}),
        json!({"prefixes": ["http://shop.example:80//img/%7ea"]}),
        json!({"prefixes": ["shop.example"]}),
        json!({"hosts": ["SHOP.example."]}),
    ] {
        fixture.get(object, &[]).await;
        assert!(is_hit(&fixture, object).await);
        let (status, answer) = purge(&fixture, asked.clone()).await;
        assert_eq!((status, &answer["result"]["objects"]), (StatusCode::OK, &json!(1)), "{asked}");
        assert!(!is_hit(&fixture, object).await, "{asked}");
    }
    for (object, url) in [
        ("/\u{5065}/index.html", "http://shop.example/%E5%81%A5/index.html"),
        ("/%e5%81%a5/index.html", "http://shop.example/\u{5065}/index.html"),
        ("/a?day=1", "http://shop.example/a?day=1#top"),
        ("/folder/a%3Fb%23c.png", "http://shop.example/folder/a%3fb%23c.png"),
        ("/a?q=%D9%85", "http://shop.example/a?q=%d9%85"),
    ] {
        purge(&fixture, json!({"purge_everything": true})).await;
        assert!(!is_hit(&fixture, object).await);
        assert_eq!(purge(&fixture, json!({"files": [url]})).await.1["result"]["objects"], 1, "{url}");
        assert!(!is_hit(&fixture, object).await, "{url}");
    }
    fixture.get("/about/", &[]).await;
    purge(&fixture, json!({"files": ["http://shop.example/about", "http://shop.example/about/?a", "https://shop.example/about/"]})).await;
    assert!(is_hit(&fixture, "/about/").await);
    fixture.get("//img/y", &[]).await;
    assert_eq!(
        purge(&fixture, json!({"files": ["http://shop.example/img/y"]})).await.1["result"]["objects"],
        1
    );
}

#[tokio::test]
async fn url_purge_matches_each_key_of_the_url() {
    let (fixture, _) = stage("", "max-age=60");
    for fields in [&[][..], &[("x-forwarded-host", "evil.test")], &[("x-rewrite-url", "/admin")]] {
        assert!(!fixture.get("/a", fields).await.told.contains("hit"));
        assert!(fixture.get("/a", fields).await.told.contains("hit"));
    }
    let (_, answer) = purge(&fixture, json!({"files": ["http://shop.example/a"]})).await;
    assert_eq!(answer["result"]["objects"], 3);
}

#[tokio::test]
async fn empty_purge_is_rejected() {
    let (fixture, _) = stage("", "max-age=60");
    fixture.get("/a", &[]).await;
    for asked in [
        json!({"prefixes": [""]}),
        json!({"prefixes": ["/"]}),
        json!({"prefixes": ["  "]}),
        json!({"prefixes": ["http://"]}),
        json!({"prefixes": ["/img/"]}),
        json!({"prefixes": ["shop.example/", ""]}),
        json!({"hosts": [""]}),
        json!({"tags": ["gr\u{fc}n"]}),
        json!({"tags": [""]}),
        json!({"files": ["/a"]}),
        json!({}),
    ] {
        let (status, answer) = purge(&fixture, asked.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{asked}");
        assert!(answer["errors"][0]["message"].as_str().is_some_and(|text| text.len() > 20), "{answer}");
    }
    assert!(is_hit(&fixture, "/a").await);
}

#[tokio::test]
async fn purge_of_requested_url_matches_the_rule_key() {
    let rules = "[[zone.rule]]\npath = \"/q/*\"\nkey = { query = [\"v\"], cookie = [\"lang\"] }\n\
                 [[zone.rule]]\npath = \"/r/*\"\ncookie = { beta = \"*\" }\nkey = { query = [] }\n";
    let (fixture, _) = stage(rules, "max-age=60");
    let langs: [&[(&'static str, &str)]; 3] = [&[], &[("cookie", "lang=de")], &[("cookie", "lang=fr")]];
    for url in [
        "http://shop.example/q/a?v=1&utm=x",
        "http://shop.example/q/a?utm=y&%76=1",
        "http://shop.example/q/a?v=1",
    ] {
        for fields in langs {
            fixture.get("/q/a?v=1&utm=x", fields).await;
        }
        let (_, answer) = purge(&fixture, json!({"files": [url]})).await;
        assert_eq!(answer["result"]["objects"], 3, "{url}");
        assert!(!fixture.get("/q/a?v=1&utm=x", langs[1]).await.told.contains("hit"));
    }
    fixture.get("/r/a?x=1", &[("cookie", "beta=1")]).await;
    fixture.get("/r/a?x=1", &[]).await;
    let (_, answer) = purge(&fixture, json!({"files": ["http://shop.example/r/a?x=1"]})).await;
    assert_eq!(answer["result"]["objects"], 2);
    assert_eq!(
        purge(&fixture, json!({"files": ["http://shop.example/q/a?v=2"]})).await.1["result"]["objects"],
        0
    );
}

#[tokio::test]
async fn url_purge_matches_the_rule_key_in_all_data_centres() {
    let zone = format!("{TO_FRA}[[zone.rule]]\npath = \"/q/*\"\nkey = {{ query = [\"v\"] }}\n");
    let world = World::new(&zone, async |_, number| with("max-age=600", format!("{number}")));
    for centre in [LHR, FRA, SYD] {
        assert_eq!(world.get(centre, "/q/./~a?v=1&utm=x").await.body, "0");
    }
    let asked = json!({"files": ["http://shop.example/q/%7Ea?utm=y&v=1"], "hard": true});
    let (status, answer) = purge_at(&world.centres[SYD].worker.node, &world.token, &asked).await;
    assert_eq!((status, &answer["result"]["objects"]), (StatusCode::OK, &json!(1)), "{answer}");
    for centre in [LHR, FRA, SYD] {
        assert_eq!(world.get(centre, "/q/~a?v=1").await.body, "1");
    }
}

#[tokio::test]
async fn unsafe_request_invalidates_rule_keys() {
    let rules = "[[zone.rule]]\npath = \"/q/*\"\nkey = { query = [\"v\"] }\n";
    let fixture = Fixture::new(rules, async |request, number| {
        let mut response = with("max-age=60", format!("{number}"));
        let is_safe = matches!(*request.method(), Method::GET) || request.method().as_str() == "PROPFIND";
        if !is_safe {
            let location = "http://SHOP.example:80/q/./other?v=2&z=1";
            response.headers_mut().insert("location", location.parse().unwrap());
        }
        response
    });
    for method in ["POST", "PUT", "DELETE", "PATCH", "PROPFIND"] {
        let targets = ["/q/a?v=1", "/q/other?v=2&utm=y"];
        for target in targets {
            fixture.get(target, &[]).await;
        }
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let is_safe = method.as_str() == "PROPFIND";
        fixture.send(request(method.clone(), "/q/%61?v=1&utm=x", &[])).await;
        for target in targets {
            assert_eq!(is_hit(&fixture, target).await, is_safe, "{method} {target}");
        }
    }
}

#[tokio::test]
async fn explanation_lists_purged_urls() {
    let rules = "[[zone.rule]]\npath = \"/q/*\"\nkey = { query = [\"v\"] }\n[[zone.rule]]\npath = \"/admin/*\"\nedge_ttl = \"1h\"\n";
    let (fixture, _) = stage(rules, "max-age=60");
    let explain = |url: &str| fixture.node.node.explain(&url.parse().unwrap()).unwrap();
    let explained = explain("http://shop.example/x/../q/a?v=1&utm=x");
    assert_eq!(explained.key, "http://shop.example/q/a?v=1");
    assert_eq!(explained.purged_as, ["http://shop.example/q/a?v=1&utm=x", "http://shop.example/q/a?v=1"]);
    assert!(explain("http://shop.example/a").purged_as.is_empty());
    let unclear = explain("http://shop.example/admin/..%2fa");
    assert!(unclear.rule.is_none() && unclear.why.contains("some interpretations"), "{unclear:?}");
}

#[tokio::test]
async fn deception_armor_rejects_mismatched_content_type() {
    let rules = "deception_armor = true\n[[zone.rule]]\npath = \"*.css\"\nedge_ttl = \"1h\"\n";
    let fixture = Fixture::new(rules, async |request, _| {
        let mut response = with("max-age=60", "body");
        let kind = if request.uri().path().starts_with("/account") { "text/html" } else { "text/css" };
        response.headers_mut().insert("content-type", kind.parse().unwrap());
        response
    });
    for (target, is_stored) in [
        ("/app.css", true),
        ("/account", true),
        ("/account/x.css", false),
        ("/account.png", false),
        ("/account;x.css", false),
        ("/account%3fx.css", false),
    ] {
        let first = fixture.get(target, &[]).await;
        assert_eq!(is_hit(&fixture, target).await, is_stored, "{target} {first:?}");
    }
    assert!(fixture.get("/account/y.css", &[]).await.told.ends_with("detail=content-type"));
}
